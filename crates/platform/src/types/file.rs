//! `file`: what is known of a file. Its bytes stand beside it, if it was uploaded with some; a
//! document's text stands with the document, whose backing file is one of these.

use crate::{
    Act, Definition, DependentRule, Dependents, Extra, Findings, Node, PlatformType, Refusal, RestRoute,
    UpdateMode, node::GAP, rest::delete_bytes, scene::Scene, tags,
};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, StoredObject, UniqueKey};
use serde_json::{Map, json};

pub(super) struct File;

/// Where the system part of a document's file names the document.
pub(crate) const DOCUMENT: &str = "document_id";
const PATH: &str = "path";

static ROUTE: RestRoute = RestRoute {
    type_name: "file",
    path: "/files",
    id_param: "file_id",
    module: "files",
    create: Some("CreateFile"),
    list: "ListFiles",
    get: "GetFile",
    update: Some("UpdateFileMetadata"),
    delete: Some("DeleteFile"),
    gated_as: &[
        ("ListFiles", "files:GetFile"),
        ("GetFileTags", "files:GetFile"),
        ("ReplaceFileTags", "files:UpdateFileMetadata"),
        ("MergeFileTags", "files:UpdateFileMetadata"),
    ],
    update_modes: &[UpdateMode::Patch],
    update_suffix: "/metadata",
    actions: &tags::actions(["GetFileTags", "ReplaceFileTags", "MergeFileTags"]),
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] = [Dependents {
    type_name: "document",
    fields: &["file_id"],
    rule: DependentRule::Block { code: WireCode::FileHasDependents, count: "documentCount", force: false },
}];

static EXTRAS: [Extra; 1] = [Extra {
    name: PATH,
    kind: "string",
    nullable: true,
    value: |system| system.get(PATH).cloned().unwrap_or_default(),
}];

impl PlatformType for File {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc).nullable();
        Definition {
            name: "file",
            title: "file",
            noun: "File",
            id_prefix: "file",
            doc: "What is known of a file.",
            properties: vec![
                ("prefix", text("The directory it stands in.").default("/")),
                ("filename", text("Its own name; with the directory it is unique.")),
                ("content_type", text("What its bytes are; cannot change.").create_only()),
                (
                    "size",
                    PropertySchema::new(Kind::Integer, "How many bytes it has; cannot change.")
                        .nullable()
                        .create_only(),
                ),
                ("metadata", text("Anything else about it, as JSON text.")),
            ],
            // A path belongs to one file at a time, so the old one must go before the new one can
            // have it.
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            srn_type: "file",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        tags::act(tx, &act)
    }

    fn rest_properties(&self) -> Vec<(&'static str, PropertySchema)> {
        vec![("tags", tags::property())]
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        if properties.member("filename").and_then(Node::text).is_some_and(|name| name.contains('/')) {
            let message = "`filename` must be a name without `/`: directories stand in `prefix`";
            findings.error(DiagnosticCode::InvalidValue, Path::of(["filename"]), message);
        }
        let content_type = properties.member("content_type").and_then(Node::known_text);
        let is_seen = |letter: char| letter == ' ' || letter == GAP || letter.is_ascii_graphic();
        if content_type.is_some_and(|text| !text.chars().all(is_seen)) {
            let message = "`content_type` must be printable ASCII: it is sent as a header";
            findings.error(DiagnosticCode::InvalidValue, Path::of(["content_type"]), message);
        }
        super::check_least(properties, "size", 0, &Path::root(), findings);
        let metadata = properties.member("metadata").and_then(Node::text);
        if metadata.is_some_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()) {
            let message = "`metadata` must be JSON text";
            findings.error(DiagnosticCode::InvalidValue, Path::of(["metadata"]), message);
        }
        tags::check(properties, findings);
    }

    fn names(&self) -> &'static [&'static str] {
        &["prefix", "filename"]
    }

    fn public(&self) -> &'static [&'static str] {
        &["prefix", "filename"]
    }

    fn keys(&self, properties: &Json) -> Vec<UniqueKey> {
        path_of(properties).map(path_key).into_iter().collect()
    }

    fn accompany(&self, _tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        let document = scene.system.get(DOCUMENT).and_then(Json::as_str);
        if let Some(document) = document
            && (scene.changes("prefix") || scene.changes("filename"))
        {
            let message =
                format!("The file belongs to document '{document}': change the document's path instead");
            return Err(Refusal::new(WireCode::ValidationFailed, message).into());
        }
        put_path(scene.system, path_of(scene.after).as_deref());
        Ok(())
    }

    fn depart(&self, tx: &mut dyn DomainTx, object: &StoredObject) -> Result<(), DomainError> {
        delete_bytes(tx, object)
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }
}

/// Notes the path in a file's system part.
pub(super) fn put_path(system: &mut Map<String, Json>, path: Option<&str>) {
    system.insert(PATH.to_owned(), json!(path));
}

/// The key under which no two files of a project stand.
pub(super) fn path_key(path: String) -> UniqueKey {
    UniqueKey { key: PATH.to_owned(), value: path }
}

/// The path that directory and name make; a file without a name has none.
pub(super) fn path_of(properties: &Json) -> Option<String> {
    let text = |name: &str| properties.get(name).and_then(Json::as_str);
    let filename = text("filename").filter(|name| !name.is_empty())?;
    let directory = text("prefix").unwrap_or_default().trim_matches('/');
    Some(if directory.is_empty() { format!("/{filename}") } else { format!("/{directory}/{filename}") })
}

/// A path as the directory and the name that make it.
pub(super) fn parts_of(path: &str) -> (String, String) {
    let (directory, filename) = path.rsplit_once('/').unwrap_or(("", path));
    (format!("{directory}/"), filename.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_and_name_make_one_path_however_they_are_written() {
        for (prefix, filename, path) in [
            (json!(null), "a.txt", "/a.txt"),
            (json!("/"), "a.txt", "/a.txt"),
            (json!("docs"), "a.txt", "/docs/a.txt"),
            (json!("/docs/en/"), "a.txt", "/docs/en/a.txt"),
        ] {
            let made = path_of(&json!({ "prefix": prefix, "filename": filename }));
            assert_eq!(made.as_deref(), Some(path));
            let (prefix, filename) = parts_of(path);
            assert_eq!(path_of(&json!({ "prefix": prefix, "filename": filename })).as_deref(), Some(path));
        }
        assert_eq!(path_of(&json!({ "prefix": "/docs" })), None);
    }
}
