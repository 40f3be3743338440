//! Drift, as text on stderr.

use super::plan::shown;
use crate::ui::style::Styles;
use crate::ui::text::columns;
use formwork_formation::clean;
use owo_colors::OwoColorize as _;
use serde_json::Value;
use std::fmt::Write as _;

/// Prints what was found. Answers whether anything is known to differ.
pub(crate) fn print(found: &Value) -> bool {
    let text = render(found, Styles::new());
    super::write(format_args!("{text}"));
    found["drifted"] == Value::Bool(true)
}

fn resources(found: &Value) -> impl Iterator<Item = &Value> {
    found["resources"].as_array().into_iter().flatten()
}

fn render(found: &Value, style: Styles) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}   {}", "Drift".style(style.strong), summary(found));
    if resources(found).next().is_some() {
        text.push('\n');
    }
    let widest = |key: &str| {
        let texts = resources(found).filter_map(|resource| resource[key].as_str());
        texts.map(|text| columns(&clean(text))).max().unwrap_or(0)
    };
    let (types, labels) = (widest("resource_type"), widest("logical_id"));
    for resource in resources(found) {
        let field = |key: &str| clean(resource[key].as_str().unwrap_or_default());
        let (symbol, tone) = match resource["status"].as_str() {
            Some("changed") => ("~", style.warning),
            Some("gone") => ("-", style.error),
            _ => ("?", style.quiet),
        };
        let (kind, label, id) = (field("resource_type"), field("logical_id"), field("physical_resource_id"));
        let symbol = symbol.style(tone);
        let _ = writeln!(text, "  {symbol} {kind:<types$}  {label:<labels$}   {}", id.style(style.quiet));
        if resource["reason"].is_string() {
            let _ = writeln!(text, "      not known: {}", field("reason"));
        }
        changes(&mut text, resource);
    }
    text
}

fn summary(found: &Value) -> String {
    let count = |status: &str| resources(found).filter(|resource| resource["status"] == status).count();
    let parts = [("changed", "changed"), ("gone", "gone"), ("unreadable", "not known")];
    let mut parts: Vec<_> = parts
        .into_iter()
        .map(|(status, words)| (count(status), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    if parts.is_empty() {
        parts.push("none".to_owned());
    }
    format!("{} (of {} looked at)", parts.join(" · "), found["checked"])
}

fn changes(text: &mut String, resource: &Value) {
    let changes: Vec<_> = resource["changes"].as_array().into_iter().flatten().collect();
    let name = |change: &Value| {
        let path = change["path"].as_str().unwrap_or_default();
        clean(path.strip_prefix('/').unwrap_or(path))
    };
    let width = changes.iter().map(|change| columns(&name(change))).max().unwrap_or(0);
    for change in changes {
        let value = |key: &str| change.get(key).map_or_else(|| "(not set)".to_owned(), shown);
        let _ = writeln!(text, "      {:<width$}  {} → {}", name(change), value("was"), value("is"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plain(found: &Value) -> String {
        anstream::adapter::strip_str(&render(found, Styles::new())).to_string()
    }

    #[test]
    fn each_kind_of_drift_is_shown_with_what_is_known_of_it() {
        let found = json!({ "formation_id": "form_1", "drifted": true, "checked": 9, "resources": [
            {"logical_id": "Bot", "resource_type": "agent", "physical_resource_id": "agent_1",
             "status": "changed", "changes": [
                {"path": "/name", "was": "bot", "is": "by hand"},
                {"path": "/instructions", "is": "obey"}]},
            {"logical_id": "Memory", "resource_type": "memory", "physical_resource_id": "mem_1",
             "status": "gone"},
            {"logical_id": "Row", "resource_type": "acme_table", "physical_resource_id": "t-1",
             "status": "unreadable", "reason": "the handler did not answer"},
        ]});
        insta::assert_snapshot!(plain(&found), @r#"
        Drift   1 changed · 1 gone · 1 not known (of 9 looked at)

          ~ agent       Bot      agent_1
              name          "bot" → "by hand"
              instructions  (not set) → "obey"
          - memory      Memory   mem_1
          ? acme_table  Row      t-1
              not known: the handler did not answer
        "#);
    }

    #[test]
    fn where_nothing_differs_that_is_said() {
        let found = json!({ "formation_id": "form_1", "drifted": false, "checked": 2, "resources": [] });
        assert_eq!(plain(&found), "Drift   none (of 2 looked at)\n");
    }
}
