//! JSON as it is taken from outside: no duplicate keys, bounded depth, nothing that would be lost
//! where it is kept, and errors with a place.

use formwork_model::Json;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::fmt;

/// The most arrays and objects within each other that a request may have.
pub const REQUEST_DEPTH: usize = formwork_model::INPUT_DEPTH;
/// The same for an answer, which holds what came in requests and some more around it.
pub const ANSWER_DEPTH: usize = REQUEST_DEPTH + 16;

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at line {line}, column {column}")]
pub struct JsonError {
    /// What.
    pub problem: JsonProblem,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// What can be wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonProblem {
    /// It is not JSON.
    #[error("{0}")]
    Syntax(String),
    /// It is nested too deep.
    #[error("nested deeper than {limit} levels")]
    TooDeep {
        /// How deep it may be.
        limit: usize,
    },
    /// One key stands twice in one object.
    #[error("the key `{key}` stands twice in one object")]
    DuplicateKey {
        /// The key, shortened where it is long.
        key: String,
    },
    /// A text holds U+0000, which not every store can keep.
    #[error("a text holds the character U+0000, which can't be kept")]
    Nul,
    /// An integer that would lose digits.
    #[error("an integer does not fit into 64 bits; quote it to keep it as text")]
    Integer,
}

/// Reads a JSON text.
///
/// # Errors
/// [`JsonError`] for anything but one JSON value of at most `depth` levels without duplicate keys,
/// U+0000 and integers beyond 64 bits.
pub fn parse(bytes: &[u8], depth: usize) -> Result<Json, JsonError> {
    let found = Cell::new(None);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    // `Value` counts levels itself, so that the bound is ours and its error has a place.
    deserializer.disable_recursion_limit();
    let value = Value { left: depth, limit: depth, found: &found }.deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| JsonError {
        problem: found.take().unwrap_or_else(|| JsonProblem::Syntax(without_place(&error))),
        line: error.line(),
        column: error.column(),
    })?;
    // The parser reads such an integer as a float, in silence.
    integer_beyond_64_bits(bytes).map_or(Ok(value), Err)
}

/// The first integer beyond 64 bits in a text that is JSON.
fn integer_beyond_64_bits(bytes: &[u8]) -> Option<JsonError> {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => string_length(&bytes[at..]),
            b'-' | b'0'..=b'9' => {
                let is_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                let rest = &bytes[at..];
                let length = rest.iter().position(|byte| !is_number(byte)).unwrap_or(rest.len());
                let number = std::str::from_utf8(&rest[..length]).unwrap_or_default();
                if !is_kept(number) {
                    let before = &bytes[..at];
                    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                    return Some(JsonError {
                        problem: JsonProblem::Integer,
                        line: before.split(|byte| *byte == b'\n').count(),
                        column: 1 + at - line_start,
                    });
                }
                length
            }
            _ => 1,
        };
    }
    None
}

/// The length of the string that the text begins with, its quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Whether a number is one with a fraction or an exponent, or an integer of at most 64 bits.
fn is_kept(number: &str) -> bool {
    number.contains(['.', 'e', 'E']) || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
}

/// The parser's words without the place it appends.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A value with the levels it may still have.
struct Value<'a> {
    left: usize,
    limit: usize,
    found: &'a Cell<Option<JsonProblem>>,
}

impl Value<'_> {
    fn deeper<E: de::Error>(&self) -> Result<Self, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Self { left, limit: self.limit, found: self.found }),
            None => Err(self.refuse(JsonProblem::TooDeep { limit: self.limit })),
        }
    }

    fn without_nul<E: de::Error>(&self, text: &str) -> Result<(), E> {
        if text.contains('\0') { Err(self.refuse(JsonProblem::Nul)) } else { Ok(()) }
    }

    fn refuse<E: de::Error>(&self, problem: JsonProblem) -> E {
        self.found.set(Some(problem));
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Json, E> {
        self.visit_string(value.to_owned())
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Json, E> {
        self.without_nul(&value)?;
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self.deeper()?)? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        self.deeper::<A::Error>()?;
        let mut object = serde_json::Map::new();
        while let Some(key) = members.next_key::<String>()? {
            self.without_nul(&key)?;
            if object.contains_key(&key) {
                let key = key.chars().take(100).collect();
                return Err(self.refuse(JsonProblem::DuplicateKey { key }));
            }
            let value = members.next_value_seed(self.deeper()?)?;
            object.insert(key, value);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(text: &str) -> String {
        parse(text.as_bytes(), REQUEST_DEPTH).expect_err("refused").to_string()
    }

    #[test]
    fn every_kind_of_value_is_read_exactly() {
        let text = r#"{"b": [null, true, -1, 18446744073709551615, 1.5, "é\n"], "a": {}}"#;
        let value = parse(text.as_bytes(), 3).expect("valid");
        assert_eq!(value, json!({"b": [null, true, -1, u64::MAX, 1.5, "é\n"], "a": {}}));
        assert_eq!(value.as_object().and_then(|object| object.keys().next()).map(String::as_str), Some("b"));
    }

    #[test]
    fn problems_have_a_place() {
        insta::assert_snapshot!(
            [
                refused("{\n  \"a\": 1,\n}"),
                refused(""),
                refused("{} {}"),
                refused("{\"a\": 1, \"a\": 2}"),
                refused("[1e999]"),
                refused("{\"a\": \"\\ud800\"}"),
                refused(&"[".repeat(200)),
                refused("{\"a\": 1,\n \"b\": \"x\\u0000\"}"),
                refused("{\"a\\u0000\": 1}"),
                refused("{\"a\": \"1\\\"9\",\n \"b\": [-9223372036854775809]}"),
                refused(&"9".repeat(100)),
            ]
            .join("\n")
        );
    }

    #[test]
    fn numbers_with_a_fraction_or_an_exponent_are_floats_of_any_size() {
        let text = "[1e300, 18446744073709551616.0, -9223372036854775808, \"18446744073709551616\"]";
        let value = parse(text.as_bytes(), 2).expect("valid");
        assert_eq!(value, json!([1e300, 18_446_744_073_709_551_616.0, i64::MIN, "18446744073709551616"]));
    }

    #[test]
    fn depth_is_bounded_exactly_and_without_recursion_beyond_it() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(nested(128).as_bytes(), 128).is_ok());
        assert!(parse(nested(129).as_bytes(), 128).is_err());
        assert!(parse("{\"a\":".repeat(1_000_000).as_bytes(), 128).is_err());
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error() {
        assert!(parse(b"\"\xff\"", 128).is_err());
        assert!(parse(b"\0", 128).is_err());
    }
}
