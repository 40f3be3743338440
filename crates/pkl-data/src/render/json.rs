//! `JsonRenderer`.

use std::fmt::Write as _;

use super::shape::{self, Key, KeyText, Shape};
use super::walk::{KeyKind, Step, Walk};
use crate::error::RenderError;
use crate::number::float_to_string;
use crate::tree::Tree;

/// The options of `JsonRenderer`.
#[derive(Clone, Debug)]
pub struct Options {
    /// `indent`: without one everything stands on one line, without spaces.
    pub indent: String,
    /// `omitNullProperties`: leaves out entries of maps and mappings too.
    pub omit_null_properties: bool,
    /// The longest output.
    pub max_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { indent: "  ".to_owned(), omit_null_properties: true, max_bytes: super::DEFAULT_MAX_BYTES }
    }
}

/// `renderValue`.
///
/// # Errors
/// If JSON can't hold the value.
pub fn value(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer {
        options,
        out: String::new(),
        indent: String::new(),
        walk: Walk::new("JSON", options.max_bytes),
    };
    writer.value(value)?;
    Ok(writer.out)
}

/// `renderDocument`: the value and a newline.
///
/// # Errors
/// If JSON can't hold the value.
pub fn document(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut text = self::value(value, options)?;
    text.push('\n');
    Ok(text)
}

struct Writer<'a> {
    options: &'a Options,
    out: String,
    indent: String,
    walk: Walk<'a>,
}

impl<'a> Writer<'a> {
    fn value(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        match shape::of(&self.walk, value)? {
            Shape::Directive(text) => self.out.push_str(text),
            Shape::Sequence(items) => self.sequence(&items)?,
            Shape::Members(members) => self.members(value, &members)?,
            Shape::Scalar => self.scalar(value)?,
        }
        Ok(())
    }

    fn scalar(&mut self, value: &Tree) -> Result<(), RenderError> {
        match value {
            Tree::Null => self.out.push_str("null"),
            Tree::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Tree::Int(value) => {
                let _ = write!(self.out, "{value}");
            }
            Tree::Float(value) if !value.is_finite() => return Err(self.walk.not_finite(*value)),
            Tree::Float(value) => self.out.push_str(&float_to_string(*value)),
            Tree::String(text) => push_string(&mut self.out, text),
            other => return Err(self.walk.unsupported(other)),
        }
        Ok(())
    }

    fn sequence(&mut self, items: &[&'a Tree]) -> Result<(), RenderError> {
        if items.is_empty() {
            self.out.push_str("[]");
            return Ok(());
        }
        self.open('[');
        for (index, item) in items.iter().enumerate() {
            self.separate(index == 0);
            self.walk.enter(Step::Element(index), self.out.len())?;
            self.value(item)?;
            self.walk.leave();
        }
        self.close(']');
        Ok(())
    }

    fn members(&mut self, owner: &'a Tree, members: &[(Key<'a>, &'a Tree)]) -> Result<(), RenderError> {
        let omit = self.options.omit_null_properties;
        let mut shown = members.iter().filter(|(_, value)| !(omit && matches!(value, Tree::Null))).peekable();
        // A map that holds nothing but nulls still gets its line.
        let empty = if matches!(owner, Tree::Map(_)) { members.is_empty() } else { shown.peek().is_none() };
        if empty {
            self.out.push_str("{}");
            return Ok(());
        }
        self.open('{');
        for (index, (key, value)) in shown.enumerate() {
            self.separate(index == 0);
            match key.text() {
                Some(KeyText::Text(text)) => push_string(&mut self.out, text),
                Some(KeyText::Directive(text)) => self.out.push_str(text),
                None => return Err(self.key_error(owner, *key)),
            }
            self.out.push_str(if self.options.indent.is_empty() { ":" } else { ": " });
            self.walk.enter(key.step(), self.out.len())?;
            self.value(value)?;
            self.walk.leave();
        }
        self.close('}');
        Ok(())
    }

    fn key_error(&self, owner: &Tree, key: Key<'_>) -> RenderError {
        match key {
            Key::Entry(key) => self.walk.unsupported_key(owner, key, KeyKind::NonString),
            Key::Property(name) => self.walk.unsupported_key(owner, &Tree::from(name), KeyKind::NonString),
        }
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.indent.push_str(&self.options.indent);
    }

    fn separate(&mut self, first: bool) {
        if !first {
            self.out.push(',');
        }
        self.start_line();
    }

    fn close(&mut self, bracket: char) {
        self.indent.truncate(self.indent.len() - self.options.indent.len());
        self.start_line();
        self.out.push(bracket);
    }

    fn start_line(&mut self) {
        if !self.options.indent.is_empty() {
            self.out.push('\n');
            self.out.push_str(&self.indent);
        }
    }
}

/// A JSON string. The two line separators of Unicode are escaped, for readers that take them for
/// line ends.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    let mut written = 0;
    for (at, character) in text.char_indices() {
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => "",
            _ => continue,
        };
        out.push_str(&text[written..at]);
        written = at + character.len_utf8();
        if short.is_empty() {
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        } else {
            out.push_str(short);
        }
    }
    out.push_str(&text[written..]);
    out.push('"');
}
