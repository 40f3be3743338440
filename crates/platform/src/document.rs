//! The stored form of an object: its properties with sealed leaves, where those are, and what the
//! type keeps for itself.

use crate::Refusal;
use formwork_model::{
    Digest, InstanceKey, Json, Path, Sealed, Segment, WireCode, canonical_bytes, digest_of,
};
use formwork_secret::Secret;
use formwork_store::{DomainError, StoredObject};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// What stands in the properties where a secret was. Only the paths in [`Document::sealed`] count:
/// the same shape in a person's own data means nothing.
const SEALED: &str = "$sealed";

/// The document of a [`StoredObject`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) properties: Json,
    /// Where the properties hold a sealed value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sealed: Vec<Path>,
    /// What the type keeps for itself; never secret.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) system: Map<String, Json>,
}

/// A document with its secrets in the clear.
pub(crate) struct Opened {
    pub(crate) properties: Secret<Json>,
    /// Where the secrets stand.
    pub(crate) secrets: BTreeSet<Path>,
    /// Where a sealed value could not be opened with this key; it still stands there, sealed.
    pub(crate) shut: BTreeSet<Path>,
}

impl Document {
    /// The document of an object.
    ///
    /// # Errors
    /// [`DomainError::Fault`] if it is not one of ours.
    pub(crate) fn of(object: &StoredObject) -> Result<Self, DomainError> {
        Self::deserialize(&object.doc).map_err(|error| DomainError::Fault(Box::new(error)))
    }

    pub(crate) fn to_json(&self) -> Json {
        let mut members = Map::new();
        members.insert("properties".to_owned(), self.properties.clone());
        if !self.sealed.is_empty() {
            let paths = self.sealed.iter().map(|path| path.segments().iter().map(segment_json).collect());
            members.insert("sealed".to_owned(), Json::Array(paths.collect()));
        }
        if !self.system.is_empty() {
            members.insert("system".to_owned(), Json::Object(self.system.clone()));
        }
        Json::Object(members)
    }

    /// Seals what stands at these paths, which are those of [`effective`].
    pub(crate) fn seal(
        key: &InstanceKey,
        id: &str,
        plain: &Secret<Json>,
        secrets: &BTreeSet<Path>,
        system: Map<String, Json>,
    ) -> Self {
        let mut properties = plain.expose().clone();
        let mut sealed = Vec::new();
        for path in secrets {
            let Some(value) = path.get_mut(&mut properties) else { continue };
            let plaintext = Secret::new(canonical_bytes(value));
            let sealed_value = key.seal(&associated_data(id, path), plaintext.expose());
            let taken = std::mem::replace(value, json!({ SEALED: sealed_value.as_str() }));
            drop(Secret::new(taken));
            sealed.push(path.clone());
        }
        Self { properties, sealed, system }
    }

    /// Seals a text that a type keeps in its system part under this name.
    pub(crate) fn seal_text(key: &InstanceKey, id: &str, name: &str, text: &Secret<String>) -> Json {
        let sealed = key.seal(&system_data(id, name), text.expose().as_bytes());
        json!({ SEALED: sealed.as_str() })
    }

    /// The text that [`Document::seal_text`] sealed; `None` if it cannot be opened with this key.
    pub(crate) fn open_text(
        key: &InstanceKey,
        id: &str,
        name: &str,
        sealed: &Json,
    ) -> Option<Secret<String>> {
        let sealed = Sealed::parse(sealed.get(SEALED)?.as_str()?).ok()?;
        let plaintext = key.open(&system_data(id, name), &sealed).ok()?;
        String::from_utf8(plaintext.into_exposed()).ok().map(Secret::new)
    }

    /// The properties in the clear.
    pub(crate) fn open(&self, key: &InstanceKey, id: &str) -> Opened {
        let mut properties = self.properties.clone();
        let mut secrets = BTreeSet::new();
        let mut shut = BTreeSet::new();
        for path in &self.sealed {
            let Some(leaf) = path.get_mut(&mut properties) else { continue };
            match open_leaf(key, id, path, leaf) {
                Some(value) => *leaf = value.into_exposed(),
                None => {
                    shut.insert(path.clone());
                }
            }
            secrets.insert(path.clone());
        }
        Opened { properties: Secret::new(properties), secrets, shut }
    }

    /// The properties in the clear, all of them.
    ///
    /// # Errors
    /// `SECRET_NOT_DECRYPTABLE` if a sealed value cannot be opened with this key.
    pub(crate) fn open_whole(&self, key: &InstanceKey, id: &str) -> Result<Opened, Refusal> {
        let opened = self.open(key, id);
        opened.shut.first().map_or(Ok(()), |path| Err(cannot_be_opened(path)))?;
        Ok(opened)
    }

    /// What each sealed value compares as; `None` if one cannot be opened with this key.
    pub(crate) fn digests(&self, key: &InstanceKey, id: &str) -> Option<Vec<(Path, Digest)>> {
        let digest = |path: &Path| {
            let value = open_leaf(key, id, path, path.get(&self.properties)?)?;
            Some((path.clone(), digest_of(key, value.expose())))
        };
        self.sealed.iter().map(digest).collect()
    }

    /// The properties without the sealed leaves. In a list null takes the place of one, so that
    /// its neighbours keep their indexes.
    pub(crate) fn without_secrets(&self) -> Json {
        let mut properties = self.properties.clone();
        for path in &self.sealed {
            cut(&mut properties, path);
        }
        properties
    }

    /// The properties with each sealed leaf masked.
    pub(crate) fn masked(&self) -> Json {
        let mut properties = self.properties.clone();
        for path in &self.sealed {
            if let Some(leaf) = path.get_mut(&mut properties) {
                *leaf = formwork_model::mask();
            }
        }
        properties
    }
}

/// The refusal of what takes a stored secret that cannot be opened.
pub(crate) fn cannot_be_opened(path: &Path) -> Refusal {
    let message = format!("The stored secret at `{path}` cannot be opened with this instance's key");
    Refusal::new(WireCode::SecretNotDecryptable, message)
}

fn segment_json(segment: &Segment) -> Json {
    match segment {
        Segment::Key(key) => Json::from(&**key),
        Segment::Index(index) => Json::from(*index),
    }
}

/// The paths at which something stands, without those that lie below another of them.
pub(crate) fn effective(properties: &Json, paths: BTreeSet<Path>) -> BTreeSet<Path> {
    let mut effective: Vec<Path> = Vec::new();
    // In their order a path comes right before all that lie below it.
    for path in paths {
        let stands = path.get(properties).is_some_and(|value| !value.is_null());
        if stands && !effective.last().is_some_and(|last| last.contains(&path)) {
            effective.push(path);
        }
    }
    effective.into_iter().collect()
}

fn open_leaf(key: &InstanceKey, id: &str, path: &Path, leaf: &Json) -> Option<Secret<Json>> {
    let sealed = Sealed::parse(leaf.get(SEALED)?.as_str()?).ok()?;
    let plaintext = key.open(&associated_data(id, path), &sealed).ok()?;
    serde_json::from_slice(plaintext.expose()).ok().map(Secret::new)
}

/// Binds a sealed value to its object and place: moved elsewhere it does not open.
fn associated_data(id: &str, path: &Path) -> Vec<u8> {
    format!("platform-object:{id}:{}", path.pointer()).into_bytes()
}

/// The same for what stands in the system part. A pointer is empty or begins with a slash, so that
/// no place in the properties has this form.
fn system_data(id: &str, name: &str) -> Vec<u8> {
    format!("platform-object:{id}:system:{name}").into_bytes()
}

fn cut(properties: &mut Json, path: &Path) {
    let Some((last, parents)) = path.segments().split_last() else { return };
    let parent: Path = parents.iter().cloned().collect();
    match (parent.get_mut(properties), last) {
        (Some(Json::Object(members)), Segment::Key(key)) => {
            members.shift_remove(&**key);
        }
        (Some(Json::Array(items)), Segment::Index(index)) => {
            if let Some(item) = items.get_mut(*index) {
                *item = Json::Null;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (InstanceKey, Secret<Json>, BTreeSet<Path>) {
        let plain =
            json!({ "name": "n", "list": ["a", {"deep": "zz-canary"}, "c"], "bag": {"k": "zz-canary"} });
        let secrets = BTreeSet::from([
            Path::of(["list"]).index(1),
            Path::of(["list"]).index(1).key("deep"),
            Path::of(["bag", "k"]),
            Path::of(["absent"]),
        ]);
        let secrets = effective(&plain, secrets);
        (InstanceKey::from_bytes([7; 32]), Secret::new(plain), secrets)
    }

    #[test]
    fn sealing_leaves_no_plaintext_and_opening_brings_it_back() {
        let (key, plain, secrets) = sample();
        let document = Document::seal(&key, "x_1", &plain, &secrets, Map::new());
        assert!(!document.to_json().to_string().contains("canary"));
        assert_eq!(document.sealed.len(), 2, "a path below another and an absent one do not count");
        let restored: Document = serde_json::from_value(document.to_json()).expect("our own form");
        assert_eq!(restored, document);
        let opened = restored.open(&key, "x_1");
        assert_eq!(opened.properties.expose(), plain.expose());
        assert!(opened.shut.is_empty());
    }

    #[test]
    fn views_leave_out_or_mask_and_keep_list_positions() {
        let (key, plain, secrets) = sample();
        let document = Document::seal(&key, "x_1", &plain, &secrets, Map::new());
        assert_eq!(document.without_secrets(), json!({ "name": "n", "list": ["a", null, "c"], "bag": {} }));
        let mask = json!({ "no_echo": true });
        assert_eq!(document.masked(), json!({ "name": "n", "list": ["a", mask, "c"], "bag": {"k": mask} }));
    }

    #[test]
    fn a_sealed_value_opens_for_its_own_object_and_key_only() {
        let (key, plain, secrets) = sample();
        let document = Document::seal(&key, "x_1", &plain, &secrets, Map::new());
        assert_eq!(document.open(&key, "x_2").shut.len(), 2);
        assert_eq!(document.open(&InstanceKey::from_bytes([8; 32]), "x_1").shut.len(), 2);
        assert!(document.digests(&key, "x_2").is_none());
    }

    #[test]
    fn a_digest_is_that_of_the_plaintext() {
        let (key, plain, secrets) = sample();
        let document = Document::seal(&key, "x_1", &plain, &secrets, Map::new());
        let digests = document.digests(&key, "x_1").expect("all open");
        assert!(digests.contains(&(Path::of(["bag", "k"]), digest_of(&key, &json!("zz-canary")))));
    }

    #[test]
    fn a_sealed_text_opens_for_its_own_object_and_name_only() {
        let key = InstanceKey::from_bytes([7; 32]);
        let sealed = Document::seal_text(&key, "x_1", "signing", &Secret::new("zz-canary".to_owned()));
        assert!(!sealed.to_string().contains("canary"));
        let open = |id, name| Document::open_text(&key, id, name, &sealed).map(Secret::into_exposed);
        assert_eq!(open("x_1", "signing").as_deref(), Some("zz-canary"));
        assert_eq!(open("x_2", "signing"), None);
        assert_eq!(open("x_1", "other"), None);
    }

    #[test]
    fn data_that_looks_sealed_is_data() {
        let key = InstanceKey::from_bytes([7; 32]);
        let plain = Secret::new(json!({ "metadata": { "$sealed": "v1.not.ours" } }));
        let document = Document::seal(&key, "x_1", &plain, &BTreeSet::new(), Map::new());
        assert_eq!(document.open(&key, "x_1").properties.expose(), plain.expose());
        assert_eq!(&document.without_secrets(), plain.expose());
    }
}
