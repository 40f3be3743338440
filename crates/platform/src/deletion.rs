//! Deleting an object: who blocks it, what goes with it and what lets go of it
//! (`formations-types.md`, "Deletion matrix"). Each type declares its dependents as data.

use crate::{
    PlatformCatalog, Refusal, TypeEntry,
    definition::{DependentRule, Dependents},
    document::Document,
    project,
    rewrite::{clear, rewrite},
};
use formwork_model::{InstanceKey, ProjectId};
use formwork_store::{DomainError, DomainTx, Link, ListQuery, StoredObject};
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};

/// How many dependents are looked at in one go.
const PAGE: usize = 200;

/// Deletes an object with what goes with it.
///
/// # Errors
/// A refusal if something blocks it, or a fault of the store.
pub(crate) fn delete(
    tx: &mut dyn DomainTx,
    key: &InstanceKey,
    object: &StoredObject,
    force: bool,
) -> Result<(), DomainError> {
    // The types that depend on each other form a short chain, so this goes a few calls deep
    // whatever is stored.
    let Some(entry) = PlatformCatalog::shared().entry(&object.type_name) else {
        tx.delete(&object.id)?;
        return Ok(());
    };
    if let Some(refusal) = blocked(tx, entry, object, force, &BTreeSet::new())? {
        return Err(refusal.into());
    }
    for dependents in entry.dependents() {
        match dependents.rule {
            DependentRule::Detach => detach_all(tx, key, dependents, object)?,
            DependentRule::Cascade | DependentRule::Block { .. } => {
                delete_all(tx, key, dependents, object, force)?;
            }
        }
    }
    // What it owns may name it as its user, so it goes first.
    tx.delete(&object.id)?;
    entry.kind().depart(tx, object)?;
    delete_owned(tx, key, entry, object, force)
}

fn delete_owned(
    tx: &mut dyn DomainTx,
    key: &InstanceKey,
    entry: &TypeEntry,
    object: &StoredObject,
    force: bool,
) -> Result<(), DomainError> {
    let owned = entry.kind().owned();
    if owned.is_empty() {
        return Ok(());
    }
    let document = Document::of(object)?;
    for name in owned {
        let Some(id) = document.system.get(*name).and_then(|id| id.as_str()) else { continue };
        if let Some(owned) = tx.get(id)?.filter(|owned| owned.project == object.project) {
            delete(tx, key, &owned, force)?;
        }
    }
    Ok(())
}

/// What goes along when an object is deleted: what depends on it, and what depends on that. What is
/// a part of the object, or was made with it, is not named: it goes by the object's own permission.
///
/// # Errors
/// A fault of the store.
pub(crate) fn along(
    tx: &mut dyn DomainTx,
    object: &StoredObject,
    force: bool,
) -> Result<Vec<StoredObject>, DomainError> {
    let mut along = Vec::new();
    let mut seen = BTreeSet::from([object.id.clone()]);
    let mut open = vec![object.clone()];
    while let Some(object) = open.pop() {
        let Some(entry) = PlatformCatalog::shared().entry(&object.type_name) else { continue };
        for dependents in entry.dependents() {
            let goes = match dependents.rule {
                DependentRule::Cascade => true,
                DependentRule::Block { force: can_force, .. } => force && can_force,
                DependentRule::Detach => false,
            };
            if !goes || !is_asked_for(dependents.type_name) {
                continue;
            }
            for dependent in all_of(tx, dependents, &object)? {
                if seen.insert(dependent.id.clone()) {
                    open.push(dependent.clone());
                    along.push(dependent);
                }
            }
        }
    }
    Ok(along)
}

/// Whether deleting objects of a type takes a permission of its own.
fn is_asked_for(type_name: &str) -> bool {
    let entry = PlatformCatalog::shared().entry(type_name);
    entry.is_some_and(|entry| entry.srn_parent().is_none() && entry.definition().route.delete.is_some())
}

fn all_of(
    tx: &mut dyn DomainTx,
    dependents: &Dependents,
    object: &StoredObject,
) -> Result<Vec<StoredObject>, DomainError> {
    let mut all = Vec::new();
    for field in dependents.fields {
        let mut offset = 0;
        loop {
            let page = tx.list(&query(dependents, field, object, offset, PAGE))?;
            offset += page.items.len();
            let last = page.items.is_empty() || offset >= page.total;
            all.extend(page.items);
            if last {
                break;
            }
        }
    }
    Ok(all)
}

/// Why deleting the object would be refused. Dependents that are `leaving` do not count. What can be
/// overridden is told even where there is none of it, so that whoever decides knows the whole.
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
    let mut counts = Vec::new();
    let mut refusal_code = None;
    for dependents in entry.definition().dependents {
        let DependentRule::Block { code, count, force: can_force } = dependents.rule else { continue };
        if can_force && force {
            continue;
        }
        let number = staying(tx, dependents, object, leaving)?;
        if number == 0 && !can_force {
            continue;
        }
        facts.insert(count.to_owned(), json!(number));
        counts.push((number, title_of(dependents.type_name)));
        if number > 0 {
            refusal_code = Some(code);
        }
    }
    Ok(refusal_code.map(|code| {
        let noun = entry.definition().noun;
        let message = format!("{noun} '{}' has {}, so it cannot be deleted.", object.id, in_words(&counts));
        Refusal::new(code, message).meta(json!(facts))
    }))
}

fn title_of(type_name: &'static str) -> &'static str {
    PlatformCatalog::shared().entry(type_name).map_or(type_name, |entry| entry.definition().title)
}

/// `3 dependent generation(s) and 1 trace(s)`.
fn in_words(counts: &[(usize, &str)]) -> String {
    let mut words: Vec<String> =
        counts.iter().map(|(number, title)| format!("{number} {title}(s)")).collect();
    if let Some((number, title)) = counts.first() {
        words[0] = format!("{number} dependent {title}(s)");
    }
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
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
    let mut leave = Leaving { named: leaving, told: BTreeMap::new() };
    let mut staying = BTreeSet::new();
    for field in dependents.fields {
        let mut offset = 0;
        loop {
            let page = tx.list(&query(dependents, field, object, offset, PAGE))?;
            offset += page.items.len();
            let last = page.items.is_empty() || offset >= page.total;
            for dependent in page.items {
                if !leave.takes(tx, &dependent)? {
                    staying.insert(dependent.id);
                }
            }
            if last {
                break;
            }
        }
    }
    Ok(staying.len())
}

/// What leaves: the objects that are named, and what goes with them.
struct Leaving<'a> {
    named: &'a BTreeSet<&'a str>,
    /// What was found out, by id.
    told: BTreeMap<String, bool>,
}

impl Leaving<'_> {
    /// Whether the object leaves, by itself or with one that takes it along. The types that take
    /// each other along form a short chain, so this goes a few calls deep whatever is stored.
    fn takes(&mut self, tx: &mut dyn DomainTx, object: &StoredObject) -> Result<bool, DomainError> {
        if self.named.is_empty() || self.named.contains(object.id.as_str()) {
            return Ok(!self.named.is_empty());
        }
        if let Some(told) = self.told.get(&object.id) {
            return Ok(*told);
        }
        let mut leaves = false;
        for holder in holders(tx, object)? {
            if self.takes(tx, &holder)? {
                leaves = true;
                break;
            }
        }
        self.told.insert(object.id.clone(), leaves);
        Ok(leaves)
    }
}

/// The objects that take this one along when they are deleted.
fn holders(tx: &mut dyn DomainTx, object: &StoredObject) -> Result<Vec<StoredObject>, DomainError> {
    if PlatformCatalog::shared().entry(&object.type_name).is_none() {
        return Ok(Vec::new());
    }
    let document = Document::of(object)?;
    let mut holders = Vec::new();
    for entry in PlatformCatalog::shared().entries() {
        for dependents in entry.definition().dependents {
            let takes_along = matches!(dependents.rule, DependentRule::Cascade);
            if !takes_along || dependents.type_name != object.type_name {
                continue;
            }
            for field in dependents.fields {
                let of_system = document.system.get(*field);
                let id = document.properties.get(field).or(of_system).and_then(|id| id.as_str());
                let holder = id.map(|id| tx.get(id)).transpose()?.flatten();
                holders.extend(holder.filter(|holder| holder.type_name == entry.name()));
            }
        }
        for name in entry.kind().owned() {
            let owners = Dependents { type_name: entry.name(), fields: &[], rule: DependentRule::Cascade };
            holders.extend(tx.list(&query(&owners, name, object, 0, 1))?.items);
        }
    }
    Ok(holders)
}

fn delete_all(
    tx: &mut dyn DomainTx,
    key: &InstanceKey,
    dependents: &Dependents,
    object: &StoredObject,
    force: bool,
) -> Result<(), DomainError> {
    for_each(tx, dependents, object, &mut |tx, _, dependent| delete(tx, key, dependent, force))
}

fn detach_all(
    tx: &mut dyn DomainTx,
    key: &InstanceKey,
    dependents: &Dependents,
    object: &StoredObject,
) -> Result<(), DomainError> {
    for_each(tx, dependents, object, &mut |tx, field, dependent| detach(tx, key, field, dependent))
}

/// What becomes of one dependent, which names the object in this field.
type TakeAway<'a> = dyn FnMut(&mut dyn DomainTx, &'static str, &StoredObject) -> Result<(), DomainError> + 'a;

/// Each round takes away what it finds, so the next one starts at the front again.
fn for_each(
    tx: &mut dyn DomainTx,
    dependents: &Dependents,
    object: &StoredObject,
    take_away: &mut TakeAway<'_>,
) -> Result<(), DomainError> {
    for field in dependents.fields {
        loop {
            let page = tx.list(&query(dependents, field, object, 0, PAGE))?;
            if page.items.is_empty() {
                break;
            }
            for dependent in &page.items {
                take_away(tx, field, dependent)?;
            }
        }
    }
    Ok(())
}

/// Clears a top-level property that holds an id, and with it the link that comes of it.
fn detach(
    tx: &mut dyn DomainTx,
    key: &InstanceKey,
    field: &str,
    dependent: &StoredObject,
) -> Result<(), DomainError> {
    rewrite(tx, key, dependent, |document| clear(document, field)).map(drop)
}

fn query(
    dependents: &Dependents,
    field: &str,
    object: &StoredObject,
    offset: usize,
    limit: usize,
) -> ListQuery {
    // A reference never leaves its project; a project is in none itself.
    let own = object.project.iter().filter(|_| dependents.type_name != project::TYPE);
    let projects: Vec<ProjectId> = own.cloned().collect();
    ListQuery {
        type_name: dependents.type_name.to_owned(),
        projects,
        linked: Some(Link { field: field.to_owned(), to: object.id.clone() }),
        limit,
        offset,
    }
}
