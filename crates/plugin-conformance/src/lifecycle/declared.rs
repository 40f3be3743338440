//! What a template declares of its resources, as far as it says so outright.

use formwork_model::{Json, TARGET_TYPE, same};

/// The resources of a template that a plugin makes: label and declaration.
pub(super) fn resources(template: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let members = template.get("resources").and_then(Json::as_object).into_iter().flatten();
    let is_target = |declaration: &Json| declaration.get("type").and_then(Json::as_str) == Some(TARGET_TYPE);
    members.filter(move |(_, declaration)| !is_target(declaration)).map(|(label, it)| (label.as_str(), it))
}

/// What of a declaration is otherwise at the object: the first property. What is known only when the
/// template is deployed, and what no answer shows, are passed over.
pub(super) fn difference(declaration: &Json, shown: &Json, hidden: &dyn Fn(&str) -> bool) -> Option<String> {
    let properties = declaration.get("properties").and_then(Json::as_object).into_iter().flatten();
    properties.filter(|(name, value)| !hidden(name) && is_plain(value)).find_map(|(name, value)| match shown
        .get(name)
    {
        None if value.is_null() || is_empty(value) => None,
        None => Some(format!("`{name}` is missing")),
        Some(other) if same(value, other) => None,
        Some(other) => Some(format!("`{name}` is {other}, not {value}")),
    })
}

/// Whether a value holds no expression.
fn is_plain(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.iter().all(is_plain),
        Json::Object(members) => {
            let expression = |name: &String| matches!(name.as_str(), "ref" | "sub" | "param" | "literal");
            let is_expression = members.len() == 1 && members.keys().all(expression);
            !is_expression && members.values().all(is_plain)
        }
        _ => true,
    }
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_declared_outright_is_compared_and_nothing_else() {
        let declaration = json!({ "properties": {
            "name": "a", "size": 1, "of": { "ref": "Other" }, "secret": "s", "none": null, "tags": [],
        } });
        let hidden = |name: &str| name == "secret";
        let shown = |size: Json| json!({ "name": "a", "size": size, "of": "x", "extra": true });
        assert_eq!(difference(&declaration, &shown(json!(1.0)), &hidden), None);
        assert_eq!(
            difference(&declaration, &shown(json!(2)), &hidden).as_deref(),
            Some("`size` is 2, not 1")
        );
        assert_eq!(
            difference(&declaration, &json!({ "size": 1 }), &hidden).as_deref(),
            Some("`name` is missing")
        );
    }

    #[test]
    fn targets_are_no_resources_of_a_plugin() {
        let template = json!({ "resources": { "T": { "type": "target" }, "A": { "type": "P::Q::R" } } });
        assert_eq!(resources(&template).map(|(label, _)| label).collect::<Vec<_>>(), ["A"]);
    }
}
