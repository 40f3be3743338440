//! The change rule below the top of a value: the hints of nested keys (seed 1, "FieldHint" and
//! "Collection semantics").

mod common;

use common::catalog::TestCatalog;
use common::table::{Row, check_table, row};
use formwork_model::{Json, Ownership};
use formwork_planner::drift;
use proptest::prelude::*;
use serde_json::json;

/// A row whose type has nested hints and whose declaration owns all of it.
fn deep(title: &'static str, desired: Json, sent: Json, verdict: &'static str) -> Row {
    row(title, desired, sent, verdict).of("deep").owned(Ownership::Full)
}

/// The same within an object, an element of a bag, an entity and a member of a mapping.
fn everywhere(
    title: &'static str,
    desired: &Json,
    sent: &Json,
    verdict: impl Fn(&'static str) -> &'static str,
) -> Vec<Row> {
    let entity = |value: &Json| {
        let mut value = value.clone();
        value["id"] = json!(1);
        value
    };
    vec![
        deep(title, json!({"spec": desired}), json!({"spec": sent}), verdict("spec")),
        deep(
            title,
            json!({"spec": {"bag": [{"other": 1}, desired]}}),
            json!({"spec": {"bag": [sent, {"other": 1}]}}),
            verdict("spec.bag[1]"),
        ),
        deep(
            title,
            json!({"rows": [{"id": 2}, entity(desired)]}),
            json!({"rows": [entity(sent), {"id": 2}]}),
            verdict("rows[1]"),
        ),
        deep(
            title,
            json!({"spec": {"rules": [entity(desired)]}}),
            json!({"spec": {"rules": [entity(sent)]}}),
            verdict("spec.rules[0]"),
        ),
        deep(
            title,
            json!({"spec": {"zones": {"eu": desired}}}),
            json!({"spec": {"zones": {"eu": sent}}}),
            verdict("spec.zones.eu"),
        ),
    ]
}

fn no_op(_: &'static str) -> &'static str {
    "no-op"
}

fn updated(place: &'static str) -> &'static str {
    if place.starts_with("rows") { "update rows" } else { "update spec" }
}

#[test]
fn nested_collections_compare_as_their_hints_say() {
    let table = [
        everywhere("no hint: unordered", &json!({"tags": [1, 2, 2]}), &json!({"tags": [2, 1, 2]}), no_op),
        everywhere("but counted", &json!({"tags": [1, 2, 2]}), &json!({"tags": [1, 1, 2]}), updated),
        everywhere("array: ordered", &json!({"list": [1, 2]}), &json!({"list": [2, 1]}), updated),
        everywhere("atomic: one value", &json!({"whole": [1, 2]}), &json!({"whole": [2, 1]}), updated),
        everywhere(
            "a list of lists is treated as the list is",
            &json!({"tags": [[1, 2], [3]], "list": [[1, 2]]}),
            &json!({"tags": [[3], [2, 1]], "list": [[1, 2]]}),
            no_op,
        ),
        everywhere("an element less", &json!({"tags": [1]}), &json!({"tags": [1, 2]}), updated),
        everywhere("a key less", &json!({"a": 1}), &json!({"a": 1, "b": 2}), updated),
    ];
    check_table(table.iter().flatten());
}

/// Defect 15 of the reference: hints of keys within arrays are not matched there.
#[test]
fn defect_15_hints_within_arrays_are_honoured() {
    let inner = |values: Json| json!([{"id": 1, "list": values, "tags": values}]);
    check_table(&[
        deep(
            "an array within entities is ordered",
            json!({"rows": inner(json!([1, 2]))}),
            json!({"rows": inner(json!([2, 1]))}),
            "update rows",
        ),
        deep(
            "entities within an object within a bag",
            json!({"bags": [{"rules": [{"id": 1, "a": 1}, {"id": 2}]}]}),
            json!({"bags": [{"rules": [{"id": 2}, {"id": 1, "a": 1}]}]}),
            "no-op",
        ),
        deep(
            "and what changes in one of them",
            json!({"bags": [{"rules": [{"id": 1, "a": 2}, {"id": 2}]}]}),
            json!({"bags": [{"rules": [{"id": 2}, {"id": 1, "a": 1}]}]}),
            "update bags",
        ),
    ]);
}

#[test]
fn texts_of_a_format_compare_by_what_they_say() {
    let (text, same) = (r#"{"a": 1, "b": [1, 2]}"#, r#"{"b":[1,2],"a":1.0}"#);
    let table = [
        everywhere("json", &json!({"text": text}), &json!({"text": same}), no_op),
        everywhere("json", &json!({"text": text}), &json!({"text": r#"{"b":[2,1],"a":1}"#}), updated),
        everywhere("no json", &json!({"text": "{"}), &json!({"text": "{ "}), updated),
        everywhere("no hint", &json!({"plain": text}), &json!({"plain": same}), updated),
        vec![
            deep("at the top", json!({"text": text}), json!({"text": same}), "no-op"),
            deep(
                "a value for its text",
                json!({"text": text}),
                json!({"text": {"b": [1, 2], "a": 1}}),
                "no-op",
            ),
            deep("another", json!({"text": text}), json!({"text": "{}"}), "update text"),
            deep("rewritten by the provider", json!({"text": text}), json!({"text": text}), "no-op")
                .seen(json!({"text": same})),
        ],
    ];
    check_table(table.iter().flatten());
}

#[test]
fn what_the_provider_chooses_is_no_removal_at_any_depth() {
    let table = [
        everywhere("declared no longer", &json!({"a": 1}), &json!({"a": 1, "mode": "x"}), no_op),
        everywhere("declared otherwise", &json!({"mode": "y"}), &json!({"mode": "x"}), updated),
        everywhere("declared anew", &json!({"mode": "y"}), &json!({}), updated),
        vec![
            deep("chosen by the provider", json!({"spec": {"a": 1}}), json!({"spec": {"a": 1}}), "no-op")
                .echo(json!({"spec": {"a": 1, "mode": "x"}}))
                .seen(json!({"spec": {"a": 1, "mode": "z"}})),
            deep("and in elements", json!({"bags": [{"a": 1}]}), json!({"bags": [{"a": 1}]}), "no-op")
                .echo(json!({"bags": [{"a": 1}]}))
                .seen(json!({"bags": [{"a": 1, "mode": "z"}]})),
            deep(
                "not where it is declared",
                json!({"spec": {"mode": 1}}),
                json!({"spec": {"mode": 1}}),
                "update spec~",
            )
            .seen(json!({"spec": {"mode": 2}})),
            deep(
                "elements find each other though the provider added to them",
                json!({"bags": [{}, {"mode": 1}]}),
                json!({"bags": [{"mode": 1}, {"mode": 2}]}),
                "no-op",
            ),
        ],
    ];
    check_table(table.iter().flatten());
}

#[test]
fn nested_changes_of_what_cannot_change_replace_and_name_their_place() {
    let replaced = |place: &'static str| match place {
        "spec" => "replace spec.fixed! because 1",
        "spec.bag[1]" => "replace spec.bag[1].fixed! because 1",
        "rows[1]" => "replace rows[1].fixed! because 1",
        "spec.rules[0]" => "replace spec.rules[0].fixed! because 1",
        _ => "replace spec.zones.eu.fixed! because 1",
    };
    let table = [
        everywhere("changed", &json!({"fixed": 2, "a": 1}), &json!({"fixed": 1, "a": 1}), replaced),
        everywhere("unchanged", &json!({"fixed": 1}), &json!({"fixed": 1}), no_op),
        everywhere("beside it", &json!({"fixed": 1, "a": 2}), &json!({"fixed": 1, "a": 1}), updated),
        vec![
            deep(
                "both",
                json!({"spec": {"fixed": 2, "a": 2}}),
                json!({"spec": {"fixed": 1, "a": 1}}),
                "replace spec.fixed! spec because 1",
            ),
            deep(
                "declared no longer",
                json!({"spec": {"a": 1}}),
                json!({"spec": {"fixed": 1, "a": 1}}),
                "replace spec.fixed-! because 1",
            ),
            deep(
                "a new element is no change of it",
                json!({"bags": [{"fixed": 1}]}),
                json!({"bags": []}),
                "update bags",
            ),
            deep("already there", json!({"spec": {"fixed": 2}}), json!({"spec": {"fixed": 1}}), "record")
                .seen(json!({"spec": {"fixed": 2}})),
            deep(
                "drifted",
                json!({"spec": {"fixed": 1}}),
                json!({"spec": {"fixed": 1}}),
                "replace spec.fixed~! because 1",
            )
            .seen(json!({"spec": {"fixed": 2}})),
            deep(
                "the provider's spelling is no drift",
                json!({"spec": {"fixed": "a", "b": 1}}),
                json!({"spec": {"fixed": "a", "b": 1}}),
                "update spec~",
            )
            .echo(json!({"spec": {"fixed": "A", "b": 1}}))
            .seen(json!({"spec": {"fixed": "A", "b": 2}})),
            deep(
                "not known yet",
                json!({"spec": {"fixed": {"$unknown": "x"}}}),
                json!({"spec": {"fixed": 1}}),
                "wait spec.fixed! for x, may replace",
            ),
        ],
    ];
    check_table(table.iter().flatten());
}

#[test]
fn what_is_never_read_back_is_not_looked_for() {
    let spec = |token: &str, a: u32| json!({"spec": {"token": {"$digest": token}, "a": a}});
    let table = [
        everywhere(
            "a declared change counts",
            &json!({"token": {"$digest": "new"}}),
            &json!({"token": {"$digest": "old"}}),
            updated,
        ),
        everywhere("in the clear as well", &json!({"token": "new"}), &json!({"token": "old"}), updated),
        vec![
            deep("not shown", spec("t", 1), spec("t", 1), "no-op").seen(json!({"spec": {"a": 1}})),
            deep("shown otherwise", spec("t", 1), spec("t", 1), "no-op")
                .seen(json!({"spec": {"a": 1, "token": "***"}})),
            deep("what is beside it drifts", spec("t", 1), spec("t", 1), "update spec~")
                .seen(json!({"spec": {"a": 2}})),
            deep("a change is not already there", spec("new", 1), spec("old", 1), "update spec")
                .seen(json!({"spec": {"a": 1}})),
            deep("but one beside it may be", spec("t", 2), spec("t", 1), "record")
                .seen(json!({"spec": {"a": 2}})),
        ],
    ];
    check_table(table.iter().flatten());
}

/// Defect 14 of the reference: what is declared no longer stays at the provider.
#[test]
fn defect_14_what_is_declared_no_longer_is_removed_at_any_depth() {
    let table = [
        vec![deep("a property", json!({}), json!({"name": "a"}), "update name-")],
        everywhere("a key", &json!({"a": 1}), &json!({"a": 1, "b": 1}), updated),
        everywhere("an object", &json!({"a": 1}), &json!({"a": 1, "b": {"c": {"d": 1}}}), updated),
        everywhere("an element", &json!({"tags": ["a"]}), &json!({"tags": ["a", "b"]}), updated),
        everywhere("an element in order", &json!({"list": ["a"]}), &json!({"list": ["a", "b"]}), updated),
        everywhere("an entity", &json!({"rules": []}), &json!({"rules": [{"id": 1}]}), updated),
    ];
    check_table(table.iter().flatten());
}

/// Defect 25 of the reference: two nulls differ within containers.
#[test]
fn defect_25_two_nulls_are_the_same_within_containers() {
    let nulls = json!({"a": null, "tags": [null, {"b": null}], "list": [null]});
    check_table(&everywhere("nulls", &nulls, &nulls, no_op));
    let value = json!({"a": null, "tags": [{"b": null}]});
    check_table(&[row("without hints", json!({"value": value}), json!({"value": value}), "no-op")]);
}

#[test]
fn growing_collections_grow_as_their_hints_say() {
    let grown = |title, desired, sent, verdict| {
        row(title, desired, sent, verdict).of("deep").owned(Ownership::Additive)
    };
    check_table(&[
        grown(
            "an entity within is found by its key",
            json!({"spec": {"rules": [{"id": 2, "a": 1}]}}),
            json!({"spec": {"rules": [{"id": 1}, {"id": 2, "a": 1, "b": 2}]}}),
            "no-op",
        ),
        grown(
            "an element is found in any order",
            json!({"bags": [{"tags": [2, 1]}]}),
            json!({"bags": [{"c": 1}, {"tags": [1, 2]}]}),
            "no-op",
        ),
        grown("one more", json!({"spec": {"tags": [3]}}), json!({"spec": {"tags": [1]}}), "update spec"),
    ]);
}

#[test]
fn drift_within_is_shown_but_for_what_nobody_declared_or_can_see() {
    let rules = TestCatalog::new().rules("deep");
    let changed = |sent: Json, echo: Json, seen: Json| {
        let object = deep("", json!({}), sent, "").echo(echo).object();
        let seen = common::notation::stored(&seen);
        !drift(rules.schema(), rules.capabilities(), &object, &seen, None).is_empty()
    };
    let spec = |inner: Json| json!({"spec": inner});
    let seen = |inner: Json| spec(json!({"bag": [inner], "tags": [2, 1]}));
    let sent = || spec(json!({"bag": [{"a": 1}], "tags": [1, 2]}));
    assert!(!changed(sent(), seen(json!({"a": 1})), seen(json!({"a": 1, "mode": "x"}))));
    assert!(!changed(sent(), seen(json!({"a": 1})), seen(json!({"a": 1, "token": "x"}))));
    assert!(changed(sent(), seen(json!({"a": 1})), seen(json!({"a": 2}))));
    let declared = || spec(json!({"bag": [{"mode": "x"}]}));
    assert!(changed(declared(), declared(), spec(json!({"bag": [{"mode": "y"}]}))));
}

/// Any value of objects, arrays and numbers, with keys that hints speak of among others.
fn value() -> impl Strategy<Value = Json> {
    let number = (0_u8..3).prop_map(Json::from);
    number.prop_recursive(4, 40, 4, |inner| {
        let key = proptest::sample::select(vec!["a", "mode", "tags", "bag", "rules", "list", "id"]);
        let members = proptest::collection::vec((key, inner.clone()), 0..5);
        let object = members.prop_map(|members| {
            Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        });
        prop_oneof![object, proptest::collection::vec(inner, 0..4).prop_map(Json::Array)]
    })
}

/// The same value as far as hints care: what has no order is turned round, members as well.
fn turned(value: &Json, ordered: bool) -> Json {
    match value {
        Json::Array(items) => {
            let items = items.iter().map(|item| turned(item, ordered));
            if ordered { items.collect() } else { items.rev().collect() }
        }
        Json::Object(members) => {
            let turned = members.iter().rev().map(|(key, value)| match key.as_str() {
                // What tells entities apart is one value.
                "id" => (key.clone(), value.clone()),
                name => (key.clone(), turned(value, name == "list")),
            });
            Json::Object(turned.collect())
        }
        other => other.clone(),
    }
}

/// Without what the provider may choose.
fn without_defaults(spec: &Json) -> Json {
    let mut spec = spec.clone();
    let Some(members) = spec.as_object_mut() else { return spec };
    members.remove("mode");
    for element in members.get_mut("bag").and_then(Json::as_array_mut).into_iter().flatten() {
        if let Some(element) = element.as_object_mut() {
            element.remove("mode");
        }
    }
    spec
}

proptest! {
    #[test]
    fn order_and_defaults_of_the_provider_never_make_a_change(spec in value()) {
        let sent = json!({"spec": spec});
        let turned = turned(&spec, false);
        check_table(&[
            deep("turned", json!({"spec": turned}), sent.clone(), "no-op"),
            deep("without defaults", json!({"spec": without_defaults(&turned)}), sent.clone(), "no-op"),
            deep("seen so", sent.clone(), sent, "no-op").seen(json!({"spec": turned})),
        ]);
    }

    #[test]
    fn one_element_more_always_makes_a_change(spec in value()) {
        let with = |more: Json| json!({"spec": {"tags": [spec, more], "bag": [{"tags": [more]}]}});
        check_table(&[deep("one more", with(json!(["new"])), with(json!([])), "update spec")]);
    }
}
