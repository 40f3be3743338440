//! The price list of a project as a whole (`formations-behaviour.md` §6.2).

use super::handlers::served;
use crate::{
    Caller, Completeness, Platform, PlatformError, Refusal, TypeEntry,
    document::Document,
    draft::{self, Given},
    ids::new_id,
    rest::body,
    view::representation,
};
use formwork_model::{Json, ProjectId, TypeName, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainJob, DomainTx};
use serde_json::json;
use std::sync::Arc;

const TYPE: &str = "project_price";
/// How many prices one request sets.
const MOST: usize = 500;

impl Platform {
    /// Sets prices: those that are there are left or, as far as they are not in effect yet, changed;
    /// others are added. All of them, or none.
    ///
    /// # Errors
    /// [`PlatformError`].
    pub async fn rest_set_prices(
        &self,
        caller: &Caller,
        project: &ProjectId,
        prices: Vec<Json>,
    ) -> Result<Vec<Json>, PlatformError> {
        if prices.len() > MOST {
            let message = format!("`prices` can hold {MOST} prices at most");
            return Err(Refusal::new(WireCode::ValidationFailed, message).into());
        }
        let entry = served(&TypeName::from(TYPE))?;
        let given = prices.into_iter().map(|price| {
            Ok(Given {
                properties: Secret::new(body::of_create(&entry, Some(project), price)?),
                secret_paths: Vec::new(),
                kept_paths: Vec::new(),
                completeness: Completeness::Whole,
                actor: caller.actor.clone(),
            })
        });
        let given = given.collect::<Result<Vec<_>, Refusal>>()?;
        let (key, project, job_entry) = (self.key.clone(), project.clone(), Arc::clone(&entry));
        let job: DomainJob = Box::new(move |tx| {
            let set = given.iter().map(|given| {
                let id = new_id(job_entry.definition().id_prefix);
                let object = match existing(tx, &job_entry, &project, given)? {
                    Some(object) => draft::update(tx, &job_entry, &key, object, given)?,
                    None => draft::create(tx, &job_entry, &key, &id, Some(&project), given)?.object,
                };
                representation(&job_entry, &object)
            });
            Ok(json!(set.collect::<Result<Vec<_>, DomainError>>()?))
        });
        match self.rest_run(&entry, None, job).await? {
            Json::Array(shown) => Ok(shown),
            _ => Ok(Vec::new()),
        }
    }
}

/// The price with the same key, if there is one. One that is in effect stays as it is: costs were
/// counted by it.
fn existing(
    tx: &mut dyn DomainTx,
    entry: &TypeEntry,
    project: &ProjectId,
    given: &Given,
) -> Result<Option<formwork_store::StoredObject>, DomainError> {
    let now = tx.now()?;
    let mut members = given.properties.expose().as_object().cloned().unwrap_or_default();
    entry.kind().complete(&mut members, now);
    let properties = Json::Object(members);
    let Some(key) = entry.kind().keys(&properties).into_iter().next() else { return Ok(None) };
    let Some(found) = tx.find(Some(project), TYPE, &key)? else { return Ok(None) };
    let was = Document::of(&found)?.properties;
    let from = properties["effective_from"].as_str().unwrap_or_default();
    let changes = ["unit", "unit_price", "meter_type"]
        .iter()
        .any(|name| properties.get(*name).is_some_and(|value| was.get(*name) != Some(value)));
    if changes && *from <= *crate::view::iso(now) {
        let message =
            format!("The price from {from} on is in effect and cannot be changed: add one for later.");
        return Err(Refusal::new(WireCode::NameConflict, message).into());
    }
    Ok(Some(found))
}
