//! Deleting an object: who blocks it, and what goes with it (`formations-types.md`, "Deletion
//! matrix"). Each type declares its dependents as data.

use crate::{
    PlatformCatalog, Refusal, TypeEntry,
    definition::{DependentRule, Dependents},
};
use formwork_model::ProjectId;
use formwork_store::{DomainError, DomainTx, Link, ListQuery, StoredObject};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// How many dependents are looked at in one go.
const PAGE: usize = 200;

/// Deletes an object with what goes with it.
///
/// # Errors
/// A refusal if something blocks it, or a fault of the store.
pub(crate) fn delete(tx: &mut dyn DomainTx, object: &StoredObject, force: bool) -> Result<(), DomainError> {
    // The types that depend on each other form a short chain, so this goes a few calls deep
    // whatever is stored.
    if let Some(entry) = PlatformCatalog::shared().entry(&object.type_name) {
        if let Some(refusal) = blocked(tx, entry, object, force, &BTreeSet::new())? {
            return Err(refusal.into());
        }
        for dependents in entry.definition().dependents {
            delete_all(tx, dependents, object, force)?;
        }
    }
    tx.delete(&object.id)?;
    Ok(())
}

/// Why deleting the object would be refused. Dependents that are `leaving` do not count.
///
/// # Errors
/// A fault of the store.
pub(crate) fn blocked(
    tx: &mut dyn DomainTx,
    entry: &TypeEntry,
    object: &StoredObject,
    force: bool,
    leaving: &BTreeSet<&str>,
) -> Result<Option<Refusal>, DomainError> {
    let mut facts = Map::new();
    let mut found = Vec::new();
    let mut refusal_code = None;
    for dependents in entry.definition().dependents {
        let DependentRule::Block { code, count, force: can_force } = dependents.rule else { continue };
        if can_force && force {
            continue;
        }
        let number = staying(tx, dependents, object, leaving)?;
        facts.insert(count.to_owned(), json!(number));
        if number > 0 {
            found.push(format!("{number} of type `{}`", dependents.type_name));
            refusal_code = Some(code);
        }
    }
    let noun = entry.definition().noun;
    Ok(refusal_code.map(|code| {
        let message = format!("{noun} '{}' still has dependents: {}.", object.id, found.join(", "));
        Refusal::new(code, message).meta(json!(facts))
    }))
}

fn staying(
    tx: &mut dyn DomainTx,
    dependents: &Dependents,
    object: &StoredObject,
    leaving: &BTreeSet<&str>,
) -> Result<usize, DomainError> {
    if leaving.is_empty() && dependents.fields.len() == 1 {
        return Ok(tx.list(&query(dependents, dependents.fields[0], object, 0, 1))?.total);
    }
    let mut staying = BTreeSet::new();
    for field in dependents.fields {
        let mut offset = 0;
        loop {
            let page = tx.list(&query(dependents, field, object, offset, PAGE))?;
            offset += page.items.len();
            let last = page.items.is_empty() || offset >= page.total;
            let ids = page.items.into_iter().map(|dependent| dependent.id);
            staying.extend(ids.filter(|id| !leaving.contains(id.as_str())));
            if last {
                break;
            }
        }
    }
    Ok(staying.len())
}

fn delete_all(
    tx: &mut dyn DomainTx,
    dependents: &Dependents,
    object: &StoredObject,
    force: bool,
) -> Result<(), DomainError> {
    for field in dependents.fields {
        // Each round deletes what it finds, so the next one starts at the front again.
        loop {
            let page = tx.list(&query(dependents, field, object, 0, PAGE))?;
            if page.items.is_empty() {
                break;
            }
            for dependent in &page.items {
                delete(tx, dependent, force)?;
            }
        }
    }
    Ok(())
}

fn query(
    dependents: &Dependents,
    field: &str,
    object: &StoredObject,
    offset: usize,
    limit: usize,
) -> ListQuery {
    // A reference never leaves its project.
    let projects: Vec<ProjectId> = object.project.iter().cloned().collect();
    ListQuery {
        type_name: dependents.type_name.to_owned(),
        projects,
        linked: Some(Link { field: field.to_owned(), to: object.id.clone() }),
        limit,
        offset,
    }
}
