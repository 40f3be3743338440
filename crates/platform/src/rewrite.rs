//! Changes that the platform makes to an object by itself. They touch nothing that the type's rules
//! speak of, so none of them is asked again.

use crate::{PlatformCatalog, document::Document};
use formwork_model::{InstanceKey, Path};
use formwork_store::{DomainError, DomainTx, ObjectChange, StoredObject};

/// Writes the object's document as `change` leaves it, with the keys and links that come of it.
///
/// # Errors
/// A fault of the store.
pub(crate) fn rewrite(
    tx: &mut dyn DomainTx,
    key: &InstanceKey,
    object: &StoredObject,
    change: impl FnOnce(&mut Document),
) -> Result<StoredObject, DomainError> {
    let mut document = Document::of(object)?;
    change(&mut document);
    let opened = document.open(key, &object.id);
    let properties = opened.properties.expose();
    let entry = PlatformCatalog::shared().entry(&object.type_name);
    tx.update(ObjectChange {
        id: object.id.clone(),
        expected_version: Some(object.version),
        doc: document.to_json(),
        keys: entry.map(|entry| entry.kind().keys(properties)).unwrap_or_default(),
        links: entry.map(|entry| entry.links(properties, &document.system)).unwrap_or_default(),
    })
}

/// Takes a top-level property out of a document, sealed or not.
pub(crate) fn clear(document: &mut Document, property: &str) {
    if let Some(properties) = document.properties.as_object_mut() {
        properties.shift_remove(property);
    }
    document.sealed.retain(|path| !Path::of([property]).contains(path));
}
