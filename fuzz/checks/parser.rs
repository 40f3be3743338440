//! Any text is read: no panic, spans in the text, and trees that can be used.

use pkl_parser::{
    Interner, Origin, check_expression, check_module, dump_expression, dump_module, parse_expression,
    parse_module, parse_type,
};

/// Panics if a rule does not hold for `data`.
pub(crate) fn check(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let interner = Interner::new();
    let module = parse_module(source, &interner);
    for diagnostic in &module.diagnostics {
        let span = diagnostic.span.start as usize..diagnostic.span.end as usize;
        assert!(source.get(span).is_some(), "a span lies in the text");
    }
    check_module(source, &module, &interner, Origin::User);
    dump_module(source, &module, &interner);
    let expression = parse_expression(source, &interner);
    check_expression(source, &expression, &interner);
    dump_expression(source, &expression, &interner);
    parse_type(source, &interner);
}
