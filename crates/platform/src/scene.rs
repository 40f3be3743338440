//! What a type sees while one of its objects is about to be written.

use formwork_model::{ActorId, InstanceKey, Json, Path, ProjectId};
use formwork_secret::Secret;
use serde_json::Map;
use std::collections::BTreeSet;

/// An object that is about to be written, with its secrets in the clear.
pub(crate) struct Scene<'a> {
    pub(crate) key: &'a InstanceKey,
    pub(crate) id: &'a str,
    pub(crate) project: &'a ProjectId,
    /// Who writes it.
    pub(crate) actor: &'a ActorId,
    /// What it was; `None` on create.
    pub(crate) before: Option<&'a Json>,
    pub(crate) after: &'a Json,
    /// Where secrets stand in `after`.
    pub(crate) secrets: &'a BTreeSet<Path>,
    /// What the type keeps for itself, to be changed.
    pub(crate) system: &'a mut Map<String, Json>,
    /// What whoever makes it is told once.
    pub(crate) revealed: &'a mut Revealed,
}

/// What is answered once, to whoever makes an object over REST. It is stored nowhere in the clear.
pub(crate) type Revealed = Vec<(&'static str, Secret<String>)>;

impl Scene<'_> {
    /// Whether the property is, or holds, a secret.
    pub(crate) fn is_secret(&self, property: &str) -> bool {
        let path = Path::of([property]);
        self.secrets.iter().any(|secret| path.contains(secret))
    }

    /// Tells whoever makes the object a secret. It is told over REST only: a formation is readable
    /// by too many.
    pub(crate) fn reveal(&mut self, name: &'static str, secret: Secret<String>) {
        self.revealed.push((name, secret));
    }

    /// Whether the property changes; on create each does.
    pub(crate) fn changes(&self, property: &str) -> bool {
        self.before.is_none_or(|before| before.get(property) != self.after.get(property))
    }
}
