//! The way through a value: where we are, how deep, how much is written, and the errors that say so.

use std::sync::Arc;

use crate::display::excerpt;
use crate::error::{PathStep, RenderError, RenderErrorCode};
use crate::number::float_to_string;
use crate::tree::{MAX_DEPTH, Tree};

/// The advice that goes with a value that a format has nothing for.
const CONVERTER_HINT: &str = "Consider adding a converter to `output.converters`.";

/// A step that is only copied when an error needs it.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Property(&'a str),
    Entry(&'a Tree),
    Element(usize),
}

/// What all renderers keep while they walk.
pub(super) struct Walk<'a> {
    format: &'static str,
    max_bytes: usize,
    path: Vec<Step<'a>>,
}

/// How messages name what can't be a key.
#[derive(Clone, Copy)]
pub(super) enum KeyKind {
    NonString,
    NonScalar,
}

impl<'a> Walk<'a> {
    pub(super) fn new(format: &'static str, max_bytes: usize) -> Self {
        Self { format, max_bytes, path: Vec::new() }
    }

    /// Goes down to a member; `written` is the length of the output so far.
    pub(super) fn enter(&mut self, step: Step<'a>, written: usize) -> Result<(), RenderError> {
        self.path.push(step);
        if self.path.len() > MAX_DEPTH {
            return Err(self.error(
                RenderErrorCode::TooDeep,
                format!("Cannot render a value nested more than {MAX_DEPTH} levels deep as {}.", self.format),
            ));
        }
        if written > self.max_bytes {
            return Err(self.error(
                RenderErrorCode::TooLong,
                format!("The {} output is longer than {} bytes.", self.format, self.max_bytes),
            ));
        }
        Ok(())
    }

    /// Goes back up.
    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    pub(super) fn error(&self, code: RenderErrorCode, message: String) -> RenderError {
        let path = self.path.iter().map(|step| match *step {
            Step::Property(name) => PathStep::Property(Arc::from(name)),
            Step::Entry(key) => PathStep::Entry(key.clone()),
            Step::Element(index) => PathStep::Element(index),
        });
        RenderError { code, message, hint: None, path: path.collect() }
    }

    /// The format has nothing for values of this class.
    pub(super) fn unsupported(&self, value: &Tree) -> RenderError {
        if let Tree::Error(error) = value {
            return self.error(RenderErrorCode::FailedMember, error.message.to_string());
        }
        self.unsupported_as(&value.class_name(), &excerpt(value))
    }

    pub(super) fn unsupported_as(&self, class: &str, excerpt: &str) -> RenderError {
        let message = format!("Cannot render value of type `{class}` as {}.\nValue: {excerpt}", self.format);
        RenderError { hint: Some(CONVERTER_HINT), ..self.error(RenderErrorCode::UnsupportedValue, message) }
    }

    /// The format has no documents of this class; `document` and `expected` are parts of the sentence.
    pub(super) fn unsupported_document(&self, document: &str, expected: &str, value: &Tree) -> RenderError {
        let message = format!(
            "The top-level value of {document} must have type {expected}, but got type `{}`.\nValue: {}",
            value.class_name(),
            excerpt(value)
        );
        self.error(RenderErrorCode::UnsupportedDocument, message)
    }

    /// The format can't hold this key of a map or object.
    pub(super) fn unsupported_key(&self, owner: &Tree, key: &Tree, kind: KeyKind) -> RenderError {
        let kind = match kind {
            KeyKind::NonString => "non-string",
            KeyKind::NonScalar => "non-scalar",
        };
        let (what, labels) = match owner {
            Tree::Map(_) => ("map", ["Map", "Key"]),
            _ => ("object", ["Object", "Key   "]),
        };
        let message = format!(
            "Cannot render {what} with {kind} key as {}.\n{}: {}\n{}: {}",
            self.format,
            labels[0],
            excerpt(owner),
            labels[1],
            excerpt(key)
        );
        self.error(RenderErrorCode::UnsupportedKey, message)
    }

    /// The object has both elements and properties or entries.
    pub(super) fn mixed(&self, value: &Tree) -> RenderError {
        let message = format!(
            "Cannot render object with both elements and properties/entries as {}.\nObject: {}",
            self.format,
            excerpt(value)
        );
        self.error(RenderErrorCode::MixedMembers, message)
    }

    /// The format has no such number.
    pub(super) fn not_finite(&self, value: f64) -> RenderError {
        let text = float_to_string(value).replace("Infinity", "∞");
        self.error(
            RenderErrorCode::UnsupportedValue,
            format!("Cannot render value `{text}` as {}.", self.format),
        )
    }
}
