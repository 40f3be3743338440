//! JSON Schema, as workflows bring it for the payloads of their tasks.

use formwork_model::Json;
use jsonschema::{PatternOptions, Validator};

/// What checks values against a schema.
///
/// # Errors
/// Why the schema is none.
pub(crate) fn validator(schema: &Json) -> Result<Validator, String> {
    // Patterns are matched in linear time, and nothing is fetched.
    let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    options.build(schema).map_err(|error| error.masked().to_string())
}
