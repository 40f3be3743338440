//! `api_key`: what a program signs in with (`formations-behaviour.md` §6.3). The key itself is
//! answered once, to whoever makes it over REST, and kept only as a keyed digest.

use super::check_texts;
use crate::{
    Definition, Extra, Findings, Node, Platform, PlatformType, Refusal, RestRoute, UpdateMode,
    document::Document, scene::Scene,
};
use formwork_model::{
    ActorId, Digest, ImmutableRule, InstanceKey, Json, Kind, Path, ProjectId, PropertySchema, WireCode,
};
use formwork_secret::{Secret, hex, random_bytes};
use formwork_store::{DomainError, DomainTx, NewObject, StoreError, StoredObject, UniqueKey};
use serde_json::{Map, json};

pub(super) struct ApiKey;

const NAME: &str = "api_key";
const KEY: &str = "key";
const USER_ID: &str = "user_id";
const KEY_PREFIX: &str = "key_prefix";
/// How much of a key is shown.
const SHOWN: usize = 8;

/// The record by which a key is found: it is global, since whoever signs in names no project.
const DIGEST_RECORD: &str = "api_key_digest";
const DIGEST: &str = "digest";

static ROUTE: RestRoute = RestRoute {
    type_name: NAME,
    path: "/api-keys",
    id_param: "api_key_id",
    module: "api-keys",
    create: Some("CreateApiKey"),
    list: "ListApiKeys",
    get: "GetApiKey",
    update: Some("UpdateApiKey"),
    delete: Some("DeleteApiKey"),
    update_modes: &[UpdateMode::Put],
    ..RestRoute::USUAL
};

static EXTRAS: [Extra; 2] = [
    Extra { name: USER_ID, kind: "string", nullable: false, value: |system| of_system(system, USER_ID) },
    Extra {
        name: KEY_PREFIX,
        kind: "string",
        nullable: false,
        value: |system| of_system(system, KEY_PREFIX),
    },
];

fn of_system(system: &Map<String, Json>, name: &str) -> Json {
    system.get(name).cloned().unwrap_or_default()
}

impl PlatformType for ApiKey {
    fn define(&self) -> Definition {
        Definition {
            name: NAME,
            title: "API key",
            noun: "API key",
            id_prefix: "key",
            doc: "What a program signs in with, on behalf of whoever made it.",
            properties: vec![
                ("name", PropertySchema::new(Kind::String, "What people call it; not unique.").required()),
                (
                    "policy_ids",
                    PropertySchema::new(Kind::Array, "What it may do at most, within what its owner may do.")
                        .refers_to("policy")
                        .shaped(super::texts())
                        .default(json!([])),
                ),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "api_key",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_texts(properties.member("policy_ids"), &Path::of(["policy_ids"]), findings);
    }

    fn public(&self) -> &'static [&'static str] {
        // Whoever decides by them must be able to read them.
        &["policy_ids"]
    }

    /// A new key is minted under whoever asks for it: what they may do is the most it can. Nobody
    /// else may change what it may do: a limited key could lift its own limits.
    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        if scene.before.is_some() {
            let is_maker = scene.system.get(USER_ID) == Some(&json!(scene.actor));
            if scene.changes("policy_ids") && !is_maker {
                let message = "Only who made an API key may change what it may do.";
                return Err(Refusal::new(WireCode::Forbidden, message).into());
            }
            return Ok(());
        }
        let key = Secret::new(format!("sk_{}", hex(&random_bytes::<32>())));
        scene.system.insert(USER_ID.to_owned(), json!(scene.actor));
        scene.system.insert(KEY_PREFIX.to_owned(), json!(&key.expose()[..SHOWN]));
        tx.insert(digest_record(scene.key, scene.id, &key))?;
        scene.reveal(KEY, key);
        Ok(())
    }

    fn depart(&self, tx: &mut dyn DomainTx, object: &StoredObject) -> Result<(), DomainError> {
        tx.delete(&digest_record_id(&object.id)).map(drop)
    }

    fn revealed(&self) -> &'static [&'static str] {
        &[KEY]
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

fn digest_record_id(id: &str) -> String {
    format!("{id}.{DIGEST}")
}

fn digest_key(key: &InstanceKey, plain: &Secret<String>) -> (UniqueKey, Digest) {
    let digest = key.digest(plain.expose().as_bytes());
    (UniqueKey { key: DIGEST.to_owned(), value: digest.hex() }, digest)
}

fn digest_record(key: &InstanceKey, id: &str, plain: &Secret<String>) -> NewObject {
    let (unique, digest) = digest_key(key, plain);
    NewObject {
        id: digest_record_id(id),
        type_name: DIGEST_RECORD.to_owned(),
        project: None,
        doc: json!({ "api_key_id": id, "digest": digest }),
        keys: vec![unique],
        links: Vec::new(),
    }
}

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
        if object.type_name != NAME {
            return None;
        }
        let document = Document::of(object).ok()?;
        let owner = document.system.get(USER_ID)?.as_str()?;
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
        let (unique, digest) = digest_key(&self.key, plain);
        let reader = self.store.reader();
        let Some(found) = reader.find_object(None, DIGEST_RECORD, &unique).await? else { return Ok(None) };
        let stored: Option<Digest> = serde_json::from_value(found.doc["digest"].clone()).ok();
        let id = found.doc["api_key_id"].as_str().filter(|_| stored == Some(digest));
        let Some(id) = id else { return Ok(None) };
        Ok(reader.object(id).await?.as_ref().and_then(ApiKeyRecord::of))
    }
}
