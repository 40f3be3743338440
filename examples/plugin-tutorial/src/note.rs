//! What a note is.

use crate::store::Refusal;
use formwork_model::Json;
use serde::{Deserialize, Serialize};

/// The type's name.
pub(crate) const TYPE: &str = "NOTES::Book::Note";

/// A note as it is declared and shown: the properties of the schema, and no others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    name: Name,
    pub(crate) text: String,
}

/// A name that is one of a file, and of nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if (1..=64).contains(&name.len()) && name.bytes().all(is_fit) {
            return Ok(Self(name));
        }
        Err("a name has between 1 and 64 letters, digits and dashes")
    }
}

impl Note {
    /// A note from declared properties.
    pub(crate) fn declared(properties: &Json) -> Result<Self, Refusal> {
        Self::deserialize(properties).map_err(|error| Refusal::invalid(error.to_string()))
    }

    /// A note of this name, if there can be one.
    pub(crate) fn new(name: &str, text: String) -> Option<Self> {
        Some(Self { name: Name::try_from(name.to_owned()).ok()?, text })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name.0
    }

    /// Its properties: exactly what was declared, so that a plan finds nothing to do.
    pub(crate) fn shown(&self) -> Json {
        serde_json::json!({ "name": self.name.0, "text": self.text })
    }
}
