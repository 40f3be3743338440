//! `YamlRenderer`.

use super::shape::{self, Key, KeyText, Shape};
use super::walk::{KeyKind, Step, Walk};
use crate::bytes::to_base64;
use crate::display::one_line;
use crate::error::RenderError;
use crate::tree::Tree;

mod scalar;

use scalar::Style;

/// The options of `YamlRenderer`.
#[derive(Clone, Debug)]
pub struct Options {
    /// `mode`: for readers of which version strings are quoted.
    pub mode: Mode,
    /// `indentWidth`: at least 2.
    pub indent_width: usize,
    /// `omitNullProperties`: leaves out entries of maps and mappings too.
    pub omit_null_properties: bool,
    /// `isStream`: a document is a sequence of documents.
    pub is_stream: bool,
    /// The longest output.
    pub max_bytes: usize,
}

/// For which readers strings are quoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// For either version.
    #[default]
    Compat,
    /// YAML 1.1.
    Yaml11,
    /// YAML 1.2.
    Yaml12,
}

impl Mode {
    /// The mode of this name in Pkl: `compat`, `1.1`, `1.2`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "compat" => Some(Self::Compat),
            "1.1" => Some(Self::Yaml11),
            "1.2" => Some(Self::Yaml12),
            _ => None,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Compat,
            indent_width: 2,
            omit_null_properties: true,
            is_stream: false,
            max_bytes: super::DEFAULT_MAX_BYTES,
        }
    }
}

/// `renderValue`.
///
/// # Errors
/// If YAML can't hold the value.
pub fn value(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    writer.first(value)?;
    Ok(writer.out)
}

/// `renderDocument`: the value, or with `isStream` each of its elements, with a newline at the end.
///
/// # Errors
/// If YAML can't hold the value, or a stream isn't a sequence.
pub fn document(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    if options.is_stream {
        writer.stream(value)?;
    } else {
        writer.first(value)?;
    }
    writer.end_line();
    Ok(writer.out)
}

/// The longest key that may stand before its colon, in UTF-16 units.
const LONGEST_SIMPLE_KEY: usize = 1024;

struct Writer<'a> {
    options: &'a Options,
    out: String,
    walk: Walk<'a>,
}

impl<'a> Writer<'a> {
    fn new(options: &'a Options) -> Self {
        Self { options, out: String::new(), walk: Walk::new("YAML", options.max_bytes) }
    }

    fn stream(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        let (Tree::Listing(items) | Tree::List(items) | Tree::Set(items)) = value else {
            let expected = "`Listing`, `List`, or `Set`";
            return Err(self.walk.unsupported_document("a YAML stream", expected, value));
        };
        for (index, item) in items.iter().enumerate() {
            self.walk.enter(Step::Element(index), self.out.len())?;
            if index == 0 {
                self.first(item)?;
            } else {
                self.end_line();
                self.out.push_str("---");
                self.after_indicator(item, 0, 0)?;
            }
            self.walk.leave();
        }
        Ok(())
    }

    /// A value at the very beginning: a scalar without the space that goes before it elsewhere.
    fn first(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        match shape::of(&self.walk, value)? {
            Shape::Directive(text) => self.out.push_str(text),
            Shape::Scalar => {
                self.scalar(value, 0)?;
                self.out.remove(0);
            }
            Shape::Sequence(items) if items.is_empty() => self.out.push_str(" []"),
            Shape::Sequence(items) => self.sequence(&items, 0)?,
            Shape::Members(members) if self.is_empty(value, &members) => self.out.push_str(" {}"),
            Shape::Members(members) => self.members(value, &members, 0)?,
        }
        Ok(())
    }

    /// A value after a key's colon or a document's start: on the same line if it is a scalar or
    /// empty, else on lines of its own.
    fn after_indicator(
        &mut self,
        value: &'a Tree,
        indent: usize,
        map_indent: usize,
    ) -> Result<(), RenderError> {
        match shape::of(&self.walk, value)? {
            Shape::Directive(text) => self.out.push_str(text),
            Shape::Scalar => self.scalar(value, indent)?,
            Shape::Sequence(items) if items.is_empty() => self.out.push_str(" []"),
            Shape::Sequence(items) => {
                self.start_line(indent);
                self.sequence(&items, indent)?;
            }
            Shape::Members(members) if self.is_empty(value, &members) => self.out.push_str(" {}"),
            Shape::Members(members) => {
                self.start_line(map_indent);
                self.members(value, &members, map_indent)?;
            }
        }
        Ok(())
    }

    /// A value after a `-`: a collection begins on the same line.
    fn item(&mut self, value: &'a Tree, indent: usize) -> Result<(), RenderError> {
        let width = self.options.indent_width;
        let shape = shape::of(&self.walk, value)?;
        if matches!(shape, Shape::Sequence(_) | Shape::Members(_)) {
            self.push_spaces(width - 1);
        }
        match shape {
            Shape::Directive(text) => self.out.push_str(text),
            Shape::Scalar => self.scalar(value, indent)?,
            Shape::Sequence(items) if items.is_empty() => self.out.push_str("[]"),
            Shape::Sequence(items) => self.sequence(&items, indent + width)?,
            Shape::Members(members) if self.is_empty(value, &members) => self.out.push_str("{}"),
            Shape::Members(members) => self.members(value, &members, indent + width)?,
        }
        Ok(())
    }

    fn sequence(&mut self, items: &[&'a Tree], indent: usize) -> Result<(), RenderError> {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.start_line(indent);
            }
            self.out.push('-');
            self.walk.enter(Step::Element(index), self.out.len())?;
            self.item(item, indent)?;
            self.walk.leave();
        }
        Ok(())
    }

    /// A map counts as empty only if it has no entries at all, an object if it shows none.
    fn is_empty(&self, owner: &Tree, members: &[(Key<'a>, &'a Tree)]) -> bool {
        members.is_empty()
            || (!matches!(owner, Tree::Map(_))
                && self.options.omit_null_properties
                && members.iter().all(|(_, value)| matches!(value, Tree::Null)))
    }

    fn members(
        &mut self,
        owner: &'a Tree,
        members: &[(Key<'a>, &'a Tree)],
        indent: usize,
    ) -> Result<(), RenderError> {
        let omit = self.options.omit_null_properties;
        let shown = members.iter().filter(|(_, value)| !(omit && matches!(value, Tree::Null)));
        for (index, (key, value)) in shown.enumerate() {
            if index > 0 {
                self.start_line(indent);
            }
            self.key(owner, *key, indent)?;
            self.out.push(':');
            self.walk.enter(key.step(), self.out.len())?;
            self.after_indicator(value, indent, indent + self.options.indent_width)?;
            self.walk.leave();
        }
        Ok(())
    }

    /// A key; one of several lines or very long is introduced by `?`, with its colon on the next line.
    fn key(&mut self, owner: &Tree, key: Key<'_>, indent: usize) -> Result<(), RenderError> {
        let text = match (key.text(), key) {
            (Some(KeyText::Directive(text)), _) => {
                self.out.push_str(text);
                return Ok(());
            }
            (Some(KeyText::Text(text)), _) | (None, Key::Property(text)) => text,
            (None, Key::Entry(key)) => return self.scalar_key(owner, key),
        };
        let style = scalar::key_style(text, self.options.mode);
        let start = self.out.len();
        if style == Style::Block {
            self.out.push_str("? ");
            self.block(text, indent);
        } else {
            scalar::push_flow(&mut self.out, text, style);
            let is_simple =
                self.out[start..].encode_utf16().take(LONGEST_SIMPLE_KEY + 1).count() <= LONGEST_SIMPLE_KEY;
            if is_simple {
                return Ok(());
            }
            self.out.insert_str(start, "? ");
        }
        self.out.push('\n');
        self.push_spaces(indent);
        Ok(())
    }

    fn scalar_key(&mut self, owner: &Tree, key: &Tree) -> Result<(), RenderError> {
        match key {
            Tree::Null | Tree::Bool(_) | Tree::Int(_) => self.out.push_str(&one_line(key)),
            Tree::Float(value) => self.out.push_str(&float(*value)),
            _ => return Err(self.walk.unsupported_key(owner, key, KeyKind::NonScalar)),
        }
        Ok(())
    }

    /// A scalar, after a space.
    fn scalar(&mut self, value: &Tree, indent: usize) -> Result<(), RenderError> {
        self.out.push(' ');
        match value {
            Tree::Null | Tree::Bool(_) | Tree::Int(_) => self.out.push_str(&one_line(value)),
            Tree::Float(value) => self.out.push_str(&float(*value)),
            Tree::Bytes(bytes) => {
                self.out.push_str("!!binary ");
                let text = to_base64(bytes);
                self.out.push_str(if text.is_empty() { "''" } else { &text });
            }
            Tree::String(text) => match scalar::style(text, self.options.mode) {
                Style::Block => self.block(text, indent),
                style => scalar::push_flow(&mut self.out, text, style),
            },
            other => return Err(self.walk.unsupported(other)),
        }
        Ok(())
    }

    /// A literal block, with the newline at its end if the text has one.
    fn block(&mut self, text: &str, indent: usize) {
        self.out.push_str(&scalar::block_header(text, self.options.indent_width));
        for line in text.split('\n') {
            self.out.push('\n');
            if !line.is_empty() {
                self.push_spaces(indent + self.options.indent_width);
                self.out.push_str(line);
            }
        }
    }

    fn start_line(&mut self, indent: usize) {
        self.end_line();
        self.push_spaces(indent);
    }

    fn end_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn push_spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }
}

fn float(value: f64) -> String {
    if value.is_nan() {
        ".NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { ".Inf".to_owned() } else { "-.Inf".to_owned() }
    } else {
        crate::number::float_to_string(value)
    }
}
