//! Which instance key a store belongs to: its name is kept there, so that a key that was lost or mixed
//! up shows before anything is sealed under another one.

use crate::ControlError;
use formwork_model::{InstanceKey, Json, WireCode};
use formwork_secret::KeyId;
use formwork_store::{DomainTx, NewObject, Reader, Store};

const ID: &str = "instance";
const TYPE: &str = "instance";
const KEY_ID: &str = "key_id";

/// The public name of the key that a store belongs to; `None` for one that nobody has used yet.
///
/// # Errors
/// Faults of the store.
pub async fn key_of_store(reader: &dyn Reader) -> Result<Option<KeyId>, ControlError> {
    let found = reader.object(ID).await?.filter(|object| object.type_name == TYPE);
    Ok(found.and_then(|object| named(&object.doc)))
}

/// Makes a key the store's, if it has none yet.
///
/// # Errors
/// `SECRET_NOT_DECRYPTABLE` if it has another one; faults of the store.
pub(crate) async fn claim(store: &dyn Store, key: &InstanceKey) -> Result<(), ControlError> {
    let id = key.id();
    // Asked first, since nearly always it is there: a start writes nothing then.
    let known = match key_of_store(&*store.reader()).await? {
        Some(known) => known,
        None => first_to_claim(store, id).await?,
    };
    if known == id {
        return Ok(());
    }
    let message = format!("The store belongs to the instance key {known}; this process has {id}.");
    Err(ControlError::new(WireCode::SecretNotDecryptable, message))
}

/// The name of the key that counts: another process may be quicker.
async fn first_to_claim(store: &dyn Store, id: KeyId) -> Result<KeyId, ControlError> {
    let job = Box::new(move |tx: &mut dyn DomainTx| {
        if let Some(found) = tx.get(ID)? {
            return Ok(found.doc);
        }
        let doc = serde_json::json!({ KEY_ID: id });
        tx.insert(NewObject {
            id: ID.to_owned(),
            type_name: TYPE.to_owned(),
            project: None,
            doc: doc.clone(),
            keys: Vec::new(),
            links: Vec::new(),
        })?;
        Ok(doc)
    });
    let doc = store.domain(None, None, job).await?;
    Ok(named(&doc).unwrap_or(id))
}

fn named(doc: &Json) -> Option<KeyId> {
    doc[KEY_ID].as_str()?.parse().ok()
}
