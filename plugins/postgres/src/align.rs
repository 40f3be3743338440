//! What was found, spelled as it was declared.

use formwork_model::{Json, same};

/// What a nested member is where nothing is declared, wherever it stands.
const DEFAULTS: [(&str, Scalar); 12] = [
    ("nullable", Scalar::Bool(true)),
    ("unique", Scalar::Bool(false)),
    ("method", Scalar::Text("btree")),
    ("nullsNotDistinct", Scalar::Bool(false)),
    ("deferrable", Scalar::Bool(false)),
    ("initiallyDeferred", Scalar::Bool(false)),
    ("onDelete", Scalar::Text("NO ACTION")),
    ("onUpdate", Scalar::Text("NO ACTION")),
    ("mode", Scalar::Text("IN")),
    ("include", Scalar::Nothing),
    ("descending", Scalar::Bool(false)),
    ("nullsFirst", Scalar::Bool(false)),
];

#[derive(Clone, Copy)]
enum Scalar {
    Bool(bool),
    Text(&'static str),
    Nothing,
}

/// Gives what was found the shape of what was declared wherever the two mean the same: sets in the
/// declared order, and defaults said or left out as in the declaration.
pub(crate) fn align(found: &mut Json, declared: &Json) {
    let (Some(members), Some(wanted)) = (found.as_object_mut(), declared.as_object()) else { return };
    for (name, value) in wanted {
        match members.get_mut(name) {
            Some(found) => align_value(name, found, value),
            None if says_nothing(value) => {
                members.insert(name.clone(), value.clone());
            }
            None => {}
        }
    }
}

fn align_value(name: &str, found: &mut Json, declared: &Json) {
    match (found, declared) {
        (Json::Array(found), Json::Array(declared)) if is_ordered(name, declared) => {
            for (found, declared) in found.iter_mut().zip(declared) {
                align_value(name, found, declared);
            }
        }
        (Json::Array(found), Json::Array(declared)) => align_list(name, found, declared),
        (Json::Object(found), Json::Object(declared)) => {
            found.retain(|name, value| declared.contains_key(name) || !is_default(name, value));
            for (name, value) in declared {
                match found.get_mut(name) {
                    Some(found) => align_value(name, found, value),
                    None if says_nothing(value) || is_default(name, value) => {
                        found.insert(name.clone(), value.clone());
                    }
                    None => {}
                }
            }
        }
        _ => {}
    }
}

/// Whether the order of a list says something: arguments, and the columns of a key.
fn is_ordered(name: &str, declared: &[Json]) -> bool {
    match name {
        "arguments" | "keys" | "referencedColumns" => true,
        "columns" => declared.iter().all(Json::is_string),
        _ => false,
    }
}

/// Puts elements into the declared order, each found by its name or its value; what is declared
/// nowhere comes after.
fn align_list(name: &str, found: &mut Vec<Json>, declared: &[Json]) {
    let mut rest = std::mem::take(found);
    for wanted in declared {
        let Some(at) = rest.iter().position(|other| is_same_element(other, wanted)) else { continue };
        let mut element = rest.remove(at);
        align_value(name, &mut element, wanted);
        found.push(element);
    }
    found.append(&mut rest);
}

fn is_same_element(found: &Json, declared: &Json) -> bool {
    let name = |value: &Json, key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
    match (found, declared) {
        (Json::Object(_), Json::Object(_)) => {
            let (one, other) = (name(found, "name"), name(declared, "name"));
            // Tables of a publication are told apart by their schema, too.
            one == other && name(found, "schema") == name(declared, "schema") && one.is_some()
                || one.is_none() && same(found, declared)
        }
        _ => same(found, declared),
    }
}

fn says_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn is_default(name: &str, value: &Json) -> bool {
    DEFAULTS.iter().any(|(known, default)| {
        *known == name
            && match default {
                Scalar::Bool(default) => value == default,
                Scalar::Text(default) => value == default,
                Scalar::Nothing => says_nothing(value),
            }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn defaults_and_order_follow_the_declaration() {
        let mut found = json!({
            "name": "t",
            "columns": [
                { "name": "a", "type": "text", "nullable": true },
                { "name": "b", "type": "text", "nullable": false },
            ],
            "memberOf": ["x", "y"],
        });
        let declared = json!({
            "columns": [{ "name": "b", "type": "text", "nullable": false }, { "name": "a", "type": "text" }],
            "memberOf": ["y", "z", "x"],
            "checks": [],
            "comment": null,
        });
        align(&mut found, &declared);
        let expected = json!({
            "name": "t",
            "columns": [{ "name": "b", "type": "text", "nullable": false }, { "name": "a", "type": "text" }],
            "memberOf": ["y", "x"],
            "checks": [],
            "comment": null,
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn the_order_of_a_key_counts() {
        let mut found = json!({ "primaryKey": { "name": "k", "columns": ["a", "b"] } });
        let before = found.clone();
        align(&mut found, &json!({ "primaryKey": { "columns": ["b", "a"] } }));
        assert_eq!(found, before);
    }

    #[test]
    fn a_difference_stays_one() {
        let mut found = json!({ "columns": [{ "name": "a", "nullable": false }], "owner": "me" });
        align(&mut found, &json!({ "columns": [{ "name": "a" }], "owner": "you" }));
        assert_eq!(found, json!({ "columns": [{ "name": "a", "nullable": false }], "owner": "me" }));
    }
}
