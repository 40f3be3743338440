//! A template's text, read into a value with its spans beside it.

use crate::Limits;
use formwork_model::{Diagnostics, Json, SourceMap};
use std::sync::Arc;

/// A JSON value and where each part of it stands.
#[derive(Clone, Debug)]
pub struct Document {
    /// The value.
    pub value: Json,
    /// Its spans.
    pub source: Arc<SourceMap>,
}

/// Reads JSON or YAML 1.2.
pub fn parse(_name: &str, _bytes: &[u8], _limits: &Limits) -> Result<Document, Diagnostics> {
    unimplemented!()
}

/// Gives a value that came without a text of its own one.
pub fn document_from_json(_name: &str, _value: &Json) -> Document {
    unimplemented!()
}

/// A source map that has the text but no spans: enough to render what [`parse`] refused.
pub fn text_only(_name: &str, _bytes: &[u8]) -> SourceMap {
    unimplemented!()
}
