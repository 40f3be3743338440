//! Objects of in-process types: versions, unique keys, links.

use crate::tables::{Stored, Tables};
use crate::{
    AuditRecord, DomainError, DomainTx, ListQuery, NewObject, ObjectChange, ObjectWrite, Page, StoreError,
    StoredObject, UniqueKey,
};
use formwork_model::{ProjectId, Timestamp};

/// Carries out writes that belong to another transaction.
pub(super) fn write_all(tables: &mut dyn Tables, writes: Vec<ObjectWrite>) -> Stored<()> {
    for write in writes {
        match write {
            ObjectWrite::Insert(object) => drop(insert(tables, object)?),
            ObjectWrite::Update(change) => drop(update(tables, change)?),
            ObjectWrite::Delete { id } => _ = tables.delete_object(&id)?,
        }
    }
    Ok(())
}

fn insert(tables: &mut dyn Tables, new: NewObject) -> Stored<StoredObject> {
    if tables.object(&new.id)?.is_some() {
        let (value, by) = (new.id.clone(), new.id);
        return Err(DomainError::KeyTaken { key: "id".to_owned(), value, by }.into());
    }
    let now = tables.now()?;
    let object = StoredObject {
        id: new.id,
        type_name: new.type_name,
        project: new.project,
        doc: new.doc,
        version: 1,
        created_at: now,
        updated_at: now,
    };
    refuse_taken(tables, &object, &new.keys)?;
    tables.insert_object(&object)?;
    tables.set_keys(&object, &distinct(new.keys))?;
    tables.set_links(&object.id, &distinct(new.links))?;
    Ok(object)
}

fn update(tables: &mut dyn Tables, change: ObjectChange) -> Stored<StoredObject> {
    let Some(mut object) = tables.object(&change.id)? else {
        return Err(DomainError::NotFound { id: change.id }.into());
    };
    if let Some(expected) = change.expected_version
        && expected != object.version
    {
        let found = object.version;
        return Err(DomainError::VersionConflict { id: change.id, expected, found }.into());
    }
    refuse_taken(tables, &object, &change.keys)?;
    object.doc = change.doc;
    object.version += 1;
    object.updated_at = tables.now()?;
    tables.update_object(&object)?;
    tables.set_keys(&object, &distinct(change.keys))?;
    tables.set_links(&object.id, &distinct(change.links))?;
    Ok(object)
}

fn distinct<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items.dedup();
    items
}

fn refuse_taken(tables: &mut dyn Tables, object: &StoredObject, keys: &[UniqueKey]) -> Stored<()> {
    for UniqueKey { key, value } in keys {
        let wanted = UniqueKey { key: key.clone(), value: value.clone() };
        if let Some(by) = tables.key_owner(object.project.as_ref(), &object.type_name, &wanted)?
            && by != object.id
        {
            return Err(DomainError::KeyTaken { key: wanted.key, value: wanted.value, by }.into());
        }
    }
    Ok(())
}

/// The object that has a unique key.
pub(crate) fn find(
    tables: &mut dyn Tables,
    project: Option<&ProjectId>,
    type_name: &str,
    key: &UniqueKey,
) -> Stored<Option<StoredObject>> {
    match tables.key_owner(project, type_name, key)? {
        Some(id) => tables.object(&id),
        None => Ok(None),
    }
}

/// The tables as a job over objects sees them.
pub(super) struct Objects<'a>(pub(super) &'a mut dyn Tables);

/// A job learns of a fault of the store as an error of its own kind.
fn for_job(error: StoreError) -> DomainError {
    match error {
        StoreError::Object(error) => error,
        other => DomainError::Fault(Box::new(other)),
    }
}

impl DomainTx for Objects<'_> {
    fn now(&mut self) -> Result<Timestamp, DomainError> {
        self.0.now().map_err(for_job)
    }

    fn get(&mut self, id: &str) -> Result<Option<StoredObject>, DomainError> {
        self.0.object(id).map_err(for_job)
    }

    fn insert(&mut self, object: NewObject) -> Result<StoredObject, DomainError> {
        insert(self.0, object).map_err(for_job)
    }

    fn update(&mut self, change: ObjectChange) -> Result<StoredObject, DomainError> {
        update(self.0, change).map_err(for_job)
    }

    fn delete(&mut self, id: &str) -> Result<bool, DomainError> {
        self.0.delete_object(id).map_err(for_job)
    }

    fn find(
        &mut self,
        project: Option<&ProjectId>,
        type_name: &str,
        key: &UniqueKey,
    ) -> Result<Option<StoredObject>, DomainError> {
        find(self.0, project, type_name, key).map_err(for_job)
    }

    fn links_to(&mut self, id: &str, most: usize) -> Result<Vec<(String, String, String)>, DomainError> {
        self.0.links_to(id, most).map_err(for_job)
    }

    fn audit(&mut self, record: AuditRecord) -> Result<(), DomainError> {
        self.0.append_audit(&record).map_err(for_job)
    }

    fn list(&mut self, query: &ListQuery) -> Result<Page<StoredObject>, DomainError> {
        self.0.objects(query).map_err(for_job)
    }
}
