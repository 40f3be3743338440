//! Random values, keys and certificates.

use crate::support::{CERTIFICATE, ID, KEY, PASSWORD, Site, refused, shown, succeeded};
use formwork_model::Json;
use formwork_plugin::{OperationErrorCode as Code, ResourcePlugin as _};
use formwork_plugin_local::LocalPlugin;
use serde_json::json;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

#[tokio::test]
async fn an_id_is_the_same_bytes_in_two_spellings() {
    let site = Site::new();
    let (id, made) = site.made(ID, json!({ "byteLength": 3, "prefix": "web-" })).await;
    assert_eq!(made["id"], id.as_str());
    let hex = made["hex"].as_str().unwrap().strip_prefix("web-").unwrap();
    assert!(hex.len() == 6 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
    assert_eq!(made["base64Url"].as_str().unwrap().strip_prefix("web-").unwrap().len(), 4);
    assert_eq!(shown(site.read(ID, id.as_str()).await), made);
    let (other, _) = site.made(ID, json!({ "byteLength": 3 })).await;
    assert_ne!(id, other);
}

#[tokio::test]
async fn a_secret_is_in_no_answer_but_a_read_that_asks_for_it() {
    let site = Site::new();
    for (type_name, properties, secret) in
        [(PASSWORD, json!({ "length": 20 }), "value"), (KEY, json!({}), "privateKeyPem")]
    {
        let (id, made) = site.made(type_name, properties).await;
        assert!(made.get(secret).is_none());
        assert!(shown(site.read(type_name, id.as_str()).await).get(secret).is_none());
        let whole = shown(site.read_as(type_name, id.as_str(), false, None).await);
        let value = whole[secret].as_str().unwrap();
        assert!(value.len() >= 20 && !made.to_string().contains(value));
        let again = shown(site.read_as(type_name, id.as_str(), false, None).await);
        assert_eq!(again[secret], value, "it is drawn once");
        let capabilities = site.plugin.types().into_iter().find(|it| it.name.as_str() == type_name).unwrap();
        assert_eq!(capabilities.capabilities.credential_outputs, [secret.into()]);
    }
}

#[tokio::test]
async fn a_create_that_is_repeated_under_its_token_answers_with_the_first() {
    let site = Site::new();
    let create = |token, length: u64| site.create_under(Some(token), PASSWORD, json!({ "length": length }));
    let (first, made) = succeeded(create(1, 20).await);
    assert_eq!(succeeded(create(1, 20).await), (first.clone(), made));
    assert_ne!(succeeded(create(2, 20).await).0, first);
    refused(create(1, 21).await, Code::InvalidRequest);
    assert_eq!(site.ids(PASSWORD, &[]).await.len(), 2);
    // Two at once, as when the first was given up and is still going on.
    let (left, right) = tokio::join!(create(3, 20), create(3, 20));
    assert_eq!(succeeded(left), succeeded(right));
}

#[tokio::test]
async fn what_cannot_change_says_so() {
    let site = Site::new();
    let (id, made) = site.made(PASSWORD, json!({ "length": 20 })).await;
    let message = refused(site.update(PASSWORD, &id, json!({ "length": 21 })).await, Code::InvalidRequest);
    assert!(message.contains("cannot change"), "{message}");
    // The same again is no change.
    assert_eq!(succeeded(site.update(PASSWORD, &id, json!({ "length": 20 })).await).1, made);
    refused(site.update(PASSWORD, &"pw-0".into(), json!({ "length": 20 })).await, Code::NotFound);
}

/// What OpenSSL says of a text; `None` where there is none.
fn openssl(arguments: &[&str], input: &str) -> Option<String> {
    use std::io::Write as _;
    let mut command = Command::new("openssl");
    command.args(arguments).stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("skipped: there is no `openssl`");
        return None;
    };
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[tokio::test]
async fn keys_of_every_algorithm_sign_certificates_that_others_read() {
    let site = Site::new();
    for (properties, says) in [
        (json!({}), "prime256v1"),
        (json!({ "algorithm": "ECDSA", "curve": "P-384" }), "secp384r1"),
        (json!({ "algorithm": "ED25519" }), "ED25519"),
        (json!({ "algorithm": "RSA", "rsaBits": 2048 }), "2048 bit"),
    ] {
        let (key, made) = site.made(KEY, properties).await;
        let whole = shown(site.read_as(KEY, key.as_str(), false, None).await);
        if let Some(text) = openssl(&["pkey", "-noout", "-text"], whole["privateKeyPem"].as_str().unwrap()) {
            assert!(text.contains(says), "{text}");
        }
        if let Some(public) = openssl(&["pkey", "-pubout"], whole["privateKeyPem"].as_str().unwrap()) {
            assert_eq!(
                public.replace("\r\n", "\n"),
                made["publicKeyPem"].as_str().unwrap().replace("\r\n", "\n")
            );
        }
        let properties = json!({
            "keyId": key.as_str(), "validityHours": 24, "dnsNames": ["example.org", "*.example.org"],
            "ipAddresses": ["127.0.0.1", "::1"], "emailAddresses": ["a@example.org"],
            "uris": ["https://example.org/"], "subject": { "commonName": "Ünï", "organization": "O", "country": "NL" },
        });
        let (_, certificate) = site.made(CERTIFICATE, properties).await;
        let Some(text) = openssl(
            &["x509", "-noout", "-text", "-nameopt", "utf8"],
            certificate["certPem"].as_str().unwrap(),
        ) else {
            continue;
        };
        for part in [
            "CN=Ünï",
            "DNS:example.org, DNS:*.example.org",
            "IP Address:127.0.0.1",
            "email:a@example.org",
            "URI:https://example.org/",
            "CA:FALSE",
            "TLS Web Server Authentication",
            "Digital Signature",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}

fn server(key: &str) -> Json {
    json!({
        "keyId": key, "dnsNames": ["example.org"], "validityHours": 48, "renewBeforeHours": 12,
        "readyForRenewal": false,
    })
}

#[tokio::test]
async fn a_certificate_that_is_due_is_seen_to_be_and_made_anew_in_place() {
    // 2026-01-01T00:00:00.5Z
    let now = Arc::new(AtomicU64::new(1_767_225_600_500));
    let clock = now.clone();
    let plugin = LocalPlugin::with_clock(move || {
        SystemTime::UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::Relaxed))
    });
    let site = Site::of(plugin);
    let (key, _) = site.made(KEY, json!({})).await;
    let desired = server(key.as_str());
    let (id, first) = site.made(CERTIFICATE, desired.clone()).await;
    assert_eq!(first["notBefore"], "2026-01-01T00:00:00Z");
    assert_eq!(first["notAfter"], "2026-01-03T00:00:00Z");
    assert_eq!((&first["readyForRenewal"], &first["isCa"]), (&json!(false), &json!(false)));
    assert_eq!(first["usages"], json!(["digitalSignature", "serverAuth"]));

    now.fetch_add(35 * 3_600_000, Ordering::Relaxed);
    assert_eq!(shown(site.read(CERTIFICATE, id.as_str()).await), first);
    assert_eq!(succeeded(site.update(CERTIFICATE, &id, desired.clone()).await).1, first, "it is not due");

    now.fetch_add(3_600_000, Ordering::Relaxed);
    assert_eq!(shown(site.read(CERTIFICATE, id.as_str()).await)["readyForRenewal"], true);
    let (same_id, second) = succeeded(site.update(CERTIFICATE, &id, desired.clone()).await);
    assert_eq!((same_id, &second["notBefore"]), (id.clone(), &json!("2026-01-02T12:00:00Z")));
    assert_ne!(second["serialNumber"], first["serialNumber"]);
    assert_eq!(second["readyForRenewal"], false);
    // The update again, as after an answer that was lost.
    assert_eq!(succeeded(site.update(CERTIFICATE, &id, desired).await).1, second);
}

#[tokio::test]
async fn what_no_certificate_can_be_made_of_is_refused() {
    let site = Site::new();
    let (key, _) = site.made(KEY, json!({})).await;
    for (change, says) in [
        (json!({ "keyId": "key-0" }), "names no `LOCAL::TLS::PrivateKey`"),
        (json!({ "keyId": null }), "`keyId` is required"),
        (json!({ "dnsNames": null }), "must say something"),
        (json!({ "dnsNames": ["a b"] }), "not a DNS name"),
        (json!({ "ipAddresses": ["1.2.3"] }), "not an IP address"),
        (json!({ "renewBeforeHours": 48 }), "less than `validityHours`"),
        (json!({ "usages": ["all"] }), "must be a list of `digitalSignature`"),
        (json!({ "readyForRenewal": true }), "must be false"),
        (json!({ "subject": { "country": "nl" } }), "two capital letters"),
        (json!({ "subject": { "cn": "a" } }), "`subject.cn` is not a property here"),
    ] {
        let mut properties = server(key.as_str());
        for (name, value) in change.as_object().unwrap() {
            properties[name] = value.clone();
        }
        let message = refused(site.create(CERTIFICATE, properties).await, Code::InvalidRequest);
        assert!(message.contains(says), "{message}");
    }
    for (properties, says) in [
        (json!({ "algorithm": "DSA" }), "must be one of `ECDSA`, `RSA`, `ED25519`"),
        (json!({ "algorithm": "RSA", "curve": "P-256" }), "for `ECDSA` only"),
        (json!({ "rsaBits": 2048 }), "for `RSA` only"),
        (json!({ "algorithm": "RSA", "rsaBits": 1024 }), "2048, 3072 or 4096"),
    ] {
        let message = refused(site.create(KEY, properties).await, Code::InvalidRequest);
        assert!(message.contains(says), "{message}");
    }
}
