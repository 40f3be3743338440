//! The change rule as one table: what is desired, was sent, was answered and is seen, and what
//! follows. `same` as the echo stands for "answered as sent".

mod common;

use common::catalog::TestCatalog;
use common::notation::{planned, stored};
use common::table::{Row, check_table, in_short, row};
use formwork_model::{Certainty, Json, Ownership};
use formwork_planner::{Comparison, diff, drift};
use serde_json::json;

fn values() -> Vec<Row> {
    vec![
        row("nothing declared, nothing sent", json!({}), json!({}), "no-op"),
        row("the same", json!({"name": "a"}), json!({"name": "a"}), "no-op"),
        row("another value", json!({"name": "b"}), json!({"name": "a"}), "update name"),
        row("a new property", json!({"name": "a", "value": 1}), json!({"name": "a"}), "update value"),
        row("null is not absent", json!({"name": null}), json!({}), "update name"),
        row("null is null", json!({"name": null}), json!({"name": null}), "no-op"),
        row("one is one point zero", json!({"value": 1}), json!({"value": 1.0}), "no-op"),
        row(
            "large integers are exact",
            json!({"value": u64::MAX}),
            json!({"value": u64::MAX - 1}),
            "update value",
        ),
        row(
            "key order is nothing",
            json!({"value": {"a": 1, "b": 2}}),
            json!({"value": {"b": 2, "a": 1}}),
            "no-op",
        ),
        row(
            "a nested member less",
            json!({"value": {"a": 1}}),
            json!({"value": {"a": 1, "b": 2}}),
            "update value",
        ),
        row("arrays are ordered", json!({"list": [1, 2]}), json!({"list": [2, 1]}), "update list"),
        row("sets are not", json!({"tags": [1, 2]}), json!({"tags": [2, 1.0]}), "no-op"),
        row("sets count", json!({"tags": [1, 1, 2]}), json!({"tags": [1, 2, 2]}), "update tags"),
        row(
            "entities are found by their field",
            json!({"rules": [{"id": 2}, {"id": 1, "x": 1}]}),
            json!({"rules": [{"id": 1, "x": 1}, {"id": 2}]}),
            "no-op",
        ),
        row(
            "a changed entity",
            json!({"rules": [{"id": 1, "x": 2}]}),
            json!({"rules": [{"id": 1, "x": 1}]}),
            "update rules",
        ),
        row(
            "entities without their field are a set",
            json!({"rules": [1, 2]}),
            json!({"rules": [2, 1]}),
            "no-op",
        ),
        row("atomic is one value", json!({"whole": [1, 2]}), json!({"whole": [2, 1]}), "update whole"),
        row(
            "a reference that resolves as before",
            json!({"name": "id-9"}),
            json!({"name": {"$resolved": ["x", "id-9"]}}),
            "no-op",
        ),
        row(
            "and one that does not",
            json!({"name": "id-8"}),
            json!({"name": {"$resolved": ["x", "id-9"]}}),
            "update name",
        ),
    ]
}

fn ownership() -> Vec<Row> {
    let sent = || json!({"name": "a", "value": 1, "mode": "m"});
    vec![
        row("declared only: removal is nothing", json!({"name": "a"}), sent(), "no-op"),
        row("full: removed, but for a provider default", json!({"name": "a"}), sent(), "update value-")
            .owned(Ownership::Full),
        row("full: already removed", json!({"name": "a"}), json!({"name": "a", "value": 1}), "record")
            .owned(Ownership::Full)
            .seen(json!({"name": "a"})),
        row(
            "full: a create-only property removed",
            json!({}),
            json!({"fixed": 1}),
            "replace fixed-! because 1",
        )
        .owned(Ownership::Full),
        row("additive: a subset is nothing", json!({"tags": [1]}), json!({"tags": [1, 2]}), "no-op")
            .owned(Ownership::Additive),
        row("additive: one more", json!({"list": [3]}), json!({"list": [1, 2]}), "update list")
            .owned(Ownership::Additive),
        row("additive: objects grow", json!({"value": {"b": 1}}), json!({"value": {"a": 1}}), "update value")
            .owned(Ownership::Additive),
        row(
            "additive: a nested subset",
            json!({"value": {"a": {"b": 1}}}),
            json!({"value": {"a": {"b": 1, "c": 2}, "d": 3}}),
            "no-op",
        )
        .owned(Ownership::Additive),
        row(
            "additive: atomic is replaced whole",
            json!({"whole": [1]}),
            json!({"whole": [1, 2]}),
            "update whole",
        )
        .owned(Ownership::Additive),
        row("additive: what was added outside stays", json!({"tags": [1]}), json!({"tags": [1]}), "record")
            .owned(Ownership::Additive)
            .seen(json!({"tags": [1, 7]})),
    ]
}

fn reality() -> Vec<Row> {
    let a = || json!({"name": "a"});
    vec![
        row("seen as sent", a(), a(), "no-op").seen(json!({"name": "a", "other": 1})),
        row("the provider's spelling is no drift", a(), a(), "no-op")
            .echo(json!({"name": "A"}))
            .seen(json!({"name": "A"})),
        row("drift is healed", a(), a(), "update name~").seen(json!({"name": "z"})),
        row("gone outside is drift", a(), a(), "update name~").seen(json!({})),
        row("drift of what is not declared is nothing", a(), json!({"name": "a", "value": 1}), "no-op")
            .seen(json!({"name": "a", "value": 2})),
        row("drift to what is declared", a(), a(), "record").echo(json!({"name": "A"})).seen(a()),
        row("changed, and already there", a(), json!({"name": "b"}), "record").seen(a()),
        row("changed, and drifted elsewhere", a(), json!({"name": "b"}), "update name")
            .seen(json!({"name": "c"})),
        row("never answered: what is seen as declared is recorded", a(), a(), "record")
            .echo(json!({}))
            .seen(a()),
        row("a type that cannot be read has no drift", a(), a(), "no-op")
            .of("blind")
            .seen(json!({"name": "z"})),
        row("but changes", json!({"name": "b"}), a(), "update name").of("blind"),
        row("a set in another order is no drift", json!({"tags": [1, 2]}), json!({"tags": [1, 2]}), "no-op")
            .seen(json!({"tags": [2, 1]})),
        row(
            "drift of a create-only property",
            json!({"fixed": 1}),
            json!({"fixed": 1}),
            "replace fixed~! because 1",
        )
        .seen(json!({"fixed": 2})),
    ]
}

fn secrets() -> Vec<Row> {
    let old = || json!({"token": {"$digest": "old"}});
    let nested = |value: &str| json!({"value": {"auth": {"$digest": value}, "url": "u"}});
    vec![
        row("the same secret", old(), old(), "no-op"),
        row("sealed or digested is one", old(), json!({"token": {"$sealed": "old"}}), "no-op"),
        row("another secret", json!({"token": {"$digest": "new"}}), old(), "update token"),
        row("a write-only property never drifts", old(), old(), "no-op").seen(json!({"token": "***"})),
        row("nor by its absence", old(), old(), "no-op").seen(json!({})),
        row("a secret that the observation lacks never drifts", nested("old"), nested("old"), "no-op")
            .seen(json!({"value": {"url": "u"}})),
        row("what is beside it does", nested("old"), nested("old"), "update value~")
            .seen(json!({"value": {"url": "v"}})),
        row("a changed secret is not already there", nested("new"), nested("old"), "update value")
            .seen(json!({"value": {"url": "u"}})),
        row("always sent", old(), old(), "update token").of("custom"),
        row("but not where the provider's copy is kept", json!({"token": {"$kept": "old"}}), old(), "no-op")
            .of("custom"),
        row(
            "a secret where data was",
            json!({"name": {"$digest": "a"}}),
            json!({"name": "a"}),
            "update name",
        ),
        row(
            "data where a secret was",
            json!({"name": "a"}),
            json!({"name": {"$digest": "a"}}),
            "update name",
        ),
    ]
}

fn unknowns() -> Vec<Row> {
    let on = |label: &str| json!({"$unknown": label});
    vec![
        row("an unknown value", json!({"name": on("x")}), json!({"name": "a"}), "wait name for x"),
        row("unknown and never sent", json!({"name": on("x")}), json!({}), "wait name for x"),
        row(
            "unknown within",
            json!({"value": {"a": on("x"), "b": 1}}),
            json!({"value": {"a": 1, "b": 1}}),
            "wait value for x",
        ),
        row(
            "known to differ beside it",
            json!({"value": {"a": on("x"), "b": 2}}),
            json!({"value": {"a": 1, "b": 1}}),
            "update value",
        ),
        row(
            "another property differs",
            json!({"name": on("x"), "value": 2}),
            json!({"name": 1, "value": 1}),
            "update name value",
        ),
        row("another length", json!({"list": [on("x")]}), json!({"list": []}), "update list"),
        row(
            "an unknown element of a set",
            json!({"tags": [on("x"), 1]}),
            json!({"tags": [1, 2]}),
            "wait tags for x",
        ),
        row(
            "a set that differs all the same",
            json!({"tags": [on("x"), 3]}),
            json!({"tags": [1, 2]}),
            "update tags",
        ),
        row(
            "two references, one wait each",
            json!({"name": on("x"), "list": [on("y"), on("x")]}),
            json!({"name": 1, "list": [1, 2]}),
            "wait name list for x y",
        ),
        row("create-only", json!({"fixed": on("x")}), json!({"fixed": 1}), "wait fixed! for x, may replace"),
        row("create-only, refused", json!({"fixed": on("x")}), json!({"fixed": 1}), "wait fixed! for x")
            .of("stiff"),
        row("unknown and drifted", json!({"name": on("x")}), json!({"name": "a"}), "update name~")
            .seen(json!({"name": "z"})),
    ]
}

fn certainty() -> Vec<Row> {
    let a = || json!({"name": "a"});
    let secret = || json!({"token": {"$digest": "t"}, "name": "a"});
    vec![
        row("create-only changed", json!({"fixed": 2}), json!({"fixed": 1}), "replace fixed! because 1"),
        row("create-only changed, but already there", json!({"fixed": 2}), json!({"fixed": 1}), "record")
            .seen(json!({"fixed": 2})),
        row("create-only changed, refused", json!({"fixed": 2}), json!({"fixed": 1}), "update fixed!")
            .of("stiff"),
        row(
            "create-only changed beside others",
            json!({"name": "b", "fixed": 2}),
            json!({"name": "a", "fixed": 1}),
            "replace name fixed! because 1",
        ),
        row("tainted", a(), a(), "replace name because 0").sure(Certainty::Tainted),
        row("tainted, though seen as declared", a(), a(), "replace name because 0")
            .sure(Certainty::Tainted)
            .seen(a()),
        row("uncertain, unseen", a(), a(), "update name~").sure(Certainty::Uncertain),
        row(
            "uncertain, unseen, with a create-only property",
            json!({"name": "a", "fixed": 1}),
            json!({"name": "a", "fixed": 1}),
            "update name~",
        )
        .sure(Certainty::Uncertain),
        row("uncertain, unseen, nothing declared", json!({}), a(), "update").sure(Certainty::Uncertain),
        row("uncertain, cannot be read", a(), a(), "update name~")
            .of("blind")
            .sure(Certainty::Uncertain)
            .seen(a()),
        row("uncertain, changed", json!({"name": "b"}), a(), "update name").sure(Certainty::Uncertain),
        row("uncertain, seen as declared", a(), a(), "record").sure(Certainty::Uncertain).seen(a()),
        row("uncertain, seen otherwise", a(), a(), "update name~")
            .sure(Certainty::Uncertain)
            .seen(json!({"name": "z"})),
        row("uncertain, with a secret nobody can see", secret(), secret(), "update token~")
            .sure(Certainty::Uncertain)
            .seen(a()),
    ]
}

#[test]
fn the_change_rule() {
    let table = [values(), ownership(), reality(), secrets(), unknowns(), certainty()];
    check_table(table.iter().flatten());
}

#[test]
fn without_an_object_everything_is_new() {
    let rules = TestCatalog::new().rules("doc");
    let desired = planned(&json!({"name": "a", "fixed": 1}));
    let verdict = diff(&Comparison {
        schema: rules.schema(),
        capabilities: rules.capabilities(),
        ownership: Ownership::DeclaredOnly,
        desired: &desired,
        object: None,
        observed: None,
    });
    assert_eq!(in_short(&verdict), "update name fixed!");
}

#[test]
fn drift_compares_the_answer_with_what_is_seen() {
    let rules = TestCatalog::new().rules("doc");
    let object = row("", json!({}), json!({"name": "a", "token": {"$digest": "t"}}), "")
        .echo(json!({"name": "A", "value": 1, "tags": [1, 2], "token": {"$digest": "t"}}))
        .object();
    let seen = stored(&json!({"name": "B", "tags": [2, 1], "list": [], "token": "other"}));
    let names = |declared: Option<&Json>| -> Vec<String> {
        let declared = declared.map(stored);
        let found = drift(rules.schema(), rules.capabilities(), &object, &seen, declared.as_ref());
        found.iter().map(|operation| operation.path.to_string()).collect()
    };
    assert_eq!(names(None), ["name", "value", "list"]);
    assert_eq!(names(Some(&json!({"tags": 0, "name": 0}))), ["name"]);
    let blind = TestCatalog::new().rules("blind");
    assert_eq!(drift(blind.schema(), blind.capabilities(), &object, &seen, None), []);
}
