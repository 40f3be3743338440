//! `pkl:jsonnet`: Jsonnet, as its formatter would lay it out.

use std::fmt::Write as _;

use super::shape::{self, Key, KeyText, Shape};
use super::walk::{KeyKind, Step, Walk};
use crate::error::RenderError;
use crate::number::float_to_string;
use crate::tree::{Tree, Typed};

/// The options of `jsonnet.Renderer`.
#[derive(Clone, Debug)]
pub struct Options {
    /// `indent`: without one everything stands on one line.
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

const KEYWORDS: [&str; 18] = [
    "assert",
    "else",
    "error",
    "false",
    "for",
    "function",
    "if",
    "import",
    "importstr",
    "in",
    "local",
    "null",
    "self",
    "super",
    "tailstrict",
    "then",
    "true",
    "$",
];

/// `renderValue`.
///
/// # Errors
/// If Jsonnet can't hold the value.
pub fn value(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer {
        options,
        out: String::new(),
        indent: String::new(),
        walk: Walk::new("Jsonnet", options.max_bytes),
    };
    writer.value(value)?;
    Ok(writer.out)
}

/// `renderDocument`: the value and a newline.
///
/// # Errors
/// If Jsonnet can't hold the value.
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
        if let Tree::Typed(typed) = value
            && let Some((before, argument, after)) = call(typed)
        {
            self.out.push_str(before);
            self.string(argument);
            self.out.push_str(after);
            return Ok(());
        }
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
            Tree::Float(value) => self.out.push_str(&float_to_string(*value)),
            Tree::String(text) => self.string(text),
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
            if index > 0 {
                self.out.push(',');
            }
            if index > 0 || self.is_indented() {
                self.start_line();
            }
            self.walk.enter(Step::Element(index), self.out.len())?;
            self.value(item)?;
            self.walk.leave();
        }
        self.close();
        self.out.push(']');
        Ok(())
    }

    fn members(&mut self, owner: &'a Tree, members: &[(Key<'a>, &'a Tree)]) -> Result<(), RenderError> {
        let omit = self.options.omit_null_properties;
        let mut shown = members.iter().filter(|(_, value)| !(omit && matches!(value, Tree::Null))).peekable();
        // A map that holds nothing but nulls still gets its comma.
        let empty = if matches!(owner, Tree::Map(_)) { members.is_empty() } else { shown.peek().is_none() };
        if empty {
            self.out.push_str("{}");
            return Ok(());
        }
        self.open('{');
        for (index, (key, value)) in shown.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.start_line();
            match (key.text(), key) {
                (Some(KeyText::Text(text)), _) if is_identifier(text) => self.out.push_str(text),
                (Some(KeyText::Text(text)), _) => self.string(text),
                (Some(KeyText::Directive(text)), _) => self.out.push_str(text),
                (None, Key::Entry(key)) => {
                    return Err(self.walk.unsupported_key(owner, key, KeyKind::NonString));
                }
                (None, Key::Property(_)) => {}
            }
            self.out.push_str(": ");
            self.walk.enter(key.step(), self.out.len())?;
            self.value(value)?;
            self.walk.leave();
        }
        self.close();
        self.out.push_str(if self.is_indented() { "}" } else { " }" });
        Ok(())
    }

    fn is_indented(&self) -> bool {
        !self.options.indent.is_empty()
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.indent.push_str(&self.options.indent);
    }

    fn close(&mut self) {
        self.indent.truncate(self.indent.len() - self.options.indent.len());
        if self.is_indented() {
            self.out.push(',');
            self.start_line();
        }
    }

    fn start_line(&mut self) {
        if self.is_indented() {
            self.out.push('\n');
            self.out.push_str(&self.indent);
        } else {
            self.out.push(' ');
        }
    }

    fn string(&mut self, text: &str) {
        if self.is_indented() && fits_a_block(text) {
            self.block(text);
        } else {
            push_quoted(&mut self.out, text);
        }
    }

    /// A text block; its lines end with `\n`, `\r` or both in the value.
    fn block(&mut self, text: &str) {
        self.out.push_str("|||");
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        for line in text.strip_suffix('\n').unwrap_or(&text).split('\n') {
            self.start_line();
            self.out.push_str(&self.options.indent);
            self.out.push_str(line);
        }
        self.start_line();
        self.out.push_str("|||");
    }
}

/// The expression that `ImportStr` and `ExtVar` stand for, in three parts.
fn call(typed: &Typed) -> Option<(&'static str, &str, &'static str)> {
    let (property, before, after) = if typed.class.is("pkl.jsonnet", "ImportStr") {
        ("path", "importstr ", "")
    } else if typed.class.is("pkl.jsonnet", "ExtVar") {
        ("name", "std.extVar(", ")")
    } else {
        return None;
    };
    match typed.property(property) {
        Some(Tree::String(argument)) => Some((before, argument, after)),
        _ => None,
    }
}

/// Whether it has several lines and the first of them with any text isn't indented.
fn fits_a_block(text: &str) -> bool {
    let first = text.trim_start_matches('\n').chars().next();
    text.contains('\n') && first.is_some_and(|c| !matches!(c, ' ' | '\t' | '\u{b}' | '\u{c}' | '\r'))
}

fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !KEYWORDS.contains(&text)
}

/// In single quotes, unless only double quotes need no escape.
fn push_quoted(out: &mut String, text: &str) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{80}'..='\u{9f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => {
                if character == quote {
                    out.push('\\');
                }
                out.push(character);
            }
        }
    }
    out.push(quote);
}
