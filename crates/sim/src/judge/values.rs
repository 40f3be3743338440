//! What a declaration comes to, once its references are known.

use crate::declare::{Declaration, Declared};
use formwork_model::{Json, Row, as_text, same};
use serde_json::Map;
use std::collections::BTreeMap;

/// What a declared resource should look like at the provider. References are followed through the
/// ledger's rows to objects, and through the declaration to sizes.
pub(crate) fn evaluated(
    resource: &Declared,
    declaration: &Declaration,
    live: &BTreeMap<&str, &Row>,
) -> Map<String, Json> {
    let mut wanted = Map::new();
    wanted.insert("name".to_owned(), resource.name(&declaration.stack).into());
    wanted.insert("size".to_owned(), resource.size.into());
    wanted.insert("zone".to_owned(), resource.zone.into());
    if let Some(note) = &resource.note {
        wanted.insert("note".to_owned(), note.as_str().into());
    }
    if let Some(password) = &resource.password {
        wanted.insert("password".to_owned(), password.as_str().into());
    }
    if !resource.uses.is_empty() {
        let ids = resource.uses.iter().map(|label| {
            let object = live.get(label.as_str()).and_then(|row| row.current.as_ref());
            object.map_or(Json::Null, |object| object.native_id.as_str().into())
        });
        wanted.insert("uses".to_owned(), ids.collect());
    }
    if !resource.knows.is_empty() {
        let sizes = resource.knows.iter().enumerate().map(|(index, label)| {
            let size = declaration.get(label).map_or(Json::Null, |other| other.size.into());
            if index == 0 { format!("size {}", as_text(&size)).into() } else { size }
        });
        wanted.insert("knows".to_owned(), sizes.collect());
    }
    wanted
}

/// The first property that is not as wanted: its name, what is wanted, what is there.
pub(crate) fn differing<'a>(wanted: &'a Map<String, Json>, found: &Json) -> Option<(&'a str, Json, Json)> {
    wanted.iter().find_map(|(name, wanted)| {
        let found = found.get(name).unwrap_or(&Json::Null);
        (!same(wanted, found)).then(|| (name.as_str(), wanted.clone(), found.clone()))
    })
}
