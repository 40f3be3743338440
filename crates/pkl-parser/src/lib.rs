//! The grammar of the Pkl language: lossless tokens, a syntax tree in arenas, and every error of a file in one run.
//!
//! ```
//! use pkl_parser::{Interner, parse_module};
//!
//! let interner = Interner::new();
//! let parsed = parse_module("name = \"dodo\"\nage = 1 +", &interner);
//! assert_eq!(parsed.root.members.len(), 2);
//! assert_eq!(parsed.diagnostics[0].message, "Unexpected end of file.");
//! ```
//!
//! What the grammar lets pass and is wrong all the same, such as a modifier where it means nothing, is
//! found by [`check_module`]. A formatter needs the comments and cuts the text by [`tokenize`].

pub mod ast;
mod check;
mod diagnostic;
mod dump;
mod interner;
mod lexer;
mod names;
mod parser;
mod span;
mod token;

use ast::Ast;
pub use check::{Origin, check_expression, check_module, import_name};
pub use diagnostic::{Diagnostic, DiagnosticCode};
pub use dump::{dump_expression, dump_module};
pub use interner::{Interner, Symbol};
pub use lexer::tokenize;
pub use names::FixedNames;
pub use parser::{parse_expression, parse_module, parse_type};
pub use span::Span;
pub use token::{Token, TokenKind};

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
