//! Templates and parameters as they come in.

use crate::ControlError;
use formwork_formation::{Document, Limits, Supplied, document_from_json, parse};
use formwork_model::{Diagnostics, Json, name_problem};
use std::fmt;

/// A JSON object.
pub type JsonMap = serde_json::Map<String, Json>;

/// The values of a request's parameters, by name. They may be secret: `Debug` shows only their names.
#[derive(Clone, Default)]
pub struct Parameters(pub JsonMap);

impl fmt::Debug for Parameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// A template as it came in. Credentials may stand in it: `Debug` shows nothing of it.
#[derive(Clone)]
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

impl fmt::Debug for TemplateInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { name, .. } => {
                formatter.debug_struct("Text").field("name", name).finish_non_exhaustive()
            }
            Self::Json(_) => formatter.debug_struct("Json").finish_non_exhaustive(),
        }
    }
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
pub(crate) fn supplied(parameters: Option<&Parameters>, is_update: bool) -> Supplied {
    let given = parameters.into_iter().flat_map(|Parameters(values)| values);
    let values = given.map(|(name, value)| (name.clone(), value.clone())).collect();
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
    check_text("name", name, 255)
}

/// A name that people read, under the field that it stands in.
pub(crate) fn check_text(field: &str, name: &str, longest: usize) -> Result<(), ControlError> {
    if name.trim().is_empty() || name.chars().count() > longest {
        return Err(ControlError::validation(format!("`{field}` must have 1 to {longest} characters")));
    }
    let refuse = |problem| Err(ControlError::validation(format!("`{field}` {problem}")));
    name_problem(name).map_or(Ok(()), refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_what_came_in_shows_no_credential() {
        let text = TemplateInput::Text { name: "site.yaml".to_owned(), text: "canary".to_owned() };
        let parameters = Parameters([("Key".to_owned(), Json::from("canary"))].into_iter().collect());
        let shown = format!("{text:?} {:?} {parameters:?}", TemplateInput::Json("canary".into()));
        assert_eq!(shown, r#"Text { name: "site.yaml", .. } Json { .. } {"Key"}"#);
    }
}
