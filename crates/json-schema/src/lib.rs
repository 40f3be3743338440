//! JSON Schemas that others bring, with bounds on what they cost: to be read, and to check a value by.
//!
//! **Architecture invariant:** what a schema costs is known before it is paid. A value is checked only if
//! the size of the schema times that of the value is within a bound, and faults are told only where few
//! can be found: a validator keeps each branch of an `anyOf` that failed. A reference counts as one value,
//! whatever it leads to: whoever lets strangers bring schemas refuses `$ref` in them first.

mod pattern;

pub use pattern::TooMuch;

use formwork_model::Json;
use jsonschema::{PatternOptions, ValidationError, Validator};

/// The most values in a schema, itself included.
pub const MOST_NODES: u64 = 10_000;
/// The most that a schema times a value may be, for the value to be checked.
const MOST_STEPS: u64 = 10_000_000;
/// The same, for the faults to be told.
const MOST_STEPS_TOLD: u64 = 500_000;
/// How many bytes of text count as one value.
const BYTES_PER_NODE: u64 = 16;
/// The most bytes that a compiled pattern may take, should its weight have been misjudged.
const LARGEST_PROGRAM: usize = 4 << 20;

/// Why a schema can't be used: the end of a sentence about it, which quotes none of its values but patterns.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// It holds too many values.
    #[error("is too large: it holds more than {MOST_NODES} values")]
    TooLarge,
    /// Its patterns would take too much.
    #[error("is too large: {0}")]
    Patterns(TooMuch),
    /// It is none.
    #[error("is no JSON Schema: {}", masked(.0))]
    Invalid(Box<ValidationError<'static>>),
}

fn masked(error: &ValidationError<'_>) -> String {
    let at = error.instance_path();
    let masked = error.masked();
    if at.is_empty() { masked.to_string() } else { format!("{masked} (at `{at}`)") }
}

/// A schema that values can be checked by.
#[derive(Debug)]
pub struct JsonSchema {
    validator: Validator,
    nodes: u64,
}

/// What a schema says of a value.
#[derive(Debug)]
pub enum Verdict<'v> {
    /// It fits.
    Fits,
    /// It does not.
    Unfit(Faults<'v>),
    /// The two are too large to find out.
    TooLarge,
}

/// What is wrong with a value.
#[derive(Debug)]
pub enum Faults<'v> {
    /// Each fault.
    Told(Vec<ValidationError<'v>>),
    /// The schema and the value are too large for the faults to be told.
    Untold,
}

impl JsonSchema {
    /// Reads a schema. Formats are checked, patterns are matched in linear time, and nothing is fetched.
    ///
    /// # Errors
    /// [`SchemaError`].
    pub fn read(schema: &Json) -> Result<Self, SchemaError> {
        let nodes = nodes(schema);
        if nodes > MOST_NODES {
            return Err(SchemaError::TooLarge);
        }
        let nodes = nodes + pattern::check(schema).map_err(SchemaError::Patterns)?;
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex().size_limit(LARGEST_PROGRAM))
            .build(schema)
            .map_err(|error| SchemaError::Invalid(Box::new(error)))?;
        Ok(Self { validator, nodes })
    }

    /// Checks a value.
    pub fn judge<'v>(&'v self, value: &'v Json) -> Verdict<'v> {
        let steps = self.nodes.saturating_mul(weight(value));
        if steps > MOST_STEPS {
            return Verdict::TooLarge;
        }
        if self.validator.is_valid(value) {
            return Verdict::Fits;
        }
        if steps > MOST_STEPS_TOLD {
            return Verdict::Unfit(Faults::Untold);
        }
        Verdict::Unfit(Faults::Told(self.validator.iter_errors(value).collect()))
    }
}

/// How many values a value is made of, itself included.
fn nodes(value: &Json) -> u64 {
    each(value, |_| 1)
}

/// The same with its texts, which patterns are matched with.
fn weight(value: &Json) -> u64 {
    let bytes = |text: &str| text.len() as u64 / BYTES_PER_NODE;
    each(value, |value| match value {
        Json::String(text) => 1 + bytes(text),
        Json::Object(members) => 1 + members.keys().map(|name| bytes(name)).sum::<u64>(),
        _ => 1,
    })
}

fn each(value: &Json, weigh: impl Fn(&Json) -> u64) -> u64 {
    let (mut sum, mut pending) = (0_u64, vec![value]);
    while let Some(value) = pending.pop() {
        sum = sum.saturating_add(weigh(value));
        match value {
            Json::Array(items) => pending.extend(items),
            Json::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(schema: &Json) -> JsonSchema {
        JsonSchema::read(schema).expect("a schema")
    }

    #[test]
    fn values_are_checked_and_faults_told() {
        let schema = read(&json!({ "properties": { "on": { "format": "date" }, "n": { "minimum": 3 } } }));
        assert!(matches!(schema.judge(&json!({ "n": 3, "on": "2024-01-01" })), Verdict::Fits));
        let wrong = json!({ "n": 2, "on": "soon" });
        let Verdict::Unfit(Faults::Told(faults)) = schema.judge(&wrong) else { panic!("two faults") };
        assert_eq!(faults.len(), 2);
    }

    #[test]
    fn many_branches_for_many_elements_are_neither_tried_nor_told() {
        let branches = |count: usize| {
            let branches: Vec<Json> = (1..=count).map(|number| json!({ "const": number })).collect();
            read(&json!({ "items": { "anyOf": branches } }))
        };
        let zeros = |count: usize| json!(vec![0; count]);
        assert!(matches!(branches(3500).judge(&zeros(3000)), Verdict::TooLarge));
        assert!(matches!(branches(3500).judge(&zeros(500)), Verdict::Unfit(Faults::Untold)));
        assert!(matches!(branches(10).judge(&zeros(500)), Verdict::Unfit(Faults::Told(_))));
        assert!(matches!(branches(3500).judge(&json!(vec![1; 500])), Verdict::Fits));
    }

    #[test]
    fn schemas_beyond_their_bounds_and_what_is_none_are_refused() {
        let many: Vec<u64> = (0..MOST_NODES).collect();
        assert!(matches!(JsonSchema::read(&json!({ "enum": many })), Err(SchemaError::TooLarge)));
        assert!(matches!(JsonSchema::read(&json!({ "type": "thing" })), Err(SchemaError::Invalid(_))));
        let costly = json!({ "pattern": r"\p{L}{5000}" });
        assert!(matches!(JsonSchema::read(&costly), Err(SchemaError::Patterns(_))));
    }
}
