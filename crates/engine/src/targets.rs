//! What a plugin is told of where an object lives: the configuration of its target, from the row
//! that declares the target, with the secrets in it opened.

use crate::fill::fill;
use crate::slots;
use formwork_engine_core::{SecretFill, SecretPiece};
use formwork_model::{
    Failure, InstanceKey, Json, Path, Row, RowId, Secret, SecretSlots, SlotId, StackId, Stored, StoredLeaf,
    TARGET_TYPE, TargetName, TargetRev, WireCode, is_target_stack,
};
use formwork_store::Store;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Where an object lives.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// At its type's only place.
    Only,
    /// At a target.
    Target(Box<Declared>),
    /// At a target that has no object.
    Missing(TargetName),
}

/// A target as its row has it.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) row: RowId,
    name: TargetName,
    sent: Stored,
}

impl Place {
    /// Where a target is, given the row of its name.
    pub(crate) fn new(target: &TargetRev, row: Option<&Row>) -> Self {
        if *target == TargetRev::default() {
            return Self::Only;
        }
        match row.and_then(|row| Some((row, row.current.as_ref()?))) {
            Some((row, object)) => Self::Target(Box::new(Declared {
                row: row.id.clone(),
                name: target.name.clone(),
                sent: object.sent.clone(),
            })),
            None => Self::Missing(target.name.clone()),
        }
    }

    /// Where the target of a row is; without one, a type's only place.
    pub(crate) fn of_row(row: Option<&Row>) -> Self {
        let Some(row) = row else { return Self::Only };
        Self::new(&TargetRev { name: row.label.as_str().into(), revision: 0 }, Some(row))
    }

    /// Its configuration. `known` is what an operation brought; the rest is in the store.
    ///
    /// # Errors
    /// If there is no such target, or a secret in it that can't be opened.
    pub(crate) async fn config(
        &self,
        store: &dyn Store,
        key: &InstanceKey,
        known: &SecretSlots,
    ) -> Result<Config, Failure> {
        match self {
            Self::Only => Ok(Config::default()),
            Self::Missing(name) => {
                let message = format!("the target `{name}` does not exist");
                Err(Failure::new(WireCode::ResourceNotFound, message))
            }
            Self::Target(declared) => declared.config(store, key, known).await,
        }
    }
}

/// The configuration of a target.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// What its plugin is told.
    pub(crate) value: Secret<Json>,
    /// The secrets in it.
    pub(crate) secrets: SecretSlots,
}

impl Default for Config {
    /// That of a type's only place: nothing.
    fn default() -> Self {
        Self { value: Secret::new(Json::Object(serde_json::Map::new())), secrets: SecretSlots::new() }
    }
}

impl Declared {
    /// Whether it is the same target with the same configuration.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.row == other.row && self.sent == other.sent
    }

    async fn config(
        &self,
        store: &dyn Store,
        key: &InstanceKey,
        known: &SecretSlots,
    ) -> Result<Config, Failure> {
        let fills = self.fills()?;
        let mut secrets = SecretSlots::new();
        let mut missing = Vec::new();
        for (_, slot) in &fills {
            match known.get(slot) {
                Some(value) => drop(secrets.insert(slot.clone(), value.clone())),
                None => missing.push(slot.clone()),
            }
        }
        if !missing.is_empty() {
            secrets.extend(self.opened(store, key, &missing).await?);
        }
        let pieces =
            |(path, slot): (Path, SlotId)| SecretFill { path, pieces: vec![SecretPiece::Slot(slot)] };
        let fills: Vec<_> = fills.into_iter().map(pieces).collect();
        let properties = fill(&self.sent, &fills, &|slot| secrets.get(slot))
            .map_err(|empty| self.unavailable(&empty.to_string()))?;
        let value = properties.into_exposed().get_mut("config").map(Json::take).unwrap_or_default();
        Ok(Config { value: Secret::new(value), secrets })
    }

    /// Where in the properties which slot stands.
    fn fills(&self) -> Result<Vec<(Path, SlotId)>, Failure> {
        let mut fills = Vec::new();
        let mut lost = None;
        self.sent.for_each_leaf(&mut |path, leaf| match leaf {
            StoredLeaf::Sealed { slot, .. } => fills.push((path.clone(), slot.clone())),
            StoredLeaf::Digest(_) => lost = Some(path.clone()),
            StoredLeaf::Resolved { .. } => {}
        });
        match lost {
            Some(path) => {
                Err(self.unavailable(&format!("`{path}` is a secret of which only a digest is kept")))
            }
            None => Ok(fills),
        }
    }

    async fn opened(
        &self,
        store: &dyn Store,
        key: &InstanceKey,
        wanted: &[SlotId],
    ) -> Result<SecretSlots, Failure> {
        let sealed = store.reader().row_slots(&self.row).await.map_err(|error| {
            tracing::warn!(%error, target = %self.name, "the secrets of a target can't be read");
            Failure::new(WireCode::InternalError, "the stored secrets can't be read")
        })?;
        let mut opened = BTreeMap::new();
        for (slot, sealed) in sealed.iter().filter(|(slot, _)| wanted.contains(slot)) {
            let value = slots::open_row_slot(key, &self.row, slot, sealed)
                .map_err(|error| Failure::new(WireCode::SecretNotDecryptable, error.to_string()))?;
            opened.insert(slot.clone(), value);
        }
        Ok(opened)
    }

    fn unavailable(&self, why: &str) -> Failure {
        let message = format!("the configuration of the target `{}` is not whole: {why}", self.name);
        Failure::new(WireCode::SecretUnavailable, message)
    }
}

/// The configurations that an operation knows, each as long as its target is as it was.
#[derive(Debug, Default)]
pub(crate) struct Targets(Mutex<BTreeMap<RowId, (Declared, Secret<Json>)>>);

impl Targets {
    /// The configuration of a place, if it is known.
    pub(crate) fn get(&self, place: &Place) -> Option<Secret<Json>> {
        let Place::Target(declared) = place else { return None };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, config) = known.get(&declared.row)?;
        of.is(declared).then(|| config.clone())
    }

    /// Keeps the configuration of a place.
    pub(crate) fn put(&self, place: &Place, config: &Config) {
        if let Place::Target(declared) = place {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(declared.row.clone(), (Declared::clone(declared), config.value.clone()));
        }
    }
}

/// The row of the target that a name means in a stack: the stack's own, or the project's.
pub(crate) fn target_row<'r>(
    rows: impl Iterator<Item = &'r Row>,
    stack: &StackId,
    name: &TargetName,
) -> Option<&'r Row> {
    let mut shared = None;
    for row in rows {
        if row.type_name.as_str() != TARGET_TYPE || row.label.as_str() != name.as_str() {
            continue;
        }
        if row.stack == *stack {
            return Some(row);
        }
        if is_target_stack(&row.stack) {
            shared = Some(row);
        }
    }
    shared
}
