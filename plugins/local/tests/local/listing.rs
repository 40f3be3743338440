//! What discovery finds.

use crate::support::{CERTIFICATE, DIRECTORY, FILE, ID, KEY, PASSWORD, SYMLINK, Site, shown};
use formwork_plugin::ResourcePlugin as _;
use serde_json::json;
use std::fs;

async fn tree() -> Site {
    let site = Site::new();
    for path in ["a", "a/b", "c"] {
        fs::create_dir(site.path(path)).unwrap();
    }
    for path in ["top", "a/one", "a/two", "a/b/deep", "c/three"] {
        fs::write(site.path(path), path).unwrap();
    }
    std::os::unix::fs::symlink("one", site.path("a/link")).unwrap();
    site.made(ID, json!({ "byteLength": 2 })).await;
    site
}

#[tokio::test]
async fn directories_are_the_parents_of_what_is_in_them() {
    let site = tree().await;
    let directories = site.ids(DIRECTORY, &[]).await;
    assert_eq!(directories, [".", "a", "a/b", "c"]);
    let mut files = Vec::new();
    for directory in &directories {
        let parent = shown(site.read(DIRECTORY, directory).await);
        for id in site.ids(FILE, &[("directory", parent["path"].clone())]).await {
            assert_eq!(shown(site.read(FILE, &id).await)["directory"], *directory);
            files.push(id);
        }
    }
    assert_eq!(files, ["top", "a/one", "a/two", "a/b/deep", "c/three"]);
    assert_eq!(site.ids(SYMLINK, &[("directory", json!("a"))]).await, ["a/link"]);
    files.sort();
    let mut everywhere = site.ids(FILE, &[]).await;
    everywhere.sort();
    assert_eq!(everywhere, files);
}

#[tokio::test]
async fn our_own_records_are_no_files() {
    let site = tree().await;
    assert!(site.path(".formwork").is_dir());
    let all = [site.ids(FILE, &[]).await, site.ids(DIRECTORY, &[]).await].concat();
    assert!(all.iter().all(|id| !id.contains(".formwork")), "{all:?}");
    for id in [".formwork", ".formwork/random-ids"] {
        assert!(shown_or_none(&site, id).await.is_none());
    }
}

async fn shown_or_none(site: &Site, id: &str) -> Option<formwork_model::Json> {
    site.read(DIRECTORY, id).await.resource_properties
}

#[tokio::test]
async fn pages_are_stable_and_of_the_size_that_is_asked_for() {
    let site = Site::new();
    for number in 0..25 {
        fs::write(site.path(&format!("{number:02}")), "").unwrap();
    }
    let first = site.list(FILE, None, 10, &[]).await.unwrap();
    assert_eq!(first.native_ids.len(), 10);
    // What comes and goes before the place changes nothing after it.
    fs::remove_file(site.path("03")).unwrap();
    fs::write(site.path("00a"), "").unwrap();
    let second = site.list(FILE, first.next_page_token.as_deref(), 10, &[]).await.unwrap();
    assert_eq!(second.native_ids[0].as_str(), "10");
    let all = site.list(FILE, None, 0, &[]).await.unwrap();
    assert_eq!(all.native_ids.len(), 25, "a page of no size is one of the usual size");
}

#[tokio::test]
async fn a_list_says_what_is_wrong_with_its_parameters() {
    let site = Site::new();
    for (type_name, name, value) in [
        (FILE, "parent", json!("a")),
        (FILE, "directory", json!("../a")),
        (FILE, "directory", json!(1)),
        (PASSWORD, "directory", json!(".")),
    ] {
        assert!(site.list(type_name, None, 10, &[(name, value)]).await.is_err());
    }
}

#[tokio::test]
async fn every_type_has_a_label_of_its_own() {
    let site = Site::new();
    let (key, _) = site.made(KEY, json!({})).await;
    let labels = site.plugin.label_config();
    for (type_name, properties) in [
        (DIRECTORY, json!({ "path": "d" })),
        (FILE, json!({ "path": "f", "content": "" })),
        (SYMLINK, json!({ "path": "l", "pointsTo": "f" })),
        (ID, json!({ "byteLength": 2 })),
        (PASSWORD, json!({ "length": 8 })),
        (KEY, json!({})),
        (CERTIFICATE, json!({ "keyId": key.as_str(), "validityHours": 1, "subject": { "commonName": "a" } })),
    ] {
        let (_, made) = site.made(type_name, properties).await;
        let query = labels.resource_overrides.get(type_name).unwrap_or(&labels.default_query);
        let pointer = query.replace("$.", "/").replace('.', "/");
        assert!(made.pointer(&pointer).is_some_and(serde_json::Value::is_string), "{type_name}: {query}");
    }
}
