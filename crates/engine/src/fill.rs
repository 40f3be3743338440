//! From what a call would send, with slots, to what it does send: secrets are put in at the last
//! moment and taken out of what a provider is told of the past.

use formwork_engine_core::{SecretFill, SecretPiece};
use formwork_model::{Json, Path, Secret, Segment, SlotId, Stored, StoredLeaf, as_text};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A slot whose plaintext nobody holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plaintext of slot `{0}` is not there")]
pub(crate) struct EmptySlot(pub(crate) SlotId);

/// The value with its secrets in the clear.
pub(crate) fn fill<'a>(
    stored: &Stored,
    fills: &[SecretFill],
    plaintext: &impl Fn(&SlotId) -> Option<&'a Secret<Json>>,
) -> Result<Secret<Json>, EmptySlot> {
    let mut values: BTreeMap<&Path, Json> = BTreeMap::new();
    for fill in fills {
        values.insert(&fill.path, join(&fill.pieces, plaintext)?);
    }
    let filled: Result<_, Infallible> = stored.try_map::<Infallible, _>(&mut |path, leaf| {
        Ok(match leaf {
            StoredLeaf::Resolved { sent, .. } => {
                Some(formwork_model::Tree::Plain(values.remove(path).unwrap_or_else(|| sent.clone())))
            }
            StoredLeaf::Sealed { .. } | StoredLeaf::Digest(_) => {
                values.remove(path).map(formwork_model::Tree::Plain)
            }
        })
    });
    let Ok(filled) = filled;
    let mut filled = filled.and_then(formwork_model::Tree::into_plain).unwrap_or_default();
    for (path, value) in values {
        put(&mut filled, path, value);
    }
    Ok(Secret::new(filled))
}

/// The value without its secrets, for "what it was".
pub(crate) fn without_secrets(stored: &Stored) -> Json {
    let plain: Result<_, Infallible> = stored.try_map::<Infallible, _>(&mut |_, leaf| {
        Ok(match leaf {
            StoredLeaf::Resolved { sent, .. } => Some(formwork_model::Tree::Plain(sent.clone())),
            StoredLeaf::Sealed { .. } | StoredLeaf::Digest(_) => None,
        })
    });
    let Ok(plain) = plain;
    plain.and_then(formwork_model::Tree::into_plain).unwrap_or_default()
}

fn join<'a>(
    pieces: &[SecretPiece],
    plaintext: &impl Fn(&SlotId) -> Option<&'a Secret<Json>>,
) -> Result<Json, EmptySlot> {
    let of_slot = |slot: &SlotId| plaintext(slot).ok_or_else(|| EmptySlot(slot.clone()));
    if let [SecretPiece::Slot(slot)] = pieces {
        return Ok(of_slot(slot)?.expose().clone());
    }
    let mut text = String::new();
    for piece in pieces {
        match piece {
            SecretPiece::Text(literal) => text.push_str(literal),
            SecretPiece::Slot(slot) => text.push_str(&as_text(of_slot(slot)?.expose())),
            // What a provider alone knew is in a slot by now.
            SecretPiece::Output(output) => return Err(EmptySlot(SlotId::from(output.label.as_str()))),
        }
    }
    Ok(Json::String(text))
}

/// Puts a value where the stored form has no leaf for it, making the objects on the way.
fn put(into: &mut Json, path: &Path, value: Json) {
    let mut place = into;
    for segment in path.segments() {
        place = match segment {
            Segment::Key(key) => {
                if !place.is_object() {
                    *place = Json::Object(serde_json::Map::new());
                }
                let Json::Object(members) = place else { return };
                members.entry(&**key).or_insert(Json::Null)
            }
            Segment::Index(index) => match place.get_mut(*index) {
                Some(item) => item,
                None => return,
            },
        };
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::{InstanceKey, Ref, SecretSlots, digest_of};
    use serde_json::json;

    fn leaf(slot: &str) -> Stored {
        let digest = digest_of(&InstanceKey::from_bytes([7; 32]), &json!("x"));
        Stored::Leaf(StoredLeaf::Sealed { slot: slot.into(), digest })
    }

    fn stored() -> Stored {
        let resolved = StoredLeaf::Resolved { reference: Ref::native_id("Db"), sent: json!("db-1") };
        Stored::object(
            [
                ("name".into(), Stored::Plain(json!("n"))),
                ("db".into(), Stored::Leaf(resolved)),
                ("password".into(), leaf("a")),
                ("urls".into(), Stored::array(vec![leaf("a"), leaf("b")])),
            ]
            .into_iter()
            .collect(),
        )
    }

    fn slots() -> SecretSlots {
        [("a".into(), Secret::new(json!("hunter2"))), ("n".into(), Secret::new(json!({"deep": 1})))]
            .into_iter()
            .collect()
    }

    fn fill_of(path: Path, pieces: Vec<SecretPiece>) -> SecretFill {
        SecretFill { path, pieces }
    }

    #[test]
    fn secrets_are_put_in_whole_or_joined_as_text_and_unfilled_ones_are_left_out() {
        let slots = slots();
        let fills = [
            fill_of(Path::of(["password"]), vec![SecretPiece::Slot("n".into())]),
            fill_of(
                Path::of(["urls"]).index(1),
                vec![SecretPiece::Text("u:".into()), SecretPiece::Slot("a".into())],
            ),
            fill_of(Path::of(["extra", "token"]), vec![SecretPiece::Slot("a".into())]),
        ];
        let filled = fill(&stored(), &fills, &|slot| slots.get(slot)).expect("all slots are there");
        assert_eq!(
            filled.expose(),
            &json!({
                "name": "n", "db": "db-1", "password": {"deep": 1}, "urls": ["u:hunter2"],
                "extra": {"token": "hunter2"},
            })
        );
    }

    #[test]
    fn a_slot_without_plaintext_is_named() {
        let fills = [fill_of(Path::of(["password"]), vec![SecretPiece::Slot("gone".into())])];
        let slots = slots();
        let error = fill(&stored(), &fills, &|slot| slots.get(slot)).expect_err("it is not there");
        assert_eq!(error, EmptySlot("gone".into()));
    }

    #[test]
    fn what_it_was_has_no_secret() {
        assert_eq!(without_secrets(&stored()), json!({"name": "n", "db": "db-1", "urls": []}));
    }
}
