//! `PropertiesRenderer`: Java properties files.

use std::fmt::Write as _;

use super::shape::{self, Key, KeyText};
use super::walk::Walk;
use crate::display::{excerpt_as, to_string};
use crate::error::RenderError;
use crate::number::float_to_string;
use crate::tree::{Member, Tree};

/// The options of `PropertiesRenderer`.
#[derive(Clone, Debug)]
pub struct Options {
    /// `omitNullProperties`: leaves out entries of maps and mappings too.
    pub omit_null_properties: bool,
    /// `restrictCharset`: everything but printable ASCII as `\uXXXX`.
    pub restrict_charset: bool,
    /// The longest output.
    pub max_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { omit_null_properties: true, restrict_charset: false, max_bytes: super::DEFAULT_MAX_BYTES }
    }
}

/// `renderValue`: one value.
///
/// # Errors
/// If the value isn't a string, a number, a boolean or null.
pub fn value(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    match value.render_directive() {
        Some(text) => writer.out.push_str(text),
        None => writer.scalar(value)?,
    }
    Ok(writer.out)
}

/// `renderDocument`: a line for each value, with the keys on the way to it joined by dots.
///
/// # Errors
/// If the value has no keys, or holds something that has neither keys nor a text.
pub fn document(value: &Tree, options: &Options) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    if let Some(text) = value.render_directive() {
        return Ok(text.to_owned());
    }
    let members = match value {
        // At the top elements without any keys are nothing at all.
        Tree::Dynamic(members) if members.iter().all(|member| matches!(member, Member::Element(_))) => {
            Vec::new()
        }
        _ => match keyed_members(value) {
            Members::Keyed(members) => members,
            Members::Mixed => return Err(writer.walk.mixed(value)),
            Members::None => {
                let expected = "`Typed`, `Dynamic`, `Mapping`, or `Map`";
                return Err(writer.walk.unsupported_document("a Java properties file", expected, value));
            }
        },
    };
    writer.members(&members)?;
    Ok(writer.out)
}

/// What a value has for this format.
enum Members<'a> {
    Keyed(Vec<(Key<'a>, &'a Tree)>),
    Mixed,
    None,
}

fn keyed_members(value: &Tree) -> Members<'_> {
    match value {
        Tree::Map(entries) | Tree::Mapping(entries) => {
            Members::Keyed(entries.iter().map(|(key, value)| (Key::Entry(key), value)).collect())
        }
        Tree::Typed(typed) => Members::Keyed(
            typed.properties.iter().map(|(name, value)| (Key::Property(name), value)).collect(),
        ),
        Tree::Dynamic(members) => {
            let keyed: Vec<_> = members.iter().filter_map(shape::keyed).collect();
            if keyed.len() == members.len() { Members::Keyed(keyed) } else { Members::Mixed }
        }
        _ => Members::None,
    }
}

struct Writer<'a> {
    options: &'a Options,
    out: String,
    /// The escaped keys on the way, each followed by a dot.
    prefix: String,
    walk: Walk<'a>,
}

impl<'a> Writer<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            out: String::new(),
            prefix: String::new(),
            walk: Walk::new("Properties", options.max_bytes),
        }
    }

    fn members(&mut self, members: &[(Key<'a>, &'a Tree)]) -> Result<(), RenderError> {
        for (key, value) in members {
            if self.options.omit_null_properties && matches!(value, Tree::Null) {
                continue;
            }
            self.walk.enter(key.step(), self.out.len())?;
            let before = self.prefix.len();
            self.push_key(*key);
            self.member(value)?;
            self.prefix.truncate(before);
            self.walk.leave();
        }
        Ok(())
    }

    fn member(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        let directive = value.render_directive();
        match keyed_members(value) {
            Members::Keyed(members) if directive.is_none() => {
                self.prefix.push('.');
                return self.members(&members);
            }
            // The official evaluator takes an object with elements for a listing here.
            Members::Mixed => return Err(self.walk.unsupported_as("Listing", &excerpt_as("Listing", value))),
            _ => {}
        }
        self.out.push_str(&self.prefix);
        self.out.push_str(" = ");
        match directive {
            Some(text) => self.out.push_str(text),
            None => self.scalar(value)?,
        }
        self.out.push('\n');
        Ok(())
    }

    fn push_key(&mut self, key: Key<'_>) {
        match key.text() {
            Some(KeyText::Directive(text)) => self.prefix.push_str(text),
            Some(KeyText::Text(text)) => self.escape_key(text),
            None => {
                let Key::Entry(key) = key else { return };
                self.escape_key(&to_string(key));
            }
        }
    }

    fn escape_key(&mut self, text: &str) {
        push_escaped(&mut self.prefix, text, true, self.options.restrict_charset);
    }

    fn scalar(&mut self, value: &Tree) -> Result<(), RenderError> {
        match value {
            Tree::Null => {}
            Tree::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Tree::Int(value) => {
                let _ = write!(self.out, "{value}");
            }
            Tree::Float(value) => self.out.push_str(&float_to_string(*value)),
            Tree::String(text) => push_escaped(&mut self.out, text, false, self.options.restrict_charset),
            other => return Err(self.walk.unsupported(other)),
        }
        Ok(())
    }
}

/// In a key every space is escaped, in a value one at the front.
fn push_escaped(out: &mut String, text: &str, is_key: bool, restrict_charset: bool) {
    for (at, character) in text.char_indices() {
        match character {
            ' ' if is_key || at == 0 => out.push_str("\\ "),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            '\\' | '=' | ':' | '#' | '!' => {
                out.push('\\');
                out.push(character);
            }
            ' '..='~' => out.push(character),
            _ if !restrict_charset => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04X}");
                }
            }
        }
    }
}
