//! What authentication and authorisation read of the platform's own objects: API keys, policies,
//! tags.

use crate::{Platform, document::Document};
use formwork_model::{ActorId, Digest, Json, ProjectId};
use formwork_secret::Secret;
use formwork_store::{StoreError, StoredObject, UniqueKey};

const API_KEY: &str = "api_key";
/// The record by which a key is found: it is global, since whoever signs in names no project.
const DIGEST_RECORD: &str = "api_key_digest";
const POLICY: &str = "policy";

/// A key that somebody signed in with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRecord {
    /// Its id.
    pub id: String,
    /// Who made it; what they may do is the most it may.
    pub owner: ActorId,
    /// The one project it is confined to.
    pub project: ProjectId,
    /// The policies that narrow it further; none is no narrowing. One that no longer exists allows
    /// nothing.
    pub policy_ids: Vec<String>,
}

impl ApiKeyRecord {
    /// What an API key's object says; `None` if it is none, or names no owner or project.
    pub fn of(object: &StoredObject) -> Option<Self> {
        if object.type_name != API_KEY {
            return None;
        }
        let document = Document::of(object).ok()?;
        let owner = document.system.get("user_id")?.as_str()?;
        let ids = document.properties.get("policy_ids").and_then(Json::as_array);
        // An id that is none counts too: left out, it would leave the key without a limit.
        let ids = ids.into_iter().flatten().map(|id| id.as_str().unwrap_or_default().to_owned());
        Some(Self {
            id: object.id.clone(),
            owner: owner.into(),
            project: object.project.clone()?,
            policy_ids: ids.collect(),
        })
    }
}

impl Platform {
    /// Whose key this is. It takes one lookup by the key's digest, however many keys there are, and
    /// one read of the key's record. An attacker can't compute digests, so how long a lookup takes
    /// tells nothing; the digests are compared in constant time.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn find_api_key(&self, plain: &Secret<String>) -> Result<Option<ApiKeyRecord>, StoreError> {
        let digest = self.key.digest(plain.expose().as_bytes());
        let unique = UniqueKey { key: "digest".to_owned(), value: digest.hex() };
        let reader = self.store.reader();
        let Some(found) = reader.find_object(None, DIGEST_RECORD, &unique).await? else { return Ok(None) };
        let stored: Option<Digest> = serde_json::from_value(found.doc["digest"].clone()).ok();
        let id = found.doc["api_key_id"].as_str().filter(|_| stored == Some(digest));
        let Some(id) = id else { return Ok(None) };
        Ok(reader.object(id).await?.as_ref().and_then(ApiKeyRecord::of))
    }
}

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
