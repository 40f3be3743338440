//! Formatting is stable and keeps the tree.

use pkl_parser::{Interner, dump_module, parse_module};

/// Panics if a rule does not hold for `data`.
pub(crate) fn check(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let Ok(formatted) = pkl_format::format(source) else { return };
    let again = pkl_format::format(&formatted);
    assert_eq!(again.as_ref(), Ok(&formatted), "formatting is stable");
    assert_eq!(tree(&formatted), tree(source), "the tree stays as it is");
}

/// The tree as text; imports, which are put in order, sorted.
fn tree(source: &str) -> Vec<String> {
    let interner = Interner::new();
    let parsed = parse_module(source, &interner);
    let dump = dump_module(source, &parsed, &interner);
    let (mut imports, others): (Vec<String>, Vec<String>) =
        dump.lines().map(str::to_owned).partition(|line| line.starts_with("(import"));
    imports.sort();
    imports.extend(others);
    imports
}
