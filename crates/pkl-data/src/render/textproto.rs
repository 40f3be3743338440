//! `pkl:protobuf`: the text format of protocol buffers.

use std::fmt::Write as _;
use std::sync::Arc;

use super::json::push_string;
use super::walk::{Step, Walk};
use crate::display::{excerpt, one_line};
use crate::error::{RenderError, RenderErrorCode};
use crate::tree::{ClassName, Tree, Typed};
use crate::units::{Duration, DurationUnit};

/// How the messages about keys begin.
const REFUSED_KEY: &str = "Cannot render map with a non-scalar, floating point or byte array key";

/// What the renderer needs to know of a property's declared type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldType {
    /// Whether it is a union, of more than string literals: its value is wrapped in a message.
    pub is_union: bool,
    /// Whether its elements are.
    pub has_union_elements: bool,
    /// Whether it is or contains a mapping whose type of keys the format doesn't have.
    pub has_refused_keys: bool,
    /// The class that its value must have, not a subclass; scalars may have any.
    pub exact_class: Option<Arc<str>>,
}

/// The options of `protobuf.Renderer`.
pub struct Options<'t> {
    /// `indent`.
    pub indent: String,
    /// The declared type of a class's property.
    pub field_type: &'t dyn Fn(&ClassName, &str) -> FieldType,
    /// The longest output.
    pub max_bytes: usize,
}

/// `renderValue`.
///
/// # Errors
/// If the value is no object of a class and no scalar, or holds what the format has nothing for.
pub fn value(value: &Tree, options: &Options<'_>) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    match value {
        Tree::Typed(typed) => writer.top_level(value, typed)?,
        Tree::Bool(_) | Tree::Int(_) | Tree::Float(_) | Tree::String(_) | Tree::Duration(_) => {
            writer.scalar(value)?;
        }
        other => {
            let class = if matches!(other, Tree::Function { .. }) {
                "Function".to_owned()
            } else {
                other.class_name()
            };
            let message = format!(
                "The top-level value of a protobuf file must have type `Typed`, but got type `{class}`."
            );
            return Err(writer.walk.error(RenderErrorCode::UnsupportedDocument, message));
        }
    }
    Ok(writer.out)
}

/// `renderDocument`: a message, with a newline at the end.
///
/// # Errors
/// If the value is or holds what the format has nothing for.
pub fn document(value: &Tree, options: &Options<'_>) -> Result<String, RenderError> {
    let mut writer = Writer::new(options);
    match value {
        Tree::Typed(typed) => writer.top_level(value, typed)?,
        Tree::List(_) | Tree::Set(_) | Tree::Listing(_) | Tree::Map(_) | Tree::Mapping(_) => {
            return Err(writer.walk.unsupported(value));
        }
        scalar => writer.scalar(scalar)?,
    }
    if !writer.out.is_empty() {
        writer.end_line();
    }
    Ok(writer.out)
}

struct Writer<'a> {
    options: &'a Options<'a>,
    out: String,
    indent: String,
    walk: Walk<'a>,
}

impl<'a> Writer<'a> {
    fn new(options: &'a Options<'_>) -> Self {
        Self {
            options,
            out: String::new(),
            indent: String::new(),
            walk: Walk::new("Protobuf", options.max_bytes),
        }
    }

    fn top_level(&mut self, value: &'a Tree, typed: &'a Typed) -> Result<(), RenderError> {
        match value.render_directive() {
            Some(text) => self.out.push_str(text),
            None => self.fields(typed)?,
        }
        Ok(())
    }

    fn fields(&mut self, typed: &'a Typed) -> Result<(), RenderError> {
        let fields = typed.properties.iter().filter(|(_, value)| !matches!(value, Tree::Null));
        for (name, value) in fields {
            let field_type = (self.options.field_type)(&typed.class, name);
            self.walk.enter(Step::Property(name), self.out.len())?;
            self.check_field(value, &field_type)?;
            self.field(name, value, &field_type)?;
            self.walk.leave();
        }
        Ok(())
    }

    /// Whether the declared type of a field has a counterpart in protocol buffers.
    fn check_field(&self, value: &Tree, field_type: &FieldType) -> Result<(), RenderError> {
        if field_type.has_refused_keys {
            let message = format!("{REFUSED_KEY} type.");
            return Err(self.walk.error(RenderErrorCode::UnsupportedKey, message));
        }
        let Some(declared) = &field_type.exact_class else { return Ok(()) };
        let is_message = matches!(
            value,
            Tree::Typed(_)
                | Tree::Dynamic(_)
                | Tree::List(_)
                | Tree::Set(_)
                | Tree::Map(_)
                | Tree::Listing(_)
                | Tree::Mapping(_)
        );
        let actual = value.class_name();
        if !is_message || value.render_directive().is_some() || *actual == **declared {
            return Ok(());
        }
        let message = format!("Cannot render subtype {declared} of specified type {actual} in protobuf.");
        Err(RenderError { path: Vec::new(), ..self.walk.error(RenderErrorCode::UnsupportedValue, message) })
    }

    /// A field; one with several values is repeated.
    fn field(&mut self, name: &str, value: &'a Tree, field_type: &FieldType) -> Result<(), RenderError> {
        match value {
            // Not the field is repeated then, but that of the type in it.
            single if field_type.is_union => {
                self.start_line(name);
                self.wrapped(single, true)?;
            }
            Tree::List(items) | Tree::Set(items) | Tree::Listing(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk.enter(Step::Element(index), self.out.len())?;
                    self.start_line(name);
                    self.wrapped(item, field_type.has_union_elements)?;
                    self.walk.leave();
                }
            }
            Tree::Map(entries) | Tree::Mapping(entries) => {
                for (key, value) in entries.iter().filter(|(_, value)| !matches!(value, Tree::Null)) {
                    self.walk.enter(Step::Entry(key), self.out.len())?;
                    self.start_line(name);
                    self.message(|writer| writer.entry(key, value))?;
                    self.walk.leave();
                }
            }
            single => {
                self.start_line(name);
                self.wrapped(single, false)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, key: &'a Tree, value: &'a Tree) -> Result<(), RenderError> {
        if !matches!(key, Tree::String(_) | Tree::Int(_) | Tree::Bool(_)) {
            let message = format!("{REFUSED_KEY}.\nKey: {}", excerpt(key));
            return Err(self.walk.error(RenderErrorCode::UnsupportedKey, message));
        }
        self.start_line("key");
        self.scalar(key)?;
        self.start_line("value");
        self.wrapped(value, false)
    }

    /// A value after its name; that of a union in a message whose field says which type it has.
    fn wrapped(&mut self, value: &'a Tree, is_union: bool) -> Result<(), RenderError> {
        if is_union {
            let class = match value {
                Tree::Typed(typed) => Arc::clone(&typed.class.name),
                other => other.class_name().into(),
            };
            return self.message(|writer| writer.field(&format!("it_{class}"), value, &FieldType::default()));
        }
        match value {
            Tree::Typed(_) if value.render_directive().is_some() => self.scalar(value),
            Tree::Typed(typed) => self.message(|writer| writer.fields(typed)),
            Tree::List(_) | Tree::Set(_) | Tree::Listing(_) | Tree::Map(_) | Tree::Mapping(_) => {
                self.message(|writer| writer.field("it", value, &FieldType::default()))
            }
            scalar => self.scalar(scalar),
        }
    }

    fn message(
        &mut self,
        fields: impl FnOnce(&mut Self) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        self.out.push('{');
        self.indent.push_str(&self.options.indent);
        let before = self.out.len();
        fields(self)?;
        self.indent.truncate(self.indent.len() - self.options.indent.len());
        if self.out.len() > before {
            self.end_line();
            self.out.push_str(&self.indent);
        }
        self.out.push('}');
        Ok(())
    }

    fn start_line(&mut self, name: &str) {
        if !self.out.is_empty() {
            self.end_line();
        }
        let _ = write!(self.out, "{}{name}: ", self.indent);
    }

    /// Without an indent everything stands on one line.
    fn end_line(&mut self) {
        if !self.options.indent.is_empty() {
            self.out.push('\n');
        }
    }

    fn scalar(&mut self, value: &Tree) -> Result<(), RenderError> {
        match value {
            Tree::String(text) => push_string(&mut self.out, text),
            Tree::Duration(duration) => self.duration(*duration)?,
            Tree::Null
            | Tree::Bool(_)
            | Tree::Int(_)
            | Tree::Float(_)
            | Tree::Pair(_)
            | Tree::Regex(_)
            | Tree::IntSeq(_) => self.out.push_str(&one_line(value)),
            other => match other.render_directive() {
                Some(text) => self.out.push_str(text),
                None => return Err(self.walk.unsupported(other)),
            },
        }
        Ok(())
    }

    /// Whole seconds, rounded down, and what is left of a second, with the sign of the whole.
    #[expect(clippy::cast_possible_truncation, reason = "saturates, as the official evaluator does")]
    fn duration(&mut self, duration: Duration) -> Result<(), RenderError> {
        let seconds = duration.value_in(DurationUnit::Seconds).floor() as i64;
        let nanos = (duration.value_in(DurationUnit::Nanos) % 1e9) as i64;
        self.message(|writer| {
            for (name, number) in [("seconds", seconds), ("nanos", nanos)] {
                writer.start_line(name);
                let _ = write!(writer.out, "{number}");
            }
            Ok(())
        })
    }
}
