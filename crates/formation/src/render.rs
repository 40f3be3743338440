//! Diagnostics for people.

use formwork_model::{Diagnostic, SourceMap};

/// Whether colours are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Plain text.
    #[default]
    Never,
    /// ANSI colours.
    Always,
}

/// Renders a diagnostic.
pub fn render_human(_diagnostic: &Diagnostic, _source: &SourceMap, _color: Color) -> String {
    unimplemented!()
}
