//! Nothing leads out of the root, whatever is said and whatever somebody does meanwhile.

use crate::support::{DIRECTORY, FILE, SYMLINK, Site, refused, shown};
use formwork_model::Json;
use formwork_plugin::{OperationErrorCode as Code, ResourcePlugin as _, ValidateRequest};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[tokio::test]
async fn paths_that_lead_elsewhere_are_refused() {
    let site = Site::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("theirs"), "theirs").unwrap();
    let absolute = outside.path().join("theirs").to_str().unwrap().to_owned();
    let up = format!("../{}/theirs", outside.path().file_name().unwrap().to_str().unwrap());
    for path in [absolute.as_str(), &up, "a/../../b", "..", ".", "", "a//b", "a/./b", "a\0b", ".formwork/x"] {
        let message =
            refused(site.create(FILE, json!({ "path": path, "content": "" })).await, Code::InvalidRequest);
        assert!(message.starts_with("`path` must"), "{message}");
        let link = json!({ "path": path, "pointsTo": "x" });
        refused(site.create(SYMLINK, link).await, Code::InvalidRequest);
        refused(site.create(DIRECTORY, json!({ "path": path })).await, Code::InvalidRequest);
        // No object can have such an id.
        assert_eq!(site.read(FILE, path).await.error_code, Some(Code::NotFound), "{path}");
        assert_eq!(site.delete(FILE, path).await.error_code, None);
        refused(
            site.update(FILE, &path.into(), json!({ "path": path, "content": "" })).await,
            Code::NotFound,
        );
    }
    assert_eq!(fs::read_to_string(outside.path().join("theirs")).unwrap(), "theirs");
}

#[tokio::test]
async fn no_symbolic_link_is_followed() {
    let (site, outside) = (Site::new(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("theirs"), "theirs").unwrap();
    symlink(outside.path(), site.path("way")).unwrap();
    symlink(outside.path().join("theirs"), site.path("file")).unwrap();
    fs::create_dir(site.path("within")).unwrap();
    symlink("within", site.path("near")).unwrap();
    for path in ["way/new", "way/theirs", "near/new"] {
        let message =
            refused(site.create(FILE, json!({ "path": path, "content": "ours" })).await, Code::AccessDenied);
        assert!(message.contains("is a symbolic link, and none is followed"), "{message}");
        assert_eq!(site.read(FILE, path).await.error_code, Some(Code::AccessDenied));
        refused(site.delete(FILE, path).await, Code::AccessDenied);
        refused(site.create(DIRECTORY, json!({ "path": path })).await, Code::AccessDenied);
    }
    // A link at the file's own place is something else than a file.
    assert_eq!(site.read(FILE, "file").await.error_code, Some(Code::NotFound));
    refused(
        site.update(FILE, &"file".into(), json!({ "path": "file", "content": "" })).await,
        Code::NotFound,
    );
    refused(site.create(FILE, json!({ "path": "file", "content": "" })).await, Code::AlreadyExists);
    assert_eq!(site.delete(FILE, "file").await.error_code, None);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(outside.path().join("theirs")).unwrap(), "theirs");
    assert_eq!(site.ids(FILE, &[]).await, Vec::<String>::new(), "what is behind a link is not listed");
}

/// A directory of the root is swapped for a link to outside, back and forth, while calls go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_swapped_in_during_calls_leads_nowhere() {
    let (site, outside) = (Site::new(), tempfile::tempdir().unwrap());
    fs::create_dir(site.path("d")).unwrap();
    symlink(outside.path(), site.path("link")).unwrap();
    fs::write(outside.path().join("theirs"), "theirs").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (stop, root) = (stop.clone(), site.path(""));
        move || {
            let dir = fs::File::open(&root).unwrap();
            while !stop.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(&dir, "d", &dir, "link", flags).unwrap();
            }
        }
    });
    let mut outcomes = std::collections::BTreeMap::new();
    for number in 0..300 {
        let path = format!("d/{number}");
        let made = site.create(FILE, json!({ "path": path, "content": "ours" })).await;
        *outcomes.entry(made.error_code.map(Code::as_str)).or_insert(0) += 1;
        assert!(matches!(made.error_code, None | Some(Code::AccessDenied | Code::NotFound)), "{made:?}");
        let read = site.read(FILE, "d/theirs").await;
        assert!(matches!(read.error_code, Some(Code::AccessDenied | Code::NotFound)), "{read:?}");
        site.delete(FILE, "d/theirs").await;
    }
    stop.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    let left: Vec<_> = fs::read_dir(outside.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["theirs"], "{outcomes:?}");
}

#[tokio::test]
async fn pipes_devices_and_sockets_are_neither_opened_nor_touched() {
    let site = Site::new();
    let directory = fs::File::open(site.path("")).unwrap();
    rustix::fs::mkfifoat(&directory, "pipe", rustix::fs::Mode::RWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(site.path("socket")).unwrap();
    let mut names = vec!["pipe", "socket"];
    let null = rustix::fs::makedev(1, 3);
    if rustix::fs::mknodat(
        &directory,
        "null",
        rustix::fs::FileType::CharacterDevice,
        rustix::fs::Mode::RWXU,
        null,
    )
    .is_ok()
    {
        names.push("null");
    }
    for name in names {
        // A pipe that is opened to be read waits for a writer that never comes.
        assert_eq!(site.read(FILE, name).await.error_code, Some(Code::NotFound), "{name}");
        refused(site.create(FILE, json!({ "path": name, "content": "" })).await, Code::AlreadyExists);
        refused(
            site.update(FILE, &name.into(), json!({ "path": name, "content": "" })).await,
            Code::NotFound,
        );
        assert_eq!(site.delete(FILE, name).await.error_code, None);
        assert!(fs::symlink_metadata(site.path(name)).is_ok(), "{name} is still there");
    }
    assert_eq!(site.ids(FILE, &[]).await, Vec::<String>::new());
}

#[tokio::test]
async fn any_name_of_a_file_system_is_a_name() {
    let site = Site::new();
    let long = "ü".repeat(127) + "x";
    for name in ["new\nline", "tab\t\"quote\" \\", "ünï/cöde", "🦀", &long, "-rf", "$(id)", " ", "..."] {
        if let Some((directory, _)) = name.split_once('/') {
            site.made(DIRECTORY, json!({ "path": directory })).await;
        }
        let (id, made) = site.made(FILE, json!({ "path": name, "content": name })).await;
        assert_eq!((id.as_str(), &made["content"]), (name, &json!(name)));
        assert_eq!(fs::read_to_string(site.path(name)).unwrap(), name);
        assert!(site.ids(FILE, &[]).await.iter().any(|listed| listed == name));
        assert_eq!(shown(site.read(FILE, name).await), made);
        assert_eq!(site.delete(FILE, name).await.error_code, None);
    }
    let message = refused(
        site.create(FILE, json!({ "path": "x".repeat(256), "content": "" })).await,
        Code::InvalidRequest,
    );
    assert!(message.contains("255 bytes"), "{message}");
    // A name that is no text can't be said, and is passed over.
    let not_text = std::ffi::OsStr::new("a");
    let bytes = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff");
    fs::write(site.path("").join::<&std::ffi::OsStr>(bytes), "").unwrap();
    fs::write(site.path("").join(not_text), "").unwrap();
    assert_eq!(site.ids(FILE, &[]).await, ["a"]);
}

#[tokio::test]
async fn an_unknown_type_or_target_is_refused() {
    let site = Site::new();
    let message = refused(site.create("LOCAL::FS::Device", json!({})).await, Code::InvalidRequest);
    assert!(message.contains("there is no type `LOCAL::FS::Device`"), "{message}");
    let gone = Site::at(std::path::Path::new("/nowhere/at/all"));
    // Not `NOT_FOUND`: a root that isn't mounted must not look as if all in it were deleted.
    assert_eq!(gone.read(FILE, "a").await.error_code, Some(Code::InvalidRequest));
    assert!(gone.list(FILE, None, 10, &[]).await.is_err());
    let message = refused(gone.delete(FILE, "a").await, Code::InvalidRequest);
    assert!(message.contains("create it first"), "{message}");
}

#[tokio::test]
async fn declarations_are_checked_before_a_plan() {
    let site = Site::new();
    let problems = |type_name: &str, properties: Json| {
        let request = ValidateRequest {
            resource_type: type_name.into(),
            label: "a".into(),
            properties: formwork_model::Secret::new(properties),
        };
        let plugin = site.plugin.clone();
        async move {
            let problems = plugin.validate(request).await.unwrap();
            problems.iter().map(|problem| problem.path.to_string()).collect::<Vec<_>>()
        }
    };
    assert_eq!(problems(FILE, json!({ "path": "../a", "mode": "9", "x": 1 })).await, ["path", "mode", "x"]);
    assert!(problems(FILE, json!({ "mode": "0600" })).await.is_empty(), "the path may be a reference");
    assert_eq!(problems("LOCAL::Nothing::X", json!({})).await, [""]);
}
