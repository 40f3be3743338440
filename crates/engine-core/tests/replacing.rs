//! Replacements, cleanups, removals and teardowns against a scripted provider.

mod support;

use formwork_model::{
    Action, Condition, DeletionPolicy, Inputs, OperationErrorCode as Code, OperationKind, OperationStatus,
    Patch, Replacement, RowStatus, StepId,
};
use serde_json::json;
use support::{Provider, Reply, World, reference};

fn replacement(world: &mut World) -> formwork_model::RowRef {
    let row = world.existing("a", json!({"size": 1}));
    world.update("a", &row, json!({"size": 2}), &[]);
    let dependent = world.existing("b", json!({"ref0": "a-0"}));
    let guard = world.guard(&dependent, false);
    let on = world.steps[0].clone();
    let step = world.add("b", dependent, Action::Update, &[0]);
    step.when = Condition::RefChanged(vec![(StepId(0), formwork_model::RefPath::NativeId)]);
    step.inputs = Some(Inputs::object([("ref0".into(), reference(&on))].into_iter().collect()));
    step.guard = guard;
    step.patch = Patch::AtRuntime;
    let cleanup = world.add("a", row.clone(), Action::Cleanup { native_id: None }, &[0]);
    cleanup.when = Condition::Replaced(StepId(0));
    cleanup.wave = 1;
    row
}

#[test]
fn a_discovered_replacement_repoints_dependents_before_the_old_object_goes() {
    let mut world = World::new().with(|found| found.replacement = Replacement::Discovered);
    replacement(&mut world);
    let run = world.run(Provider::of(&world).on("a", "update", &[Reply::Another("a-new")]));
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.provider.log, ["update a-new", "update b-0", "cleanup a-0"]);
    assert_eq!(run.provider.objects["b-0"], json!({"ref0": "a-new"}));
    assert_eq!(
        run.ends(),
        ["a replace succeeded", "b update succeeded", "a replace-cleanup succeeded", "operation succeeded"]
    );
    assert!(run.row("a").deposed.is_empty());
    assert_eq!(run.row("a").generation.0, 3);
}

#[test]
fn an_update_in_place_makes_its_conditions_no_ops() {
    let mut world = World::new().with(|found| found.replacement = Replacement::Discovered);
    replacement(&mut world);
    let run = world.run(Provider::of(&world));
    assert_eq!(run.provider.log, ["update a-0"]);
    assert_eq!(run.ends(), ["a update succeeded", "b no-op succeeded", "operation succeeded"]);
}

#[test]
fn a_failed_cleanup_leaves_the_deploy_succeeded_with_a_bag() {
    let mut world = World::new().with(|found| found.replacement = Replacement::Discovered);
    replacement(&mut world);
    let provider = Provider::of(&world).on("a", "update", &[Reply::Another("a-new")]).on(
        "a",
        "cleanup",
        &[Reply::Fail(Code::InvalidRequest)],
    );
    let run = world.run(provider);
    let (status, bag) = run.status();
    assert_eq!(status, OperationStatus::Succeeded);
    insta::assert_json_snapshot!(bag, @r#"
    {
      "code": "FORMATION_REPLACE_CLEANUP_FAILED",
      "message": "The deploy succeeded, but 1 replaced resource(s) could not be deleted and are still live: a-0 (a). They stay on the formation as pending cleanup and are retried on the next deploy or teardown.",
      "meta": {
        "failures": [
          {
            "logical_id": "a",
            "resource_type": "thing",
            "physical_resource_id": "a-0",
            "error": "provider says INVALID_REQUEST"
          }
        ]
      }
    }
    "#);
    assert_eq!(run.row("a").deposed.len(), 1);
    assert_eq!(run.row("a").status, RowStatus::Updated);
}

#[test]
fn a_retained_object_is_never_deleted_when_replaced() {
    let mut world = World::new().with(|found| found.replacement = Replacement::Discovered);
    replacement(&mut world);
    world.steps[2].deletion_policy = DeletionPolicy::Retain;
    let run = world.run(Provider::of(&world).on("a", "update", &[Reply::Another("a-new")]));
    assert!(run.provider.objects.contains_key("a-0"));
    assert!(run.ends().contains(&"a replace-retained succeeded".to_owned()));
    assert!(run.row("a").deposed.is_empty());
}

#[test]
fn a_planned_replacement_deposes_and_cleans_up() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    let guard = world.guard(&row, true);
    let step = world.add("a", row.clone(), Action::Replace, &[]);
    step.inputs = Some(Inputs::Plain(json!({"size": 2})));
    step.guard = guard;
    let cleanup = world.add("a", row, Action::Cleanup { native_id: None }, &[0]);
    cleanup.when = Condition::Replaced(StepId(0));
    let run = world.run(Provider::of(&world));
    assert_eq!(run.provider.log, ["create a-1", "cleanup a-0"]);
    assert_eq!(run.row("a").status, RowStatus::Updated);
}

#[test]
fn a_delete_first_replacement_deletes_and_then_creates() {
    let mut world = World::new();
    let row = world.existing("a", json!({"size": 1}));
    let guard = world.guard(&row, true);
    world.add("a", row.clone(), Action::Delete { replacing: true }, &[]).guard = guard.clone();
    let step = world.add("a", row, Action::Replace, &[0]);
    step.inputs = Some(Inputs::Plain(json!({"size": 2})));
    step.guard = guard;
    let run = world.run(Provider::of(&world));
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert_eq!(run.provider.log, ["delete a-0", "create a-1"]);
}

#[test]
fn a_removal_that_fails_in_a_deploy_is_visible_and_kept_for_the_next() {
    let mut world = World::new();
    world.create("new", &[]);
    let row = world.existing("old", json!({"size": 1}));
    world.delete("old", &row, &[]).wave = 1;
    let run = world.run(Provider::of(&world).on("old", "delete", &[Reply::Fail(Code::AccessDenied)]));
    let (status, bag) = run.status();
    assert_eq!(status, OperationStatus::Succeeded);
    assert_eq!(bag.map(|bag| bag.code).as_deref(), Some("FORMATION_DELETE_FAILED"));
    assert!(run.row("old").current.is_some());
    assert_eq!(run.provider.log, ["create new-1"]);
}

#[test]
fn a_teardown_goes_on_past_failures_and_lists_them() {
    let mut world = World::new().kind(OperationKind::Delete);
    for label in ["a", "b", "c"] {
        let row = world.existing(label, json!({"size": 1}));
        world.delete(label, &row, &[]);
    }
    let run = world.run(Provider::of(&world).on("b", "delete", &[Reply::Fail(Code::InvalidRequest)]));
    let (status, bag) = run.status();
    assert_eq!(status, OperationStatus::Failed);
    insta::assert_json_snapshot!(bag, @r#"
    {
      "code": "FORMATION_DELETE_FAILED",
      "message": "Formation 'form_1' could not be fully deleted; 1 resource(s) could not be removed: b (thing). The formation is left in 'delete_failed'; resolve these and delete it again.",
      "meta": {
        "failures": [
          {
            "logical_id": "b",
            "resource_type": "thing",
            "error": "provider says INVALID_REQUEST"
          }
        ]
      }
    }
    "#);
    assert_eq!(run.provider.objects.len(), 1);
}

#[test]
fn a_failed_cleanup_never_fails_a_teardown() {
    let mut world = World::new().kind(OperationKind::Delete);
    let row = world.existing("a", json!({"size": 1}));
    world.rows[0].deposed.push(support::object("a-old", "thing", json!({"size": 0})));
    world.add("a", row.clone(), Action::Cleanup { native_id: Some("a-old".into()) }, &[]);
    world.delete("a", &row, &[0]).wave = 1;
    let run = world.run(Provider::of(&world).on("a", "cleanup", &[Reply::Fail(Code::InvalidRequest)]));
    assert_eq!(run.status(), (OperationStatus::Succeeded, None));
    assert!(run.row("a").current.is_none());
    assert_eq!(run.row("a").deposed.len(), 1);
}

/// INV-6: what still refers to an old object keeps it.
#[test]
fn a_cleanup_is_not_made_while_what_refers_to_its_object_stays() {
    let mut world = World::new();
    let (net, app) = (world.existing("net", json!({"size": 1})), world.existing("app", json!({})));
    for (at, old) in [(0, "net-old"), (1, "app-old")] {
        world.rows[at].deposed.push(support::object(old, "thing", json!({})));
    }
    world.delete("app", &app, &[]).wave = 1;
    world.add("app", app, Action::Cleanup { native_id: Some("app-old".into()) }, &[0]).wave = 2;
    world.add("net", net.clone(), Action::Cleanup { native_id: Some("net-old".into()) }, &[1]).wave = 2;
    let unneeded = world.add("net", net, Action::Cleanup { native_id: Some("gone".into()) }, &[0]);
    unneeded.wave = 2;

    let refused = [Reply::Fail(Code::AccessDenied)];
    let run = world.run(Provider::of(&world).on("app", "delete", &refused));
    assert_eq!(run.provider.log, Vec::<String>::new());
    let (status, bag) = run.status();
    assert_eq!(status, OperationStatus::Succeeded);
    let bag = bag.expect("what could not be removed must not go unseen");
    let meta = bag.meta.expect("it lists them");
    let listed: Vec<_> = meta["failures"].as_array().expect("a list").iter().collect();
    let objects: Vec<_> = listed.iter().map(|failure| &failure["physical_resource_id"]).collect();
    assert_eq!(objects, ["app-old", "net-old", "app-0"], "{bag:?}", bag = bag.message);
    assert_eq!(run.row("net").deposed.len(), 1);

    let run = world.run(Provider::of(&world).on("app", "cleanup", &refused));
    assert_eq!(run.provider.log, ["delete app-0"]);
    assert_eq!((run.row("app").deposed.len(), run.row("net").deposed.len()), (1, 1));
}

/// INV-6: what a replaced object still refers to stays with it; a teardown goes on past it.
#[test]
fn a_removal_is_not_made_while_an_old_object_that_refers_to_it_stays() {
    let run = |kind: OperationKind| {
        let mut world = World::new().kind(kind);
        let (app, net) = (world.existing("app", json!({})), world.existing("net", json!({})));
        world.rows[0].deposed.push(support::object("app-old", "thing", json!({})));
        world.add("app", app, Action::Cleanup { native_id: Some("app-old".into()) }, &[]).wave = 2;
        world.delete("net", &net, &[0]).wave = 2;
        world.run(Provider::of(&world).on("app", "cleanup", &[Reply::Fail(Code::AccessDenied)]))
    };
    let deploy = run(OperationKind::Update);
    assert_eq!(deploy.provider.log, Vec::<String>::new());
    let (status, bag) = deploy.status();
    assert_eq!(status, OperationStatus::Succeeded);
    let message = bag.expect("what stays is listed").message;
    assert!(message.contains("app-old (app)") && message.contains("net (thing)"), "{message}");

    let teardown = run(OperationKind::Delete);
    assert_eq!(teardown.provider.log, ["delete net-0"], "a failed cleanup never fails a teardown");
}
