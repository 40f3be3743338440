//! `ingestion_rule`: what turns files of a kind into text (`formations-behaviour.md` §7.5).

use super::document;
use crate::{Definition, Findings, Node, PlatformType, Refusal, RestRoute, UpdateMode};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, ProjectId, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, UniqueKey};

pub(super) struct IngestionRule;

const GLOB: &str = "content_type_glob";
const INVALID: WireCode = WireCode::IngestionRuleValidationFailed;
/// Parameters that ingestion itself fills in.
const RESERVED: &[&str] = &["file", "callback"];

static ROUTE: RestRoute = RestRoute {
    type_name: "ingestion_rule",
    path: "/ingestion-rules",
    id_param: "ingestion_rule_id",
    module: "ingestion-rules",
    create: Some("CreateIngestionRule"),
    list: "ListIngestionRules",
    get: "GetIngestionRule",
    update: Some("UpdateIngestionRule"),
    delete: Some("DeleteIngestionRule"),
    update_modes: &[UpdateMode::Patch],
    ..RestRoute::USUAL
};

impl PlatformType for IngestionRule {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc).nullable();
        let number = |doc: &'static str| PropertySchema::new(Kind::Integer, doc).nullable();
        let object = |doc: &'static str| PropertySchema::new(Kind::Object, doc).nullable();
        Definition {
            name: "ingestion_rule",
            title: "ingestion rule",
            noun: "Ingestion rule",
            id_prefix: "igr",
            doc: "What turns files of a content type into text.",
            properties: vec![
                (
                    GLOB,
                    PropertySchema::new(Kind::String, "Which content types (`image/*`); unique.").required(),
                ),
                ("tool_id", text("The tool that converts; excludes `agent_id`.").refers_to("tool")),
                ("agent_id", text("The agent that converts; excludes `tool_id`.").refers_to("agent")),
                ("action", text("The action of a `builtin` or `mcp` tool.")),
                ("preset_parameters", object("Arguments that are always sent along.")),
                (
                    "native_extraction",
                    text("Whether our own extraction is tried first.")
                        .one_of(&["first", "skip"])
                        .default("first"),
                ),
                (
                    "file_delivery",
                    text("How the converter gets the file.")
                        .one_of(&["base64", "download_url"])
                        .default("base64"),
                ),
                (
                    "chunk_strategy",
                    text("How the text is cut into chunks.").one_of(&["page", "whole", "size"]),
                ),
                ("chunk_size", number("Characters per chunk, for `size`.")),
                ("chunk_overlap", number("Characters that a chunk shares with the one before.")),
                ("metadata", object("Anything else about it.")),
            ],
            // Nothing of it is fixed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "ingestionRule",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        // Reported at the properties as a whole, as each message names what it is about.
        let mut report = |code: DiagnosticCode, message: &str| {
            findings.coded(INVALID, code, Path::root(), message);
        };
        if properties.member(GLOB).and_then(Node::text).is_some_and(|glob| !is_glob(glob)) {
            let message =
                "content_type_glob must be a valid MIME type glob (e.g. \"image/*\", \"image/png\", \"*/*\")";
            report(DiagnosticCode::InvalidValue, message);
        }
        match (properties.member("tool_id"), properties.member("agent_id")) {
            (Some(_), Some(_)) => {
                report(DiagnosticCode::ConflictingProperties, "tool_id and agent_id are mutually exclusive");
            }
            (None, None) => {
                report(DiagnosticCode::MissingProperty, "exactly one of tool_id or agent_id is required");
            }
            _ => {}
        }
        let presets = properties.member("preset_parameters").map(Node::members).unwrap_or_default();
        for (name, _) in presets.into_iter().filter(|(name, _)| RESERVED.contains(name)) {
            let message = format!(
                "preset_parameters cannot contain the reserved key \"{name}\" — it is injected by ingestion"
            );
            report(DiagnosticCode::InvalidValue, &message);
        }
        document::check_chunks(properties, findings);
    }

    fn public(&self) -> &'static [&'static str] {
        &[GLOB]
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        let glob = properties.get(GLOB).and_then(Json::as_str);
        glob.map(|glob| UniqueKey { key: GLOB.to_owned(), value: glob.to_owned() }).into_iter().collect()
    }

    fn conflict(&self, _key: &str, properties: &Json) -> Option<Refusal> {
        let glob = properties.get(GLOB).and_then(Json::as_str)?;
        let message = format!("An ingestion rule for '{glob}' already exists in this project.");
        Some(Refusal::new(WireCode::IngestionRuleGlobConflict, message))
    }

    fn admit(
        &self,
        tx: &mut dyn DomainTx,
        _project: &ProjectId,
        properties: &Json,
    ) -> Result<(), DomainError> {
        let Some(tool_id) = properties.get("tool_id").and_then(Json::as_str) else { return Ok(()) };
        let has_action = properties.get("action").is_some_and(|action| !action.is_null());
        let message = match super::tool::type_of(tx, tool_id)?.as_deref() {
            Some("client") => "client tools cannot be executed server-side and cannot be a converter.",
            Some("builtin" | "mcp") if !has_action => {
                "action is required when the converter tool type is builtin or mcp"
            }
            _ => return Ok(()),
        };
        Err(Refusal::new(INVALID, message).into())
    }
}

/// `type/subtype`, each of letters, digits, `*`, `.`, `+` and `-`.
fn is_glob(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*.+-".contains(&byte))
    };
    text.split_once('/').is_some_and(|(kind, subtype)| is_part(kind) && is_part(subtype))
}
