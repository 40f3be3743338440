//! JSON Schemas for the OpenAPI document, generated from the types' own schemas.

use crate::{PlatformCatalog, TypeEntry, versions::VERSION};
use formwork_model::{Json, PropertySchema, Schema, TypeName, TypeRules, mask};
use indexmap::IndexMap;
use serde_json::{Map, json};
use std::sync::Arc;

/// The JSON Schemas of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeSchemas {
    /// The properties as a template declares them.
    pub properties: Json,
    /// The body of a create.
    pub create: Json,
    /// The body of an update with `PATCH`: nothing is required.
    pub patch: Json,
    /// The body of an update with `PUT`.
    pub put: Json,
    /// What the routes answer.
    pub representation: Json,
}

/// What the objects of a type hold, for whoever makes requests out of flags: its title and schema.
pub fn rest_schema(type_name: &str) -> Option<(&'static str, Arc<Schema>)> {
    let entry = PlatformCatalog::shared().entry(type_name)?;
    Some((entry.definition().title, Arc::clone(entry.stored_schema())))
}

/// The JSON Schemas of all types, in their order.
pub fn openapi_schemas() -> IndexMap<TypeName, TypeSchemas> {
    let entries = PlatformCatalog::shared().entries();
    entries.map(|entry| (TypeName::from(entry.name()), schemas(entry))).collect()
}

fn schemas(entry: &TypeEntry) -> TypeSchemas {
    let stored = || entry.stored_schema().properties.iter();
    let all = || stored().map(|(name, property)| (name.to_string(), property_schema(property)));
    let declared = entry.schema().properties.iter();
    let declared = declared.map(|(name, property)| (name.to_string(), property_schema(property))).collect();
    let required = |skip_fixed: bool| -> Vec<&str> {
        stored()
            .filter(|(_, property)| property.hint.required_on_create)
            .filter(|(_, property)| !(skip_fixed && property.hint.create_only))
            .map(|(name, _)| &**name)
            .collect()
    };
    let project = json!({ "type": "string", "description": "The project that will own it" });
    let project = (!entry.is_global()).then(|| ("project_id".to_owned(), project));
    let with_project = project.into_iter().chain(all()).collect();
    let of = |members: Map<String, Json>, required: &[&str]| {
        object_schema(&entry.schema().doc, &members, required)
    };
    TypeSchemas {
        properties: of(declared, &required(false)),
        create: of(with_project, &required(false)),
        patch: of(all().collect(), &[]),
        put: of(all().collect(), &required(true)),
        representation: representation(entry),
    }
}

fn object_schema(doc: &str, members: &Map<String, Json>, required: &[&str]) -> Json {
    let mut schema = json!({
        "type": "object",
        "description": doc,
        "additionalProperties": false,
        "properties": members,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn property_schema(property: &PropertySchema) -> Json {
    let shape = property.shape.as_ref().and_then(Json::as_object);
    one_of(forms(property, shape.cloned().unwrap_or_default()), property)
}

/// What a value of a property can be, with what is said of it beyond its kind; nothing of one that can
/// be anything.
fn forms(property: &PropertySchema, mut form: Map<String, Json>) -> Vec<Json> {
    if let Some(kind) = property.kind.name() {
        form.insert("type".to_owned(), json!(kind));
    }
    if !property.allowed.is_empty() {
        form.insert("enum".to_owned(), json!(property.allowed));
    }
    if form.is_empty() {
        return Vec::new();
    }
    let null = property.nullable.then(|| json!({ "type": "null" }));
    [Json::Object(form)].into_iter().chain(null).collect()
}

/// The schema of a property whose values have one of these forms. Each form has one type, and several
/// stand in an `anyOf`: that is what tools read of all the ways to say the same.
fn one_of(mut forms: Vec<Json>, property: &PropertySchema) -> Json {
    let mut schema = match forms.len() {
        0 => Map::new(),
        1 => forms.pop().and_then(|form| form.as_object().cloned()).unwrap_or_default(),
        _ => Map::from_iter([("anyOf".to_owned(), Json::Array(forms))]),
    };
    if !property.doc.is_empty() {
        schema.insert("description".to_owned(), json!(property.doc));
    }
    if let Some(default) = &property.default {
        schema.insert("default".to_owned(), default.clone());
    }
    if property.hint.write_only {
        schema.insert("writeOnly".to_owned(), json!(true));
    }
    Json::Object(schema)
}

fn representation(entry: &TypeEntry) -> Json {
    let time = json!({ "type": "string", "format": "date-time" });
    let mut members = Map::new();
    members.insert("id".to_owned(), json!({ "type": "string" }));
    if !entry.is_global() {
        members.insert("project_id".to_owned(), json!({ "type": "string" }));
    }
    for (name, property) in &entry.stored_schema().properties {
        if !property.hint.write_only {
            // Within, masks may stand, so nothing is said of its shape.
            let mut forms = forms(property, Map::new());
            if !forms.is_empty() {
                // A declared secret reads as the mask, whatever the property's type is.
                forms.push(json!({ "const": mask() }));
            }
            members.insert(name.to_string(), one_of(forms, property));
        }
    }
    if entry.kind().versioned().is_some() {
        members.insert(VERSION.to_owned(), json!({ "type": "integer" }));
    }
    for extra in entry.kind().extras() {
        let kind = if extra.nullable { json!([extra.kind, "null"]) } else { json!(extra.kind) };
        members.insert(extra.name.to_owned(), json!({ "type": kind }));
    }
    members.insert("created_at".to_owned(), time.clone());
    members.insert("updated_at".to_owned(), time);
    let required: Vec<String> = members.keys().cloned().collect();
    if entry.is_declarable() {
        members.insert("managed_by".to_owned(), managed_by());
        let doc = "That a formation owns it, and that the next deploy may undo what was done; told to whoever \
                   changed it by its own route.";
        members.insert("warning".to_owned(), json!({ "type": "string", "description": doc }));
    }
    for name in entry.kind().revealed() {
        let doc = "Told once, to whoever makes it.";
        members.insert((*name).to_owned(), json!({ "type": "string", "description": doc }));
    }
    let required: Vec<&str> = required.iter().map(String::as_str).collect();
    object_schema(&entry.schema().doc, &members, &required)
}

/// The formation that owns an object; absent from those that none does, and from lists.
fn managed_by() -> Json {
    json!({
        "type": "object",
        "description": "The formation that owns it; absent where none does, and in lists.",
        "required": ["formation_id", "logical_id"],
        "additionalProperties": false,
        "properties": { "formation_id": { "type": "string" }, "logical_id": { "type": "string" } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_of_a_secret_say_that_its_value_is_never_shown() {
        let schemas = openapi_schemas();
        let secret = &schemas[&TypeName::from("secret")];
        assert_eq!(secret.create["required"], json!(["name", "value"]));
        assert_eq!(secret.create["properties"]["value"]["writeOnly"], json!(true));
        assert!(secret.patch.get("required").is_none());
        assert!(secret.representation["properties"].get("value").is_none());
        assert_eq!(secret.representation["properties"]["has_value"], json!({ "type": "boolean" }));
    }

    #[test]
    fn put_does_not_ask_for_what_cannot_change() {
        let schemas = openapi_schemas();
        let entry = &schemas[&TypeName::from("memory_entry")];
        assert_eq!(entry.create["required"], json!(["memory_id", "content"]));
        assert_eq!(entry.put["required"], json!(["content"]));
    }

    #[test]
    fn all_schemas_read_as_documented() {
        let shown: IndexMap<_, _> = openapi_schemas()
            .into_iter()
            .map(|(name, schemas)| {
                (name.to_string(), json!({ "create": schemas.create, "shown": schemas.representation }))
            })
            .collect();
        insta::assert_json_snapshot!(shown);
    }
}
