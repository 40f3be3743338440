//! `pkl:xml`: XML 1.0 and 1.1.

use std::fmt::Write as _;

use super::shape::{self, Key, KeyText, Shape};
use super::walk::{KeyKind, Step, Walk};
use crate::display::{excerpt, one_line};
use crate::error::{RenderError, RenderErrorCode};
use crate::number::float_to_string;
use crate::tree::{Member, Tree, Typed};

mod names;

/// The options of `xml.Renderer`.
#[derive(Clone, Debug)]
pub struct Options {
    /// `indent`.
    pub indent: String,
    /// `xmlVersion`: the names that are allowed differ.
    pub version: Version,
    /// `rootElementName`: for values that are no `xml.Element`.
    pub root_element_name: String,
    /// `rootElementAttributes`.
    pub root_element_attributes: Vec<(Tree, Tree)>,
    /// The longest output.
    pub max_bytes: usize,
}

/// The versions of XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 1.0.
    Xml10,
    /// 1.1.
    Xml11,
}

impl Version {
    fn as_str(self) -> &'static str {
        match self {
            Self::Xml10 => "1.0",
            Self::Xml11 => "1.1",
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            indent: "  ".to_owned(),
            version: Version::Xml10,
            root_element_name: "root".to_owned(),
            root_element_attributes: Vec::new(),
            max_bytes: super::DEFAULT_MAX_BYTES,
        }
    }
}

/// `renderValue`: the content without a root element.
///
/// # Errors
/// If XML can't hold the value, or a name isn't one.
pub fn value(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    writer.top_level(value)?;
    Ok(writer.out)
}

/// `renderDocument`: with a declaration and one root element.
///
/// # Errors
/// If XML can't hold the value, or a name isn't one.
pub fn document(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    let _ = write!(writer.out, "<?xml version=\"{}\" encoding=\"UTF-8\"?>", options.version.as_str());
    if element(value).is_some() {
        writer.top_level(value)?;
    } else {
        let root = Element {
            name: &options.root_element_name,
            attributes: &options.root_element_attributes,
            is_block: true,
        };
        writer.element(root, |writer| writer.top_level(value))?;
    }
    writer.out.push('\n');
    Ok(writer.out)
}

/// What stands between `<` and `>`.
#[derive(Clone, Copy)]
struct Element<'a> {
    name: &'a str,
    attributes: &'a [(Tree, Tree)],
    /// Whether it begins a line.
    is_block: bool,
}

/// The element that a value made by `xml.Element(…)` stands for.
fn element(value: &Tree) -> Option<Element<'_>> {
    let Tree::Dynamic(members) = value else { return None };
    let property = |wanted: &str| {
        members.iter().find_map(|member| match member {
            Member::Property(name, value) if &**name == wanted => Some(value),
            _ => None,
        })
    };
    if !matches!(property("_isXmlElement"), Some(Tree::Bool(true))) {
        return None;
    }
    let Some(Tree::String(name)) = property("name") else { return None };
    let attributes: &[(Tree, Tree)] = match property("attributes") {
        Some(Tree::Mapping(entries) | Tree::Map(entries)) => entries,
        _ => &[],
    };
    Some(Element {
        name,
        attributes,
        is_block: !matches!(property("isBlockFormat"), Some(Tree::Bool(false))),
    })
}

/// A value of one of the module's own classes.
enum Special<'a> {
    Comment { text: &'a str, is_block: bool },
    CData(&'a str),
    Inline(&'a Tree),
}

fn special(typed: &Typed) -> Option<Special<'_>> {
    let text = || match typed.property("text") {
        Some(Tree::String(text)) => Some(&**text),
        _ => None,
    };
    if typed.class.is("pkl.xml", "Comment") {
        let is_block = !matches!(typed.property("isBlockFormat"), Some(Tree::Bool(false)));
        Some(Special::Comment { text: text()?, is_block })
    } else if typed.class.is("pkl.xml", "CData") {
        Some(Special::CData(text()?))
    } else if typed.class.is("pkl.xml", "Inline") {
        Some(Special::Inline(typed.property("value")?))
    } else {
        None
    }
}

struct Writer<'a> {
    options: &'a Options,
    out: String,
    indent: String,
    /// Whether something inside of the current element stands on a line of its own, so that its end does too.
    ends_on_new_line: bool,
    walk: Walk<'a>,
}

impl<'a> Writer<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            out: String::new(),
            indent: String::new(),
            ends_on_new_line: false,
            walk: Walk::new("XML", options.max_bytes),
        }
    }

    fn top_level(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        if let Some(element) = element(value) {
            return self.element(element, |writer| writer.elements_of(value));
        }
        if let Tree::Typed(typed) = value
            && let Some(special) = special(typed)
        {
            return match special {
                Special::Inline(_) => {
                    let message = format!("`xml.Inline` is not supported here.\nValue: {}", excerpt(value));
                    Err(self.walk.error(RenderErrorCode::UnsupportedValue, message))
                }
                special => self.special(&special),
            };
        }
        self.content(value)
    }

    /// What stands inside of the element that holds a value.
    fn content(&mut self, value: &'a Tree) -> Result<(), RenderError> {
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
            Tree::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Tree::Int(value) => {
                let _ = write!(self.out, "{value}");
            }
            Tree::Float(value) => self.out.push_str(&float_to_string(*value)),
            Tree::String(text) => push_escaped(&mut self.out, text),
            other => return Err(self.walk.unsupported(other)),
        }
        Ok(())
    }

    /// Scalars stand next to each other; anything else gets an element named after its class.
    fn sequence(&mut self, items: &[&'a Tree]) -> Result<(), RenderError> {
        for (index, item) in items.iter().enumerate() {
            self.walk.enter(Step::Element(index), self.out.len())?;
            self.item(item)?;
            self.walk.leave();
        }
        Ok(())
    }

    fn item(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        if let Some(element) = element(value) {
            return self.element(element, |writer| writer.elements_of(value));
        }
        let name = match value {
            Tree::Null => return Ok(()),
            Tree::Typed(typed) => match special(typed) {
                Some(Special::Inline(inner)) => return self.content(inner),
                Some(special) => return self.special(&special),
                None if value.render_directive().is_some() => return self.content(value),
                None => typed.class.simple_name().to_owned(),
            },
            Tree::List(_)
            | Tree::Set(_)
            | Tree::Map(_)
            | Tree::Listing(_)
            | Tree::Mapping(_)
            | Tree::Dynamic(_) => value.class_name(),
            scalar => return self.scalar(scalar),
        };
        self.element(Element { name: &name, attributes: &[], is_block: true }, |writer| writer.content(value))
    }

    /// The elements of a value made by `xml.Element(…)`; it has no other content.
    fn elements_of(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        let Tree::Dynamic(members) = value else { return Ok(()) };
        let elements: Vec<&Tree> = members
            .iter()
            .filter_map(|member| match member {
                Member::Element(value) => Some(value),
                _ => None,
            })
            .collect();
        self.sequence(&elements)
    }

    fn members(&mut self, owner: &'a Tree, members: &[(Key<'a>, &'a Tree)]) -> Result<(), RenderError> {
        for (key, value) in members {
            if matches!(value, Tree::Null) {
                continue;
            }
            self.walk.enter(key.step(), self.out.len())?;
            self.member(owner, *key, value)?;
            self.walk.leave();
        }
        Ok(())
    }

    /// An element named after the key. Elements of the module's own bring their own name or none.
    fn member(&mut self, owner: &Tree, key: Key<'a>, value: &'a Tree) -> Result<(), RenderError> {
        if let Some(element) = element(value) {
            return self.element(element, |writer| writer.elements_of(value));
        }
        let name = match (key.text(), key) {
            (Some(KeyText::Text(text) | KeyText::Directive(text)), _) | (None, Key::Property(text)) => text,
            (None, Key::Entry(key)) => return Err(self.walk.unsupported_key(owner, key, KeyKind::NonString)),
        };
        let special = match value {
            Tree::Typed(typed) => special(typed),
            _ => None,
        };
        if let Some(Special::Inline(inner)) = special {
            return self.content(inner);
        }
        self.element(Element { name, attributes: &[], is_block: true }, |writer| match special {
            Some(special) => writer.special(&special),
            None => writer.content(value),
        })
    }

    fn special(&mut self, special: &Special<'a>) -> Result<(), RenderError> {
        match special {
            Special::Comment { text, is_block } => {
                if *is_block {
                    self.start_line();
                    self.ends_on_new_line = true;
                }
                let _ = write!(self.out, "<!--{text}-->");
            }
            Special::CData(text) => {
                let _ = write!(self.out, "<![CDATA[{}]]>", text.replace("]]>", "]]]]><![CDATA[>"));
            }
            Special::Inline(inner) => self.content(inner)?,
        }
        Ok(())
    }

    fn element(
        &mut self,
        element: Element<'_>,
        content: impl FnOnce(&mut Self) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        self.check_name("element", element.name)?;
        if element.is_block {
            self.start_line();
        }
        let _ = write!(self.out, "<{}", element.name);
        self.attributes(element)?;
        self.out.push('>');
        self.indent.push_str(&self.options.indent);
        let siblings = std::mem::take(&mut self.ends_on_new_line);
        content(self)?;
        self.indent.truncate(self.indent.len() - self.options.indent.len());
        if self.ends_on_new_line {
            self.start_line();
        }
        let _ = write!(self.out, "</{}>", element.name);
        self.ends_on_new_line |= siblings || element.is_block;
        Ok(())
    }

    fn attributes(&mut self, element: Element<'_>) -> Result<(), RenderError> {
        for (name, value) in element.attributes {
            let Tree::String(name) = name else {
                return Err(self.wrong_attribute("`String`", element.name));
            };
            self.check_name("attribute", name)?;
            let text = match value {
                Tree::String(text) => text.to_string(),
                Tree::Int(_) | Tree::Float(_) | Tree::Bool(_) => one_line(value),
                _ => return Err(self.wrong_attribute("`String` or `Boolean`", element.name)),
            };
            let _ = write!(self.out, " {name}=\"");
            push_escaped(&mut self.out, &text);
            self.out.push('"');
        }
        Ok(())
    }

    /// The official evaluator shows the element's name for the value.
    fn wrong_attribute(&self, expected: &str, element: &str) -> RenderError {
        let message = format!(
            "Expected value of type {expected}, but got type `String`.\nValue: {}",
            excerpt(&Tree::from(element))
        );
        self.walk.error(RenderErrorCode::UnsupportedValue, message)
    }

    fn check_name(&self, what: &str, name: &str) -> Result<(), RenderError> {
        if names::is_name(name, self.options.version == Version::Xml11) {
            return Ok(());
        }
        let message = format!("Invalid XML {} {what} name: `{name}`", self.options.version.as_str());
        Err(self.walk.error(RenderErrorCode::InvalidName, message))
    }

    fn start_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
            self.out.push_str(&self.indent);
        }
    }
}

/// Text with the characters of markup replaced by entities.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            other => out.push(other),
        }
    }
}
