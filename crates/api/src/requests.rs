//! Bodies of requests. Their schemas are also the lists of fields that a route takes: any other is
//! refused.

#![allow(unused_qualifications, reason = "the schema derive names types by their full paths")]

use crate::TraceContentMode;
use formwork_model::Json;
use indexmap::IndexMap;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};

/// A JSON object.
type JsonMap = serde_json::Map<String, Json>;

/// A template: an object, or a text with JSON or YAML, which keeps its places.
fn template_schema() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Object))
        .item(ObjectBuilder::new().schema_type(Type::String))
        .description(Some("The template, as an object or as JSON or YAML text."))
        .into()
}

/// A template, or null for none.
fn optional_template_schema() -> Schema {
    OneOfBuilder::new()
        .item(ObjectBuilder::new().schema_type(Type::Object))
        .item(ObjectBuilder::new().schema_type(Type::String))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("The template, as an object or as JSON or YAML text."))
        .into()
}

/// Reads what [`template_schema`] says.
fn template<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
    let value = Json::deserialize(deserializer)?;
    let unexpected = match &value {
        Json::Object(_) | Json::String(_) => return Ok(value),
        Json::Null => Unexpected::Unit,
        Json::Bool(value) => Unexpected::Bool(*value),
        Json::Number(_) => Unexpected::Other("number"),
        Json::Array(_) => Unexpected::Seq,
    };
    Err(D::Error::invalid_type(unexpected, &"an object or a text"))
}

/// Reads what [`optional_template_schema`] says.
fn optional_template<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    match Option::<Json>::deserialize(deserializer)? {
        None => Ok(None),
        Some(value) => template(value).map(Some).map_err(D::Error::custom),
    }
}

/// The body of `POST /formations/validate`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ValidateFormation {
    /// The template.
    #[serde(deserialize_with = "template")]
    #[schema(schema_with = template_schema, required)]
    pub template: Json,
    /// Parameter values by name. Where absent, required parameters are not demanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub parameters: Option<JsonMap>,
}

/// The body of `POST /formations/plan`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanFormation {
    /// The project; where absent, the credential's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The formation to plan an update of; where absent, a new one is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formation_id: Option<String>,
    /// The template; where absent, the formation's stored one.
    #[serde(default, deserialize_with = "optional_template", skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = optional_template_schema)]
    pub template: Option<Json>,
    /// Parameter values by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub parameters: Option<JsonMap>,
    /// Whether to look at what is there first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observe: Option<Observe>,
    /// What a failure means for the rest; `rollback` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// Whether to keep the plan, so that it can be shown and carried out by its hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub save: Option<bool>,
    /// The formation's revision to plan, in place of `template`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// The body of `POST /plans/{plan_hash}/apply`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApplyPlan {
    /// The name of the formation; for a plan that makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Whether a plan looks at what is there first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Observe {
    /// Yes.
    #[default]
    Live,
    /// No: plan from what was last known.
    Off,
}

/// What the failure of one resource means for the rest of a deploy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// Nothing more begins, and what this deploy created is deleted again.
    #[default]
    Rollback,
    /// What does not depend on it goes on, and what was made stays.
    Keep,
}

/// The body of `POST /formations`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreateFormation {
    /// The project; where absent, the credential's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The name, unique in the project.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// The template.
    #[serde(deserialize_with = "template")]
    #[schema(schema_with = template_schema, required)]
    pub template: Json,
    /// Static annotations; no expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Json>,
    /// Parameter values by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub parameters: Option<JsonMap>,
    /// The plan that was approved: another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    pub plan_hash: Option<String>,
    /// What a failure means for the rest; `rollback` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
}

/// The body of `PUT /formations/{formation_id}`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UpdateFormation {
    /// The template; where absent, the stored one is applied again.
    #[serde(default, deserialize_with = "optional_template", skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = optional_template_schema)]
    pub template: Option<Json>,
    /// Static annotations: absent leaves them, null clears them.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub metadata: Option<Option<Json>>,
    /// Parameter values by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub parameters: Option<JsonMap>,
    /// The plan that was approved: another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[0-9a-fA-F]{64}$")]
    pub plan_hash: Option<String>,
    /// What a failure means for the rest; `rollback` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// What became of creates whose outcome is not known, by logical id: the physical id of the
    /// object to adopt, or null if none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub unknown_outcomes: Option<IndexMap<String, Option<String>>>,
    /// The revision whose template is applied again, in place of `template`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// Tells null from absent.
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Json>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// The body of `POST /formations/graph`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GraphFormation {
    /// The template.
    #[serde(deserialize_with = "template")]
    #[schema(schema_with = template_schema, required)]
    pub template: Json,
}

/// The body of `POST /operations/{operation_id}/cancel`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CancelOperation {
    /// Whether to give up the undos too, and leave what stands.
    #[serde(default)]
    pub force: bool,
}

/// The body of `POST /projects`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreateProject {
    /// The name, unique.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
}

/// The body of `PATCH /projects/{project_id}`: what is absent stays, null is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UpdateProject {
    /// The name, unique.
    #[schema(min_length = 1, max_length = 255)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name: Option<String>,
    /// The guardrails on all calls of its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrail_ids: Option<Vec<String>>,
    /// How many runs a runtime may carry out at once; null is any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub max_concurrent_runs: Option<u64>,
    /// The model route of agents and chats that name neither a provider nor a route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_model_route_id: Option<String>,
    /// Whether reads are in the audit too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit_reads_enabled: Option<bool>,
    /// After how many days the content of generations and traces is purged; null is never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 36_500)]
    pub trace_content_retention_days: Option<u64>,
    /// Whether the content of generations and traces is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_content_mode: Option<TraceContentMode>,
}

/// The body of `POST /tokens`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CreateToken {
    /// What it is for.
    #[schema(min_length = 1, max_length = 255)]
    pub name: String,
    /// The one project it is confined to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

/// What stands for something that may hold credentials: a template's literals, values of parameters.
struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

macro_rules! hiding {
    ($($name:ident shows $($field:ident)*;)+) => {
        $(
            /// Without the template's literals and the parameters' values: they may be credentials.
            impl fmt::Debug for $name {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let mut shown = formatter.debug_struct(stringify!($name));
                    $(shown.field(stringify!($field), &self.$field);)*
                    shown.field("template", &Hidden).finish_non_exhaustive()
                }
            }
        )+
    };
}

hiding! {
    ValidateFormation shows;
    PlanFormation shows project_id formation_id observe on_failure save revision;
    CreateFormation shows project_id name metadata plan_hash on_failure;
    UpdateFormation shows metadata plan_hash on_failure unknown_outcomes revision;
    GraphFormation shows;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_tells_null_from_absent() {
        let parsed = |text| serde_json::from_str::<UpdateFormation>(text).expect("valid").metadata;
        assert_eq!(parsed("{}"), None);
        assert_eq!(parsed(r#"{"metadata": null}"#), Some(None));
        assert_eq!(parsed(r#"{"metadata": {"a": 1}}"#), Some(Some(serde_json::json!({"a": 1}))));
    }

    #[test]
    fn printing_a_request_shows_no_template_and_no_parameters() {
        let template = serde_json::json!({ "resources": { "K": { "properties": { "value": "canary" } } } });
        let parameters: JsonMap = [("Key".to_owned(), Json::from("canary"))].into_iter().collect();
        let body = serde_json::json!({ "name": "shown", "template": template, "parameters": parameters });
        let read = |unwanted: &[&str]| {
            let mut body = body.clone();
            for name in unwanted {
                body.as_object_mut().expect("an object").remove(*name);
            }
            body
        };
        let texts = [
            format!("{:?}", ValidateFormation::deserialize(read(&["name"])).expect("a body")),
            format!("{:?}", PlanFormation::deserialize(read(&["name"])).expect("a body")),
            format!("{:?}", CreateFormation::deserialize(read(&[])).expect("a body")),
            format!("{:?}", UpdateFormation::deserialize(read(&["name"])).expect("a body")),
            format!("{:?}", GraphFormation::deserialize(read(&["name", "parameters"])).expect("a body")),
        ];
        assert!(texts.iter().all(|text| !text.contains("canary")), "{texts:?}");
        assert!(texts[2].contains("shown"), "{}", texts[2]);
    }
}
