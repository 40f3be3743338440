//! String literals as parts.

use std::ops::Range;

use super::{ExprId, Id, List};
use crate::Span;

/// The name of a string literal in its [`Ast`](super::Ast).
pub type StringId = Id<StringLiteral>;

/// A string literal.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StringLiteral {
    /// All of it, delimiters included.
    pub span: Span,
    /// What encloses it.
    pub delimiter: StringDelimiter,
    /// The contents in order. Never two texts side by side, never an empty text.
    pub parts: List<StringPart>,
}

/// What encloses a string literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StringDelimiter {
    /// The number of `#` before the opening and after the closing quotes, and in each escape.
    pub pounds: u32,
    /// Whether the quotes are `"""`.
    pub multiline: bool,
}

/// A part of a string literal.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StringPart {
    /// The part as written: text with its escapes, or an interpolation with `\(` and `)`.
    pub span: Span,
    /// What it is.
    pub kind: StringPartKind,
}

/// The kinds of parts.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum StringPartKind {
    /// Text with escapes decoded, line ends as `\n` and the indentation of a multi-line literal taken
    /// off: see [`Ast::text`](super::Ast::text).
    Text(Text),
    /// `\(expr)`
    Interpolation(ExprId),
}

/// Decoded text in an [`Ast`](super::Ast).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Text {
    start: u32,
    len: u32,
}

impl Text {
    pub(super) fn new(start: usize, len: usize) -> Self {
        let number = |n: usize| u32::try_from(n).expect("decoded text is no longer than a bounded source");
        Self { start: number(start), len: number(len) }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}
