//! Writes a value as indented JSON and notes where each part of it went.

use formwork_model::{Children, Json, SourceNode, Span};
use std::sync::Arc;

/// The text of a value and the spans in it.
pub(crate) fn write(value: &Json) -> (String, SourceNode) {
    let mut writer = Writer { text: String::new(), indent: 0 };
    let node = writer.value(value);
    writer.text.push('\n');
    (writer.text, node)
}

struct Writer {
    text: String,
    indent: usize,
}

impl Writer {
    /// As deep as the value: whoever built it could go as deep.
    fn value(&mut self, value: &Json) -> SourceNode {
        let start = self.text.len();
        let children = match value {
            Json::Array(items) if !items.is_empty() => self.array(items),
            Json::Object(members) if !members.is_empty() => self.object(members),
            scalar => {
                self.text.push_str(&scalar.to_string());
                Children::None
            }
        };
        SourceNode { span: self.span(start), key: None, children }
    }

    fn array(&mut self, items: &[Json]) -> Children {
        let mut nodes = Vec::with_capacity(items.len());
        self.text.push('[');
        self.indent += 1;
        for (index, item) in items.iter().enumerate() {
            self.line(index);
            nodes.push(self.value(item));
        }
        self.indent -= 1;
        self.line(0);
        self.text.push(']');
        Children::Array(nodes)
    }

    fn object(&mut self, members: &serde_json::Map<String, Json>) -> Children {
        let mut nodes = Vec::with_capacity(members.len());
        self.text.push('{');
        self.indent += 1;
        for (index, (key, member)) in members.iter().enumerate() {
            self.line(index);
            let start = self.text.len();
            self.text.push_str(&Json::from(key.as_str()).to_string());
            let key_span = self.span(start);
            self.text.push_str(": ");
            let node = SourceNode { key: Some(key_span), ..self.value(member) };
            nodes.push((Arc::<str>::from(key.as_str()), node));
        }
        self.indent -= 1;
        self.line(0);
        self.text.push('}');
        Children::Object(nodes.into())
    }

    /// Begins a line, after a comma unless it is the first.
    fn line(&mut self, index: usize) {
        if index > 0 {
            self.text.push(',');
        }
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.indent));
    }

    fn span(&self, start: usize) -> Span {
        let clamp = |position| u32::try_from(position).unwrap_or(u32::MAX);
        Span { file: 0, start: clamp(start), end: clamp(self.text.len()) }
    }
}
