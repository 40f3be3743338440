//! A forma as JSON that says as much as its evaluated values do.
//!
//! Secrets stand in it in the clear: it goes to whoever applies it, and nowhere else.

use crate::forma::{Forma, Resource, Target};
use crate::lower::references;
use formwork_model::{Expr, ExprLeaf, Json, Visibility};
use serde_json::{Map, json};

/// A forma in JSON, each schema once.
pub fn write(forma: &Forma) -> Json {
    written(forma, Secrets::Clear)
}

/// The same as people may see it: what stands for a secret says so.
pub fn masked(forma: &Forma) -> Json {
    written(forma, Secrets::Masked)
}

/// How secrets are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secrets {
    Clear,
    Masked,
}

/// What stands for a secret.
const MASK: &str = "(secret)";

fn written(forma: &Forma, secrets: Secrets) -> Json {
    let stacks = forma.stacks.iter().map(|stack| {
        present([
            ("Label", json!(stack.label)),
            ("Description", json!(stack.description)),
            ("Policies", json!(stack.policies)),
        ])
    });
    let mut schemas = Map::new();
    for resource in &forma.resources {
        let name = resource.type_name.as_str();
        if !schemas.contains_key(name) {
            schemas.insert(name.to_owned(), json!(resource.schema.schema));
        }
    }
    let known = |list: &[crate::Named]| list.iter().map(|named| json!(named.label)).collect::<Vec<_>>();
    present([
        (
            "Description",
            json!(forma.description.as_ref().map(|it| json!({ "Text": it.text, "Confirm": it.confirm }))),
        ),
        ("Properties", json!(forma.properties)),
        ("Stacks", stacks.collect()),
        ("Targets", forma.targets.iter().map(|it| target(it, secrets)).collect()),
        ("Policies", forma.policies.iter().map(|policy| policy.config.clone()).collect()),
        ("Schemas", Json::Object(schemas)),
        ("Resources", forma.resources.iter().map(|it| resource(it, secrets)).collect()),
        ("KnownStacks", json!(known(&forma.known_stacks))),
        ("KnownTargets", json!(known(&forma.known_targets))),
    ])
}

fn present<const N: usize>(members: [(&str, Json); N]) -> Json {
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    Json::Object(members.map(|(name, value)| (name.to_owned(), value)).collect())
}

fn target(target: &Target, secrets: Secrets) -> Json {
    present([
        ("Label", json!(target.label.as_str())),
        ("Namespace", json!(target.namespace)),
        ("Config", value(&target.config, secrets)),
        ("ConfigSchema", json!(target.config_schema)),
        ("Discoverable", json!(target.discoverable)),
        ("Reaping", json!(target.reaping)),
    ])
}

fn resource(resource: &Resource, secrets: Secrets) -> Json {
    present([
        ("Label", json!(resource.label.as_str())),
        ("Group", json!(resource.group)),
        ("Type", json!(resource.type_name.as_str())),
        ("Stack", json!(resource.stack)),
        ("Target", json!(resource.target.as_str())),
        ("Alias", json!(resource.alias.as_ref().map(formwork_model::Label::as_str))),
        ("Managed", json!(true)),
        ("Properties", value(&resource.properties, secrets)),
    ])
}

fn value(expr: &Expr, secrets: Secrets) -> Json {
    match expr {
        Expr::Plain(plain) => plain.clone(),
        Expr::Leaf(leaf) => self::leaf(leaf, "Update", secrets),
        Expr::Array(items) => items.iter().map(|item| value(item, secrets)).collect(),
        Expr::Object(members) => {
            let members = members.iter().map(|(key, member)| (key.to_string(), value(member, secrets)));
            Json::Object(members.collect())
        }
    }
}

fn leaf(leaf: &ExprLeaf, strategy: &str, secrets: Secrets) -> Json {
    match leaf {
        ExprLeaf::Ref(reference) => references::envelope(reference),
        ExprLeaf::Template(parts) => {
            let is_opaque = parts.iter().any(
                |part| matches!(part, formwork_model::Part::Ref(it) if it.visibility == Visibility::Opaque),
            );
            json!({ "$embed": true, "$template": references::template(parts), "$opaque": is_opaque })
        }
        ExprLeaf::Secret(_) if secrets == Secrets::Masked => held(&MASK.into(), "Opaque", strategy),
        ExprLeaf::Secret(secret) => held(secret.expose(), "Opaque", strategy),
        ExprLeaf::KeepPrevious => {
            json!({ "$value": "", "$visibility": "Opaque", "$strategy": strategy, "$hashed": true })
        }
        ExprLeaf::Once(inner) => match &**inner {
            Expr::Plain(plain) => held(plain, "Clear", "SetOnce"),
            Expr::Leaf(inner) => self::leaf(inner, "SetOnce", secrets),
            // What is written once is a text, a secret or a reference.
            other => value(other, secrets),
        },
    }
}

fn held(value: &Json, visibility: &str, strategy: &str) -> Json {
    json!({ "$value": value, "$visibility": visibility, "$strategy": strategy })
}
