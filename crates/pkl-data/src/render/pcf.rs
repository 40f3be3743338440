//! `PcfRenderer`: Pkl's own static format.

use super::walk::{Step, Walk};
use crate::display::format_regex;
use crate::error::RenderError;
use crate::identifier;
use crate::literal;
use crate::tree::{Member, Tree};

/// The options of `PcfRenderer`.
#[derive(Clone, Debug)]
pub struct Options {
    /// `indent`.
    pub indent: String,
    /// `omitNullProperties`: entries and elements stay.
    pub omit_null_properties: bool,
    /// `useCustomStringDelimiters`.
    pub use_custom_string_delimiters: bool,
    /// The longest output.
    pub max_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            indent: "  ".to_owned(),
            omit_null_properties: false,
            use_custom_string_delimiters: false,
            max_bytes: super::DEFAULT_MAX_BYTES,
        }
    }
}

/// `renderValue`.
///
/// # Errors
/// If the value is or holds a class, a type alias or a function.
pub fn value(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    writer.bare(value)?;
    Ok(writer.out)
}

/// `renderDocument`: the members of an object without braces.
///
/// # Errors
/// If the value is no `Typed` or `Dynamic`, or holds a class, a type alias or a function.
pub fn document(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    if let Some(text) = value.render_directive() {
        return Ok(format!("{text}\n"));
    }
    if value.pcf_directive().is_some() {
        writer.bare(value)?;
        writer.out.push('\n');
        return Ok(writer.out);
    }
    let (Tree::Typed(_) | Tree::Dynamic(_), Some(object)) = (value, Object::of(value)) else {
        return Err(writer.walk.unsupported_document("a Pcf document", "`Typed` or `Dynamic`", value));
    };
    if writer.members(object, true)? {
        writer.out.push('\n');
    }
    Ok(writer.out)
}

/// A value that is written in braces.
#[derive(Clone, Copy)]
enum Object<'a> {
    Elements(&'a [Tree]),
    Entries(&'a [(Tree, Tree)]),
    Members(&'a [Member]),
    Properties(&'a [(std::sync::Arc<str>, Tree)]),
}

impl<'a> Object<'a> {
    fn of(value: &'a Tree) -> Option<Self> {
        match value {
            Tree::Listing(items) => Some(Self::Elements(items)),
            Tree::Mapping(entries) => Some(Self::Entries(entries)),
            Tree::Dynamic(members) => Some(Self::Members(members)),
            Tree::Typed(typed) if value.render_directive().is_none() && value.pcf_directive().is_none() => {
                Some(Self::Properties(&typed.properties))
            }
            _ => None,
        }
    }

    fn members(self) -> Box<dyn Iterator<Item = Line<'a>> + 'a> {
        match self {
            Self::Elements(items) => Box::new(items.iter().map(Line::Element)),
            Self::Entries(entries) => Box::new(entries.iter().map(|(key, value)| Line::Entry(key, value))),
            Self::Properties(properties) => {
                Box::new(properties.iter().map(|(name, value)| Line::Property(name, value)))
            }
            Self::Members(members) => Box::new(members.iter().map(|member| match member {
                Member::Property(name, value) => Line::Property(name, value),
                Member::Entry(key, value) => Line::Entry(key, value),
                Member::Element(value) => Line::Element(value),
            })),
        }
    }
}

/// A member of any kind of object.
#[derive(Clone, Copy)]
enum Line<'a> {
    Property(&'a str, &'a Tree),
    Entry(&'a Tree, &'a Tree),
    Element(&'a Tree),
}

struct Writer<'a> {
    options: &'a Options,
    out: String,
    indent: String,
    walk: Walk<'a>,
}

impl<'a> Writer<'a> {
    fn new(options: &'a Options) -> Self {
        Self { options, out: String::new(), indent: String::new(), walk: Walk::new("Pcf", options.max_bytes) }
    }

    /// An object as `{ … }`.
    fn braces(&mut self, object: Object<'a>) -> Result<(), RenderError> {
        self.out.push('{');
        self.indent.push_str(&self.options.indent);
        let any = self.members(object, false)?;
        self.indent.truncate(self.indent.len() - self.options.indent.len());
        if any {
            self.start_line();
        }
        self.out.push('}');
        Ok(())
    }

    /// The members, each on a line of its own; whether there were any.
    ///
    /// The first property of a document stands on the first line; an entry or element never does.
    fn members(&mut self, object: Object<'a>, top_level: bool) -> Result<bool, RenderError> {
        let mut first = true;
        let mut elements = 0;
        for line in object.members() {
            match line {
                Line::Property(_, Tree::Null) if self.options.omit_null_properties => continue,
                Line::Property(name, value) => {
                    if !(top_level && first) {
                        self.start_line();
                    }
                    self.out.push_str(&identifier::quoted(name));
                    self.member_value(Step::Property(name), value)?;
                }
                Line::Entry(key, value) => {
                    self.start_line();
                    self.out.push('[');
                    self.walk.enter(Step::Entry(key), self.out.len())?;
                    self.expression(key)?;
                    self.walk.leave();
                    self.out.push(']');
                    self.member_value(Step::Entry(key), value)?;
                }
                Line::Element(value) => {
                    self.start_line();
                    self.walk.enter(Step::Element(elements), self.out.len())?;
                    self.element(value)?;
                    self.walk.leave();
                    elements += 1;
                }
            }
            first = false;
        }
        Ok(!first)
    }

    fn member_value(&mut self, step: Step<'a>, value: &'a Tree) -> Result<(), RenderError> {
        self.walk.enter(step, self.out.len())?;
        if let Some(object) = Object::of(value) {
            self.out.push(' ');
            self.braces(object)?;
        } else if value.pcf_directive().is_some() {
            self.out.push(' ');
            self.bare(value)?;
        } else if let Some(text) = value.render_directive() {
            self.out.push(' ');
            self.out.push_str(text);
        } else {
            self.out.push_str(" = ");
            self.expression(value)?;
        }
        self.walk.leave();
        Ok(())
    }

    /// An element: a string of several lines isn't indented any further.
    fn element(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        match value {
            Tree::String(text) if text.contains('\n') => {
                let custom = self.options.use_custom_string_delimiters;
                self.out.push_str(&literal::multi_line(text, &self.indent, custom));
                Ok(())
            }
            _ => self.expression(value),
        }
    }

    /// A value in a place where an expression stands.
    fn expression(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        if let Some(object) = Object::of(value) {
            self.out.push_str("new ");
            return self.braces(object);
        }
        if value.pcf_directive().is_some() {
            self.out.push_str("new ");
            return self.bare(value);
        }
        match value {
            Tree::String(text) => {
                let literal = self.string(text);
                self.out.push_str(&literal);
            }
            Tree::Regex(pattern) => self.out.push_str(&format_regex(pattern)),
            Tree::Pair(pair) => self.call("Pair", [&pair.0, &pair.1].into_iter())?,
            Tree::List(items) => self.call("List", items.iter())?,
            Tree::Set(items) => self.call("Set", items.iter())?,
            Tree::Map(entries) => self.call("Map", entries.iter().flat_map(|(key, value)| [key, value]))?,
            Tree::Typed(_) => self.out.push_str(value.render_directive().unwrap_or_default()),
            Tree::Class(_) | Tree::TypeAlias(_) | Tree::Function { .. } | Tree::Error(_) => {
                return Err(self.walk.unsupported(value));
            }
            scalar => self.out.push_str(&crate::display::one_line(scalar)),
        }
        Ok(())
    }

    /// A value, an object without `new`; what a directive says around its value.
    fn bare(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        if let Some(object) = Object::of(value) {
            return self.braces(object);
        }
        let Some((before, value, after)) = value.pcf_directive() else {
            return self.expression(value);
        };
        self.walk.enter(Step::Property("value"), self.out.len())?;
        self.out.push_str(before);
        self.bare(value)?;
        self.out.push_str(after);
        self.walk.leave();
        Ok(())
    }

    fn call(&mut self, name: &str, items: impl Iterator<Item = &'a Tree>) -> Result<(), RenderError> {
        self.out.push_str(name);
        self.out.push('(');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.walk.enter(Step::Element(index), self.out.len())?;
            self.expression(item)?;
            self.walk.leave();
        }
        self.out.push(')');
        Ok(())
    }

    fn string(&self, text: &str) -> String {
        let custom = self.options.use_custom_string_delimiters;
        if text.contains('\n') {
            literal::multi_line(text, &format!("{}{}", self.indent, self.options.indent), custom)
        } else if custom {
            literal::custom(text)
        } else {
            literal::plain(text)
        }
    }

    fn start_line(&mut self) {
        self.out.push('\n');
        self.out.push_str(&self.indent);
    }
}
