//! What formae made, as tables on stdout.

use super::{json, text};
use crate::args::Inventory;
use crate::ui::style::Styles;
use owo_colors::OwoColorize as _;
use serde_json::Value;
use std::io;

/// Prints a list.
///
/// # Errors
/// Stdout can't be written.
pub(crate) fn print(of: &Inventory, found: &Value) -> io::Result<()> {
    let (columns, nothing): (&[&str], &str) = match of {
        Inventory::Resources(_) => (&["Stack", "Type", "Label", "Target", "NativeID"], "no resources"),
        Inventory::Stacks(_) => (&["Label", "Resources", "Description"], "no stacks"),
        Inventory::Targets(_) => (&["Label", "Namespace"], "no targets"),
    };
    json::print_text(&table(columns, found, nothing))
}

fn table(columns: &[&str], found: &Value, nothing: &str) -> String {
    let rows: Vec<Vec<String>> = found
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| columns.iter().map(|column| cell(&item[*column])).collect())
        .collect();
    if rows.is_empty() {
        return format!("{nothing}\n");
    }
    let heading: Vec<String> = columns.iter().map(|column| column.to_uppercase()).collect();
    let width = |at: usize| {
        std::iter::once(&heading).chain(&rows).map(|row| text::columns(&row[at])).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut table = String::new();
    for row in std::iter::once(&heading).chain(&rows) {
        let cells = row.iter().zip(&widths).map(|(cell, width)| {
            let padding = " ".repeat(width.saturating_sub(text::columns(cell)));
            format!("{cell}{padding}")
        });
        table.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        table.push('\n');
    }
    table
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(cell) => formwork_formation::clean(cell),
        other => other.to_string(),
    }
}

/// Says what was changed out of band and would be overwritten.
pub(crate) fn print_drift(drift: &Value) {
    let style = Styles::new();
    for resource in drift.as_array().into_iter().flatten() {
        let field = |key: &str| formwork_formation::clean(resource[key].as_str().unwrap_or_default());
        let (kind, label, status) = (field("resource_type"), field("logical_id"), field("status"));
        super::say(format_args!(
            "{}: {kind} {label} was changed since it was last applied ({status})",
            "drift".style(style.warning)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let found = json!([{ "Label": "日本", "Resources": 12 }, { "Label": "a", "Resources": 3, "Description": "d" }]);
        assert_eq!(
            table(&["Label", "Resources", "Description"], &found, "none"),
            "LABEL  RESOURCES  DESCRIPTION\n日本   12\na      3          d\n"
        );
        assert_eq!(table(&["Label"], &json!([]), "none"), "none\n");
    }
}
