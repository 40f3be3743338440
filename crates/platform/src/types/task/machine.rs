//! The workflow that a task goes by, at one version.

use crate::{
    Refusal,
    document::Document,
    versions::{PROPERTIES, VERSION},
};
use formwork_json_schema::{Faults, JsonSchema, Verdict};
use formwork_model::{InstanceKey, Json, ProjectId, WireCode};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, StoredObject, UniqueKey};
use serde_json::json;

/// The most bytes of a payload: guards are evaluated over it while others wait.
const MOST_PAYLOAD: usize = 64 << 10;
/// How many faults of one payload are told.
const MOST_DETAILS: usize = 20;

/// States, transitions and the schema of the payload.
pub(super) struct Machine {
    version: u64,
    properties: Secret<Json>,
}

/// A way from one state to another.
pub(super) struct Transition<'a> {
    /// The state it leads to.
    pub(super) to: &'a str,
    /// The states it leads from.
    pub(super) from: Vec<&'a str>,
    /// The JSON Logic that must hold.
    pub(super) guard: Option<&'a Json>,
    /// Whether somebody must approve of it.
    pub(super) requires_approval: bool,
}

impl Machine {
    /// A workflow as it is now.
    ///
    /// # Errors
    /// A refusal if it is not there or cannot be opened, or a fault of the store.
    pub(super) fn current(
        tx: &mut dyn DomainTx,
        key: &InstanceKey,
        project: &ProjectId,
        workflow: &str,
    ) -> Result<Self, DomainError> {
        let found = tx.get(workflow)?.filter(|object| object.project.as_ref() == Some(project));
        let object = found.ok_or_else(|| missing(workflow))?;
        let version = Document::of(&object)?.system.get(VERSION).and_then(Json::as_u64).unwrap_or(1);
        Self::pinned(tx, key, project, workflow, version)
    }

    /// A workflow as it was at a version.
    ///
    /// # Errors
    /// As [`current`](Self::current).
    pub(super) fn pinned(
        tx: &mut dyn DomainTx,
        key: &InstanceKey,
        project: &ProjectId,
        workflow: &str,
        version: u64,
    ) -> Result<Self, DomainError> {
        let unique = UniqueKey { key: VERSION.to_owned(), value: format!("{workflow}:{version}") };
        let found: Option<StoredObject> = tx.find(Some(project), "workflow_version", &unique)?;
        let record = found.ok_or_else(|| missing(workflow))?;
        let opened = Document::of(&record)?.open_whole(key, &record.id)?;
        let properties = opened.properties.expose().get(PROPERTIES).cloned().unwrap_or_default();
        Ok(Self { version, properties: Secret::new(properties) })
    }

    /// Which version of the workflow it is.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    fn list(&self, name: &str) -> impl Iterator<Item = &Json> {
        self.properties.expose().get(name).and_then(Json::as_array).into_iter().flatten()
    }

    /// The state that tasks begin in.
    ///
    /// # Errors
    /// A refusal of a workflow that has none.
    pub(super) fn initial(&self) -> Result<&str, Refusal> {
        let state = self.list("states").find(|state| state["initial"] == true);
        let name = state.and_then(|state| state["name"].as_str());
        name.ok_or_else(|| {
            Refusal::new(WireCode::WorkflowValidationFailed, "The workflow has no initial state.")
        })
    }

    /// Whether tasks end in a state.
    pub(super) fn is_terminal(&self, state: &str) -> bool {
        self.list("states").any(|found| found["name"] == state && found["terminal"] == true)
    }

    /// A transition by its name.
    pub(super) fn transition(&self, name: &str) -> Option<Transition<'_>> {
        let found = self.list("transitions").find(|transition| transition["name"] == name)?;
        Some(Transition {
            to: found["to"].as_str()?,
            from: found["from"].as_array().into_iter().flatten().filter_map(Json::as_str).collect(),
            guard: found.get("guard").filter(|guard| !guard.is_null()),
            requires_approval: found["requires_approval"] == true,
        })
    }

    /// The transitions that lead on from a state without anybody's approval.
    pub(super) fn leading_from(&self, state: &str) -> Vec<&str> {
        let leads = |transition: &&Json| {
            let from = transition["from"].as_array();
            transition["requires_approval"] != true
                && from.is_some_and(|from| from.iter().any(|from| from == state))
        };
        self.list("transitions").filter(leads).filter_map(|transition| transition["name"].as_str()).collect()
    }

    /// Demands that a payload is what the workflow takes.
    ///
    /// # Errors
    /// `TASK_PAYLOAD_INVALID`.
    pub(super) fn admit(&self, payload: &Json) -> Result<(), DomainError> {
        let refuse = |message: String, details: Vec<Json>| {
            Refusal::new(WireCode::TaskPayloadInvalid, message).meta(json!({ "details": details }))
        };
        if payload.to_string().len() > MOST_PAYLOAD {
            return Err(refuse(format!("`payload` can have {MOST_PAYLOAD} bytes at most"), Vec::new()).into());
        }
        let Some(schema) = self.properties.expose().get("payload_schema").filter(|schema| !schema.is_null())
        else {
            return Ok(());
        };
        let schema = JsonSchema::read(schema)
            .map_err(|error| refuse(format!("The workflow's payload_schema {error}"), Vec::new()))?;
        let faults = match schema.judge(payload) {
            Verdict::Fits => return Ok(()),
            Verdict::TooLarge => {
                let message = "The payload and the workflow's payload_schema are too large to compare them";
                return Err(refuse(message.to_owned(), Vec::new()).into());
            }
            Verdict::Unfit(Faults::Untold) => {
                let message = "The payload is not what the workflow takes; it is too large to say where";
                return Err(refuse(message.to_owned(), Vec::new()).into());
            }
            Verdict::Unfit(Faults::Told(faults)) => faults,
        };
        let details: Vec<Json> = faults
            .iter()
            .take(MOST_DETAILS)
            .map(|error| {
                let path = format!("payload{}", error.instance_path().as_str());
                // The value itself is not quoted: it may be a secret.
                json!({ "path": path, "message": error.masked().to_string() })
            })
            .collect();
        let first = details.first().and_then(|first| first["message"].as_str()).unwrap_or_default();
        Err(refuse(format!("The payload is not what the workflow takes: {first}"), details).into())
    }
}

fn missing(workflow: &str) -> Refusal {
    Refusal::new(WireCode::WorkflowNotFound, format!("Workflow not found: {workflow}"))
}
