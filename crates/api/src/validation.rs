//! What is wrong with a template, place by place.

use formwork_model::{Diagnostic, Place};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the server calls a template that was sent.
const TEMPLATE: &str = "template";

/// The answer to a validation. It is 200 even for a template that is not valid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Validation {
    /// Whether the template may be deployed.
    pub valid: bool,
    /// What forbids it: the first hundred.
    pub errors: Vec<Detail>,
    /// What is worth a look: the first hundred.
    pub warnings: Vec<Detail>,
    /// How many more errors and warnings there are, if not all are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
}

/// One thing that is wrong. `path` and `message` are always there; the rest lets a client draw the
/// source, and each is there only where it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Detail {
    /// Where in the value (`resources.Bot.properties.nmae`).
    pub path: String,
    /// One sentence.
    pub message: String,
    /// What kind (`unknown-property`); `formwork explain` knows each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The file, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the template's text, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1, in characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The line of the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The column after the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u32>,
    /// What would fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Further facts, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Other places that belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedPlace>,
}

/// Another place that a [`Detail`] speaks of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RelatedPlace {
    /// What is there.
    pub message: String,
    /// Where.
    #[serde(flatten)]
    pub place: SourcePlace,
}

/// A place in a template's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourcePlace {
    /// The file, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the end.
    pub end_column: u32,
}

impl From<&Place> for SourcePlace {
    fn from(place: &Place) -> Self {
        Self {
            file: named_file(place),
            line: place.line,
            column: place.column,
            end_line: place.end_line,
            end_column: place.end_column,
        }
    }
}

/// The file of a place. A template is the one text that was sent, so its name says nothing.
fn named_file(place: &Place) -> Option<String> {
    (&*place.file != TEMPLATE).then(|| place.file.to_string())
}

impl From<&Diagnostic> for Detail {
    fn from(diagnostic: &Diagnostic) -> Self {
        let place = diagnostic.place.as_ref();
        let related = diagnostic
            .related
            .iter()
            .map(|related| RelatedPlace { message: related.message.clone(), place: (&related.place).into() });
        Self {
            path: diagnostic.path.to_string(),
            message: diagnostic.message.clone(),
            code: Some(diagnostic.code.as_str().to_owned()),
            file: place.and_then(named_file),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            end_line: place.map(|place| place.end_line),
            end_column: place.map(|place| place.end_column),
            hint: diagnostic.hint.clone(),
            notes: diagnostic.notes.clone(),
            related: related.collect(),
        }
    }
}
