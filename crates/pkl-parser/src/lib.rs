//! The grammar of the Pkl language: lossless tokens, a syntax tree in arenas, and every error of a file in one run.

pub mod ast;
mod diagnostic;
mod interner;
mod parser;
mod span;

use ast::Ast;
pub use diagnostic::{Diagnostic, DiagnosticCode};
pub use interner::{Interner, Symbol};
pub use parser::{parse_expression, parse_module, parse_type};
pub use span::Span;

/// How deep brackets and other constructs that nest to the right may nest; deeper is a diagnostic.
pub const MAX_DEPTH: u32 = 500;

/// The longest text that is read, in bytes; a longer one is a diagnostic.
pub const MAX_SOURCE_BYTES: usize = 256 << 20;

/// A text that was read: its nodes, its root, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct Parsed<Root> {
    /// The nodes.
    pub ast: Ast,
    /// The outermost node.
    pub root: Root,
    /// All syntax errors in source order. If there are none, the tree holds no error node.
    pub diagnostics: Vec<Diagnostic>,
}
