//! The formatter of Pkl source: stable, and true to meaning and comments.
//!
//! ```
//! assert_eq!(pkl_format::format("bird{name=\"dodo\"}\n").unwrap(), "bird { name = \"dodo\" }\n");
//! ```

mod builder;
mod layout;

use pkl_parser::{Diagnostic, Interner, parse_module, tokenize};

/// The text in the language's common style: two spaces, lines of at most 100 characters where that can
/// be, imports and modifiers in order.
///
/// Formatting the result gives the same text. The result has the same tree, apart from the order of
/// imports and modifiers, and the same comments.
///
/// # Errors
/// All syntax errors of the text; then nothing is formatted.
pub fn format(source: &str) -> Result<String, Vec<Diagnostic>> {
    let interner = Interner::new();
    let parsed = parse_module(source, &interner);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let (tokens, _) = tokenize(source);
    let pieces = builder::build(source, &parsed, &tokens).map_err(|diagnostic| vec![*diagnostic])?;
    Ok(layout::print(&pieces))
}
