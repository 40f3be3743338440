//! Values by phase: declared, planned, sent, stored.

use crate::{Digest, Json, Leaf, Ref, RowRef, Secret, SlotId, Tree};
use formwork_secret::InstanceKey;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A declared value: data with expressions in it.
pub type Expr = Tree<ExprLeaf>;
/// What a plan knows of a value; safe to show and store.
pub type Planned = Tree<PlannedLeaf>;
/// What a step will send once its references are known; safe to store, secrets are slots.
pub type Inputs = Tree<InputLeaf>;
/// What a row keeps of a value; safe to store.
pub type Stored = Tree<StoredLeaf>;

/// The plaintexts of an operation's secret inputs, by slot. In memory only; a store gets them sealed.
pub type SecretSlots = BTreeMap<SlotId, Secret<Json>>;

/// What can stand for a value in a declaration.
#[derive(Clone, Debug)]
pub enum ExprLeaf {
    /// A reference to another resource.
    Ref(Ref),
    /// A text with references in it. It has at least one [`Part::Ref`]; secrets in it make it
    /// secret.
    Template(Vec<Part>),
    /// A value that must not be shown or stored.
    Secret(Secret<Json>),
    /// "Whatever was there": reuses the previous value at this path, or is dropped where there is
    /// none (seed 4, "Reusing Previously Stored Values").
    KeepPrevious,
    /// Evaluated at the first apply, kept afterwards (`setOnce`).
    Once(Box<Expr>),
}

/// A piece of a [`ExprLeaf::Template`].
#[derive(Clone, Debug)]
pub enum Part {
    /// Literal text.
    Text(Arc<str>),
    /// A reference, written as text.
    Ref(Ref),
    /// A secret, written as text.
    Secret(Secret<Json>),
}

/// What can stand for a value in a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedLeaf {
    /// Known only while the plan runs.
    Unknown {
        /// The references it waits for; at least one.
        from: Vec<Ref>,
        /// Whether it will be secret.
        secret: bool,
    },
    /// Known and secret: only whether two are equal can be told.
    Secret(Digest),
    /// The provider's own copy is kept; nobody else holds the plaintext.
    Kept(Digest),
}

/// What can stand for a value in the inputs of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputLeaf {
    /// A reference, bound to the row that will answer it.
    Ref(BoundRef),
    /// A text with at least one reference.
    Template(Vec<InputPart>),
    /// A secret, kept in a slot of the operation.
    Secret {
        /// Where its plaintext is.
        slot: SlotId,
        /// What it compares as.
        digest: Digest,
    },
    /// The provider keeps its own copy: the call names the path instead of sending a value.
    Kept(Digest),
}

/// A piece of an [`InputLeaf::Template`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputPart {
    /// Literal text.
    Text(Arc<str>),
    /// A reference, written as text.
    Ref(BoundRef),
    /// A secret, written as text.
    Secret {
        /// Where its plaintext is.
        slot: SlotId,
        /// What it compares as.
        digest: Digest,
    },
}

/// A reference bound to a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundRef {
    /// The row that answers it.
    pub row: RowRef,
    /// The reference as declared.
    pub reference: Ref,
}

/// What can stand for a value in a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredLeaf {
    /// What a reference had resolved to when it was sent.
    Resolved {
        /// The reference as declared.
        reference: Ref,
        /// Its value then.
        sent: Json,
    },
    /// A secret that the row keeps sealed, because it will be needed again.
    Sealed {
        /// Where the sealed plaintext is.
        slot: SlotId,
        /// What it compares as.
        digest: Digest,
    },
    /// A secret whose type keeps its own copy.
    Digest(Digest),
}

impl Leaf for ExprLeaf {}
impl Leaf for PlannedLeaf {}
impl Leaf for InputLeaf {}
impl Leaf for StoredLeaf {}

impl Stored {
    /// The value as it compares: references as what they resolved to, secrets as their digest in
    /// a shape that no plain value has.
    pub fn comparable(&self) -> Json {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Leaf(StoredLeaf::Resolved { sent, .. }) => sent.clone(),
            Self::Leaf(StoredLeaf::Sealed { digest, .. } | StoredLeaf::Digest(digest)) => {
                digest_marker(*digest)
            }
            Self::Array(items) => items.iter().map(Self::comparable).collect(),
            Self::Object(members) => Json::Object(
                members.iter().map(|(key, member)| (key.to_string(), member.comparable())).collect(),
            ),
        }
    }

    /// The value as it may be shown: references resolved, secrets as `{"no_echo": true}` (seed 4,
    /// "Secrets in Templates").
    pub fn masked(&self) -> Json {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Leaf(StoredLeaf::Resolved { sent, .. }) => sent.clone(),
            Self::Leaf(StoredLeaf::Sealed { .. } | StoredLeaf::Digest(_)) => mask(),
            Self::Array(items) => items.iter().map(Self::masked).collect(),
            Self::Object(members) => {
                Json::Object(members.iter().map(|(key, member)| (key.to_string(), member.masked())).collect())
            }
        }
    }
}

impl Planned {
    /// Whether nothing in it is unknown.
    pub fn is_known(&self) -> bool {
        let mut known = true;
        self.for_each_leaf(&mut |_, leaf| known &= !matches!(leaf, PlannedLeaf::Unknown { .. }));
        known
    }

    /// The value as it compares, where all of it is known; the twin of [`Stored::comparable`].
    pub fn comparable(&self) -> Option<Json> {
        match self {
            Self::Plain(value) => Some(value.clone()),
            Self::Leaf(PlannedLeaf::Secret(digest) | PlannedLeaf::Kept(digest)) => {
                Some(digest_marker(*digest))
            }
            Self::Leaf(PlannedLeaf::Unknown { .. }) => None,
            Self::Array(items) => items.iter().map(Self::comparable).collect(),
            Self::Object(members) => members
                .iter()
                .map(|(key, member)| Some((key.to_string(), member.comparable()?)))
                .collect::<Option<_>>()
                .map(Json::Object),
        }
    }

    /// The value as it may be shown: secrets masked, an unknown as `{"ref": "Label"}`.
    pub fn masked(&self) -> Json {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Leaf(
                PlannedLeaf::Secret(_) | PlannedLeaf::Kept(_) | PlannedLeaf::Unknown { secret: true, .. },
            ) => mask(),
            Self::Leaf(PlannedLeaf::Unknown { from, .. }) => match from.as_slice() {
                [only] => serde_json::json!({ "ref": only.to_string() }),
                several => {
                    serde_json::json!({ "ref": several.iter().map(ToString::to_string).collect::<Vec<_>>() })
                }
            },
            Self::Array(items) => items.iter().map(Self::masked).collect(),
            Self::Object(members) => {
                Json::Object(members.iter().map(|(key, member)| (key.to_string(), member.masked())).collect())
            }
        }
    }
}

/// What a masked secret reads as, an object on purpose: sending it back fails a string check
/// (seed 4, "Secrets in Templates").
pub fn mask() -> Json {
    serde_json::json!({ "no_echo": true })
}

/// How a secret compares: its digest, in an object that data cannot be mistaken for without
/// knowing the instance key.
fn digest_marker(digest: Digest) -> Json {
    serde_json::json!({ "\u{0}digest": serde_json::to_value(digest).unwrap_or_default() })
}

/// The digest that a secret value compares as.
pub fn digest_of(key: &InstanceKey, value: &Json) -> Digest {
    key.digest(&crate::canonical_bytes(value))
}

/// How a value reads inside a text: a string as it is, anything else as JSON.
pub fn as_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
