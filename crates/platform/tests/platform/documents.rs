//! Documents: backing file, unique path, chunks.

use crate::world::{World, caller, refusal};
use formwork_model::{Json, OperationErrorCode, Path};
use formwork_platform::{Platform, UpdateMode};
use formwork_plugin::OperationStatus;
use formwork_store::{ListQuery, SqliteOptions, SqliteStore, Store};
use serde_json::json;
use std::sync::Arc;

async fn chunk_texts(world: &World) -> Vec<String> {
    let chunks = world.stored("document_chunk").await;
    let text = |object: &formwork_store::StoredObject| {
        assert!(object.id.starts_with("dchunk_"));
        object.doc.pointer("/properties/content").and_then(Json::as_str).expect("a text").to_owned()
    };
    chunks.iter().map(text).collect()
}

#[tokio::test]
async fn a_document_has_a_file_and_chunks_which_go_with_it() {
    let world = World::new();
    let declared = json!({ "content": "aé\u{c}b", "path": "/a", "chunk_strategy": "page" });
    let document = world.create("document", declared).await;
    assert_eq!(chunk_texts(&world).await, ["aé", "b"]);
    let files = world.stored("file").await;
    assert_eq!(files.len(), 1);
    let expected = json!({ "prefix": "/", "filename": "a", "content_type": "text/plain", "size": 5 });
    assert_eq!(files[0].doc["properties"], expected);
    assert_eq!(files[0].doc["system"]["path"], json!("/a"));
    let shown = world.rest_get("document", &document).await.expect("a document");
    assert_eq!(shown["file_id"], json!(files[0].id));
    assert_eq!((&shown["size"], &shown["status"]), (&json!(5), &json!("ready")));
    world.delete("document", &document).await;
    assert!(world.stored("file").await.is_empty() && world.stored("document_chunk").await.is_empty());
}

#[tokio::test]
async fn chunks_follow_the_text_and_its_configuration_and_nothing_else() {
    let world = World::new();
    let document = world.create("document", json!({ "content": "abcdef" })).await;
    assert_eq!(chunk_texts(&world).await, ["abcdef"]);
    let size = json!({ "chunk_strategy": "size", "chunk_size": 4, "chunk_overlap": 2 });
    world.update("document", &document, size).await;
    assert_eq!(chunk_texts(&world).await, ["abcd", "cdef"]);
    let before = world.stored("document_chunk").await;
    world.update("document", &document, json!({ "title": "t", "tags": { "k": "v" } })).await;
    assert_eq!(world.stored("document_chunk").await, before);
    world.update("document", &document, json!({ "content": "xyz" })).await;
    assert_eq!(chunk_texts(&world).await, ["xyz"]);
    assert_eq!(world.stored("file").await.len(), 1);
}

#[tokio::test]
async fn a_path_belongs_to_one_document_of_a_project() {
    let mut world = World::new();
    let first = world.create("document", json!({ "content": "a", "path": "/a" })).await;
    let answer = world.try_create("document", json!({ "content": "b", "path": "/a" }), &[]).await;
    let expected = (
        OperationErrorCode::InvalidRequest,
        "NAME_CONFLICT",
        "The path '/a' is already taken in this project",
    );
    assert_eq!(refusal(&answer), expected);
    assert_eq!(world.stored("document").await.len(), 1, "a refused create leaves nothing");
    let second = world.create("document", json!({ "content": "b" })).await;
    let answer = world.update("document", &second, json!({ "path": "/a" })).await;
    assert_eq!(refusal(&answer), expected);
    world.update("document", &first, json!({ "path": "/b" })).await;
    let answer = world.update("document", &second, json!({ "path": "/a" })).await;
    assert_eq!(answer.operation_status, OperationStatus::Success, "{answer:?}");
    world.project = "proj_two".into();
    world.create("document", json!({ "content": "c", "path": "/a" })).await;
}

#[tokio::test]
async fn a_secret_text_stays_secret_in_its_chunks_and_a_path_cannot_be_secret() {
    let world = World::new();
    let content = [Path::of(["content"])];
    let declared = json!({ "content": "canary-0815 text", "chunk_strategy": "size", "chunk_size": 4, "chunk_overlap": 0 });
    world.create_secret("document", declared, &content).await;
    let chunks = world.stored("document_chunk").await;
    assert_eq!(chunks.len(), 4);
    assert!(!format!("{chunks:?}").contains("cana"));
    let declared = json!({ "content": "c", "path": "/canary-0815" });
    let answer = world.try_create("document", declared, &[Path::of(["path"])]).await;
    assert_eq!(refusal(&answer).2, "`path` cannot be secret: it is a key that others see");
}

/// A document is the one type that writes several objects at once, so it is also tried on a store
/// with tables of its own.
#[tokio::test]
async fn a_document_with_its_file_and_chunks_lives_in_sqlite_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let store =
        SqliteStore::open(directory.path().join("store"), &SqliteOptions::default()).expect("a store");
    let store: Arc<dyn Store> = Arc::new(store);
    let platform = Platform::new(Arc::clone(&store), formwork_model::InstanceKey::from_bytes([5; 32]));
    let (type_name, project) = ("document".into(), "proj_one".into());
    let body = json!({ "content": "abcdef", "path": "/a", "chunk_strategy": "size", "chunk_size": 2, "chunk_overlap": 0 });
    let made =
        platform.rest_create(&caller(), &type_name, Some(&project), body, None).await.expect("made").shown;
    let id = made["id"].as_str().expect("an id");
    let body = json!({ "content": "abcd" });
    let changed =
        platform.rest_update(&caller(), &type_name, None, id, body, UpdateMode::Patch, Some(1)).await;
    assert_eq!(changed.expect("changed")["size"], json!(4));
    let chunks = || ListQuery {
        type_name: "document_chunk".to_owned(),
        projects: Vec::new(),
        linked: None,
        limit: 10,
        offset: 0,
    };
    assert_eq!(store.reader().objects(&chunks()).await.expect("a page").total, 2);
    platform.rest_delete(&caller(), &type_name, None, id, false).await.expect("deleted");
    assert_eq!(store.reader().objects(&chunks()).await.expect("a page").total, 0);
}

#[tokio::test]
async fn the_file_of_a_document_follows_it_and_keeps_what_people_noted() {
    let world = World::new();
    let document = world.create("document", json!({ "content": "a", "path": "/a/x.txt" })).await;
    let shown = world.rest_get("document", &document).await.expect("a document");
    let file = shown["file_id"].as_str().expect("a file").to_owned();
    let note = |body: Json| world.rest_update("file", &file, body, UpdateMode::Patch, None);
    note(json!({ "metadata": "{}", "tags": { "k": "v" } })).await.expect("noted");
    world.update("document", &document, json!({ "path": "/b/y.txt", "content": "abc" })).await;
    let shown = world.rest_get("file", &file).await.expect("a file");
    let seen = ["path", "prefix", "filename", "size", "metadata", "tags"].map(|name| shown[name].clone());
    let expected =
        [json!("/b/y.txt"), json!("/b/"), json!("y.txt"), json!(3), json!("{}"), json!({ "k": "v" })];
    assert_eq!(seen, expected);
    let refused = note(json!({ "filename": "z.txt" })).await.expect_err("not its own");
    let message = format!("The file belongs to document '{document}': change the document's path instead");
    assert_eq!(crate::world::wire(&refused).1, message);
    let answer = world.try_create("file", json!({ "prefix": "b", "filename": "y.txt" }), &[]).await;
    assert_eq!(refusal(&answer).2, "The path '/b/y.txt' is already taken in this project");
}
