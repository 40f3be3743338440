//! What authorisation reads of the platform's own objects: policies and tags.

use crate::document::Document;
use formwork_model::Json;
use formwork_store::StoredObject;

const POLICY: &str = "policy";

/// What a policy's object says; `None` if it is no policy.
pub fn policy_document(object: &StoredObject) -> Option<Json> {
    if object.type_name != POLICY {
        return None;
    }
    Document::of(object).ok()?.properties.get("document").cloned()
}

/// The properties of an object, its secrets left out; null if it is not one of the platform's.
pub fn shown_properties(object: &StoredObject) -> Json {
    Document::of(object).map(|document| document.without_secrets()).unwrap_or_default()
}
