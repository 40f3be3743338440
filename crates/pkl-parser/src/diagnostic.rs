//! What is wrong with a text, and where.

use std::fmt;

use crate::Span;

/// One syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of error.
    pub code: DiagnosticCode,
    /// What is wrong, in one paragraph.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A diagnostic from its text: the first paragraph is the message, the others are the hint.
    pub(crate) fn new(code: DiagnosticCode, span: Span, text: &str) -> Self {
        let (message, hint) = match text.split_once("\n\n") {
            Some((message, hint)) => (message, Some(hint.to_owned())),
            None => (text, None),
        };
        Self { code, message: message.to_owned(), span, hint }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n\n{hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// The kinds of syntax errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DiagnosticCode {
    /// Something else was expected here.
    UnexpectedToken,
    /// The text ends too early.
    UnexpectedEnd,
    /// A character that begins nothing.
    InvalidCharacter,
    /// A number that is none.
    InvalidNumber,
    /// An integer that doesn't fit 64 bits.
    IntTooLarge,
    /// An escape that doesn't exist.
    InvalidEscape,
    /// `\u{…}` that names no character.
    InvalidUnicodeEscape,
    /// A string without its end.
    UnterminatedString,
    /// A block comment without its end.
    UnterminatedComment,
    /// A back-quoted name without its end.
    UnterminatedName,
    /// A line of a multi-line string that is indented less than its closing quotes.
    InvalidIndentation,
    /// Content on the line of a multi-line string's opening or closing quotes.
    InvalidMultilineString,
    /// A string that must be constant but has an interpolation.
    InterpolationNotAllowed,
    /// Two members on one line without `;`.
    MissingSeparator,
    /// A type with a body, `name: T { … }`.
    TypeWithBody,
    /// `*` before a type that is not a member of a union.
    DefaultOutsideUnion,
    /// More than one `*` in a union.
    TwoDefaults,
    /// A modifier that is not allowed here.
    InvalidModifier,
    /// A class that extends what is no class.
    InvalidSupertype,
    /// A property without value or a method without body that needs it.
    MissingValue,
    /// A name or key that is defined already.
    DuplicateDefinition,
    /// Something that is well formed but is not allowed here.
    NotAllowedHere,
    /// A doc comment that belongs to nothing.
    DanglingDocComment,
    /// Nested too deeply.
    TooDeep,
    /// A text that is too long.
    SourceTooLarge,
}
