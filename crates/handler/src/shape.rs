//! The JSON Schema of a custom type: enforced in full, and read for what the rest of the program
//! must know of each property.

use crate::known::Known;
use crate::nullable;
use crate::violation::{Violation, path_of};
use formwork_json_schema::{Faults, JsonSchema, SchemaError, Verdict};
use formwork_model::{Json, Kind, Path, PropertySchema, Schema, TypeName};
use indexmap::IndexMap;
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::{Location, LocationSegment};
use std::fmt;
use std::sync::Arc;

/// Keywords whose schemas apply depending on what else is in the value.
const CONDITIONAL: [&str; 12] = [
    "if",
    "then",
    "else",
    "anyOf",
    "oneOf",
    "not",
    "contains",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
];
/// Keywords that say something of an object or a list as such, not of what is in it.
const STRUCTURAL: [&str; 9] = [
    "type",
    "required",
    "additionalProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "minItems",
    "maxItems",
    "falseSchema",
];

/// Why a schema can't be used, as the end of a sentence about `schema`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// It is not an object schema.
    NotAnObjectSchema,
    /// It is no valid JSON Schema.
    Invalid(String),
    /// Checking values by it could cost too much: the end of a sentence about it.
    TooLarge(String),
    /// It requires a property that nobody may declare.
    RequiresUndeclared(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObjectSchema => {
                f.write_str("`schema` must be an object schema with a `properties` map")
            }
            Self::Invalid(why) => write!(f, "`schema` is not a valid JSON Schema: {why}"),
            Self::TooLarge(why) => write!(f, "`schema` {why}"),
            Self::RequiresUndeclared(name) => {
                write!(f, "`schema` requires '{name}', which it does not declare")
            }
        }
    }
}

/// The JSON Schema of a custom type.
pub(crate) struct Shape {
    schema: Arc<Schema>,
    checks: JsonSchema,
}

/// How much of the schema is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All of it.
    Everything,
    /// What [`Shape::schema`] does not say, since whoever asks has checked that already.
    TheRest,
}

impl Shape {
    /// Reads a schema. Patterns are matched in linear time, and nothing is fetched.
    pub(crate) fn read(
        type_name: &TypeName,
        doc: &str,
        mut schema: Json,
        write_only: &[String],
    ) -> Result<Self, Unusable> {
        let is_object = schema.get("type").is_none_or(|kind| kind == "object");
        if !is_object || !schema.get("properties").is_some_and(Json::is_object) {
            return Err(Unusable::NotAnObjectSchema);
        }
        nullable::spell_out(&mut schema);
        let checks = JsonSchema::read(&schema).map_err(|error| match error {
            SchemaError::Invalid(error) => Unusable::Invalid(reason(&error)),
            SchemaError::TooLarge | SchemaError::Patterns(_) => Unusable::TooLarge(error.to_string()),
        })?;
        let required = required(&schema);
        let declared = schema["properties"].as_object().into_iter().flatten();
        let mut properties: IndexMap<Arc<str>, PropertySchema> =
            declared.map(|(name, property)| (name.as_str().into(), read_property(property))).collect();
        for name in required {
            let Some(property) = properties.get_mut(name) else {
                return Err(Unusable::RequiresUndeclared(name.to_owned()));
            };
            property.hint.required_on_create = true;
        }
        for (name, property) in &mut properties {
            if write_only.iter().any(|listed| **listed == **name) {
                *property = property.clone().write_only();
            }
        }
        let schema = Schema { type_name: type_name.clone(), doc: doc.into(), properties };
        Ok(Self { schema: Arc::new(schema), checks })
    }

    /// The properties, as the rest of the program knows them.
    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// What is certainly wrong with properties, whatever those places hold that are not known.
    pub(crate) fn violations(&self, known: &Known, asked: Asked) -> Vec<Violation> {
        let found = match self.checks.judge(known.value()) {
            Verdict::Fits => return Vec::new(),
            Verdict::Unfit(Faults::Told(found)) => found,
            // Whether what is known is wrong is not known: the handler's call checks everything again.
            Verdict::Unfit(Faults::Untold) if !known.unknown().is_empty() => return Vec::new(),
            Verdict::Unfit(Faults::Untold) => {
                return vec![Violation::of_all(
                    "are not what its schema takes; they are too large to say where",
                )];
            }
            Verdict::TooLarge => {
                return vec![Violation::of_all("are too large to check them by their schema")];
            }
        };
        let certain = found.into_iter().filter(|error| is_certain(error, known.unknown()));
        let wanted = certain.filter(|error| asked == Asked::Everything || !self.is_known_elsewhere(error));
        wanted.flat_map(|error| Violation::of(&error)).collect()
    }

    /// Whether [`Shape::schema`] says the same.
    fn is_known_elsewhere(&self, error: &ValidationError<'_>) -> bool {
        let path = path_of(error.instance_path());
        let depth = error.schema_path().segments().count();
        match (error.kind(), path.segments()) {
            (ValidationErrorKind::Required { .. } | ValidationErrorKind::AdditionalProperties { .. }, []) => {
                depth == 1
            }
            (ValidationErrorKind::Type { .. }, [only]) => {
                depth == 3 && self.property(only).is_some_and(|property| property.kind != Kind::Any)
            }
            (ValidationErrorKind::Enum { .. }, [only]) => {
                depth == 3 && self.property(only).is_some_and(|property| !property.allowed.is_empty())
            }
            _ => false,
        }
    }

    fn property(&self, segment: &formwork_model::Segment) -> Option<&PropertySchema> {
        match segment {
            formwork_model::Segment::Key(name) => self.schema.property(name),
            formwork_model::Segment::Index(_) => None,
        }
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shape").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Whether an error stands whatever the unknown places hold.
fn is_certain(error: &ValidationError<'_>, unknown: &[Path]) -> bool {
    if unknown.is_empty() {
        return true;
    }
    let at = path_of(error.instance_path());
    if unknown.iter().any(|place| place.contains(&at)) {
        return false;
    }
    let has_unknown_below = unknown.iter().any(|place| at.contains(place));
    let structural = STRUCTURAL.contains(&error.kind().keyword());
    is_unconditional(error.evaluation_path()) && (structural || !has_unknown_below)
}

/// Whether a schema applies whatever else is in the value. A property that is named like a keyword
/// makes this more lenient than it need be; the handler's call checks everything again.
fn is_unconditional(path: &Location) -> bool {
    !path.segments().any(|segment| match segment {
        LocationSegment::Property(name) => CONDITIONAL.contains(&&*name),
        LocationSegment::Index(_) => false,
    })
}

/// The names in `required`, which the validator has found to be texts.
fn required(schema: &Json) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

/// What the rest of the program must know of a property: JSON type, null, allowed values.
fn read_property(schema: &Json) -> PropertySchema {
    let doc = schema.get("description").and_then(Json::as_str).unwrap_or_default();
    let (kind, nullable) = kind_of(schema.get("type"));
    let mut property = PropertySchema::new(kind, doc);
    property.nullable = nullable;
    let allowed = schema.get("enum").and_then(Json::as_array).into_iter().flatten();
    property.allowed = allowed.filter(|value| !(nullable && value.is_null())).cloned().collect();
    property
}

fn kind_of(declared: Option<&Json>) -> (Kind, bool) {
    let names: Vec<&str> = match declared {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    let nullable = names.contains(&"null");
    let mut others = names.into_iter().filter(|name| *name != "null");
    let kind = match (others.next(), others.next()) {
        (Some("string"), None) => Kind::String,
        (Some("boolean"), None) => Kind::Boolean,
        (Some("integer"), None) => Kind::Integer,
        (Some("number"), None) => Kind::Number,
        (Some("array"), None) => Kind::Array,
        (Some("object"), None) => Kind::Object,
        _ => Kind::Any,
    };
    (kind, nullable)
}

/// Why a schema is not one, with its place in it.
fn reason(error: &ValidationError<'_>) -> String {
    let at = error.instance_path();
    if at.is_empty() { error.to_string() } else { format!("{error} (at `{at}`)") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shape(schema: Json) -> Shape {
        Shape::read(&"channel".into(), "", schema, &[]).expect("a valid schema")
    }

    fn unusable(schema: Json) -> String {
        Shape::read(&"channel".into(), "", schema, &[]).expect_err("unusable").to_string()
    }

    fn found(shape: &Shape, value: Json, unknown: &[Path]) -> Vec<String> {
        let known = Known::but_for(&formwork_model::Secret::new(value), unknown);
        let violations = shape.violations(&known, Asked::Everything);
        violations.into_iter().map(|found| format!("{}: {}", found.path, found.message)).collect()
    }

    fn nested() -> Shape {
        shape(json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 2 },
                "kind": { "enum": ["a", "b"] },
                "limits": {
                    "type": "object",
                    "properties": { "rate": { "type": "integer", "minimum": 1 } },
                    "required": ["rate"],
                    "additionalProperties": false,
                },
                "tags": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" } },
            },
            "required": ["name"],
            "if": { "properties": { "kind": { "const": "b" } }, "required": ["kind"] },
            "then": { "required": ["limits"] },
        }))
    }

    #[test]
    fn the_schema_is_enforced_at_every_depth_and_quotes_no_value() {
        let wrong = json!({
            "name": "x", "kind": "c", "limits": { "rate": 0, "burst": 1 }, "tags": ["ok", "NOT"],
        });
        insta::assert_snapshot!(found(&nested(), wrong, &[]).join("\n"), @r#"
        name: `name` is shorter than 2 characters
        kind: `kind` must be one of: a, b
        limits.rate: `limits.rate` is less than the minimum of 1
        limits.burst: `limits` has no field 'burst'
        tags[1]: `tags[1]` does not match "^[a-z]+$"
        "#);
        insta::assert_snapshot!(found(&nested(), json!({ "kind": "b", "limits": {} }), &[]).join("\n"), @r"
        name: `name` is required
        limits.rate: `limits.rate` is required
        ");
        insta::assert_snapshot!(found(&nested(), json!({ "name": 1, "kind": "b" }), &[]).join("\n"), @r"
        name: `name` must be a string
        limits: `limits` is required
        ");
    }

    #[test]
    fn what_is_unknown_is_not_judged_and_what_surrounds_it_is() {
        let kind = [Path::of(["kind"])];
        // Whether `limits` is required depends on `kind`.
        assert!(found(&nested(), json!({ "name": "ab" }), &kind).is_empty());
        let rate = [Path::of(["limits", "rate"])];
        assert!(found(&nested(), json!({ "name": "ab", "limits": {} }), &rate).is_empty());
        let burst = json!({ "name": "ab", "limits": { "burst": 1 } });
        assert_eq!(found(&nested(), burst, &rate), ["limits.burst: `limits` has no field 'burst'"]);
        assert_eq!(found(&nested(), json!({}), &kind), ["name: `name` is required"]);
    }

    #[test]
    fn formats_are_enforced_and_unknown_ones_are_not() {
        let shape = shape(json!({ "properties": {
            "on": { "type": "string", "format": "date" }, "tone": { "type": "string", "format": "ringtone" },
        }}));
        assert_eq!(found(&shape, json!({ "on": "soon", "tone": "x" }), &[]), ["on: `on` is not a \"date\""]);
    }

    #[test]
    fn the_rest_is_what_the_properties_do_not_say() {
        let wrong = json!({ "kind": "c", "limits": 7, "tags": [1] });
        let known = Known::but_for(&formwork_model::Secret::new(wrong), &[]);
        let rest = nested().violations(&known, Asked::TheRest);
        assert_eq!(rest.iter().map(|one| one.path.to_string()).collect::<Vec<_>>(), ["tags[0]"]);
    }

    #[test]
    fn properties_are_known_by_type_null_and_allowed_values() {
        let shape = shape(json!({
            "properties": {
                "a": { "type": "string", "description": "An a." },
                "b": { "type": ["integer", "null"] },
                "c": { "type": "string", "nullable": true, "enum": ["x", "y"] },
                "d": { "type": ["string", "number"] },
                "e": true,
            },
            "required": ["a"],
        }));
        let property = |name: &str| shape.schema().property(name).cloned().expect("declared");
        assert_eq!((property("a").kind, &*property("a").doc), (Kind::String, "An a."));
        assert!(property("a").hint.required_on_create);
        assert_eq!((property("b").kind, property("b").nullable), (Kind::Integer, true));
        assert_eq!((property("c").nullable, property("c").allowed), (true, vec![json!("x"), json!("y")]));
        assert_eq!((property("d").kind, property("e").kind), (Kind::Any, Kind::Any));
        assert!(found(&shape, json!({ "a": "", "c": null }), &[]).is_empty());
    }

    #[test]
    fn schemas_that_cannot_be_used_say_why() {
        let shown = [
            unusable(json!({ "type": "string" })),
            unusable(json!({ "type": "object" })),
            unusable(json!({ "properties": { "a": { "type": "text" } } })),
            unusable(json!({ "properties": { "a": { "pattern": "(" } } })),
            unusable(json!({ "properties": { "a": { "$ref": "https://example.org/a.json" } } })),
            unusable(json!({ "properties": { "a": { "$ref": "#/$defs/b" } } })),
            unusable(json!({ "properties": {}, "required": ["a"] })),
        ];
        insta::assert_snapshot!(shown.join("\n"), @r#"
        `schema` must be an object schema with a `properties` map
        `schema` must be an object schema with a `properties` map
        `schema` is not a valid JSON Schema: "text" is not valid under any of the schemas listed in the 'anyOf' keyword (at `/properties/a/type`)
        `schema` is not a valid JSON Schema: "(" is not a "regex" (at `/properties/a/pattern`)
        `schema` is not a valid JSON Schema: Resource 'https://example.org/a.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch https://example.org/a.json
        `schema` is not a valid JSON Schema: Pointer '/$defs/b' does not exist
        `schema` requires 'a', which it does not declare
        "#);
    }
}
