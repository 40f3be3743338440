//! Templates and parameters as they come in.

use crate::ControlError;
use formwork_formation::{Document, Limits, Supplied, document_from_json, parse};
use formwork_model::{Diagnostics, Json};

/// A JSON object.
pub type JsonMap = serde_json::Map<String, Json>;

/// A template as it came in.
#[derive(Clone, Debug)]
pub enum TemplateInput {
    /// As text, JSON or YAML.
    Text {
        /// What messages call it.
        name: String,
        /// The text.
        text: String,
    },
    /// As a JSON value.
    Json(Json),
}

impl TemplateInput {
    /// The template with its places.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub(crate) fn document(&self, limits: &Limits) -> Result<Document, Diagnostics> {
        match self {
            Self::Text { name, text } => parse(name, text.as_bytes(), limits),
            Self::Json(value) => Ok(document_from_json("template", value)),
        }
    }
}

/// The parameters of a request.
pub(crate) fn supplied(parameters: Option<&JsonMap>, is_update: bool) -> Supplied {
    let values =
        parameters.into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect();
    Supplied { values, is_update }
}

/// Static metadata must be an object without expressions (seed 4, "The template metadata block is
/// the only metadata substitution site").
pub(crate) fn check_metadata(metadata: Option<&Json>) -> Result<(), ControlError> {
    let Some(metadata) = metadata else { return Ok(()) };
    if !metadata.is_object() {
        return Err(ControlError::validation("`metadata` must be an object or null"));
    }
    let found = formwork_formation::check_static_metadata(metadata);
    if found.is_empty() {
        return Ok(());
    }
    let text = found.iter().map(|diagnostic| diagnostic.message.as_str()).collect::<Vec<_>>().join("; ");
    Err(ControlError::new(
        formwork_model::WireCode::FormationInvalidMetadata,
        format!("Invalid formation metadata: {text}"),
    )
    .with_diagnostics(found))
}

/// A name of a formation, project or token.
pub(crate) fn check_name(name: &str) -> Result<(), ControlError> {
    if name.trim().is_empty() || name.chars().count() > 255 || name.chars().any(char::is_control) {
        return Err(ControlError::validation(
            "`name` must have 1 to 255 characters, none of them a control character",
        ));
    }
    Ok(())
}
