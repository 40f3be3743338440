//! `PListRenderer`: XML property lists.

use std::fmt::Write as _;

use super::shape::{self, Key, KeyText, Shape};
use super::walk::{KeyKind, Step, Walk};
use super::xml::push_escaped;
use crate::bytes::to_base64;
use crate::error::RenderError;
use crate::number::float_to_string;
use crate::tree::Tree;

/// The options of `PListRenderer`.
#[derive(Clone, Debug)]
pub struct Options {
    /// `indent`.
    pub indent: String,
    /// The longest output.
    pub max_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { indent: "  ".to_owned(), max_bytes: super::DEFAULT_MAX_BYTES }
    }
}

const HEADER: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
"#;

/// `renderValue`.
///
/// # Errors
/// If a property list can't hold the value.
pub fn value(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    writer.value(value)?;
    Ok(writer.out)
}

/// `renderDocument`: a property list with header.
///
/// # Errors
/// If the value is a scalar, or a property list can't hold it.
pub fn document(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    let is_document = matches!(
        value,
        Tree::Typed(_)
            | Tree::Dynamic(_)
            | Tree::Listing(_)
            | Tree::Mapping(_)
            | Tree::List(_)
            | Tree::Set(_)
            | Tree::Map(_)
    );
    if matches!(value, Tree::Function { .. } | Tree::Error(_)) {
        return Err(writer.walk.unsupported(value));
    }
    if !is_document {
        let expected = "`Typed`, `Dynamic`, `Listing`, `Mapping`, `List`, `Set`, or `Map`";
        return Err(writer.walk.unsupported_document("an XML property list", expected, value));
    }
    writer.out.push_str(HEADER);
    writer.value(value)?;
    writer.out.push_str("\n</plist>\n");
    Ok(writer.out)
}

struct Writer<'a> {
    options: &'a Options,
    out: String,
    indent: String,
    walk: Walk<'a>,
}

impl<'a> Writer<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            out: String::new(),
            indent: String::new(),
            walk: Walk::new("XML property list", options.max_bytes),
        }
    }

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
            Tree::Bool(value) => self.out.push_str(if *value { "<true/>" } else { "<false/>" }),
            Tree::Int(value) => {
                let _ = write!(self.out, "<integer>{value}</integer>");
            }
            Tree::Float(value) => {
                let text = match *value {
                    value if value.is_nan() => "nan".to_owned(),
                    f64::INFINITY => "+infinity".to_owned(),
                    f64::NEG_INFINITY => "-infinity".to_owned(),
                    value => float_to_string(value),
                };
                let _ = write!(self.out, "<real>{text}</real>");
            }
            Tree::String(text) => {
                self.out.push_str("<string>");
                push_escaped(&mut self.out, text);
                self.out.push_str("</string>");
            }
            Tree::Bytes(bytes) => {
                let _ = write!(self.out, "<data>{}</data>", to_base64(bytes));
            }
            // The official evaluator gives its advice for the others only.
            Tree::Duration(_) | Tree::DataSize(_) | Tree::IntSeq(_) | Tree::Regex(_) => {
                return Err(RenderError { hint: None, ..self.walk.unsupported(value) });
            }
            other => return Err(self.walk.unsupported(other)),
        }
        Ok(())
    }

    fn sequence(&mut self, items: &[&'a Tree]) -> Result<(), RenderError> {
        if items.is_empty() {
            self.empty("<array/>");
            return Ok(());
        }
        self.out.push_str("<array>\n");
        for (index, item) in items.iter().enumerate() {
            self.out.push_str(&self.indent);
            self.out.push_str(&self.options.indent);
            self.walk.enter(Step::Element(index), self.out.len())?;
            self.nested(item)?;
            self.walk.leave();
            self.out.push('\n');
        }
        self.close("</array>");
        Ok(())
    }

    fn members(&mut self, owner: &'a Tree, members: &[(Key<'a>, &'a Tree)]) -> Result<(), RenderError> {
        let mut shown = members.iter().filter(|(_, value)| !matches!(value, Tree::Null)).peekable();
        if members.is_empty() || (shown.peek().is_none() && !matches!(owner, Tree::Map(_))) {
            self.empty("<dict/>");
            return Ok(());
        }
        // A map that holds nothing but nulls is closed, yet never opened.
        if shown.peek().is_some() {
            self.out.push_str("<dict>\n");
        }
        for (key, value) in shown {
            self.out.push_str(&self.indent);
            self.out.push_str(&self.options.indent);
            self.out.push_str("<key>");
            match (key.text(), key) {
                (Some(KeyText::Text(text)), _) => push_escaped(&mut self.out, text),
                (Some(KeyText::Directive(text)), _) => self.out.push_str(text),
                (None, Key::Entry(key)) => {
                    return Err(self.walk.unsupported_key(owner, key, KeyKind::NonString));
                }
                (None, Key::Property(_)) => {}
            }
            self.out.push_str("</key>\n");
            self.out.push_str(&self.indent);
            self.out.push_str(&self.options.indent);
            self.walk.enter(key.step(), self.out.len())?;
            self.nested(value)?;
            self.walk.leave();
            self.out.push('\n');
        }
        self.close("</dict>");
        Ok(())
    }

    fn nested(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        self.indent.push_str(&self.options.indent);
        self.value(value)?;
        self.indent.truncate(self.indent.len() - self.options.indent.len());
        Ok(())
    }

    /// The official evaluator indents an empty collection twice.
    fn empty(&mut self, tag: &str) {
        self.out.push_str(&self.indent);
        self.out.push_str(tag);
    }

    fn close(&mut self, tag: &str) {
        self.out.push_str(&self.indent);
        self.out.push_str(tag);
    }
}
