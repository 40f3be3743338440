//! What formatting must not change.

use pkl_format::format;
use pkl_parser::{Interner, TokenKind, dump_module, parse_module, tokenize};

/// Formats a text, and checks that the result is stable and has the same tree and comments. `None` if the
/// text has syntax errors.
pub(crate) fn format_checked(name: &str, source: &str) -> Option<String> {
    let formatted = format(source).ok()?;
    let again =
        format(&formatted).unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{source}\n---\n{formatted}"));
    assert_eq!(again, formatted, "{name} is not stable:\n{source}");
    assert_eq!(tree(&formatted), tree(source), "{name} has another tree:\n{source}\n---\n{formatted}");
    assert_eq!(
        comments(&formatted),
        comments(source),
        "{name} has other comments:\n{source}\n---\n{formatted}"
    );
    Some(formatted)
}

/// The tree as text, imports in one order.
fn tree(source: &str) -> String {
    let interner = Interner::new();
    let parsed = parse_module(source, &interner);
    assert_eq!(parsed.diagnostics, [], "{source}");
    let dump = dump_module(source, &parsed, &interner);
    let (mut imports, others): (Vec<&str>, Vec<&str>) =
        dump.lines().partition(|line| line.starts_with("(import"));
    imports.sort_unstable();
    imports.into_iter().chain(others).collect::<Vec<_>>().join("\n")
}

/// Each comment with the tokens around it, but for imports, which may move.
fn comments(source: &str) -> Vec<(String, String, String)> {
    let (tokens, _) = tokenize(source);
    let parsed = parse_module(source, &Interner::new());
    let imports = &parsed.ast[parsed.root.imports];
    // Modifiers may move; commas after the last of a list come and go, and so do blanks at a line's end.
    let matters = |kind: TokenKind| !kind.is_trivia() && kind != TokenKind::Comma && !is_modifier(kind);
    let text = |index: usize| tokens[index].span.text(source).trim_end();
    let mut comments = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let is_comment =
            matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment | TokenKind::Shebang);
        if !is_comment {
            continue;
        }
        let before = (0..index).rev().find(|other| matters(tokens[*other].kind));
        let after = (index..tokens.len()).find(|other| matters(tokens[*other].kind));
        let in_import = |place: &usize| {
            let start = tokens[*place].span.start;
            imports.iter().any(|import| import.span.contains(start))
        };
        let moves = before.iter().chain(&after).any(in_import);
        let near = |place: Option<usize>| {
            // A doc comment gets a space after its slashes.
            let text = place.filter(|_| !moves).map(text).unwrap_or_default();
            text.trim_start_matches("///").trim_start().to_owned()
        };
        comments.push((text(index).to_owned(), near(before), near(after)));
    }
    comments.sort();
    comments
}

fn is_modifier(kind: TokenKind) -> bool {
    use TokenKind as K;
    matches!(kind, K::Abstract | K::Open | K::External | K::Local | K::Hidden | K::Fixed | K::Const)
}
