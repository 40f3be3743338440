//! `LOCAL::Random::Id`: some random bytes, spelled in the ways that names need.

use crate::fault::Fault;
use crate::fields::{self, Extent, Fields, short_text, whole};
use crate::kept::{Made, Maker, keepers};
use crate::local_type::Site;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use formwork_model::Json;
use formwork_plugin::PropertyProblem;
use serde_json::Map;

/// The most bytes.
const MOST: u64 = 1_024;

pub(crate) struct IdMaker;

struct Declared {
    length: usize,
    prefix: String,
}

fn declared(fields: &mut Fields<'_>) -> Option<Declared> {
    let length = fields.required("byteLength", |value| whole(value, 1, MOST));
    let prefix = fields.optional("prefix", |value| short_text(value, 255)).unwrap_or_default();
    fields.optional("keepers", keepers);
    Some(Declared { length: usize::try_from(length?).ok()?, prefix })
}

impl Maker for IdMaker {
    const NOUN: &'static str = "random id";
    const SHELF: &'static str = "random-ids";
    const PREFIX: &'static str = "id";
    const CHANGES: bool = false;
    const OUTPUTS: &'static [&'static str] = &["hex", "base64Url"];
    const SECRETS: &'static [&'static str] = &[];

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        fields::problems(properties, extent, declared)
    }

    fn make(&self, _: &Site, properties: &Json) -> Result<Made, Fault> {
        let Declared { length, prefix } = fields::read("a random id", properties, declared)?;
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            bytes.extend(formwork_secret::random_bytes::<32>());
        }
        bytes.truncate(length);
        let mut outputs = Map::new();
        outputs.insert("hex".to_owned(), format!("{prefix}{}", formwork_secret::hex(&bytes)).into());
        outputs.insert("base64Url".to_owned(), format!("{prefix}{}", URL_SAFE_NO_PAD.encode(&bytes)).into());
        Ok(Made { outputs, secrets: Map::new() })
    }
}
