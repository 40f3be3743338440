//! `dataset_item`: one case of a dataset: what the agent is told, and what it should answer.

use crate::{Definition, Extra, Findings, Node, PlatformType, RestParent, RestRoute, UpdateMode};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, WireCode};

pub(super) struct DatasetItem;

static ROUTE: RestRoute = RestRoute {
    type_name: "dataset_item",
    path: "/datasets/{dataset_id}/items",
    id_param: "item_id",
    parent: Some(RestParent { type_name: "dataset", property: "dataset_id" }),
    module: "evaluations",
    create: Some("CreateDatasetItem"),
    list: "ListDatasetItems",
    get: "GetDatasetItem",
    update: Some("UpdateDatasetItem"),
    delete: Some("DeleteDatasetItem"),
    // Items are a part of their dataset.
    gated_as: &[
        ("CreateDatasetItem", "evaluations:CreateDataset"),
        ("ListDatasetItems", "evaluations:GetDataset"),
        ("GetDatasetItem", "evaluations:GetDataset"),
        ("UpdateDatasetItem", "evaluations:CreateDataset"),
        ("DeleteDatasetItem", "evaluations:CreateDataset"),
    ],
    update_modes: &[UpdateMode::Put],
    list_filters: &["dataset_id"],
    ..RestRoute::USUAL
};

/// Items made from a generation name it. That takes a running agent, and there is none yet.
static EXTRAS: [Extra; 1] =
    [Extra { name: "source_generation_id", kind: "string", nullable: true, value: |_| Json::Null }];

impl PlatformType for DatasetItem {
    fn define(&self) -> Definition {
        let of = |kind: Kind, doc: &'static str| PropertySchema::new(kind, doc);
        Definition {
            name: "dataset_item",
            title: "DatasetItem",
            noun: "Dataset item",
            id_prefix: "dsit",
            doc: "One case of a dataset.",
            properties: vec![
                (
                    "dataset_id",
                    of(Kind::String, "The dataset it belongs to; cannot change.")
                        .required()
                        .refers_to("dataset")
                        .create_only(),
                ),
                (
                    "input",
                    of(Kind::Array, "What the agent is told: messages with `role` and `content`.").required(),
                ),
                ("expected_output", of(Kind::String, "What a right answer is.").nullable()),
                ("metadata", of(Kind::Object, "Anything else about it.").nullable()),
            ],
            // Seed 4, "A Failed Deploy Still Answers 2xx".
            on_immutable: ImmutableRule::Refuse {
                message: "{field} is immutable: item '{native_id}' belongs to '{current}'. Declare a new \
                          dataset_item instead."
                    .into(),
            },
            srn_type: "dataset",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some("dataset_id")
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        let messages = properties.member("input").map(Node::items).unwrap_or_default();
        for (index, message) in messages.into_iter().enumerate() {
            check_message(message, &Path::of(["input"]).index(index), findings);
        }
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

fn check_message(message: Node<'_>, at: &Path, findings: &mut Findings) {
    if message.is_expression() {
        return;
    }
    if !message.is_object() {
        findings.error(DiagnosticCode::WrongType, at.clone(), format!("`{at}` must be an object"));
        return;
    }
    super::check_known(message, &["role", "content"], at, findings);
    let role = message.member("role");
    if role.and_then(Node::text) == Some("system") {
        let message = format!("`{at}.role` cannot be \"system\": the agent's own instructions apply");
        let code = WireCode::SystemMessageNotAllowed;
        findings.coded(code, DiagnosticCode::InvalidValue, at.key("role"), message);
    } else if !role.is_some_and(Node::may_be_text) {
        let message = format!("`{at}.role` is required and must be a non-empty string");
        findings.error(DiagnosticCode::InvalidValue, at.key("role"), message);
    }
    // What a tool or a document says is told as an object (`formations-behaviour.md` §7.1).
    let holds =
        |content: Node<'_>| content.is_expression() || content.known_text().is_some() || content.is_object();
    if !message.member("content").is_some_and(holds) {
        let text = format!("`{at}.content` is required and must be a string or an object");
        findings.error(DiagnosticCode::InvalidValue, at.key("content"), text);
    }
}
