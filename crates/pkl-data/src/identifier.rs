//! Names as they stand in Pkl source.

use std::borrow::Cow;

/// Words that are no names unless quoted.
const KEYWORDS: [&str; 46] = [
    "abstract",
    "amends",
    "as",
    "case",
    "class",
    "const",
    "delete",
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
    "override",
    "protected",
    "read",
    "record",
    "super",
    "switch",
    "this",
    "throw",
    "trace",
    "true",
    "typealias",
    "unknown",
    "vararg",
    "when",
    "read?",
    "read*",
    "import*",
    "_",
];

/// The name as source needs it: in backquotes unless it is a plain identifier.
pub fn quoted(name: &str) -> Cow<'_, str> {
    if is_identifier(name) { Cow::Borrowed(name) } else { Cow::Owned(format!("`{name}`")) }
}

/// Whether a name needs no quotes: a Unicode identifier (with `$` and `_`) that is no keyword.
pub fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(is_start) && characters.all(is_part) && !KEYWORDS.contains(&name)
}

fn is_start(character: char) -> bool {
    matches!(character, '$' | '_') || unicode_ident::is_xid_start(character)
}

fn is_part(character: char) -> bool {
    character == '$' || unicode_ident::is_xid_continue(character) || is_ignorable(character)
}

/// Control and format characters, which Java lets pass inside of identifiers.
fn is_ignorable(character: char) -> bool {
    matches!(
        u32::from(character),
        0x00..=0x08
            | 0x0E..=0x1B
            | 0x7F..=0x9F
            | 0xAD
            | 0x600..=0x605
            | 0x61C
            | 0x6DD
            | 0x70F
            | 0x890..=0x891
            | 0x8E2
            | 0x180E
            | 0x200B..=0x200F
            | 0x202A..=0x202E
            | 0x2060..=0x2064
            | 0x2066..=0x206F
            | 0xFEFF
            | 0xFFF9..=0xFFFB
            | 0x110BD
            | 0x110CD
            | 0x13430..=0x1343F
            | 0x1BCA0..=0x1BCA3
            | 0x1D173..=0x1D17A
            | 0xE0001
            | 0xE0020..=0xE007F
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_odd_names_are_quoted() {
        for (name, text) in [
            ("a1", "a1"),
            ("$", "$"),
            ("日本", "日本"),
            ("get", "get"),
            ("_x", "_x"),
            ("_", "`_`"),
            ("1a", "`1a`"),
            ("a b", "`a b`"),
            ("class", "`class`"),
            ("out", "`out`"),
            ("", "``"),
            ("😀", "`😀`"),
        ] {
            assert_eq!(quoted(name), text);
        }
    }
}
