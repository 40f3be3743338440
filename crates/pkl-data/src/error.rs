//! What goes wrong when a value is rendered.

use std::fmt;

use crate::tree::Tree;

/// A value that a format can't hold, and where it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderError {
    /// What kind of error.
    pub code: RenderErrorCode,
    /// The first paragraph, with the lines that belong to it (`Value: …`).
    pub message: String,
    /// A paragraph of advice.
    pub hint: Option<&'static str>,
    /// The way from the rendered value to the offending one.
    pub path: Vec<PathStep>,
}

/// The kinds of [`RenderError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RenderErrorCode {
    /// The format has nothing for values of this class.
    UnsupportedValue,
    /// The format has no documents of this class.
    UnsupportedDocument,
    /// A key that the format can't hold.
    UnsupportedKey,
    /// An object with both elements and properties or entries.
    MixedMembers,
    /// An option of the renderer with a value it can't have.
    InvalidOption,
    /// A name that the format doesn't allow.
    InvalidName,
    /// A member that failed to evaluate.
    FailedMember,
    /// Deeper than [`MAX_DEPTH`](crate::tree::MAX_DEPTH).
    TooDeep,
    /// Longer than the host allows.
    TooLong,
}

impl RenderErrorCode {
    /// The code's stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnsupportedValue => "render-unsupported-value",
            Self::UnsupportedDocument => "render-unsupported-document",
            Self::UnsupportedKey => "render-unsupported-key",
            Self::MixedMembers => "render-mixed-members",
            Self::InvalidOption => "render-invalid-option",
            Self::InvalidName => "render-invalid-name",
            Self::FailedMember => "render-failed-member",
            Self::TooDeep => "render-too-deep",
            Self::TooLong => "render-too-long",
        }
    }
}

/// One step from a value to one of its members.
#[derive(Clone, Debug, PartialEq)]
pub enum PathStep {
    /// A property.
    Property(std::sync::Arc<str>),
    /// An entry of a `Map`, `Mapping` or `Dynamic`.
    Entry(Tree),
    /// An element, counted from zero.
    Element(usize),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RenderError {}
