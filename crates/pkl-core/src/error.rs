//! Errors as data: what went wrong, where, and on which way the evaluation came there.

use pkl_parser::{Span, Symbol};
use std::fmt;
use std::sync::Arc;

use crate::ir::IrId;
use crate::value::ObjectId;

/// The kind of an [`Error`]. Its name is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The source of a module isn't well formed.
    Syntax,
    /// A value of another type was expected.
    TypeMismatch,
    /// A type constraint doesn't hold.
    ConstraintViolated,
    /// No property of this name.
    UnknownProperty,
    /// No method of this name.
    UnknownMethod,
    /// No class or type alias of this name.
    UnknownType,
    /// No entry with this key.
    UnknownKey,
    /// An index or position out of range.
    OutOfRange,
    /// A property without a value.
    UndefinedValue,
    /// Too many or too few arguments.
    WrongArgumentCount,
    /// An operator that isn't defined for these operands.
    InvalidOperands,
    /// A number that can't be represented, a division by zero.
    Arithmetic,
    /// A member defined twice.
    DuplicateMember,
    /// A member that an object of this kind can't have.
    InvalidMember,
    /// An assignment to a fixed or const property.
    FixedProperty,
    /// A reference from a const place to something that isn't const.
    NotConst,
    /// A class that can't be instantiated or extended.
    InvalidClass,
    /// Nothing says what `new { … }` amends.
    UnknownParent,
    /// A declaration that isn't allowed as it stands.
    InvalidDeclaration,
    /// A module or resource that can't be found.
    NotFound,
    /// A module or resource that can't be read.
    Unreadable,
    /// A module or resource that the host doesn't allow.
    NotAllowed,
    /// An address that isn't one, or a pattern.
    InvalidUri,
    /// `throw(…)`
    Thrown,
    /// Calls are nested too deeply, or a value depends on itself.
    StackOverflow,
    /// A limit of time, memory, or output.
    LimitExceeded,
    /// A value that a renderer can't represent.
    Render,
    /// A text that a parser can't read.
    Parse,
    /// An argument that a library method can't take.
    InvalidArgument,
    /// A part of the library that this evaluator lacks.
    Unsupported,
}

impl ErrorCode {
    /// The stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::TypeMismatch => "type-mismatch",
            Self::ConstraintViolated => "constraint-violated",
            Self::UnknownProperty => "unknown-property",
            Self::UnknownMethod => "unknown-method",
            Self::UnknownType => "unknown-type",
            Self::UnknownKey => "unknown-key",
            Self::OutOfRange => "out-of-range",
            Self::UndefinedValue => "undefined-value",
            Self::WrongArgumentCount => "wrong-argument-count",
            Self::InvalidOperands => "invalid-operands",
            Self::Arithmetic => "arithmetic",
            Self::DuplicateMember => "duplicate-member",
            Self::InvalidMember => "invalid-member",
            Self::FixedProperty => "fixed-property",
            Self::NotConst => "not-const",
            Self::InvalidClass => "invalid-class",
            Self::UnknownParent => "unknown-parent",
            Self::InvalidDeclaration => "invalid-declaration",
            Self::NotFound => "not-found",
            Self::Unreadable => "unreadable",
            Self::NotAllowed => "not-allowed",
            Self::InvalidUri => "invalid-uri",
            Self::Thrown => "thrown",
            Self::StackOverflow => "stack-overflow",
            Self::LimitExceeded => "limit-exceeded",
            Self::Render => "render",
            Self::Parse => "parse",
            Self::InvalidArgument => "invalid-argument",
            Self::Unsupported => "unsupported",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in a source, with the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The module's URI.
    pub uri: Arc<str>,
    /// The line, counted from one.
    pub line: u32,
    /// The column, counted from one in code points.
    pub column: u32,
    /// How many code points of the line are meant, at least one.
    pub width: u32,
    /// The line and the column of the last code point that is meant.
    pub end: (u32, u32),
    /// The line's text.
    pub text: String,
}

/// One step of the way to an error, the innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFrame {
    /// The expression or declaration that was being evaluated.
    pub place: SourcePlace,
    /// The member that holds it, as `module#Class.member`.
    pub member: String,
    /// What the place is shown as, if not as its URI and line.
    pub link: Option<String>,
}

/// Why an evaluation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The kind.
    pub code: ErrorCode,
    /// What went wrong: the first paragraph, with the lines that belong to it (`Value: …`).
    pub message: String,
    /// What may help, candidates for a misspelt name among it.
    pub hint: Option<String>,
    /// The way to the place, innermost first.
    pub trace: Vec<TraceFrame>,
}

impl Error {
    /// The innermost place.
    pub fn place(&self) -> Option<&SourcePlace> {
        self.trace.first().map(|frame| &frame.place)
    }
}

/// The message block as the official evaluator prints it, without its heading: message, places, hint.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.message)?;
        for (position, frame) in self.trace.iter().enumerate() {
            let place = &frame.place;
            let number = place.line.to_string();
            let text = place.text.trim_start();
            let cut = place.text.chars().count() - text.chars().count();
            let indent = (place.column as usize).saturating_sub(1 + cut) + number.len() + 3;
            writeln!(f, "\n{number} | {text}")?;
            writeln!(f, "{}{}", " ".repeat(indent), "^".repeat(place.width as usize))?;
            match &frame.link {
                Some(link) => writeln!(f, "at {} ({link})", frame.member)?,
                None => writeln!(f, "at {} ({}, line {number})", frame.member, place.uri)?,
            }
            if position == 0
                && let Some(hint) = &self.hint
            {
                writeln!(f, "\n{hint}")?;
            }
        }
        if self.trace.is_empty()
            && let Some(hint) = &self.hint
        {
            writeln!(f, "\n{hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// An error on its way out of the evaluation.
#[derive(Debug)]
pub(crate) struct Raised {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The object and the property without a value that was read.
    pub(crate) undefined: Option<(ObjectId, Symbol)>,
    /// It happened inside of a constraint: the type isn't merely another one.
    pub(crate) fatal: bool,
    /// The place in the frame that is being left.
    pub(crate) pending: Option<(IrId, Span)>,
    pub(crate) frames: Vec<RaisedFrame>,
    /// How many frames were left out because there are too many.
    pub(crate) omitted: usize,
}

#[derive(Debug)]
pub(crate) struct RaisedFrame {
    pub(crate) module: IrId,
    pub(crate) span: Span,
    pub(crate) member: String,
}

/// The failure of a step of the evaluation.
pub(crate) type Failure = Box<Raised>;

/// The result of a step of the evaluation.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Frames kept; the rest of a deep recursion says nothing new.
const MAX_FRAMES: usize = 200;

impl Raised {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Failure {
        Box::new(Self {
            code,
            message: message.into(),
            hint: None,
            undefined: None,
            fatal: false,
            pending: None,
            frames: Vec::new(),
            omitted: 0,
        })
    }

    pub(crate) fn with_hint(mut self: Box<Self>, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Notes where in the current frame it happened, unless that is known more exactly.
    pub(crate) fn locate(mut self: Box<Self>, module: IrId, span: Span) -> Failure {
        if self.pending.is_none() {
            self.pending = Some((module, span));
        }
        self
    }

    /// Notes that the frame of `member` is left.
    pub(crate) fn leave(mut self: Box<Self>, member: impl FnOnce() -> String) -> Failure {
        if let Some((module, span)) = self.pending.take() {
            if self.frames.len() < MAX_FRAMES {
                self.frames.push(RaisedFrame { module, span, member: member() });
            } else {
                self.omitted += 1;
            }
        }
        self
    }
}
