//! What is shown of an object: to the engine, and over REST.

use crate::{Refusal, TypeEntry, document::Document, versions::VERSION};
use formwork_model::{Digest, InstanceKey, Json, NativeId, Path, Timestamp, TypeRules, WireCode};
use formwork_store::{DomainError, StoredObject};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

/// An object as the engine sees it: its properties in wire shape, secrets left out, with their
/// digests.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) native_id: NativeId,
    pub(crate) properties: Json,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) digests: Vec<(Path, Digest)>,
}

impl View {
    /// The view of an object.
    ///
    /// # Errors
    /// `SECRET_NOT_DECRYPTABLE` if a sealed value cannot be opened with this key.
    pub(crate) fn of(
        entry: &TypeEntry,
        key: &InstanceKey,
        object: &StoredObject,
    ) -> Result<Self, DomainError> {
        let document = Document::of(object)?;
        let digests = document.digests(key, &object.id).ok_or_else(|| {
            let message = format!("A secret of '{}' cannot be opened with this instance's key", object.id);
            Refusal::new(WireCode::SecretNotDecryptable, message)
        })?;
        let shown = document.without_secrets();
        let mut properties = Map::new();
        for (name, property) in &entry.schema().properties {
            if let Some(value) = shown.get(&**name) {
                properties.insert(name.to_string(), value.clone());
            } else if property.nullable && !document.sealed.contains(&Path::root().key(name.clone())) {
                properties.insert(name.to_string(), Json::Null);
            }
        }
        Ok(Self { native_id: object.id.as_str().into(), properties: Json::Object(properties), digests })
    }
}

/// An object as REST shows it: id, project, declared properties, what its type adds, and times.
pub(crate) fn representation(entry: &TypeEntry, object: &StoredObject) -> Result<Json, DomainError> {
    let document = Document::of(object)?;
    let shown = document.masked();
    let mut members = Map::new();
    members.insert("id".to_owned(), json!(object.id));
    if !entry.is_global() {
        members.insert("project_id".to_owned(), json!(object.project));
    }
    for (name, property) in &entry.stored_schema().properties {
        if property.hint.write_only {
            continue;
        }
        members.insert(name.to_string(), shown.get(&**name).cloned().unwrap_or_default());
    }
    if entry.kind().versioned().is_some() {
        members.insert(VERSION.to_owned(), document.system.get(VERSION).cloned().unwrap_or_default());
    }
    for extra in entry.kind().extras() {
        members.insert(extra.name.to_owned(), (extra.value)(&document.system));
    }
    entry.kind().derive(&shown, &mut members);
    members.insert("created_at".to_owned(), json!(iso(object.created_at)));
    members.insert("updated_at".to_owned(), json!(iso(object.updated_at)));
    Ok(Json::Object(members))
}

/// A moment as ISO 8601 with milliseconds, UTC (`formations-behaviour.md` §1.1).
pub(crate) fn iso(moment: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(moment.0).unwrap_or(jiff::Timestamp::MAX);
    moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds_and_z() {
        assert_eq!(iso(Timestamp(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(Timestamp(1_751_328_000_120)), "2025-07-01T00:00:00.120Z");
    }
}
