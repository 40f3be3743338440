//! What the files of a cloud keep, whatever happens to the processes that write them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use formwork_model::{Json, OperationErrorCode, Secret, Timestamp};
use formwork_plugin::{
    CallContext, CreateRequest, ListRequest, Operation, OperationStatus, ProgressResult, ReadRequest,
    ResourcePlugin as _, StatusRequest, UpdateRequest,
};
use formwork_plugin_fake_cloud::{
    CHILD, Cloud, Event, FakeCloudProcess, GRAND_CHILD, NAMED, Outcome, RESOURCE, Rule, Script, Told,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

struct Site {
    directory: tempfile::TempDir,
    plugin: FakeCloudProcess,
}

fn later(millis: u64) -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from(since.as_millis()).unwrap()).plus(millis)
}

impl Site {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), plugin: FakeCloudProcess::default() }
    }

    fn cloud(&self) -> Cloud {
        Cloud::open(self.directory.path()).unwrap()
    }

    fn target(&self) -> Secret<Json> {
        Secret::new(json!({ "Directory": self.directory.path(), "Token": "t" }))
    }

    fn context(token: u8) -> CallContext {
        CallContext {
            token: Some(formwork_model::ClientToken([token; 32])),
            label: Some("A".into()),
            row: Some("row".into()),
            ..CallContext::observing("proj".into(), "actor".into(), later(60_000))
        }
    }

    async fn create(&self, token: u8, type_name: &str, properties: Json) -> ProgressResult {
        let request = CreateRequest {
            resource_type: type_name.into(),
            properties: Secret::new(properties),
            target_config: self.target(),
            secret_paths: Vec::new(),
        };
        self.plugin.create(&Self::context(token), request).await.unwrap()
    }

    async fn read(&self, type_name: &str, native_id: &str) -> Result<Json, OperationErrorCode> {
        let request = ReadRequest {
            resource_type: type_name.into(),
            native_id: native_id.into(),
            target_config: self.target(),
            redact_sensitive: true,
            prior_properties: None,
        };
        let read = self.plugin.read(&Self::context(0), request).await.unwrap();
        match read.error_code {
            None => Ok(read.resource_properties.unwrap()),
            Some(code) => Err(code),
        }
    }

    fn script(&self, script: &Script) {
        self.cloud().script(script).unwrap();
    }

    fn rule(&self, rule: Rule) {
        self.script(&Script {
            rules: vec![Rule { id: "one".into(), times: 1, ..rule }],
            lag: BTreeMap::new(),
        });
    }
}

fn id(result: &ProgressResult) -> String {
    result.native_id.as_ref().unwrap().to_string()
}

#[tokio::test]
async fn what_one_process_made_every_other_sees() {
    let site = Site::new();
    let sent = json!({
        "name": "a", "region": "EU-West", "password": "p",
        "tags": [{ "key": "b", "value": "1" }, { "key": "a", "value": "2" }],
    });
    let made = site.create(1, RESOURCE, sent).await;
    let shown = json!({
        "name": "a", "region": "eu-west", "tier": "standard",
        "tags": [{ "key": "a", "value": "2" }, { "key": "b", "value": "1" }],
    });
    assert_eq!(made.resource_properties, Some(shown.clone()));
    let other = Site { plugin: FakeCloudProcess::default(), ..site };
    assert_eq!(other.read(RESOURCE, &id(&made)).await, Ok(shown));
    let mut cloud = other.cloud();
    let object = cloud.look().unwrap().0.objects.values().next().unwrap().clone();
    assert_eq!((object.properties["password"].clone(), object.row.as_deref()), (json!("p"), Some("row")));
}

#[tokio::test]
async fn half_a_line_of_a_killed_process_is_no_line() {
    let site = Site::new();
    site.create(1, RESOURCE, json!({ "name": "a" })).await;
    let log = site.directory.path().join("log.jsonl");
    let whole = std::fs::read(&log).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&log).unwrap();
    file.write_all(&whole[..40]).unwrap();
    let mut cloud = site.cloud();
    assert_eq!(cloud.look().unwrap().0.objects.len(), 1);
    assert_eq!(std::fs::read(&log).unwrap(), whole);
    site.create(2, RESOURCE, json!({ "name": "b" })).await;
    assert_eq!(cloud.look().unwrap().0.objects.len(), 2);
}

#[tokio::test]
async fn a_token_stands_for_its_first_outcome_where_the_type_knows_tokens() {
    let site = Site::new();
    let told = Told { code: OperationErrorCode::ServiceUnavailable, message: "with {password}".into() };
    site.rule(Rule { outcome: Outcome::Deny(told), ..Rule::default() });
    let sent = json!({ "name": "a", "password": "p" });
    let denied = site.create(1, RESOURCE, sent.clone()).await;
    assert_eq!(denied.status_message.as_deref(), Some("with p"));
    let again = FakeCloudProcess::default();
    let site = Site { plugin: again, ..site };
    assert_eq!(site.create(1, RESOURCE, sent).await, denied, "another process knows it too");
    assert_eq!(site.cloud().look().unwrap().0.objects.len(), 1);
    for token in [3, 3] {
        site.create(token, GRAND_CHILD, json!({ "name": "g", "childId": "none" })).await;
    }
    let mut cloud = site.cloud();
    let repeated = cloud.look().unwrap().1.iter().filter(|line| line.event == Event::Repeated).count();
    assert_eq!(repeated, 1);
}

#[tokio::test]
async fn what_is_accepted_happens_later_whoever_looks() {
    let site = Site::new();
    site.rule(Rule { outcome: Outcome::Later { millis: 50 }, ..Rule::default() });
    let accepted = site.create(1, NAMED, json!({ "name": "a" })).await;
    assert_eq!(accepted.operation_status, OperationStatus::InProgress);
    let request_id = accepted.request_id.unwrap();
    assert!(site.cloud().look().unwrap().0.is_pending());
    assert_eq!(site.read(NAMED, "a").await, Err(OperationErrorCode::NotFound));
    tokio::time::sleep(Duration::from_millis(60)).await;
    let status = || StatusRequest {
        resource_type: NAMED.into(),
        request_id: request_id.clone(),
        native_id: None,
        target_config: site.target(),
    };
    let over = FakeCloudProcess::default().status(&Site::context(0), status()).await.unwrap();
    assert_eq!((over.operation, over.operation_status), (Operation::CheckStatus, OperationStatus::Success));
    assert_eq!(over.native_id, Some("a".into()));
}

#[tokio::test]
async fn reads_and_lists_lag_behind_as_the_script_says() {
    let site = Site::new();
    site.script(&Script { lag: BTreeMap::from([(NAMED.to_owned(), 200)]), ..Script::default() });
    site.create(1, NAMED, json!({ "name": "a" })).await;
    let listed = || async {
        let request = ListRequest {
            resource_type: NAMED.into(),
            target_config: site.target(),
            page_token: None,
            page_size: 10,
            list_parameters: BTreeMap::new(),
        };
        site.plugin.list(&Site::context(0), request).await.unwrap().native_ids
    };
    assert_eq!(site.read(NAMED, "a").await, Err(OperationErrorCode::NotFound));
    assert_eq!(listed().await, []);
    tokio::time::sleep(Duration::from_millis(250)).await;
    assert_eq!(site.read(NAMED, "a").await, Ok(json!({ "name": "a" })));
    assert_eq!(listed().await, ["a".into()]);
}

#[tokio::test]
async fn it_refuses_what_no_provider_could_do() {
    let site = Site::new();
    let made = site.create(1, RESOURCE, json!({ "name": "a" })).await;
    let child = |name: &str, parent: &str| json!({ "name": name, "parentId": parent });
    let refused = site.create(2, CHILD, child("c", "resource-x")).await;
    assert_eq!(refused.error_code, Some(OperationErrorCode::InvalidRequest));
    assert_eq!(site.create(3, CHILD, child("c", &id(&made))).await.error_code, None);
    let twin = site.create(4, CHILD, child("c", &id(&made))).await;
    assert_eq!(twin.error_code, Some(OperationErrorCode::AlreadyExists));
    let parent = formwork_plugin::DeleteRequest {
        resource_type: RESOURCE.into(),
        native_id: id(&made).as_str().into(),
        target_config: site.target(),
    };
    let refused = site.plugin.delete(&Site::context(5), parent).await.unwrap();
    assert_eq!(refused.error_code, Some(OperationErrorCode::InvalidRequest), "something is in it");
    let renamed = UpdateRequest {
        resource_type: RESOURCE.into(),
        native_id: id(&made).as_str().into(),
        prior_properties: json!({}),
        desired_properties: Secret::new(json!({ "name": "b" })),
        patch_document: Secret::new(json!([])),
        target_config: site.target(),
        secret_paths: Vec::new(),
        kept_paths: Vec::new(),
    };
    let refused = site.plugin.update(&Site::context(6), renamed).await.unwrap();
    assert_eq!(refused.error_code, Some(OperationErrorCode::InvalidRequest), "a name stays");
    let nobody = Secret::new(json!({ "Directory": site.directory.path() }));
    let request = CreateRequest {
        resource_type: RESOURCE.into(),
        properties: Secret::new(json!({ "name": "z" })),
        target_config: nobody,
        secret_paths: Vec::new(),
    };
    let refused = site.plugin.create(&Site::context(7), request).await.unwrap();
    assert_eq!(refused.error_code, Some(OperationErrorCode::AccessDenied), "no token was shown");
}

#[tokio::test]
async fn a_rule_has_its_calls_and_no_more_in_any_process() {
    let site = Site::new();
    let told = Told { code: OperationErrorCode::Throttling, message: "slower".into() };
    let rule = Rule {
        id: "one".into(),
        operation: Some(Operation::Create),
        skip: 1,
        times: 1,
        outcome: Outcome::Refuse(told),
        ..Rule::default()
    };
    site.script(&Script { rules: vec![rule], ..Script::default() });
    let mut answers = Vec::new();
    for token in 1..4 {
        let process = FakeCloudProcess::default();
        let request = CreateRequest {
            resource_type: NAMED.into(),
            properties: Secret::new(json!({ "name": format!("n{token}") })),
            target_config: site.target(),
            secret_paths: Vec::new(),
        };
        answers.push(process.create(&Site::context(token), request).await.unwrap().error_code);
    }
    assert_eq!(answers, [None, Some(OperationErrorCode::Throttling), None]);
}
