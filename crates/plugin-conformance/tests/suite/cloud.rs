//! What the fake cloud remembers, and how its scripts go.

use crate::support::{Fixture, context};
use formwork_model::Timestamp;
use formwork_plugin::{Operation, OperationErrorCode, OperationStatus, PluginError};
use formwork_plugin_conformance::{CloudType, LogLine, Moment, Pause, Rule};
use serde_json::json;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

fn effects(log: &[LogLine]) -> usize {
    log.iter().filter(|line| line.moment.is_effect()).count()
}

#[tokio::test]
async fn a_repeated_token_is_answered_with_the_first_outcome_and_has_no_second_effect() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::A").tokens());
    let first = fixture.create_with("Fake::A", json!({"a": 1}), &context(Some(7))).await;
    let again = fixture.create_with("Fake::A", json!({"a": 1}), &context(Some(7))).await;
    let other = fixture.create_with("Fake::A", json!({"a": 1}), &context(Some(8))).await;
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_eq!(effects(&fixture.cloud.snapshot().log), 2);
}

#[tokio::test]
async fn a_refusal_is_not_remembered_under_its_token() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::A").tokens());
    fixture
        .cloud
        .script(Rule::on(Operation::Create).times(1).refuse(OperationErrorCode::Throttling, "slow down"));
    let first = fixture.create_with("Fake::A", json!({}), &context(Some(7))).await.expect("an answer");
    let again = fixture.create_with("Fake::A", json!({}), &context(Some(7))).await.expect("an answer");
    assert_eq!(first.error_code, Some(OperationErrorCode::Throttling));
    assert_eq!(again.operation_status, OperationStatus::Success);
}

#[tokio::test]
async fn without_tokens_a_repeated_create_makes_a_second_object() {
    let fixture = Fixture::new();
    for _ in 0..2 {
        fixture.create_with("Fake::A", json!({}), &context(Some(7))).await.expect("an answer");
    }
    assert_eq!(fixture.cloud.snapshot().objects.len(), 2);
}

#[tokio::test]
async fn unique_properties_keep_a_twin_out() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::A").unique(&["name", "zone"]));
    let first = fixture.create("Fake::A", json!({"name": "x", "zone": 1})).await.expect("an answer");
    let twin = fixture.create("Fake::A", json!({"name": "x", "zone": 1.0})).await.expect("an answer");
    let other = fixture.create("Fake::A", json!({"name": "x", "zone": 2})).await.expect("an answer");
    assert_eq!(first.operation_status, OperationStatus::Success);
    assert_eq!(twin.error_code, Some(OperationErrorCode::AlreadyExists));
    assert_eq!(other.operation_status, OperationStatus::Success);
}

#[tokio::test]
async fn an_async_call_takes_effect_at_once_and_is_done_after_its_polls() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::A").polls(2));
    let begun = fixture.create("Fake::A", json!({"a": 1})).await.expect("an answer");
    assert_eq!(begun.operation_status, OperationStatus::InProgress);
    let request_id = begun.request_id.expect("a request id");
    let statuses = [
        fixture.status("Fake::A", &request_id).await.operation_status,
        fixture.status("Fake::A", &request_id).await.operation_status,
        fixture.status("Fake::A", &request_id).await.operation_status,
    ];
    assert_eq!(statuses, [OperationStatus::InProgress, OperationStatus::Success, OperationStatus::Success]);
    assert_eq!(effects(&fixture.cloud.snapshot().log), 1);
}

#[tokio::test]
async fn a_create_that_fails_half_way_names_the_object_it_leaves() {
    let fixture = Fixture::new();
    fixture
        .cloud
        .script(Rule::on(Operation::Create).fail_half_way(OperationErrorCode::InternalFailure, "boom"));
    let failed = fixture.create("Fake::A", json!({})).await.expect("an answer");
    assert_eq!(failed.error_code, Some(OperationErrorCode::InternalFailure));
    let left = failed.native_id.expect("the object that was left");
    assert!(fixture.cloud.snapshot().objects.contains_key(&left));
}

#[tokio::test]
async fn a_dropped_answer_is_a_lost_plugin_and_the_effect_stays() {
    let fixture = Fixture::new();
    fixture.cloud.script(Rule::on(Operation::Create).label("Bot").drop_answer());
    let mut bot = context(None);
    bot.label = Some("Bot".into());
    let lost = fixture.create_with("Fake::A", json!({}), &bot).await;
    assert!(matches!(lost, Err(PluginError::Lost { .. })), "{lost:?}");
    assert_eq!(fixture.cloud.snapshot().objects.len(), 1);
    assert!(fixture.create("Fake::A", json!({})).await.is_ok(), "another label is not meant");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_hangs_before_its_effect_takes_it_on_release_though_its_caller_is_gone() {
    let fixture = Fixture::new();
    fixture.cloud.script(Rule::on(Operation::Create).times(1).before(Pause::UntilReleased));
    let call = fixture.create("Fake::A", json!({}));
    assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
    assert_eq!(effects(&fixture.cloud.snapshot().log), 0);
    fixture.cloud.release();
    assert!(fixture.cloud.wait_for(PATIENCE, |log| effects(log) == 1));
}

#[tokio::test]
async fn a_call_past_its_deadline_is_left_undone_unless_its_type_ignores_deadlines() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::Late").ignores_deadline());
    let mut late = context(None);
    late.deadline = Timestamp(1);
    assert!(fixture.create_with("Fake::A", json!({}), &late).await.is_err());
    let log = fixture.cloud.snapshot().log;
    assert!(log.iter().any(|line| line.moment == Moment::Expired), "{log:?}");
    assert_eq!(effects(&log), 0);
    assert!(fixture.create_with("Fake::Late", json!({}), &late).await.is_ok());
}

#[tokio::test]
async fn write_only_properties_are_kept_and_never_shown() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::A").write_only(&["password"]));
    let made = fixture.create("Fake::A", json!({"password": "hush"})).await.expect("an answer");
    let id = made.native_id.expect("an id");
    assert_eq!(made.resource_properties, Some(json!({})));
    fixture.update("Fake::A", &id, json!({"size": 2})).await;
    assert_eq!(fixture.read("Fake::A", &id).await.resource_properties, Some(json!({"size": 2})));
    let kept = fixture.cloud.snapshot().objects[&id].properties.clone();
    assert_eq!(kept["password"], json!("hush"));
}

#[tokio::test]
async fn an_update_can_refuse_or_answer_with_another_object() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::A").create_only(&["zone"]).replaces(&["size"]));
    let id = fixture
        .create("Fake::A", json!({"zone": 1, "size": 1}))
        .await
        .expect("an answer")
        .native_id
        .expect("an id");
    let refused = fixture.update("Fake::A", &id, json!({"zone": 2, "size": 1})).await;
    assert_eq!(refused.error_code, Some(OperationErrorCode::InvalidRequest));
    let replaced = fixture.update("Fake::A", &id, json!({"zone": 1, "size": 2})).await;
    assert_ne!(replaced.native_id.as_ref(), Some(&id));
    assert_eq!(fixture.cloud.snapshot().objects.len(), 2, "the old object stays until it is deleted");
}

#[tokio::test]
async fn deleting_twice_succeeds_and_has_one_effect() {
    let fixture = Fixture::new();
    let id = fixture.cloud.insert("Fake::A", json!({}));
    assert_eq!(fixture.delete("Fake::A", &id).await.operation_status, OperationStatus::Success);
    assert_eq!(fixture.delete("Fake::A", &id).await.operation_status, OperationStatus::Success);
    assert_eq!(fixture.read("Fake::A", &id).await.error_code, Some(OperationErrorCode::NotFound));
    let log = fixture.cloud.snapshot().log;
    assert_eq!(log.iter().filter(|line| matches!(line.moment, Moment::Deleted { .. })).count(), 1);
}

#[tokio::test]
async fn what_happens_out_of_band_is_in_the_log_without_a_call() {
    let fixture = Fixture::new();
    let id = fixture.cloud.insert("Fake::A", json!({"a": 1}));
    assert!(fixture.cloud.edit(&id, |properties| properties["a"] = json!(2)));
    assert_eq!(fixture.read("Fake::A", &id).await.resource_properties, Some(json!({"a": 2})));
    assert!(fixture.cloud.remove(&id));
    assert!(!fixture.cloud.remove(&id));
    let log = fixture.cloud.snapshot().log;
    assert!(log.iter().filter(|line| line.moment.is_effect()).all(|line| line.call == 0));
    assert_eq!(effects(&log), 3);
}

#[tokio::test]
async fn a_line_that_is_no_call_ends_the_connection_and_harms_nothing() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let fixture = Fixture::new();
    let mut connection = tokio::net::UnixStream::connect(fixture.cloud.socket()).await.expect("a socket");
    connection.write_all(b"{\"what\": nonsense\n").await.expect("a write");
    let mut rest = Vec::new();
    connection.read_to_end(&mut rest).await.expect("an end");
    assert!(rest.is_empty());
    assert!(fixture.create("Fake::A", json!({})).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_cloud_ends_calls_that_hang() {
    let fixture = Fixture::new();
    fixture.cloud.script(Rule::any().before(Pause::UntilReleased));
    let plugin = fixture.plugin.clone();
    let hanging = tokio::spawn(async move {
        use formwork_plugin::ResourcePlugin as _;
        let request = formwork_plugin::ListRequest {
            resource_type: "Fake::A".into(),
            target_config: formwork_model::Secret::new(json!({})),
            page_token: None,
            page_size: 1,
            list_parameters: std::collections::BTreeMap::new(),
        };
        plugin.list(&context(None), request).await
    });
    let began = Instant::now();
    let cloud_saw_it = {
        let cloud = &fixture.cloud;
        tokio::task::block_in_place(|| cloud.wait_for(PATIENCE, |log| !log.is_empty()))
    };
    assert!(cloud_saw_it);
    drop(fixture);
    assert!(hanging.await.expect("no panic").is_err());
    assert!(began.elapsed() < PATIENCE);
}
