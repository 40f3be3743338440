//! Every type passes the suite for plugins.

use crate::support::{CERTIFICATE, DIRECTORY, FILE, ID, KEY, PASSWORD, SYMLINK, Site};
use formwork_plugin_conformance::conformance::{Case, Contract, Verdict, run};
use serde_json::json;

#[tokio::test]
async fn every_type_keeps_every_contract_and_leaves_nothing() {
    let site = Site::new();
    let (key, _) = site.made(KEY, json!({})).await;
    let (other_key, _) = site.made(KEY, json!({ "algorithm": "ED25519" })).await;
    let certificate = |hours: u32, name: &str| {
        json!({
            "keyId": key.as_str(), "validityHours": hours, "dnsNames": [name], "readyForRenewal": false,
            "subject": { "commonName": name, "country": "NL" },
        })
    };
    let mut moved = certificate(48, "b.example");
    moved["keyId"] = other_key.as_str().into();
    let cases = [
        Case::new(DIRECTORY, json!({ "path": "d", "mode": "0700" }))
            .update(json!({ "path": "d", "mode": "0750", "directory": "." }))
            .siblings(vec![json!({ "path": "e" }), json!({ "path": "f", "mode": "1777" })]),
        Case::new(FILE, json!({ "path": "a", "content": "one\n", "mode": "0640" }))
            .update(json!({ "path": "a", "contentBase64": "AP8=" }))
            .text("content")
            .siblings(vec![
                json!({ "path": "ü \n", "content": "x".repeat(1 << 20) }),
                json!({ "path": "c", "contentBase64": "YQ==", "directory": "." }),
            ]),
        Case::new(FILE, json!({ "path": "s", "secretContent": "hush", "mode": "0600" }))
            .update(json!({ "path": "s", "secretContent": "hushed", "mode": "0400" }))
            .siblings(vec![json!({ "path": "t", "secretContent": "" })])
            .write_only(&["secretContent"])
            .text("secretContent"),
        Case::new(SYMLINK, json!({ "path": "l", "pointsTo": "/nowhere" }))
            .update(json!({ "path": "l", "pointsTo": "../elsewhere" }))
            .text("pointsTo")
            .siblings(vec![json!({ "path": "m", "pointsTo": "l" }), json!({ "path": "n", "pointsTo": "ü" })]),
        Case::new(ID, json!({ "byteLength": 4, "prefix": "web-", "keepers": { "version": "1" } }))
            .siblings(vec![json!({ "byteLength": 1 }), json!({ "byteLength": 1024 })])
            .text("prefix")
            .tokens(),
        Case::new(PASSWORD, json!({ "length": 24, "minDigits": 3 }))
            .siblings(vec![json!({ "length": 8 }), json!({ "length": 16 })])
            .tokens(),
        Case::new(KEY, json!({ "algorithm": "ECDSA", "curve": "P-384" }))
            .siblings(vec![json!({ "algorithm": "ED25519" }), json!({})])
            .tokens(),
        Case::new(CERTIFICATE, certificate(24, "a.example"))
            .update(moved)
            .siblings(vec![certificate(1, "c.example"), certificate(2, "d.example")])
            .tokens(),
    ];
    let cases = cases.map(|case| case.at(site.config()));
    let report = run(&site.plugin, &cases).await;
    assert!(report.is_conformant(), "{report}");
    for contract in [Contract::TokenRepeats, Contract::DeleteIsIdempotent, Contract::UpdateOfNothingFails] {
        assert!(report.verdicts(contract).any(|verdict| *verdict == Verdict::Kept), "{contract:?}");
    }
    let mut left: Vec<_> =
        std::fs::read_dir(site.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".formwork"]);
    assert!(std::fs::read_dir(site.path(".formwork/files")).unwrap().next().is_none());
}
