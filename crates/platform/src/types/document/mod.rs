//! `document`: a text with a backing file, cut into chunks for search
//! (`formations-behaviour.md` §7.5).

mod chunks;

use super::{check_least, file};
use crate::{
    Act, Definition, DependentRule, Dependents, Extra, Findings, Node, PlatformType, Refusal, RestRoute,
    UpdateMode, document::Document as StoredForm, ids::new_id, rest::Filter, rewrite::rewrite, scene::Scene,
    tags,
};
use chunks::{ChunkConfig, Strategy};
use formwork_model::{DiagnosticCode, ImmutableRule, Json, Kind, Path, PropertySchema};
use formwork_secret::Secret;
use formwork_store::{DomainError, DomainTx, Link, ListQuery, NewObject};
use serde_json::{Map, json};
use std::collections::BTreeSet;

pub(super) struct Document;

const CHUNK: &str = "document_chunk";
const FILE: &str = "file";
/// Where the system part names the backing file.
const FILE_ID: &str = "file_id";
const DOCUMENT_LINK: &str = "document_id";
const CONTENT_TYPE: &str = "text/plain";
const DEFAULT_SIZE: usize = 1000;
const DEFAULT_OVERLAP: usize = 200;

static ROUTE: RestRoute = RestRoute {
    type_name: "document",
    path: "/documents",
    id_param: "document_id",
    module: "documents",
    create: Some("CreateDocument"),
    list: "ListDocuments",
    get: "GetDocument",
    update: Some("UpdateDocument"),
    delete: Some("DeleteDocument"),
    gated_as: &[
        ("GetDocumentTags", "documents:GetDocument"),
        ("ReplaceDocumentTags", "documents:UpdateDocument"),
        ("MergeDocumentTags", "documents:UpdateDocument"),
    ],
    update_modes: &[UpdateMode::Patch],
    list_filters: &["project_id", "path_prefix"],
    actions: &tags::actions(["GetDocumentTags", "ReplaceDocumentTags", "MergeDocumentTags"]),
    ..RestRoute::USUAL
};

static DEPENDENTS: [Dependents; 1] =
    [Dependents { type_name: CHUNK, fields: &[DOCUMENT_LINK], rule: DependentRule::Cascade }];

static EXTRAS: [Extra; 4] = [
    Extra { name: "file_id", kind: "string", nullable: false, value: |system| of_system(system, FILE_ID) },
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
                ("tags", tags::property()),
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

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        tags::act(tx, &act)
    }

    fn check(&self, properties: Node<'_>, findings: &mut Findings) {
        tags::check(properties, findings);
        check_chunks(properties, findings);
    }

    fn names(&self) -> &'static [&'static str] {
        &["path", "filename", "title"]
    }

    fn public(&self) -> &'static [&'static str] {
        &["path", "chunk_strategy", "chunk_size", "chunk_overlap"]
    }

    fn system_links(&self, system: &Map<String, Json>) -> Vec<Link> {
        let file = system.get(FILE_ID).and_then(Json::as_str);
        file.map(|to| Link { field: FILE_ID.to_owned(), to: to.to_owned() }).into_iter().collect()
    }

    fn owned(&self) -> &'static [&'static str] {
        &[FILE_ID]
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

/// Checks how a text is to be cut, for whatever makes documents.
pub(super) fn check_chunks(properties: Node<'_>, findings: &mut Findings) {
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

fn text_of<'a>(properties: &'a Json, name: &str) -> Option<&'a str> {
    properties.get(name).and_then(Json::as_str)
}

/// The backing file, under the document's path. It holds no text of its own.
fn write_file(tx: &mut dyn DomainTx, scene: &mut Scene<'_>) -> Result<(), DomainError> {
    let size = text_of(scene.after, "content").map_or(0, str::len);
    scene.system.insert("size".to_owned(), json!(size));
    let mut about = json!({ "content_type": CONTENT_TYPE, "size": size });
    if let Some(path) = text_of(scene.after, "path") {
        let (prefix, filename) = file::parts_of(path);
        about["prefix"] = json!(prefix);
        about["filename"] = json!(filename);
    }
    let id = scene.system.get(FILE_ID).and_then(Json::as_str);
    let stored = id.map(|id| tx.get(id)).transpose()?.flatten();
    if let Some(stored) = stored {
        rewrite(tx, scene.key, &stored, |document| describe(document, &about)).map(drop)
    } else {
        let id = new_id(FILE);
        scene.system.insert(FILE_ID.to_owned(), json!(id));
        insert_file(tx, scene, id, &about)
    }
}

fn insert_file(
    tx: &mut dyn DomainTx,
    scene: &Scene<'_>,
    id: String,
    about: &Json,
) -> Result<(), DomainError> {
    let mut document = StoredForm { properties: json!({}), ..StoredForm::default() };
    document.system.insert(file::DOCUMENT.to_owned(), json!(scene.id));
    let keys = file::path_of(about).map(file::path_key).into_iter().collect();
    describe(&mut document, about);
    tx.insert(NewObject {
        id,
        type_name: FILE.to_owned(),
        project: Some(scene.project.clone()),
        doc: document.to_json(),
        keys,
        links: Vec::new(),
    })?;
    Ok(())
}

/// Writes what the document says of its file; what people noted about the file stays.
fn describe(file: &mut StoredForm, about: &Json) {
    file::put_path(&mut file.system, file::path_of(about).as_deref());
    for name in ["prefix", "filename", "content_type", "size"] {
        let Some(properties) = file.properties.as_object_mut() else { return };
        match about.get(name) {
            Some(value) => properties.insert(name.to_owned(), value.clone()),
            None => properties.shift_remove(name),
        };
    }
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
