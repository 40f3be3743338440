//! The plugin's contracts: tokens, fences, missing objects, lists.

use crate::world::{World, create_request, refusal};
use formwork_model::{Fence, OperationErrorCode, Path, Secret, StackId};
use formwork_plugin::{
    CallContext, ListRequest, OperationStatus, PluginError, ResourcePlugin, StatusRequest,
};
use formwork_store::{Fault, Store};
use serde_json::json;

#[tokio::test]
async fn a_repeated_token_makes_one_object_and_answers_the_same() {
    let world = World::new();
    let context = world.context_with(1);
    let request = || create_request("secret", json!({ "name": "k", "value": "v" }), &[Path::of(["value"])]);
    let first = world.platform.create(&context, request()).await.expect("an answer");
    let second = world.platform.create(&context, request()).await.expect("an answer");
    assert_eq!(first, second);
    assert_eq!(world.stored("secret").await.len(), 1);
    let third = world.platform.create(&world.context_with(2), request()).await.expect("an answer");
    assert_ne!(third.native_id, first.native_id);
}

#[tokio::test]
async fn a_refused_call_leaves_its_token_unused() {
    let world = World::new();
    let context = world.context_with(1);
    let create = |properties| world.platform.create(&context, create_request("memory", properties, &[]));
    let refused = create(json!({ "nmae": "m" })).await.expect("an answer");
    assert_eq!(refusal(&refused).2, "Unknown memory field 'nmae'. Allowed: name, description, tags");
    let made = create(json!({ "name": "m" })).await.expect("an answer");
    assert_eq!(made.operation_status, OperationStatus::Success);
}

#[tokio::test]
async fn a_stale_fence_is_an_error_without_effect() {
    let world = World::new();
    let context =
        CallContext { stack: Some(StackId::from("form_1")), fence: Some(Fence(3)), ..world.context_with(1) };
    let request = create_request("memory", json!({ "name": "m" }), &[]);
    let answer = world.platform.create(&context, request).await;
    assert_eq!(answer.expect_err("no lease is held"), PluginError::Fenced);
    assert!(world.stored("memory").await.is_empty());
}

#[tokio::test]
async fn a_failing_store_is_a_lost_plugin_and_the_token_settles_it() {
    let world = World::new();
    let context = world.context_with(1);
    world.store.fail_next(Fault::FailAfter);
    let request = || create_request("memory", json!({ "name": "m" }), &[]);
    let answer = world.platform.create(&context, request()).await;
    assert!(matches!(answer, Err(PluginError::Lost { .. })), "{answer:?}");
    let answer = world.platform.create(&context, request()).await.expect("an answer");
    assert_eq!(answer.operation_status, OperationStatus::Success);
    assert_eq!(world.stored("memory").await.len(), 1);
}

#[tokio::test]
async fn what_is_not_there_is_not_found_by_read_and_update_and_deleted_by_delete() {
    let world = World::new();
    let read = world.read("memory", "mem_none").await;
    assert_eq!(read.error_code, Some(OperationErrorCode::NotFound));
    let answer = world.update("memory", "mem_none", json!({ "name": "n" })).await;
    let expected = (OperationErrorCode::NotFound, "RESOURCE_NOT_FOUND", "Memory not found: mem_none");
    assert_eq!(refusal(&answer), expected);
    assert_eq!(world.delete("memory", "mem_none").await.operation_status, OperationStatus::Success);
}

#[tokio::test]
async fn an_object_of_another_project_or_type_is_not_there() {
    let mut world = World::new();
    let memory = world.create("memory", json!({ "name": "m" })).await;
    assert_eq!(world.read("secret", &memory).await.error_code, Some(OperationErrorCode::NotFound));
    world.project = "proj_two".into();
    assert_eq!(world.read("memory", &memory).await.error_code, Some(OperationErrorCode::NotFound));
    let answer = world.update("memory", &memory, json!({ "name": "n" })).await;
    assert_eq!(refusal(&answer).2, format!("Memory not found: {memory}"));
    assert_eq!(world.delete("memory", &memory).await.operation_status, OperationStatus::Success);
    assert!(world.store.reader().object(&memory).await.expect("a read").is_some());
}

#[tokio::test]
async fn a_list_pages_through_the_ids_of_the_project() {
    let mut world = World::new();
    let mut expected = Vec::new();
    for index in 0..5 {
        expected.push(world.create("memory", json!({ "name": index.to_string() })).await);
    }
    let own = world.project.clone();
    world.project = "proj_two".into();
    world.create("memory", json!({ "name": "elsewhere" })).await;
    world.project = own;
    let (mut found, mut page_token) = (Vec::new(), None);
    loop {
        let request = ListRequest {
            resource_type: "memory".into(),
            target_config: Secret::new(json!(null)),
            page_token,
            page_size: 2,
            list_parameters: std::collections::BTreeMap::new(),
        };
        let page = world.platform.list(&world.context(), request).await.expect("a page");
        assert!(page.native_ids.len() <= 2);
        found.extend(page.native_ids.iter().map(ToString::to_string));
        page_token = page.next_page_token;
        if page_token.is_none() {
            break;
        }
    }
    assert_eq!(found, expected);
}

#[tokio::test]
async fn an_unknown_type_and_an_unknown_status_are_refused() {
    let world = World::new();
    let answer = world.try_create("bogus", json!({}), &[]).await;
    assert_eq!(refusal(&answer).2, "The platform has no type `bogus`");
    let request = StatusRequest {
        resource_type: "memory".into(),
        request_id: "r".into(),
        native_id: None,
        target_config: Secret::new(json!(null)),
    };
    let answer = world.platform.status(&world.context(), request).await.expect("an answer");
    assert_eq!(answer.error_code, Some(OperationErrorCode::NotFound));
}

#[tokio::test]
async fn a_call_names_all_that_is_wrong() {
    let world = World::new();
    let answer = world.try_create("ai_provider", json!({ "name": 1, "provider": "acme" }), &[]).await;
    assert_eq!(refusal(&answer).2, "`name` must be a string");
    insta::assert_json_snapshot!(answer.failure_meta);
}
