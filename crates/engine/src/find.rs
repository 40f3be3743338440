//! Looking for an object whose create has no known outcome (architecture §3, "Ambiguous creates").
//!
//! An object is taken for ours only if it is the single match, no row owns it, and everything we
//! sent can be read back from it. Anything less certain is left to a person.

use crate::answer::{Raw, code_failure, deadline_failure, plugin_failure};
use crate::calls::Calls;
use crate::censor::Censor;
use crate::conceal::{Secrecy, SecretPlaces, conceal};
use crate::targets::Place;
use formwork_engine_core::{Found, LookupCall};
use formwork_model::{
    Failure, InstanceKey, Json, Lookup, NativeId, Path, Secret, Stored, StoredLeaf, UniqueValue, WireCode,
    digest_of, same,
};
use formwork_plugin::{ListRequest, OperationErrorCode, ReadRequest, ReadResult, ResourcePlugin};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many native ids are asked for at once.
const PAGE: u32 = 100;
/// How many pages are looked at.
const PAGES: usize = 100;
/// How many objects are read.
const READS: usize = 2_000;

/// A search by a plugin.
struct Search<'a> {
    calls: &'a Calls,
    plugin: Arc<dyn ResourcePlugin>,
    call: &'a LookupCall,
    target_config: Secret<Json>,
    places: &'a SecretPlaces,
    owned: &'a BTreeSet<NativeId>,
    censor: Arc<Censor>,
}

/// Looks for the object.
pub(crate) async fn find(
    calls: &Calls,
    call: LookupCall,
    place: &Place,
    places: SecretPlaces,
    owned: BTreeSet<NativeId>,
) -> Found {
    let plugin = match calls.plugin(&call.type_name) {
        Ok(plugin) => plugin,
        Err(failure) => return Found::Failed { failure },
    };
    let target_config = match calls.target_config(place).await {
        Ok(config) => config,
        Err(failure) => return Found::Failed { failure },
    };
    let censor = calls.secrets.of_step(Some(call.step));
    let search = Search { calls, plugin, call: &call, target_config, places: &places, owned: &owned, censor };
    let found = match &call.lookup {
        Lookup::ByNativeId(native_id) => search.by_native_id(native_id).await,
        Lookup::ByUnique(unique) => search.by_unique(unique).await,
        Lookup::Token | Lookup::None => {
            Ok(Found::Unsure { detail: "objects of this type can't be looked for".to_owned() })
        }
    };
    found.unwrap_or_else(|failure| Found::Failed { failure })
}

impl Search<'_> {
    async fn by_native_id(&self, native_id: &NativeId) -> Result<Found, Failure> {
        match self.read(native_id).await? {
            None => Ok(Found::Nothing),
            Some(properties) => Ok(self.judge(native_id.clone(), properties)),
        }
    }

    async fn by_unique(&self, unique: &[(Path, UniqueValue)]) -> Result<Found, Failure> {
        let mut matching = None;
        // What a row owns, like the object that is being replaced, is not what is looked for.
        let unowned = self.list().await?.into_iter().filter(|id| !self.owned.contains(id));
        for native_id in unowned {
            let Some(properties) = self.read(&native_id).await? else { continue };
            if !unique.iter().all(|(path, value)| has(&properties, path, value, &self.calls.key)) {
                continue;
            }
            if let Some((other, _)) = &matching {
                let detail = format!("both `{other}` and `{native_id}` match");
                return Ok(Found::Unsure { detail });
            }
            matching = Some((native_id, properties));
        }
        Ok(match matching {
            None => Found::Nothing,
            Some((native_id, properties)) => self.judge(native_id, properties),
        })
    }

    /// Whether a match is ours.
    fn judge(&self, native_id: NativeId, properties: Stored) -> Found {
        if self.owned.contains(&native_id) {
            return Found::Unsure { detail: format!("`{native_id}` belongs to another resource") };
        }
        if !holds(&properties, &self.call.sent) {
            return Found::Unsure { detail: format!("`{native_id}` matches, but is not what was sent") };
        }
        Found::One { native_id, properties }
    }

    /// All native ids of the type, in the provider's order.
    async fn list(&self) -> Result<Vec<NativeId>, Failure> {
        let mut ids = Vec::new();
        let mut page_token = None;
        for _ in 0..PAGES {
            self.pace().await;
            let request = ListRequest {
                resource_type: self.call.type_name.clone(),
                target_config: self.target_config.clone(),
                page_token,
                page_size: PAGE,
                list_parameters: BTreeMap::new(),
            };
            let context = self.calls.context(self.call.deadline);
            let listing = self.plugin.list(&context, request);
            let page = match self.calls.bounded(&*self.plugin, self.call.deadline, listing).await {
                Raw::Answer(Ok(page)) => page,
                Raw::Answer(Err(error)) => return Err(plugin_failure(&error, &self.censor)),
                Raw::Deadline => return Err(deadline_failure()),
            };
            ids.extend(page.native_ids);
            if ids.len() > READS {
                break;
            }
            page_token = match page.next_page_token {
                None => return Ok(ids),
                token => token,
            };
        }
        let message = format!("there are too many `{}` to look for one", self.call.type_name);
        Err(Failure::new(WireCode::OutcomeUnknown, message))
    }

    /// An object's properties; `None` if it is gone.
    async fn read(&self, native_id: &NativeId) -> Result<Option<Stored>, Failure> {
        self.pace().await;
        let request = ReadRequest {
            resource_type: self.call.type_name.clone(),
            native_id: native_id.clone(),
            target_config: self.target_config.clone(),
            redact_sensitive: true,
            prior_properties: None,
        };
        let context = self.calls.context(self.call.deadline);
        match self.calls.read_raw(&*self.plugin, &context, request).await {
            Raw::Answer(Ok(ReadResult { error_code: Some(OperationErrorCode::NotFound), .. })) => Ok(None),
            Raw::Answer(Ok(ReadResult { error_code: Some(code), .. })) => Err(code_failure(code)),
            Raw::Answer(Ok(result)) => {
                let properties = result.resource_properties.unwrap_or(Json::Null);
                let secrecy = Secrecy { places: self.places, censor: &self.censor, key: &self.calls.key };
                Ok(Some(conceal(properties, &result.secret_digests, secrecy)))
            }
            Raw::Answer(Err(error)) => Err(plugin_failure(&error, &self.censor)),
            Raw::Deadline => Err(deadline_failure()),
        }
    }

    async fn pace(&self) {
        self.calls.rates.of(&*self.plugin).acquire().await;
    }
}

/// Whether a property has a unique value.
fn has(properties: &Stored, path: &Path, value: &UniqueValue, key: &InstanceKey) -> bool {
    let Some(found) = properties.at(path) else { return false };
    match (value, &found) {
        (UniqueValue::Clear(wanted), _) => same(&found.comparable(), wanted),
        (UniqueValue::Digest(wanted), Stored::Leaf(StoredLeaf::Digest(digest))) => digest == wanted,
        (UniqueValue::Digest(wanted), Stored::Plain(plain)) => digest_of(key, plain) == *wanted,
        (UniqueValue::Digest(_), _) => false,
    }
}

/// Whether all that was sent can be read back. A secret that is not read back says nothing.
fn holds(found: &Stored, sent: &Stored) -> bool {
    match sent {
        Stored::Leaf(StoredLeaf::Resolved { sent, .. }) => holds(found, &Stored::Plain(sent.clone())),
        Stored::Leaf(_) => same(&found.comparable(), &sent.comparable()),
        _ => match (found.members(), sent.members()) {
            (Some(found), Some(sent)) => {
                sent.iter().all(|(name, wanted)| match found.iter().find(|(other, _)| other == name) {
                    Some((_, member)) => holds(member, wanted),
                    None => is_secret(wanted) || wanted.as_plain().is_some_and(Json::is_null),
                })
            }
            _ => same(&found.comparable(), &sent.comparable()),
        },
    }
}

fn is_secret(stored: &Stored) -> bool {
    matches!(stored, Stored::Leaf(StoredLeaf::Sealed { .. } | StoredLeaf::Digest(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key() -> InstanceKey {
        InstanceKey::from_bytes([7; 32])
    }

    #[test]
    fn defaults_that_the_provider_added_do_not_matter_but_other_values_do() {
        let sent = Stored::Plain(json!({"name": "a", "size": {"cpu": 1}}));
        let found = |json| Stored::Plain(json);
        assert!(holds(&found(json!({"name": "a", "size": {"cpu": 1, "ram": 2}, "region": "r"})), &sent));
        assert!(!holds(&found(json!({"name": "a", "size": {"cpu": 2}})), &sent));
        assert!(!holds(&found(json!({"name": "a"})), &sent));
    }

    #[test]
    fn a_secret_compares_by_digest_and_may_be_absent() {
        let digest = digest_of(&key(), &json!("pw"));
        let sent = Stored::object(
            [
                ("name".into(), Stored::Plain(json!("a"))),
                ("pw".into(), Stored::Leaf(StoredLeaf::Sealed { slot: "s".into(), digest })),
            ]
            .into_iter()
            .collect(),
        );
        assert!(holds(&Stored::Plain(json!({"name": "a"})), &sent));
        let other = Stored::Leaf(StoredLeaf::Digest(digest_of(&key(), &json!("other"))));
        let found = Stored::object(
            [("name".into(), Stored::Plain(json!("a"))), ("pw".into(), other)].into_iter().collect(),
        );
        assert!(!holds(&found, &sent));
    }

    #[test]
    fn a_unique_secret_is_found_by_its_digest() {
        let wanted = UniqueValue::Digest(digest_of(&key(), &json!("pw")));
        assert!(has(&Stored::Plain(json!({"p": "pw"})), &Path::of(["p"]), &wanted, &key()));
        assert!(!has(&Stored::Plain(json!({"p": "no"})), &Path::of(["p"]), &wanted, &key()));
    }
}
