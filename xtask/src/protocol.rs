//! The reference page of the plugin protocol, made from `plugin.proto` and its comments.

use crate::{TaskError, root, wire};
use std::fmt::Write as _;
use std::fs;

/// The page's path in the workspace, and its text.
pub(crate) fn page() -> Result<(String, String), TaskError> {
    let path = format!("{}/{}", wire::DIRECTORY, wire::PROTO);
    let read = fs::read_to_string(root().join(&path));
    let proto = read.map_err(|source| TaskError::File { path, source })?;
    Ok(("docs/reference/plugin-protocol.md".to_owned(), render(&proto)))
}

/// What was read of the file up to a line.
#[derive(Default)]
struct Reading {
    page: String,
    comment: Vec<String>,
    /// How many `{` are open.
    depth: usize,
}

fn render(proto: &str) -> String {
    let mut reading = Reading::default();
    let (preface, rest) = proto.split_once("syntax = ").unwrap_or_default();
    reading.page.push_str(
        "# The plugin protocol\n\nGenerated from [`plugin.proto`](../../crates/plugin/proto/plugin.proto) (`cargo xtask docs`). \
         Authors who write Rust need none of this: `formwork_plugin::run` speaks it.\n\n",
    );
    for line in preface.lines() {
        let text = line.trim_start_matches("//");
        let text = text.strip_prefix(' ').unwrap_or(text);
        // Indented lines are a list of variables.
        let shown =
            text.strip_prefix("  ").map_or_else(|| text.to_owned(), |item| format!("    {}", item.trim()));
        reading.page.push_str(&shown);
        reading.page.push('\n');
    }
    for line in rest.lines().skip_while(|line| !line.is_empty()) {
        reading.line(line.trim());
    }
    reading.page
}

impl Reading {
    fn line(&mut self, line: &str) {
        if let Some(comment) = line.strip_prefix("//") {
            self.comment.push(comment.trim().to_owned());
            return;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [] | ["package", ..] => self.comment.clear(),
            ["}"] => self.depth -= 1,
            ["oneof", ..] => {
                self.depth += 1;
                self.comment.clear();
            }
            [kind @ ("service" | "message" | "enum"), name, ..] => self.declaration(kind, name),
            _ => self.member(line),
        }
    }

    fn declaration(&mut self, kind: &str, name: &str) {
        self.depth += 1;
        let comment = std::mem::take(&mut self.comment).join("\n");
        let heading =
            if kind == "service" { "| call | what it does |" } else { "| number | field | meaning |" };
        let rule = if kind == "service" { "|---|---|" } else { "|---|---|---|" };
        let heading = if kind == "enum" { heading.replace("field", "value") } else { heading.to_owned() };
        let _ = write!(self.page, "\n## `{name}`\n\n{comment}\n\n{heading}\n{rule}\n");
    }

    /// A field, a value or a call: `kind name = number;`, `NAME = number;`, `rpc Name(A) returns (B);`.
    fn member(&mut self, line: &str) {
        let comment = std::mem::take(&mut self.comment).join(" ").replace('|', "\\|");
        let line = line.trim_end_matches(';');
        let _ = match (line.strip_prefix("rpc "), line.rsplit_once(" = ")) {
            (Some(call), _) => writeln!(self.page, "| `{}` | {comment} |", call.replace(" returns ", " → ")),
            (None, Some((field, number))) => writeln!(self.page, "| {number} | `{field}` | {comment} |"),
            (None, None) => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn comments_become_a_page() {
        let proto = "// How to.\n//\n//   VARIABLE   what\nsyntax = \"proto3\";\n\npackage a;\n\n// It answers.\nservice S {\n  // Does.\n  rpc Do(A) returns (B);\n}\n\n// A thing.\nmessage A {\n  // One of.\n  oneof it {\n    // A | text.\n    string text = 1;\n  }\n}\n";
        let page = render(proto);
        for part in [
            "How to.\n\n    VARIABLE   what\n",
            "\n## `S`\n\nIt answers.\n\n| call | what it does |\n|---|---|\n| `Do(A) → (B)` | Does. |\n",
            "\n## `A`\n\nA thing.\n\n| number | field | meaning |\n|---|---|---|\n| 1 | `string text` | A \\| text. |\n",
        ] {
            assert!(page.contains(part), "{page}");
        }
    }
}
