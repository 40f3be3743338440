//! Directories, files and links: what is there is what is shown.

use crate::support::{DIRECTORY, FILE, SYMLINK, Site, refused, shown, succeeded};
use formwork_plugin::OperationErrorCode as Code;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

#[tokio::test]
async fn a_file_is_shown_as_it_is() {
    let site = Site::new();
    let (id, made) = site.made(FILE, json!({ "path": "a.conf", "content": "x = 1\n" })).await;
    assert_eq!(id.as_str(), "a.conf");
    let status = fs::metadata(site.path("a.conf")).unwrap();
    let expected = json!({
        "path": "a.conf", "directory": ".", "mode": "0644", "owner": status.uid(), "group": status.gid(),
        "size": 6, "content": "x = 1\n",
        "sha256": formwork_model::sha256_hex(b"x = 1\n"),
    });
    assert_eq!(made, expected);
    assert_eq!(shown(site.read(FILE, "a.conf").await), made);
}

#[tokio::test]
async fn what_somebody_else_changed_is_seen() {
    let site = Site::new();
    site.made(FILE, json!({ "path": "a", "content": "one" })).await;
    fs::write(site.path("a"), "two").unwrap();
    fs::set_permissions(site.path("a"), fs::Permissions::from_mode(0o4755)).unwrap();
    let found = shown(site.read(FILE, "a").await);
    assert_eq!((&found["content"], &found["mode"]), (&json!("two"), &json!("4755")));
    fs::write(site.path("a"), [0xff, 0]).unwrap();
    assert_eq!(shown(site.read(FILE, "a").await)["contentBase64"], "/wA=");
    fs::remove_file(site.path("a")).unwrap();
    assert_eq!(site.read(FILE, "a").await.error_code, Some(Code::NotFound));
}

#[tokio::test]
async fn what_is_there_is_never_overwritten() {
    let site = Site::new();
    fs::write(site.path("a"), "theirs").unwrap();
    for (type_name, properties) in [
        (FILE, json!({ "path": "a", "content": "ours" })),
        (FILE, json!({ "path": "a", "secretContent": "ours" })),
        (SYMLINK, json!({ "path": "a", "pointsTo": "x" })),
        (DIRECTORY, json!({ "path": "a" })),
    ] {
        let message = refused(site.create(type_name, properties).await, Code::AlreadyExists);
        assert!(message.contains("at `a` already"), "{message}");
    }
    assert_eq!(fs::read_to_string(site.path("a")).unwrap(), "theirs");
    assert_eq!(shown(site.read(FILE, "a").await)["content"], "theirs");
}

#[tokio::test]
async fn one_of_many_creates_at_once_makes_the_file_whole() {
    let site = std::sync::Arc::new(Site::new());
    let creates = (0..16).map(|number| {
        let site = site.clone();
        tokio::spawn(async move {
            let content = number.to_string().repeat(100_000);
            site.create(FILE, json!({ "path": "a", "content": content })).await.error_code
        })
    });
    let mut made = 0;
    for create in creates.collect::<Vec<_>>() {
        match create.await.unwrap() {
            None => made += 1,
            Some(code) => assert_eq!(code, Code::AlreadyExists),
        }
    }
    assert_eq!(made, 1);
    let content = fs::read(site.path("a")).unwrap();
    assert!(content.iter().all(|byte| *byte == content[0]));
    assert_eq!(fs::read_dir(site.path("")).unwrap().count(), 1, "nothing unfinished is left");
}

#[tokio::test]
async fn a_file_is_updated_in_place_and_keeps_what_is_not_declared() {
    let site = Site::new();
    let (id, _) = site.made(FILE, json!({ "path": "a", "content": "one", "mode": "0600" })).await;
    let (same_id, found) = succeeded(site.update(FILE, &id, json!({ "path": "a", "content": "two" })).await);
    assert_eq!((same_id, &found["mode"], &found["content"]), (id.clone(), &json!("0600"), &json!("two")));
    let found = succeeded(
        site.update(FILE, &id, json!({ "path": "a", "contentBase64": "dGhyZWU=", "mode": "0444" })).await,
    );
    assert_eq!((&found.1["contentBase64"], &found.1["mode"]), (&json!("dGhyZWU="), &json!("0444")));
    assert_eq!(fs::read_to_string(site.path("a")).unwrap(), "three");
    let message =
        refused(site.update(FILE, &id, json!({ "path": "b", "content": "" })).await, Code::InvalidRequest);
    assert_eq!(message, "`path` cannot change: it is `a`, not `b`");
    fs::remove_file(site.path("a")).unwrap();
    refused(site.update(FILE, &id, json!({ "path": "a", "content": "" })).await, Code::NotFound);
    assert!(!site.path("a").exists());
}

#[tokio::test]
async fn secret_content_is_in_the_file_and_in_no_answer() {
    let site = Site::new();
    let hush = "correct horse battery staple";
    let (id, made) = site.made(FILE, json!({ "path": "s", "secretContent": hush })).await;
    assert_eq!(fs::read_to_string(site.path("s")).unwrap(), hush);
    assert_eq!(fs::metadata(site.path("s")).unwrap().mode() & 0o777, 0o600);
    assert_eq!(
        made.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["path", "directory", "mode", "owner", "group"]
    );
    assert_eq!(shown(site.read(FILE, "s").await), made, "also for a caller that knows nothing of it");
    assert_eq!(shown(site.read_as(FILE, "s", false, None).await), made, "it is never read back");
    // Once it is declared in the clear it is shown, and not before.
    let (_, clear) = succeeded(site.update(FILE, &id, json!({ "path": "s", "content": "clear" })).await);
    assert_eq!(clear["content"], "clear");
    let (_, secret) = succeeded(site.update(FILE, &id, json!({ "path": "s", "secretContent": hush })).await);
    assert!(secret.get("content").is_none() && secret.get("sha256").is_none());
    let (_, bytes) = succeeded(site.update(FILE, &id, json!({ "path": "s", "contentBase64": "YQ==" })).await);
    assert_eq!(bytes["contentBase64"], "YQ==");
    assert_eq!(shown(site.read(FILE, "s").await), bytes, "as it was declared");
}

#[tokio::test]
async fn a_refusal_of_a_secret_file_holds_no_secret() {
    let site = Site::new();
    let properties = json!({ "path": "../s", "secretContent": "hunter2hunter2", "mode": 1, "hunter": 2 });
    let message = refused(site.create(FILE, properties).await, Code::InvalidRequest);
    assert!(!message.contains("hunter2"), "{message}");
}

#[tokio::test]
async fn a_missing_directory_is_named_with_what_to_do() {
    let site = Site::new();
    let message = refused(site.create(FILE, json!({ "path": "a/b/c", "content": "" })).await, Code::NotFound);
    assert_eq!(
        message,
        "there is no directory `a`: declare it as `LOCAL::FS::Directory` and refer to it in `directory`"
    );
    fs::write(site.path("a"), "").unwrap();
    let message = refused(site.create(FILE, json!({ "path": "a/b", "content": "" })).await, Code::NotFound);
    assert!(message.starts_with("`a` is not a directory"), "{message}");
}

#[tokio::test]
async fn only_an_empty_directory_is_deleted() {
    let site = Site::new();
    site.made(DIRECTORY, json!({ "path": "d" })).await;
    for name in ["a", "b", "c", "e", "f"] {
        fs::write(site.path("d").join(name), "").unwrap();
    }
    let message = refused(site.delete(DIRECTORY, "d").await, Code::InvalidRequest);
    assert_eq!(message, "the directory `d` is not empty: there is `a`, `b`, `c`, 2 more in it");
    for name in ["a", "b", "c", "e", "f"] {
        fs::remove_file(site.path("d").join(name)).unwrap();
    }
    // What a process that was killed left unfinished is in nobody's way.
    fs::write(site.path("d/.formwork-0123456789abcdef.tmp"), "half").unwrap();
    succeeded_delete(&site, "d").await;
    succeeded_delete(&site, "d").await;
    assert!(!site.path("d").exists());
    refused(site.delete(DIRECTORY, ".").await, Code::InvalidRequest);
}

async fn succeeded_delete(site: &Site, id: &str) {
    let result = site.delete(DIRECTORY, id).await;
    assert_eq!(result.error_code, None, "{:?}", result.status_message);
}

#[tokio::test]
async fn what_took_the_place_of_an_object_is_left_alone() {
    let site = Site::new();
    site.made(FILE, json!({ "path": "a", "content": "" })).await;
    fs::remove_file(site.path("a")).unwrap();
    fs::create_dir(site.path("a")).unwrap();
    fs::write(site.path("f"), "").unwrap();
    std::os::unix::fs::symlink("f", site.path("l")).unwrap();
    for (type_name, id) in
        [(FILE, "a"), (SYMLINK, "a"), (FILE, "l"), (DIRECTORY, "l"), (SYMLINK, "f"), (DIRECTORY, "f")]
    {
        assert_eq!(site.read(type_name, id).await.error_code, Some(Code::NotFound), "{type_name} {id}");
        assert_eq!(site.delete(type_name, id).await.error_code, None, "{type_name} {id}");
    }
    assert!(site.path("a").is_dir() && site.path("f").is_file() && site.path("l").is_symlink());
}

#[tokio::test]
async fn owners_are_numbers_that_are_kept() {
    let site = Site::new();
    let own = fs::metadata(site.path("")).unwrap();
    let owned = json!({ "path": "a", "content": "", "owner": own.uid(), "group": own.gid() });
    let (_, made) = site.made(FILE, owned).await;
    assert_eq!((&made["owner"], &made["group"]), (&json!(own.uid()), &json!(own.gid())));
    if own.uid() == 0 {
        let (id, made) =
            site.made(FILE, json!({ "path": "b", "content": "", "owner": 65534, "mode": "4750" })).await;
        assert_eq!((&made["owner"], &made["mode"]), (&json!(65534), &json!("4750")));
        let (_, updated) = succeeded(site.update(FILE, &id, json!({ "path": "b", "content": "x" })).await);
        assert_eq!((&updated["owner"], &updated["mode"]), (&json!(65534), &json!("4750")));
    }
    for owner in [json!("root"), json!(-1), json!(4_294_967_295_u64), json!(0.5)] {
        let properties = json!({ "path": "c", "content": "", "owner": owner });
        refused(site.create(FILE, properties).await, Code::InvalidRequest);
    }
}

#[tokio::test]
async fn content_is_declared_in_one_way_and_within_bounds() {
    let site = Site::new();
    for (properties, says) in [
        (json!({ "path": "a" }), "`content` is required, or else"),
        (json!({ "path": "a", "content": "", "secretContent": "" }), "excludes"),
        (json!({ "path": "a", "contentBase64": "YQ" }), "padding"),
        (json!({ "path": "a", "contentBase64": "YR==" }), "Base64"),
        (json!({ "path": "a", "contentBase64": "YQ==\n" }), "one line"),
        (json!({ "path": "a", "content": "x".repeat((2 << 20) + 1) }), "at most 2097152 bytes"),
        (json!({ "path": "a", "content": "", "mode": "644" }), "four octal digits"),
        (json!({ "path": "a", "content": "", "mode": 420 }), "string"),
        (json!({ "path": "a", "content": "", "directory": "b" }), "must be `.`, which `path` is in"),
        (json!({ "path": "a", "content": "", "pth": "b" }), "did you mean `path`?"),
    ] {
        let message = refused(site.create(FILE, properties).await, Code::InvalidRequest);
        assert!(message.contains(says), "{message}");
    }
    let (_, large) = site.made(FILE, json!({ "path": "a", "content": "x".repeat(2 << 20) })).await;
    assert_eq!(large["size"], 2 << 20);
    // What is larger is known by its digest.
    fs::write(site.path("a"), "x".repeat((2 << 20) + 1)).unwrap();
    let found = shown(site.read(FILE, "a").await);
    assert!(found.get("content").is_none() && found["sha256"].is_string());
}

#[tokio::test]
async fn the_root_is_a_directory_that_can_be_brought_under_management() {
    let site = Site::new();
    let found = shown(site.read(DIRECTORY, ".").await);
    assert_eq!((&found["path"], found.get("directory")), (&json!("."), None));
    let (_, updated) =
        succeeded(site.update(DIRECTORY, &".".into(), json!({ "path": ".", "mode": "0711" })).await);
    assert_eq!(updated["mode"], "0711");
    refused(site.create(DIRECTORY, json!({ "path": "." })).await, Code::InvalidRequest);
}
