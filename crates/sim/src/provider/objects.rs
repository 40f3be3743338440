//! An object of the provider.

use super::Mark;
use crate::catalog::Backend;
use formwork_model::{Json, Path, Timestamp};

/// An object of the provider.
#[derive(Clone, Debug, PartialEq)]
pub struct SimObject {
    /// Its type.
    pub backend: Backend,
    /// Its properties, secrets in the clear.
    pub properties: Json,
    /// When it was made.
    pub made_at: Timestamp,
    /// What the call that made it was meant for.
    pub mark: Option<Mark>,
}

impl SimObject {
    /// What can be read of it: everything but secrets.
    pub fn readable(&self) -> Json {
        let mut readable = self.properties.clone();
        if let Some(members) = readable.as_object_mut() {
            members.shift_remove("password");
        }
        readable
    }

    /// Its properties after an update: what is not sent and not the provider's own stays away.
    pub(super) fn after_update(&self, desired: &Json, kept: &[Path]) -> Json {
        let mut after = filled(desired);
        for path in kept {
            if let (Some(own), Some(members), [formwork_model::Segment::Key(key)]) =
                (path.get(&self.properties), after.as_object_mut(), path.segments())
            {
                members.insert(key.to_string(), own.clone());
            }
        }
        after
    }

    /// The native ids that it refers to.
    pub fn uses(&self) -> impl Iterator<Item = &str> {
        self.properties.get("uses").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    }
}

/// What was sent, with what the provider fills in.
pub(super) fn filled(sent: &Json) -> Json {
    let mut filled = sent.clone();
    if let Some(members) = filled.as_object_mut() {
        members.entry("colour").or_insert_with(|| Json::from("grey"));
    }
    filled
}
