//! The template language as a JSON Schema, for editors and other tools.
//!
//! It is made from the same catalog that templates are checked against. It says what can be said of
//! a template's shape without reading its names: what refers to nothing, and what depends on the
//! values of parameters, is [`check`](crate::check)'s and [`lower`](crate::lower)'s to find.

use crate::check::{DELETION_POLICIES, LONGEST_ID, LONGEST_NAME, is_required};
use crate::constraint::LONGEST_PATTERN;
use formwork_model::{Catalog, Json, Kind, PropertySchema, Schema};
use serde_json::{Map, json};

/// The JSON Schema (2020-12) of templates with the types of a catalog.
pub fn template_schema(catalog: &dyn Catalog) -> Json {
    let types: Vec<_> = catalog.names().iter().filter_map(|name| catalog.get(name)).collect();
    let names: Vec<_> = types.iter().map(|rules| rules.schema().type_name.as_str()).collect();
    let rules: Vec<_> = types.iter().map(|rules| type_rule(rules.schema())).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Formation template",
        "description": "What should exist: resources, with the parameters they take and the outputs they give.",
        "type": "object",
        "required": ["resources"],
        "additionalProperties": false,
        "properties": {
            "parameters": {
                "description": "Values that are given when the template is deployed.",
                "type": "object",
                "propertyNames": chosen_name(),
                "additionalProperties": { "$ref": "#/$defs/parameter" },
            },
            "resources": {
                "description": "What should exist, by logical id.",
                "type": "object",
                "propertyNames": chosen_name(),
                "additionalProperties": { "$ref": "#/$defs/resource" },
            },
            "outputs": {
                "description": "Values that the formation shows once it is deployed; expressions are resolved.",
                "type": "object",
                "propertyNames": chosen_name(),
            },
            "metadata": {
                "description": "Annotations of the formation; expressions are resolved.",
                "type": "object",
            },
        },
        "$defs": {
            "parameter": parameter(),
            "resource": resource(&names, &rules),
            "expression": expression(),
            "literal": literal(),
        },
    })
}

/// A name that the author chooses.
fn chosen_name() -> Json {
    json!({ "minLength": 1, "maxLength": LONGEST_NAME, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" })
}

fn parameter() -> Json {
    let length = |description: &str| json!({ "description": description, "type": "integer", "minimum": 0 });
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "type": { "description": "Every parameter is a text.", "const": "string" },
            "default": { "description": "The value where none is given.", "type": "string" },
            "description": { "description": "What it is for.", "type": "string" },
            "no_echo": { "description": "Whether the value is secret.", "type": "boolean" },
            "use_previous_value": {
                "description": "Whether an update that leaves it out keeps what was there.",
                "type": "boolean",
            },
            "allowed_values": {
                "description": "The values that there are.",
                "type": "array",
                "items": { "type": "string" },
                "minItems": 1,
                "uniqueItems": true,
            },
            "pattern": {
                "description": "A regular expression that the whole value must match.",
                "type": "string",
                "maxLength": LONGEST_PATTERN,
            },
            "min_length": length("The fewest characters of a value."),
            "max_length": length("The most characters of a value."),
        },
    })
}

fn resource(types: &[&str], rules: &[Json]) -> Json {
    json!({
        "type": "object",
        "required": ["type", "properties"],
        "additionalProperties": false,
        "properties": {
            "type": { "description": "What it is.", "enum": types },
            "properties": { "description": "What it is like.", "type": "object" },
            "target": {
                "description": "The logical id of the target where it lives, for the types of plugins.",
                "type": "string",
            },
            "depends_on": {
                "description": "Logical ids that must be there first, beside those that are referred to.",
                "type": "array",
                "items": { "type": "string" },
            },
            "deletion_policy": {
                "description": "What becomes of the object when it is no longer declared: it is deleted, it outlives its declaration, or deleting and replacing it are refused.",
                "enum": DELETION_POLICIES,
                "default": DELETION_POLICIES[0],
            },
            "metadata": { "description": "Annotations, kept as they are." },
            "import": {
                "description": "The id of an object that exists already: it is taken over instead of created.",
                "anyOf": [
                    { "type": "string", "minLength": 1, "maxLength": LONGEST_ID },
                    { "$ref": "#/$defs/expression" },
                ],
            },
        },
        "allOf": rules,
    })
}

/// What stands for a value that is known only when the template is deployed.
fn expression() -> Json {
    let of = |key: &str, description: &str| {
        let mut members = Map::new();
        members.insert(key.to_owned(), json!({ "type": "string" }));
        json!({
            "description": description,
            "type": "object",
            "required": [key],
            "properties": members,
            "additionalProperties": false,
        })
    };
    json!({
        "description": "An expression.",
        "oneOf": [
            of("param", "The value of a parameter."),
            of("ref", "The id of a resource."),
            of("sub", "The text, with parameters and resource ids put in for each `${Name}`."),
        ],
    })
}

/// What takes data as it is, although expressions seem to stand in it: a list here, since an object
/// is one whatever is in it.
fn literal() -> Json {
    json!({
        "description": "The list itself, although expressions seem to stand in it.",
        "type": "object",
        "required": ["literal"],
        "properties": { "literal": { "type": "array" } },
        "additionalProperties": false,
    })
}

/// What follows for the properties of a resource from its type.
fn type_rule(schema: &Schema) -> Json {
    let properties: Map<_, _> =
        schema.properties.iter().map(|(name, schema)| (name.to_string(), property(schema))).collect();
    let required: Vec<_> =
        schema.properties.iter().filter(|(_, schema)| is_required(schema)).map(|(name, _)| &**name).collect();
    let mut bag = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    });
    if !schema.doc.is_empty() {
        bag["description"] = Json::from(&*schema.doc);
    }
    json!({
        "if": { "properties": { "type": { "const": schema.type_name } }, "required": ["type"] },
        "then": { "properties": { "properties": bag } },
    })
}

/// A property: a value of its kind, null where that is one, or an expression.
fn property(schema: &PropertySchema) -> Json {
    let mut shown = Map::new();
    let description = description(schema);
    if !description.is_empty() {
        shown.insert("description".to_owned(), Json::from(description));
    }
    if let Some(default) = &schema.default {
        shown.insert("default".to_owned(), default.clone());
    }
    if schema.hint.write_only {
        shown.insert("writeOnly".to_owned(), Json::Bool(true));
    }
    if let Some(value) = value(schema) {
        let mut forms = vec![value];
        if schema.nullable {
            forms.push(json!({ "type": "null" }));
        }
        forms.push(json!({ "$ref": "#/$defs/expression" }));
        if schema.kind == Kind::Array {
            forms.push(json!({ "$ref": "#/$defs/literal" }));
        }
        shown.insert("anyOf".to_owned(), Json::Array(forms));
    }
    Json::Object(shown)
}

/// A value that stands for itself; `None` is any.
fn value(schema: &PropertySchema) -> Option<Json> {
    let Some(kind) = schema.kind.name() else {
        return (!schema.allowed.is_empty()).then(|| json!({ "enum": schema.allowed }));
    };
    Some(if schema.allowed.is_empty() {
        json!({ "type": kind })
    } else {
        json!({ "type": kind, "enum": schema.allowed })
    })
}

fn description(schema: &PropertySchema) -> String {
    let mut text = schema.doc.to_string();
    if !schema.refers_to.is_empty() {
        let types: Vec<_> = schema.refers_to.iter().map(formwork_model::TypeName::as_str).collect();
        let separator = if text.is_empty() { "" } else { " " };
        text.push_str(separator);
        text.extend(["Refers to: ", &types.join(", "), "."]);
    }
    text
}
