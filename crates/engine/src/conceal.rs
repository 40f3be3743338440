//! From a provider's properties to what the ledger may keep of them: secrets become digests.

use crate::censor::Censor;
use formwork_model::{
    Digest, InputLeaf, InputPart, Inputs, InstanceKey, Json, Path, Row, Segment, Stored, StoredLeaf,
    digest_of,
};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// Where in a row's properties secrets are known to stand.
pub(crate) type SecretPlaces = BTreeSet<Path>;

/// The places at which anything that the row keeps has a secret.
///
/// An observation and a guard's read use the same places, so that their fingerprints agree.
pub(crate) fn secret_places(row: &Row) -> SecretPlaces {
    let mut places = SecretPlaces::new();
    let objects = row.current.iter().chain(&row.deposed);
    let kept = objects.flat_map(|object| [&object.sent, &object.echo]);
    for stored in kept.chain(row.intent.iter().map(|intent| &intent.sent)) {
        stored.for_each_leaf(&mut |path, leaf| {
            if matches!(leaf, StoredLeaf::Sealed { .. } | StoredLeaf::Digest(_)) {
                places.insert(path.clone());
            }
        });
    }
    places
}

/// The places at which a step sends secrets.
pub(crate) fn secret_inputs(inputs: &Inputs) -> SecretPlaces {
    let mut places = SecretPlaces::new();
    inputs.for_each_leaf(&mut |path, leaf| {
        let secret = match leaf {
            InputLeaf::Secret { .. } | InputLeaf::Kept(_) => true,
            InputLeaf::Template(parts) => parts.iter().any(|part| matches!(part, InputPart::Secret { .. })),
            InputLeaf::Ref(_) => false,
        };
        if secret {
            places.insert(path.clone());
        }
    });
    places
}

/// What has to be known to keep secrets out of the ledger.
#[derive(Clone, Copy)]
pub(crate) struct Secrecy<'a> {
    /// Where secrets are known to stand.
    pub(crate) places: &'a SecretPlaces,
    /// Which texts hold a secret.
    pub(crate) censor: &'a Censor,
    /// What digests are made under.
    pub(crate) key: &'a InstanceKey,
}

/// What the ledger may keep of a provider's properties.
///
/// A provider leaves secrets out, but one that does not must not put them into the ledger: a value
/// at a place of a secret, and a text that holds a secret of the operation, become digests.
/// `digests` are of secrets that the provider left out.
pub(crate) fn conceal(properties: Json, digests: &[(Path, Digest)], secrecy: Secrecy<'_>) -> Stored {
    let Secrecy { places, censor, key } = secrecy;
    let mut leaves: BTreeMap<Path, Digest> = digests.iter().cloned().collect();
    for place in places {
        if let Some(value) = place.get(&properties).filter(|value| !value.is_null()) {
            leaves.entry(place.clone()).or_insert_with(|| digest_of(key, value));
        }
    }
    if !censor.is_empty() {
        find_secrets(&properties, &mut Path::root(), censor, key, &mut leaves);
    }
    if leaves.is_empty() {
        return Stored::Plain(properties);
    }
    place_leaves(Some(properties), &mut Path::root(), &leaves)
}

/// Adds the texts that hold a secret.
fn find_secrets(
    value: &Json,
    path: &mut Path,
    censor: &Censor,
    key: &InstanceKey,
    leaves: &mut BTreeMap<Path, Digest>,
) {
    match value {
        Json::String(text) if censor.finds(text) => {
            leaves.entry(path.clone()).or_insert_with(|| digest_of(key, value));
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Segment::Index(index));
                find_secrets(item, path, censor, key, leaves);
                path.pop();
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                path.push(Segment::Key(name.as_str().into()));
                find_secrets(member, path, censor, key, leaves);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The value as a tree with the leaves at their paths; a leaf of a missing member adds it.
fn place_leaves(value: Option<Json>, path: &mut Path, leaves: &BTreeMap<Path, Digest>) -> Stored {
    if let Some(digest) = leaves.get(path) {
        return Stored::Leaf(StoredLeaf::Digest(*digest));
    }
    let here = path.clone();
    let depth = here.segments().len();
    // The paths below one path follow it directly in the order of paths.
    let mut below = leaves.range(&here..).map(|(leaf, _)| leaf).take_while(|leaf| here.contains(leaf));
    let Some(first) = below.next() else { return Stored::Plain(value.unwrap_or_default()) };
    let names = std::iter::once(first).chain(below).filter_map(|leaf| leaf.segments().get(depth));
    match value {
        Some(Json::Array(items)) => {
            let mut placed = Vec::with_capacity(items.len());
            for (index, item) in items.into_iter().enumerate() {
                path.push(Segment::Index(index));
                placed.push(place_leaves(Some(item), path, leaves));
                path.pop();
            }
            Stored::array(placed)
        }
        Some(Json::Object(_)) | None => {
            let mut members = match value {
                Some(Json::Object(members)) => members,
                _ => serde_json::Map::new(),
            };
            let mut placed = IndexMap::new();
            for (name, member) in std::mem::take(&mut members) {
                path.push(Segment::Key(name.as_str().into()));
                placed.insert(name.as_str().into(), place_leaves(Some(member), path, leaves));
                path.pop();
            }
            for name in names {
                let Segment::Key(name) = name else { continue };
                if !placed.contains_key(name) {
                    path.push(Segment::Key(name.clone()));
                    placed.insert(name.clone(), place_leaves(None, path, leaves));
                    path.pop();
                }
            }
            Stored::object(placed)
        }
        // A leaf below a plain value has no place.
        Some(plain) => Stored::Plain(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::Secret;
    use serde_json::json;

    fn key() -> InstanceKey {
        InstanceKey::from_bytes([7; 32])
    }

    fn concealed(properties: Json, digests: &[(Path, Digest)], places: &[Path], secret: &str) -> Stored {
        let slots = [("s".into(), Secret::new(json!(secret)))].into_iter().collect();
        let places = places.iter().cloned().collect();
        let (censor, key) = (Censor::new(&slots), key());
        conceal(properties, digests, Secrecy { places: &places, censor: &censor, key: &key })
    }

    #[test]
    fn properties_without_secrets_stay_plain() {
        let properties = json!({"a": [1, {"b": "c"}]});
        assert_eq!(
            concealed(properties.clone(), &[], &[Path::of(["x", "y"])], "hunter2hunter2"),
            Stored::Plain(properties)
        );
    }

    #[test]
    fn a_digest_of_a_secret_that_was_left_out_gets_its_place() {
        let digest = digest_of(&key(), &json!("pw"));
        let stored =
            concealed(json!({"a": 1}), &[(Path::of(["login", "password"]), digest)], &[], "hunter2hunter2");
        assert_eq!(
            stored.at(&Path::of(["login", "password"])),
            Some(Stored::Leaf(StoredLeaf::Digest(digest)))
        );
        assert_eq!(stored.at(&Path::of(["a"])), Some(Stored::Plain(json!(1))));
    }

    #[test]
    fn a_value_at_a_place_of_a_secret_becomes_its_digest() {
        let stored =
            concealed(json!({"p": ["x", "short"]}), &[], &[Path::of(["p"]).index(1)], "unrelated-text");
        let digest = digest_of(&key(), &json!("short"));
        assert_eq!(stored.at(&Path::of(["p"]).index(1)), Some(Stored::Leaf(StoredLeaf::Digest(digest))));
    }

    #[test]
    fn a_text_that_holds_a_secret_becomes_a_digest_wherever_it_stands() {
        let stored = concealed(json!({"url": "db://u:hunter2hunter2@h", "n": 1}), &[], &[], "hunter2hunter2");
        assert_eq!(stored.masked(), json!({"url": {"no_echo": true}, "n": 1}));
        assert!(!serde_json::to_string(&stored).unwrap().contains("hunter2"));
    }

    #[test]
    fn a_digest_below_a_plain_value_changes_nothing() {
        let digest = digest_of(&key(), &json!("pw"));
        let stored = concealed(json!({"a": 1}), &[(Path::of(["a", "b"]), digest)], &[], "hunter2hunter2");
        assert_eq!(stored, Stored::Plain(json!({"a": 1})));
    }
}
