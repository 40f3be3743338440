//! The one document on stdout, as YAML.

use super::{json, text};
use pkl_data::render::yaml;
use pkl_data::tree::Tree;
use serde_json::Value;
use std::io;

/// Prints a document as YAML.
///
/// # Errors
/// Stdout can't be written.
pub(crate) fn print(value: &Value) -> io::Result<()> {
    let rendered = yaml::document(&tree(value), &yaml::Options::default());
    let rendered = rendered.map_err(|error| io::Error::other(error.message))?;
    json::print_text(&text::lines(&rendered))
}

fn tree(value: &Value) -> Tree {
    match value {
        Value::Null => Tree::Null,
        Value::Bool(value) => Tree::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Tree::Int(number),
            None => Tree::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Tree::String(text.as_str().into()),
        Value::Array(items) => Tree::List(items.iter().map(tree).collect()),
        Value::Object(members) => {
            let entry = |(key, value): (&String, &Value)| (Tree::String(key.as_str().into()), tree(value));
            Tree::Map(members.iter().map(entry).collect())
        }
    }
}
