//! `document`: a text with a backing file, cut into chunks for search
//! (`formations-behaviour.md` §7.5).

mod chunks;

use super::{check_least, check_text_members};
use crate::{
    Definition, DeleteStatus, DependentRule, Dependents, Extra, Findings, Node, PlatformType, Refusal,
    RestRoute, UpdateMode, document::Document as StoredForm, ids::new_id, rest::Filter, scene::Scene,
};
use chunks::{ChunkConfig, Strategy};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, Link, ListQuery, NewObject, ObjectChange, UniqueKey};
use serde_json::{Map, json};
use std::collections::BTreeSet;

pub(super) struct Document;

const CHUNK: &str = "document_chunk";
const FILE: &str = "file";
const DOCUMENT_LINK: &str = "document_id";
const CONTENT_TYPE: &str = "text/plain";
const DEFAULT_SIZE: usize = 1000;
const DEFAULT_OVERLAP: usize = 200;

static ROUTE: RestRoute = RestRoute {
    type_name: "document",
    path: "/documents",
    id_param: "document_id",
    module: "documents",
    create: "CreateDocument",
    list: "ListDocuments",
    get: "GetDocument",
    update: "UpdateDocument",
    delete: "DeleteDocument",
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "path_prefix"],
    create_status: 201,
    delete_status: DeleteStatus::NoContent,
    force: false,
};

static DEPENDENTS: [Dependents; 2] = [
    Dependents { type_name: CHUNK, fields: &[DOCUMENT_LINK], rule: DependentRule::Cascade },
    Dependents { type_name: FILE, fields: &[DOCUMENT_LINK], rule: DependentRule::Cascade },
];

static EXTRAS: [Extra; 4] = [
    Extra { name: "file_id", kind: "string", nullable: false, value: |system| of_system(system, "file_id") },
    Extra { name: "content_type", kind: "string", nullable: false, value: |_| json!(CONTENT_TYPE) },
    Extra { name: "size", kind: "integer", nullable: false, value: |system| of_system(system, "size") },
    // Chunks are written with the document, so it is never seen half-way.
    Extra { name: "status", kind: "string", nullable: false, value: |_| json!("ready") },
];

fn of_system(system: &Map<String, Json>, name: &str) -> Json {
    system.get(name).cloned().unwrap_or_default()
}

impl PlatformType for Document {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "document",
            title: "document",
            noun: "Document",
            id_prefix: "doc",
            doc: "A text that agents can search, cut into chunks.",
            properties: vec![
                ("content", text("The whole text.").required()),
                ("path", text("Where it stands among the project's files; unique.").nullable()),
                ("filename", text("The name of the backing file; cannot change.").nullable().create_only()),
                ("title", text("What people call it.").nullable()),
                ("metadata", PropertySchema::new(Kind::Object, "Anything else about it.").nullable()),
                ("tags", PropertySchema::new(Kind::Object, "Texts by name, to find it by.").nullable()),
                (
                    "chunk_strategy",
                    text("What a chunk is: a page, the whole text, or a number of characters.")
                        .one_of(&["page", "whole", "size"])
                        .default("whole"),
                ),
                (
                    "chunk_size",
                    PropertySchema::new(Kind::Integer, "Characters per chunk, for `size`.")
                        .default(DEFAULT_SIZE),
                ),
                (
                    "chunk_overlap",
                    PropertySchema::new(Kind::Integer, "Characters that a chunk shares with the one before.")
                        .default(DEFAULT_OVERLAP),
                ),
            ],
            // A path belongs to one document at a time, so the old one must go before the new one
            // can have it.
            on_immutable: ImmutableRule::ReplaceDeleteFirst,
            srn_type: "document",
            dependents: &DEPENDENTS,
            route: &ROUTE,
        }
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        check_text_members(properties.member("tags"), &Path::of(["tags"]), findings);
        check_least(properties, "chunk_size", 1, &Path::root(), findings);
        check_least(properties, "chunk_overlap", 0, &Path::root(), findings);
        let number = |name: &str, default: usize| match properties.member(name) {
            Some(value) => value.integer(),
            None => i64::try_from(default).ok(),
        };
        let (size, overlap) = (number("chunk_size", DEFAULT_SIZE), number("chunk_overlap", DEFAULT_OVERLAP));
        let by_size = properties.member("chunk_strategy").and_then(Node::text) == Some("size");
        if by_size && size.zip(overlap).is_some_and(|(size, overlap)| overlap >= size.max(1)) {
            let message = "`chunk_overlap` must be smaller than `chunk_size`";
            findings.error(DiagnosticCode::InvalidValue, Path::of(["chunk_overlap"]), message);
        }
    }

    fn public(&self) -> &'static [&'static str] {
        &["path", "chunk_strategy", "chunk_size", "chunk_overlap"]
    }

    fn accompany(&self, tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
        write_file(tx, scene)?;
        if ["content", "chunk_strategy", "chunk_size", "chunk_overlap"].iter().any(|name| scene.changes(name))
        {
            replace_chunks(tx, scene)?;
        }
        Ok(())
    }

    fn extras(&self) -> &'static [Extra] {
        &EXTRAS
    }

    fn filter(&self, _name: &str, value: &str) -> Result<Filter, Refusal> {
        let prefix = value.to_owned();
        Ok(Filter::Test(Box::new(move |document| {
            let path = document.properties.get("path").and_then(Json::as_str);
            path.is_some_and(|path| path.starts_with(&prefix))
        })))
    }
}

fn text_of<'a>(properties: &'a Json, name: &str) -> Option<&'a str> {
    properties.get(name).and_then(Json::as_str)
}

/// The backing file, under the document's path. It holds no text of its own.
fn write_file(tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
    let path = text_of(scene.after, "path");
    let size = text_of(scene.after, "content").map_or(0, str::len);
    let filename = if scene.is_secret("filename") { None } else { text_of(scene.after, "filename") };
    let file = json!({ "path": path, "filename": filename, "content_type": CONTENT_TYPE, "size": size });
    let doc = StoredForm { properties: file, ..StoredForm::default() }.to_json();
    let keys = path.map(|path| UniqueKey { key: "path".to_owned(), value: path.to_owned() });
    let keys: Vec<UniqueKey> = keys.into_iter().collect();
    let links = vec![Link { field: DOCUMENT_LINK.to_owned(), to: scene.id.to_owned() }];
    scene.system.insert("size".to_owned(), json!(size));
    if let Some(id) = scene.system.get("file_id").and_then(Json::as_str).map(str::to_owned) {
        tx.update(ObjectChange { id, expected_version: None, doc, keys, links })?;
    } else {
        let id = new_id("file");
        scene.system.insert("file_id".to_owned(), json!(id));
        let (type_name, project) = (FILE.to_owned(), Some(scene.project.clone()));
        tx.insert(NewObject { id, type_name, project, doc, keys, links })?;
    }
    Ok(())
}

/// Cuts the text anew. A secret text stays secret in its chunks.
fn replace_chunks(tx: &mut dyn DomainTx, scene: &Scene<'_>) -> Result<(), DomainError> {
    if scene.before.is_some() {
        delete_chunks(tx, scene)?;
    }
    let content = text_of(scene.after, "content").unwrap_or_default();
    let secrets =
        if scene.is_secret("content") { BTreeSet::from([Path::of(["content"])]) } else { BTreeSet::new() };
    for (index, chunk) in chunks::cut(content, config_of(scene.after)).into_iter().enumerate() {
        let id = new_id("dchunk");
        let plain = Secret::new(json!({
            "document_id": scene.id, "index": index, "page": chunk.page, "content": chunk.text,
        }));
        let doc = StoredForm::seal(scene.key, &id, &plain, &secrets, Map::new()).to_json();
        tx.insert(NewObject {
            id,
            type_name: CHUNK.to_owned(),
            project: Some(scene.project.clone()),
            doc,
            keys: Vec::new(),
            links: vec![Link { field: DOCUMENT_LINK.to_owned(), to: scene.id.to_owned() }],
        })?;
    }
    Ok(())
}

fn delete_chunks(tx: &mut dyn DomainTx, scene: &Scene<'_>) -> Result<(), DomainError> {
    let query = ListQuery {
        type_name: CHUNK.to_owned(),
        projects: vec![scene.project.clone()],
        linked: Some(Link { field: DOCUMENT_LINK.to_owned(), to: scene.id.to_owned() }),
        limit: 200,
        offset: 0,
    };
    loop {
        let page = tx.list(&query)?;
        if page.items.is_empty() {
            return Ok(());
        }
        for chunk in page.items {
            tx.delete(&chunk.id)?;
        }
    }
}

fn config_of(properties: &Json) -> ChunkConfig {
    let number = |name: &str, default: usize| {
        let value = properties.get(name).and_then(|value| Node::Plain(value).integer());
        value.and_then(|value| usize::try_from(value).ok()).unwrap_or(default)
    };
    let strategy = match text_of(properties, "chunk_strategy") {
        Some("page") => Strategy::Page,
        Some("size") => Strategy::Size,
        _ => Strategy::Whole,
    };
    ChunkConfig {
        strategy,
        size: number("chunk_size", DEFAULT_SIZE),
        overlap: number("chunk_overlap", DEFAULT_OVERLAP),
    }
}
