//! `memory_entry`: one thing that a memory holds.

use super::check_texts;
use crate::{Definition, Extra, Findings, Node, PlatformType, Refusal, RestRoute, UpdateMode, rest::Filter};
use formwork_model::{ImmutableRule, Json, Kind, Path, PropertySchema, WireCode};

pub(super) struct MemoryEntry;

static ROUTE: RestRoute = RestRoute {
    type_name: "memory_entry",
    path: "/memory-entries",
    id_param: "entry_id",
    module: "memories",
    create: Some("CreateMemoryEntry"),
    list: "ListMemoryEntries",
    get: "GetMemoryEntry",
    update: Some("UpdateMemoryEntry"),
    delete: Some("DeleteMemoryEntry"),
    update_modes: &[UpdateMode::Put],
    list_filters: &["memory_id", "include_invalidated"],
    ..RestRoute::USUAL
};

/// Where an entry came from and what became of it. Only running agents set these, and there are
/// none yet.
static EXTRAS: [Extra; 4] = [
    Extra { name: "source_generation_id", kind: "string", nullable: true, value: |_| Json::Null },
    Extra { name: "source_conversation_id", kind: "string", nullable: true, value: |_| Json::Null },
    Extra { name: "invalidated_at", kind: "string", nullable: true, value: |_| Json::Null },
    Extra { name: "superseded_by_entry_id", kind: "string", nullable: true, value: |_| Json::Null },
];

impl PlatformType for MemoryEntry {
    fn define(&self) -> Definition {
        Definition {
            name: "memory_entry",
            title: "MemoryEntry",
            noun: "Memory entry",
            id_prefix: "mem_entry",
            doc: "One thing that a memory holds.",
            properties: vec![
                (
                    "memory_id",
                    PropertySchema::new(Kind::String, "The memory that holds it; cannot change.")
                        .required()
                        .refers_to("memory")
                        .create_only(),
                ),
                ("content", PropertySchema::new(Kind::String, "What is remembered.").required()),
                (
                    "source_type",
                    PropertySchema::new(Kind::String, "Where it came from; cannot change.")
                        .one_of(&["manual", "agent", "extraction", "orchestration"])
                        .default("manual")
                        .create_only(),
                ),
                (
                    "tags",
                    PropertySchema::new(Kind::Array, "Texts to find it by.")
                        .nullable()
                        .shaped(super::texts()),
                ),
                ("metadata", PropertySchema::new(Kind::Object, "Anything else about it.").nullable()),
            ],
            // An entry is worth no more than its content, so a new one with the same content is
            // as good: the old one goes once the new one is there.
            on_immutable: ImmutableRule::Replace,
            srn_type: "memory",
            dependents: &[],
            route: &ROUTE,
        }
    }

    fn srn_parent(&self) -> Option<&'static str> {
        Some("memory_id")
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_texts(properties.member("tags"), &Path::of(["tags"]), findings);
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }

    fn filter(&self, _name: &str, value: &str) -> Result<Filter, Refusal> {
        let include: bool = value.parse().map_err(|_| {
            Refusal::new(WireCode::ValidationFailed, "`include_invalidated` must be true or false")
        })?;
        Ok(Filter::Test(Box::new(move |document| {
            include || document.system.get("invalidated_at").is_none_or(Json::is_null)
        })))
    }
}
