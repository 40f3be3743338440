//! The settings of a project (`formations-behaviour.md` §6.2). Projects themselves are `control`'s;
//! what they may be set to, and what the platform's types do by it, is said here.

use crate::{
    Findings, Node, RefKind, Reference, Refusal, references,
    rest::{members, refuse_unknown},
};
use formwork_model::{DiagnosticCode, Json, Path, ProjectId, WireCode};
use formwork_store::{DomainError, DomainTx, Link, ListQuery, ObjectChange, StoredObject, UniqueKey};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::collections::BTreeSet;

/// The type of the object that a project is.
pub(crate) const TYPE: &str = "project";
/// Names, in a project, the route that whoever names none takes.
pub(crate) const DEFAULT_ROUTE: &str = "default_model_route_id";
/// Names the guardrails on all calls of a project.
pub(crate) const GUARDRAILS: &str = "guardrail_ids";
const NAME: &str = "name";
const RUNS: &str = "max_concurrent_runs";
const AUDIT_READS: &str = "audit_reads_enabled";
const RETENTION: &str = "trace_content_retention_days";
const MODE: &str = "trace_content_mode";
/// All that a change can name.
const FIELDS: [&str; 7] = [NAME, GUARDRAILS, RUNS, DEFAULT_ROUTE, AUDIT_READS, RETENTION, MODE];
/// The longest that content can be kept for: a hundred years.
const MOST_DAYS: i64 = 36_500;
/// The most runs at once that anybody could mean.
const MOST_RUNS: i64 = 1_000_000;
/// The most guardrails: all are looked up with each change, and shown with each project.
const MOST_GUARDRAILS: usize = 100;

/// What is set of a project. What is not set has the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSettings {
    /// The guardrails on all calls of its agents.
    pub guardrail_ids: Vec<String>,
    /// How many runs a runtime may carry out at once; `None` is any number.
    pub max_concurrent_runs: Option<u64>,
    /// The route of agents and chats that name neither a provider nor a route.
    pub default_model_route_id: Option<String>,
    /// Whether reads are in the audit too.
    pub audit_reads_enabled: bool,
    /// After how many days the content of generations and traces is purged; `None` is never.
    pub trace_content_retention_days: Option<u64>,
    /// Whether the content of generations and traces is kept at all.
    pub trace_content_mode: TraceContentMode,
}

/// Whether the content of generations and traces is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceContentMode {
    /// It is.
    #[default]
    Full,
    /// It is not: what is reported of it is dropped.
    None,
}

impl ProjectSettings {
    /// The settings of a stored project.
    ///
    /// # Errors
    /// A project that can't be read.
    pub fn of(project: &StoredObject) -> Result<Self, DomainError> {
        Self::deserialize(&project.doc).map_err(|error| DomainError::Fault(Box::new(error)))
    }

    /// The settings of a project within a transaction; those of none are the defaults.
    ///
    /// # Errors
    /// A fault of the store.
    pub(crate) fn within(tx: &mut dyn DomainTx, project: &ProjectId) -> Result<Self, DomainError> {
        let found = tx.get(project.as_str())?.filter(|object| object.type_name == TYPE);
        found.map_or_else(|| Ok(Self::default()), |object| Self::of(&object))
    }

    fn links(&self) -> Vec<Link> {
        let link = |field: &str, to: &String| Link { field: field.to_owned(), to: to.clone() };
        let route = self.default_model_route_id.iter().map(|id| link(DEFAULT_ROUTE, id));
        let mut links: Vec<Link> =
            route.chain(self.guardrail_ids.iter().map(|id| link(GUARDRAILS, id))).collect();
        links.sort_unstable();
        links.dedup();
        links
    }
}

/// A change of a project's name and settings: what it does not name stays, null is the default.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectChange {
    members: Map<String, Json>,
}

impl ProjectChange {
    /// Reads the body of a change.
    ///
    /// # Errors
    /// `VALIDATION_FAILED` names what is unknown or not valid.
    pub fn parse(body: Json) -> Result<Self, DomainError> {
        let mut members = members(body)?;
        refuse_unknown(&members, |name| FIELDS.contains(&name))?;
        let mut findings = Findings::default();
        for (name, value) in &members {
            if let Some(expected) = problem(name, value) {
                let message = format!("`{name}` must be {expected}");
                findings.error(DiagnosticCode::InvalidValue, Path::of([name.as_str()]), message);
            }
        }
        findings.refuse()?;
        for value in members.values_mut() {
            // However a whole number was written, it is stored as one.
            if let Some(number) = Node::Plain(value).integer() {
                *value = json!(number);
            }
        }
        Ok(Self { members })
    }

    /// The name that it gives the project.
    pub fn name(&self) -> Option<&str> {
        self.members.get(NAME).and_then(Json::as_str)
    }

    /// The names of what it sets.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Changes a project. Ids are resolved within it, and what agents and chats inherit is not taken
    /// from them.
    ///
    /// # Errors
    /// `MODEL_ROUTE_NOT_FOUND`, `GUARDRAIL_NOT_FOUND`, `PROJECT_DEFAULT_ROUTE_INHERITED`, a taken name,
    /// or a fault of the store.
    pub fn apply(&self, tx: &mut dyn DomainTx, project: &ProjectId) -> Result<StoredObject, DomainError> {
        let found = tx.get(project.as_str())?.filter(|object| object.type_name == TYPE);
        let object = found.ok_or_else(|| DomainError::NotFound { id: project.to_string() })?;
        let before = ProjectSettings::of(&object)?;
        let mut doc = object.doc.as_object().cloned().unwrap_or_default();
        for (name, value) in &self.members {
            if value.is_null() {
                doc.shift_remove(name);
            } else {
                doc.insert(name.clone(), value.clone());
            }
        }
        let doc = Json::Object(doc);
        let after =
            ProjectSettings::deserialize(&doc).map_err(|error| DomainError::Fault(Box::new(error)))?;
        self.resolve(tx, project, &after)?;
        if before.default_model_route_id.is_some() && after.default_model_route_id.is_none() {
            refuse_inherited(tx, project)?;
        }
        if doc == object.doc {
            return Ok(object);
        }
        let name = doc[NAME].as_str().unwrap_or_default().to_owned();
        tx.update(ObjectChange {
            id: object.id,
            expected_version: Some(object.version),
            doc,
            keys: vec![UniqueKey { key: NAME.to_owned(), value: name }],
            links: after.links(),
        })
    }

    /// Demands that what it names is in the project.
    fn resolve(
        &self,
        tx: &mut dyn DomainTx,
        project: &ProjectId,
        after: &ProjectSettings,
    ) -> Result<(), DomainError> {
        let routes = after.default_model_route_id.iter().map(|id| (DEFAULT_ROUTE, RefKind::ModelRoute, id));
        let guardrails = after.guardrail_ids.iter().map(|id| (GUARDRAILS, RefKind::Guardrail, id));
        for (field, kind, id) in routes.chain(guardrails) {
            let reference = Reference { field: field.to_owned(), kind, to: id.clone() };
            if self.members.contains_key(field)
                && references::resolve(tx, Some(project), &reference)?.is_none()
            {
                return Err(reference.missing().into());
            }
        }
        Ok(())
    }
}

/// What a field must be, if its value is something else.
fn problem(name: &str, value: &Json) -> Option<String> {
    let node = Node::Plain(value);
    let within = |most: i64| {
        let fits = node.integer().is_some_and(|number| (1..=most).contains(&number));
        (!fits).then(|| format!("an integer from 1 to {most}, or null"))
    };
    if name == NAME {
        return (!value.is_string()).then(|| "a string".to_owned());
    }
    if value.is_null() {
        return None;
    }
    match name {
        GUARDRAILS => {
            let Some(texts) = value.as_array().filter(|items| items.iter().all(Json::is_string)) else {
                return Some("an array of strings".to_owned());
            };
            let different: BTreeSet<_> = texts.iter().filter_map(Json::as_str).collect();
            let fits = texts.len() <= MOST_GUARDRAILS && different.len() == texts.len();
            (!fits).then(|| format!("an array of at most {MOST_GUARDRAILS} different ids"))
        }
        RUNS => within(MOST_RUNS),
        RETENTION => within(MOST_DAYS),
        DEFAULT_ROUTE => (!value.is_string()).then(|| "a string or null".to_owned()),
        MODE => (!["full", "none"].iter().any(|mode| value == mode)).then(|| "one of full, none".to_owned()),
        AUDIT_READS => (!value.is_boolean()).then(|| "a boolean".to_owned()),
        // No other field is known.
        _ => None,
    }
}

/// The link of everything that takes its model from its project. Links count within a project, so it
/// need not say which.
pub(crate) fn inheriting() -> Link {
    Link { field: "inherits".to_owned(), to: DEFAULT_ROUTE.to_owned() }
}

/// Refuses to take a default route away from those that take their model from it.
fn refuse_inherited(tx: &mut dyn DomainTx, project: &ProjectId) -> Result<(), DomainError> {
    let mut count = |type_name: &str| {
        let query = ListQuery {
            type_name: type_name.to_owned(),
            projects: vec![project.clone()],
            linked: Some(inheriting()),
            limit: 1,
            offset: 0,
        };
        tx.list(&query).map(|page| page.total)
    };
    let (agents, chats) = (count("agent")?, count("chat")?);
    if agents + chats == 0 {
        return Ok(());
    }
    let message = format!(
        "Project '{project}' has {agents} agent(s) and {chats} chat(s) that inherit its default model route, so \
         it cannot be cleared."
    );
    let refusal = Refusal::new(WireCode::ProjectDefaultRouteInherited, message);
    Err(refusal.meta(json!({ "agentCount": agents, "chatCount": chats })).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(body: &Json) -> Result<ProjectChange, String> {
        ProjectChange::parse(body.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn each_field_takes_what_it_means_and_null_but_for_the_name() {
        for right in [
            json!({}),
            json!({ "name": "n", "guardrail_ids": ["guard_1"], "max_concurrent_runs": 1 }),
            json!({ "max_concurrent_runs": 4.0, "trace_content_retention_days": 30 }),
            json!({ "default_model_route_id": "route_1", "audit_reads_enabled": true, "trace_content_mode": "none" }),
            json!({ "guardrail_ids": null, "max_concurrent_runs": null, "default_model_route_id": null,
                    "audit_reads_enabled": null, "trace_content_retention_days": null, "trace_content_mode": null }),
        ] {
            assert!(parsed(&right).is_ok(), "{right}");
        }
        for (wrong, message) in [
            (json!({ "name": null }), "`name` must be a string"),
            (json!({ "guardrail_ids": [1] }), "`guardrail_ids` must be an array of strings"),
            (
                json!({ "guardrail_ids": ["guard_1", "guard_1"] }),
                "`guardrail_ids` must be an array of at most 100 different ids",
            ),
            (
                json!({ "max_concurrent_runs": 0 }),
                "`max_concurrent_runs` must be an integer from 1 to 1000000, or null",
            ),
            (
                json!({ "trace_content_retention_days": 36_501 }),
                "`trace_content_retention_days` must be an integer from 1 to 36500, or null",
            ),
            (json!({ "default_model_route_id": 1 }), "`default_model_route_id` must be a string or null"),
            (json!({ "audit_reads_enabled": "yes" }), "`audit_reads_enabled` must be a boolean"),
            (json!({ "trace_content_mode": "some" }), "`trace_content_mode` must be one of full, none"),
            (json!({ "nmae": "n" }), "Unknown field(s): nmae"),
        ] {
            assert_eq!(parsed(&wrong), Err(message.to_owned()));
        }
    }

    #[test]
    fn what_a_project_does_not_say_has_its_default() {
        let object = |doc| StoredObject {
            id: "proj_1".to_owned(),
            type_name: TYPE.to_owned(),
            project: None,
            doc,
            version: 1,
            created_at: formwork_model::Timestamp(0),
            updated_at: formwork_model::Timestamp(0),
        };
        let settings = ProjectSettings::of(&object(json!({ "name": "n" }))).expect("readable");
        assert_eq!(settings, ProjectSettings::default());
        assert!(ProjectSettings::of(&object(json!({ "trace_content_mode": "perhaps" }))).is_err());
    }
}
