//! Random text: no panic, no hang, and what must hold of any text.

use pkl_parser::{Interner, Origin, check_module, parse_expression, parse_module, parse_type, tokenize};
use proptest::prelude::*;

/// What programs are made of, and what breaks them.
const PIECES: &[&str] = &[
    "a",
    "b",
    "`c d`",
    "_",
    "1",
    "2.5",
    ".5",
    "0x1F",
    "1e",
    "0b",
    "\"",
    "\"\"\"",
    "#\"",
    "\"#",
    "\\(",
    "\\n",
    "\\u{41}",
    "\\q",
    "#",
    "#!",
    "(",
    ")",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "<",
    ">",
    "=",
    "==",
    "->",
    ":",
    ",",
    ".",
    "?.",
    "?",
    "??",
    "!",
    "!!",
    "|",
    "||",
    "|>",
    "&&",
    "&",
    "*",
    "**",
    "/",
    "~/",
    "~",
    "%",
    "+",
    "-",
    "@",
    "...",
    "...?",
    "..",
    ";",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "// c\n",
    "/* c */",
    "/*",
    "/// d\n",
    "abstract",
    "amends",
    "as",
    "class",
    "const",
    "else",
    "extends",
    "external",
    "false",
    "fixed",
    "for",
    "function",
    "hidden",
    "if",
    "import",
    "import*",
    "in",
    "is",
    "let",
    "local",
    "module",
    "new",
    "nothing",
    "null",
    "open",
    "out",
    "outer",
    "read",
    "read?",
    "read*",
    "super",
    "this",
    "throw",
    "trace",
    "true",
    "typealias",
    "unknown",
    "when",
    "case",
    "é",
    "😀",
    "\u{FEFF}",
    "^",
    "'",
    "$",
    "\0",
];

fn check(source: &str) {
    let (tokens, _) = tokenize(source);
    let mut end = 0;
    for token in &tokens {
        assert_eq!(token.span.start, end, "tokens leave nothing out");
        end = token.span.end;
    }
    assert_eq!(end as usize, source.len());

    let interner = Interner::new();
    let parsed = parse_module(source, &interner);
    check_module(source, &parsed, &interner, Origin::User);
    for diagnostic in &parsed.diagnostics {
        let (start, end) = (diagnostic.span.start as usize, diagnostic.span.end as usize);
        assert!(start <= end && source.get(start..end).is_some(), "{diagnostic:?}");
    }
    parse_expression(source, &interner);
    parse_type(source, &interner);
}

fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES);
    let spaced = (piece, prop::bool::weighted(0.7))
        .prop_map(|(piece, space)| format!("{piece}{}", if space { " " } else { "" }));
    prop::collection::vec(spaced, 0..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup_is_read_to_its_end(source in soup()) {
        check(&source);
    }

    #[test]
    fn random_text_is_read_to_its_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&String::from_utf8_lossy(&bytes));
    }
}
