//! `api_key`: what a program signs in with (`formations-behaviour.md` §6.3). The key itself is
//! answered once, to whoever makes it over REST, and kept only as a keyed digest.

use super::check_texts;
use crate::{Definition, Extra, Findings, Node, PlatformType, RestRoute, UpdateMode, scene::Scene};
use formwork_model::{ImmutableRule, InstanceKey, Json, Kind, Path, PropertySchema};
use formwork_secret::{Secret, hex, random_bytes};
use formwork_store::{DomainError, DomainTx, NewObject, StoredObject, UniqueKey};
use serde_json::{Map, json};

pub(super) struct ApiKey;

const NAME: &str = "api_key";
const KEY: &str = "key";
const USER_ID: &str = "user_id";
const KEY_PREFIX: &str = "key_prefix";
/// How much of a key is shown.
const SHOWN: usize = 8;

/// The record by which a key is found ([`Platform::find_api_key`](crate::Platform::find_api_key)):
/// it is global, since whoever signs in names no project.
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

    /// A new key is minted under whoever asks for it: what they may do is the most it can.
    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        if scene.before.is_some() {
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

fn digest_record(key: &InstanceKey, id: &str, plain: &Secret<String>) -> NewObject {
    let digest = key.digest(plain.expose().as_bytes());
    NewObject {
        id: digest_record_id(id),
        type_name: DIGEST_RECORD.to_owned(),
        project: None,
        doc: json!({ "api_key_id": id, "digest": digest }),
        keys: vec![UniqueKey { key: DIGEST.to_owned(), value: digest.hex() }],
        links: Vec::new(),
    }
}
