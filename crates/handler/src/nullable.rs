//! `nullable`, which JSON Schema does not have and people who know OpenAPI write, put into its
//! terms.

use formwork_model::Json;
use serde_json::Map;

/// Keywords whose value is a schema.
const ONE: [&str; 11] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas; `items` may be one as well.
const LIST: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value is an object of schemas.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Lets null pass wherever a schema says `"nullable": true`. Data in `const`, `enum` and the like
/// is left alone. A schema comes from a JSON text, whose depth its parser bounds.
pub(crate) fn spell_out(schema: &mut Json) {
    let Json::Object(members) = schema else { return };
    if members.get("nullable") == Some(&Json::Bool(true)) {
        admit_null(members);
    }
    for (keyword, value) in members {
        let keyword = keyword.as_str();
        match value {
            Json::Array(items) if LIST.contains(&keyword) => items.iter_mut().for_each(spell_out),
            Json::Object(named) if NAMED.contains(&keyword) => named.values_mut().for_each(spell_out),
            Json::Object(_) if ONE.contains(&keyword) => spell_out(value),
            _ => {}
        }
    }
}

fn admit_null(schema: &mut Map<String, Json>) {
    if let Some(kind @ Json::String(_)) = schema.get_mut("type") {
        *kind = Json::Array(vec![kind.take(), "null".into()]);
    }
    if let Some(Json::Array(allowed)) = schema.get_mut("enum")
        && !allowed.contains(&Json::Null)
    {
        allowed.push(Json::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_passes_where_the_schema_says_so_and_nowhere_else() {
        let mut schema = json!({
            "properties": {
                "nullable": { "type": "string" },
                "a": { "type": "string", "nullable": true, "enum": ["x"] },
                "b": { "type": "array", "items": { "type": "integer", "nullable": true } },
                "c": { "const": { "type": "string", "nullable": true } },
            },
            "anyOf": [{ "type": "object", "nullable": false }],
        });
        spell_out(&mut schema);
        assert_eq!(
            schema,
            json!({
                "properties": {
                    "nullable": { "type": "string" },
                    "a": { "type": ["string", "null"], "nullable": true, "enum": ["x", null] },
                    "b": { "type": "array", "items": { "type": ["integer", "null"], "nullable": true } },
                    "c": { "const": { "type": "string", "nullable": true } },
                },
                "anyOf": [{ "type": "object", "nullable": false }],
            })
        );
    }
}
