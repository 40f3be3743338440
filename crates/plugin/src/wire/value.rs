//! Values, and what may be wrong with a message.

use formwork_model::{Json, Secret};

/// Why a message says nothing. It never shows what stands in the message.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A field that must be set is not.
    #[error("`{field}` is not set")]
    Missing {
        /// Which.
        field: &'static str,
    },
    /// A field is not the text of a JSON value.
    #[error("`{field}` is not JSON: {kind} at line {line}, column {column}")]
    Json {
        /// Which.
        field: &'static str,
        /// What kind of mistake it is.
        kind: &'static str,
        /// Where, in the text.
        line: usize,
        /// Where, in the line.
        column: usize,
    },
    /// A field has a value that this version of the protocol doesn't have.
    #[error("`{field}` has the value {value}, which means nothing")]
    Unknown {
        /// Which.
        field: &'static str,
        /// The value.
        value: i32,
    },
    /// A field is not of the form that it must have.
    #[error("`{field}` is not {expected}")]
    Invalid {
        /// Which.
        field: &'static str,
        /// What it must be.
        expected: &'static str,
    },
}

impl WireError {
    fn json(field: &'static str, error: &serde_json::Error) -> Self {
        // Not the error's own text: it may quote.
        let kind = match error.classify() {
            serde_json::error::Category::Eof => "it ends too early",
            _ => "a mistake",
        };
        Self::Json { field, kind, line: error.line(), column: error.column() }
    }
}

/// The text of a value.
pub(super) fn text(value: &Json) -> Vec<u8> {
    // A value's keys are texts and its numbers are finite, so that it always has a text; and `null`, if it had none,
    // would be refused on the other side.
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}

/// The text of a secret value.
pub(super) fn secret_text(value: &Secret<Json>) -> Vec<u8> {
    text(value.expose())
}

/// The value of a text.
pub(super) fn value(field: &'static str, text: &[u8]) -> Result<Json, WireError> {
    serde_json::from_slice(text).map_err(|error| WireError::json(field, &error))
}

/// The value of a text that may be a secret.
pub(super) fn secret(field: &'static str, text: &[u8]) -> Result<Secret<Json>, WireError> {
    value(field, text).map(Secret::new)
}

/// The value of a text, if there is one.
pub(super) fn optional(field: &'static str, text: Option<&[u8]>) -> Result<Option<Json>, WireError> {
    text.map(|text| value(field, text)).transpose()
}

/// What must be there.
pub(super) fn present<T>(field: &'static str, found: Option<T>) -> Result<T, WireError> {
    found.ok_or(WireError::Missing { field })
}

/// A text that must say something.
pub(super) fn said<T: From<String>>(field: &'static str, text: String) -> Result<T, WireError> {
    if text.is_empty() { Err(WireError::Missing { field }) } else { Ok(T::from(text)) }
}

/// A text that may say nothing: then it is as if it weren't there.
pub(super) fn may_say<T: From<String>>(text: Option<String>) -> Option<T> {
    text.filter(|text| !text.is_empty()).map(T::from)
}
