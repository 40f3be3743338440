//! Versions of objects: each changing write raises the object's `version` and leaves a record of
//! what was written and by whom. Restoring one writes it again, as a version of its own.
//!
//! A versioned type names its [`Versions`]; nothing else is up to it.

use crate::{
    Act, Completeness, Definition, DependentRule, Dependents, PlatformCatalog, PlatformType, RestAction,
    RestParent, RestRoute,
    document::Document,
    draft::{self, Given},
    ids::new_id,
    types::GUARDRAIL_DOCUMENT,
    view::representation,
};
use formwork_model::{ActorId, ImmutableRule, InstanceKey, Json, Kind, Path, ProjectId, PropertySchema};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, Link, NewObject, UniqueKey};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// The member of the system part and of representations that counts the writes.
pub(crate) const VERSION: &str = "version";
/// The property of a versioned type that names the version which a write makes.
pub(crate) const LABEL: &str = "version_label";
const CREATED_BY: &str = "created_by";
const PROPERTIES: &str = "properties";

/// The versions of one type: a type of records that only the routes show.
pub(crate) struct Versions {
    name: &'static str,
    title: &'static str,
    noun: &'static str,
    id_prefix: &'static str,
    srn_type: &'static str,
    /// The one property by which a record names what it is a version of.
    of: &'static [&'static str; 1],
    /// The properties whose change makes a version; none is all.
    watched: &'static [&'static str],
    route: &'static RestRoute,
}

const fn route(
    type_name: &'static str,
    path: &'static str,
    module: &'static str,
    [list, get]: [&'static str; 2],
    parent: RestParent,
    of: &'static [&'static str],
    restore: &'static [RestAction],
) -> RestRoute {
    RestRoute {
        type_name,
        path,
        id_param: "version_id",
        parent: Some(parent),
        module,
        list,
        get,
        list_filters: of,
        actions: restore,
        ..RestRoute::USUAL
    }
}

const fn restore(operation: &'static str) -> RestAction {
    RestAction::post("restore", operation)
}

static AGENT_ROUTE: RestRoute = route(
    "agent_version",
    "/agents/{agent_id}/versions",
    "agents",
    ["ListAgentVersions", "GetAgentVersion"],
    RestParent { type_name: "agent", property: "agent_id" },
    &["agent_id"],
    &[restore("RestoreAgentVersion")],
);

static GUARDRAIL_ROUTE: RestRoute = route(
    "guardrail_version",
    "/guardrails/{guardrail_id}/versions",
    "guardrails",
    ["ListGuardrailVersions", "GetGuardrailVersion"],
    RestParent { type_name: "guardrail", property: "guardrail_id" },
    &["guardrail_id"],
    &[restore("RestoreGuardrailVersion")],
);

static ORCHESTRATION_ROUTE: RestRoute = route(
    "orchestration_version",
    "/orchestrations/{orchestration_id}/versions",
    "orchestrations",
    ["ListOrchestrationVersions", "GetOrchestrationVersion"],
    RestParent { type_name: "orchestration", property: "orchestration_id" },
    &["orchestration_id"],
    &[restore("RestoreOrchestrationVersion")],
);

static WORKFLOW_ROUTE: RestRoute = route(
    "workflow_version",
    "/workflows/{workflow_id}/versions",
    "workflows",
    ["ListWorkflowVersions", "GetWorkflowVersion"],
    RestParent { type_name: "workflow", property: "workflow_id" },
    &["workflow_id"],
    &[restore("RestoreWorkflowVersion")],
);

pub(crate) static AGENT: Versions = Versions {
    name: "agent_version",
    title: "agent version",
    noun: "Agent version",
    id_prefix: "agver",
    srn_type: "agent",
    of: &["agent_id"],
    watched: &[],
    route: &AGENT_ROUTE,
};

pub(crate) static GUARDRAIL: Versions = Versions {
    name: "guardrail_version",
    title: "guardrail version",
    noun: "Guardrail version",
    id_prefix: "guard_ver",
    srn_type: "guardrail",
    of: &["guardrail_id"],
    // Another name decides nothing else.
    watched: GUARDRAIL_DOCUMENT,
    route: &GUARDRAIL_ROUTE,
};

pub(crate) static ORCHESTRATION: Versions = Versions {
    name: "orchestration_version",
    title: "orchestration version",
    noun: "Orchestration version",
    id_prefix: "orch_ver",
    srn_type: "orchestration",
    of: &["orchestration_id"],
    watched: &[],
    route: &ORCHESTRATION_ROUTE,
};

pub(crate) static WORKFLOW: Versions = Versions {
    name: "workflow_version",
    title: "workflow version",
    noun: "Workflow version",
    id_prefix: "wfl_ver",
    srn_type: "workflow",
    of: &["workflow_id"],
    watched: &[],
    route: &WORKFLOW_ROUTE,
};

impl PlatformType for Versions {
    fn define(&self) -> Definition {
        let parent = self.route.parent.map_or("", |parent| parent.type_name);
        Definition {
            name: self.name,
            title: self.title,
            noun: self.noun,
            id_prefix: self.id_prefix,
            doc: "What a changing write left, and who wrote it.",
            properties: vec![
                (self.of[0], PropertySchema::new(Kind::String, "What it is a version of.").refers_to(parent)),
                (VERSION, PropertySchema::new(Kind::Integer, "Its number, from 1.")),
                (LABEL, PropertySchema::new(Kind::String, "What whoever wrote it called it.").nullable()),
                (CREATED_BY, PropertySchema::new(Kind::String, "Who wrote it.")),
                (PROPERTIES, PropertySchema::new(Kind::Object, "What was written.")),
            ],
            // No route changes a version.
            on_immutable: ImmutableRule::Replace,
            srn_type: self.srn_type,
            dependents: &[],
            route: self.route,
        }
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some(self.of[0])
    }

    /// Writes the version again. All rules are asked anew: what it refers to may be gone.
    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        let record = Document::of(&act.object)?.open_whole(act.key, &act.object.id)?;
        let of = record.properties.expose().get(self.of[0]).and_then(Json::as_str).unwrap_or_default();
        let object = tx.get(of)?.filter(|object| object.project == act.object.project);
        let object = object.ok_or_else(|| DomainError::NotFound { id: of.to_owned() })?;
        let Some(entry) = PlatformCatalog::shared().entry(&object.type_name) else {
            return Err(DomainError::NotFound { id: object.id });
        };
        let properties = record.properties.expose().get(PROPERTIES).cloned().unwrap_or_default();
        let given = Given {
            properties: Secret::new(properties),
            secret_paths: record
                .secrets
                .iter()
                .map(|path| path.segments()[1..].iter().cloned().collect())
                .collect(),
            kept_paths: Vec::new(),
            completeness: Completeness::Whole,
            actor: act.actor.clone(),
        };
        let object = draft::update(tx, entry, act.key, object, &given)?;
        representation(entry, &object)
    }
}

/// What has just been written to an object.
pub(crate) struct Written<'a> {
    pub(crate) key: &'a InstanceKey,
    pub(crate) id: &'a str,
    pub(crate) project: &'a ProjectId,
    pub(crate) actor: &'a ActorId,
    /// What it was; `None` on create.
    pub(crate) before: Option<&'a Json>,
    pub(crate) properties: &'a Secret<Json>,
    /// Where secrets stand in the properties; they stay sealed in the record too.
    pub(crate) secrets: &'a BTreeSet<Path>,
}

impl Versions {
    /// Counts a write in the object's system part and keeps what it wrote.
    ///
    /// # Errors
    /// A fault of the store.
    pub(crate) fn add(
        &self,
        tx: &mut dyn DomainTx,
        written: &Written<'_>,
        system: &mut Map<String, Json>,
    ) -> Result<(), DomainError> {
        if !self.is_due(written) {
            return Ok(());
        }
        let number = system.get(VERSION).and_then(Json::as_u64).unwrap_or(0) + 1;
        system.insert(VERSION.to_owned(), json!(number));
        let id = new_id(self.id_prefix);
        let mut properties = written.properties.expose().clone();
        // It names this version, so writing it again must not name that one too.
        let label = properties.as_object_mut().and_then(|members| members.shift_remove(LABEL));
        let mut record = json!({
            self.of[0]: written.id,
            VERSION: number,
            CREATED_BY: written.actor,
            PROPERTIES: properties,
        });
        if let Some(label) = label {
            record[LABEL] = label;
        }
        let plain = Secret::new(record);
        let at = Path::of([PROPERTIES]);
        let secrets = written.secrets.iter().map(|path| at.join(path)).collect();
        tx.insert(NewObject {
            doc: Document::seal(written.key, &id, &plain, &secrets, Map::new()).to_json(),
            id,
            type_name: self.name.to_owned(),
            project: Some(written.project.clone()),
            // No two writes can make the same version.
            keys: vec![UniqueKey { key: VERSION.to_owned(), value: format!("{}:{number}", written.id) }],
            links: vec![Link { field: self.of[0].to_owned(), to: written.id.to_owned() }],
        })?;
        Ok(())
    }

    fn is_due(&self, written: &Written<'_>) -> bool {
        let after = written.properties.expose();
        let changes = |name: &&str| written.before.is_none_or(|before| before.get(*name) != after.get(*name));
        self.watched.is_empty() || self.watched.iter().chain(&[LABEL]).any(changes)
    }

    /// The versions as what goes when the object goes.
    pub(crate) fn dependents(&'static self) -> Dependents {
        Dependents { type_name: self.name, fields: self.of, rule: DependentRule::Cascade }
    }
}
