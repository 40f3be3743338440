//! A plan, as text on stderr (cli reference, "A plan, as text").

use crate::commands::error::SourceText;
use crate::ui::style::Styles;
use crate::ui::text::{self, columns, fitted};
use formwork_formation::clean;
use owo_colors::OwoColorize as _;
use serde_json::Value;
use std::fmt::Write as _;

/// The widest a value may be shown.
const VALUE_WIDTH: usize = 60;

/// Prints a plan. Answers whether there is a change in it.
pub(crate) fn print(planned: &Value, source: Option<&SourceText>) -> bool {
    let text = render(planned, source, Styles::new());
    super::write(format_args!("{text}"));
    changes(planned).any(|change| change["action"] != "no-op")
}

fn changes(planned: &Value) -> impl Iterator<Item = &Value> {
    planned["changes"].as_array().into_iter().flatten()
}

/// The plan as text. Unchanged resources are counted, not listed.
fn render(planned: &Value, source: Option<&SourceText>, style: Styles) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}   {}", "Plan".style(style.strong), summary(planned));
    let shown: Vec<_> = changes(planned).filter(|change| change["action"] != "no-op").collect();
    if !shown.is_empty() {
        text.push('\n');
    }
    let widths = (width(&shown, "resource_type"), width(&shown, "logical_id"));
    for change in shown {
        line(&mut text, change, widths, source, style);
        properties(&mut text, change, style);
    }
    if let Some(hash) = planned["plan_hash"].as_str().or_else(|| planned["hash"].as_str()) {
        let _ = writeln!(text, "\nplan hash: {}", hash.style(style.quiet));
    }
    for denied in planned["unauthorized_actions"].as_array().into_iter().flatten() {
        let field = |key: &str| denied[key].as_str().unwrap_or_default();
        let _ = writeln!(text, "not permitted: {} ({})", clean(field("logical_id")), clean(field("action")));
    }
    text
}

fn summary(planned: &Value) -> String {
    let count = |action: &str| changes(planned).filter(|change| change["action"] == action).count();
    let parts = [
        ("create", "to create"),
        ("adopt", "to adopt"),
        ("update", "to update"),
        ("replace", "to replace"),
        ("delete", "to delete"),
        ("no-op", "unchanged"),
    ];
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(action, words)| (count(action), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    if parts.is_empty() { "nothing declared".to_owned() } else { parts.join(" · ") }
}

fn width(changes: &[&Value], key: &str) -> usize {
    changes
        .iter()
        .filter_map(|change| change[key].as_str())
        .map(|text| columns(&clean(text)))
        .max()
        .unwrap_or(0)
}

fn line(
    text: &mut String,
    change: &Value,
    widths: (usize, usize),
    source: Option<&SourceText>,
    style: Styles,
) {
    let field = |key: &str| change[key].as_str().unwrap_or_default();
    let (symbol, tone) = match field("action") {
        "create" => ("+", style.done),
        "adopt" => ("«", style.warning),
        "update" => ("~", style.warning),
        "replace" => ("±", style.warning),
        "delete" => ("-", style.error),
        _ => ("?", style.quiet),
    };
    let place = place(change, source).unwrap_or_default();
    let (kind, label) = (clean(field("resource_type")), clean(field("logical_id")));
    let place = clean(&place);
    let line =
        format!("  {} {kind:<a$}  {label:<b$}   {place}", symbol.style(tone), a = widths.0, b = widths.1);
    let _ = writeln!(text, "{}", line.trim_end());
    if field("action") == "create" {
        // That it is new is what `+` says.
        return;
    }
    for cause in change["cause"].as_array().into_iter().flatten() {
        if let Some(cause) = cause.as_str().or_else(|| cause["text"].as_str()) {
            let _ = writeln!(text, "      {}", clean(cause).style(style.quiet));
        }
    }
}

fn place(change: &Value, source: Option<&SourceText>) -> Option<String> {
    let at = &change["place"];
    let line = at["line"].as_u64()?;
    let file = source.map(|source| source.name.as_str()).or_else(|| at["file"].as_str())?;
    Some(format!("{file}:{line}"))
}

/// The top-level properties of an update that differ.
fn properties(text: &mut String, change: &Value, style: Styles) {
    if !matches!(change["action"].as_str(), Some("update" | "replace" | "adopt")) {
        return;
    }
    let (desired, current) = (&change["diff"]["desired"], &change["diff"]["current"]);
    let Some(desired) = desired.as_object() else { return };
    let changed: Vec<_> = desired
        .iter()
        .map(|(name, value)| (clean(name), current.get(name), value))
        .filter(|(_, before, value)| *before != Some(*value) || is_mask(value))
        .collect();
    let width = changed.iter().map(|(name, ..)| columns(name)).max().unwrap_or(0);
    for (name, before, value) in changed {
        if is_mask(value) && before.is_none_or(is_mask) {
            let _ = writeln!(text, "      {name:<width$}  {}", "(secret)".style(style.quiet));
            continue;
        }
        let before = before.map_or_else(|| "(not set)".to_owned(), shown);
        let _ = writeln!(text, "      {name:<width$}  {before} → {}", shown(value));
    }
}

fn is_mask(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|members| members.len() == 1 && members.get("no_echo") == Some(&Value::Bool(true)))
}

/// A value on one line, cut where it is long.
pub(crate) fn shown(value: &Value) -> String {
    if is_mask(value) {
        return "(secret)".to_owned();
    }
    fitted(&text::json(value.to_string()), VALUE_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_plan_lists_changes_and_counts_the_rest() {
        let planned = json!({
            "changes": [
                {"logical_id": "Kb", "resource_type": "memory", "action": "no-op"},
                {"logical_id": "Key", "resource_type": "secret", "action": "update",
                 "diff": {"desired": {"name": "k", "value": {"no_echo": true}}, "current": {"name": "k"}}},
                {"logical_id": "Bot", "resource_type": "agent", "action": "replace", "place": {"line": 14},
                 "cause": [{"text": "`name` changed"}],
                 "diff": {"desired": {"name": "bot"}, "current": {"name": "old"}}},
                {"logical_id": "Old", "resource_type": "webhook", "action": "delete"},
                {"logical_id": "Kept", "resource_type": "memory", "action": "adopt",
                 "cause": [{"text": "`Kept` takes over `mem_1`"}],
                 "diff": {"desired": {"name": "new"}, "current": {"name": "old"}}},
            ],
            "plan_hash": "abc",
        });
        let source = SourceText { name: "a.yaml".to_owned(), text: String::new() };
        let coloured = render(&planned, Some(&source), Styles::new());
        let plain = anstream::adapter::strip_str(&coloured).to_string();
        insta::assert_snapshot!(plain, @r#"
        Plan   1 to adopt · 1 to update · 1 to replace · 1 to delete · 1 unchanged

          ~ secret   Key
              value  (secret)
          ± agent    Bot    a.yaml:14
              `name` changed
              name  "old" → "bot"
          - webhook  Old
          « memory   Kept
              `Kept` takes over `mem_1`
              name  "old" → "new"

        plan hash: abc
        "#);
    }
}
