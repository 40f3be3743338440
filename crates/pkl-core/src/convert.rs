//! Converters of renderers: functions that replace values before they are rendered.

use pkl_parser::Symbol;
use rustc_hash::FxHashMap;

use crate::error::{ErrorCode, Raised, Result};
use crate::mutants::mutant;
use crate::value::{ClassId, Value};
use crate::vm::Vm;
use crate::vm::amend::ObjectKind;

/// One step of the way from the rendered value to a value in it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Property(Symbol),
    Entry(Value),
    Element(u32),
}

/// A part of a path that selects values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathPart {
    Property(String),
    AnyProperty,
    Key(String),
    AnyKey,
}

#[derive(Clone, Debug)]
struct PathPattern {
    /// Whether it begins at the rendered value.
    anchored: bool,
    parts: Vec<PathPart>,
}

/// The converters of one renderer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Converters {
    by_class: FxHashMap<ClassId, Value>,
    by_path: Vec<(PathPattern, Value)>,
}

impl Converters {
    /// The converters of a renderer's `converters`, if it has any.
    pub(crate) fn of_renderer(vm: &mut Vm<'_>, renderer: Value) -> Result<Option<Self>> {
        let name = vm.words.converters;
        let Some(Value::Object(mapping)) = vm.find_property(renderer, name)? else { return Ok(None) };
        let entries = vm.entries(mapping)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let mut converters = Self::default();
        for (key, function) in entries {
            match key {
                Value::Class(class) => {
                    converters.by_class.insert(class, function);
                }
                Value::String(id) => {
                    let pattern = PathPattern::parse(vm.heap.text(id))?;
                    converters.by_path.push((pattern, function));
                }
                other => {
                    let class = vm.known(crate::vm::Known::String)?;
                    return Err(vm.mismatch(class, other)?);
                }
            }
        }
        Ok(Some(converters))
    }

    /// The value that is rendered in the place of `value`.
    pub(crate) fn convert(&self, vm: &mut Vm<'_>, value: Value, path: &[Step]) -> Result<Value> {
        let class_first = mutant!(ConverterClassFirst) && self.by_class.contains_key(&vm.class_of(value)?);
        for (pattern, function) in &self.by_path {
            if !class_first && pattern.matches(vm, path)? {
                return vm.apply(*function, &[value]);
            }
        }
        if self.by_class.is_empty() {
            return Ok(value);
        }
        let class = vm.class_of(value)?;
        // Subclasses count for instances of classes only.
        let typed = matches!(value, Value::Object(_)) && vm.object_kind(class)? == ObjectKind::Typed;
        let most_specific = if typed {
            let mut lineage = vm.heap.class(class).display.clone();
            if mutant!(ConverterLeastSpecific) {
                lineage = lineage.iter().rev().copied().collect();
            }
            lineage.iter().rev().find_map(|class| self.by_class.get(class))
        } else {
            self.by_class.get(&class)
        };
        match most_specific {
            Some(&function) => vm.apply(function, &[value]),
            None => Ok(value),
        }
    }
}

impl PathPattern {
    fn parse(text: &str) -> Result<Self> {
        let invalid = || {
            let message = format!("Converter path `{text}` has invalid syntax.");
            Raised::new(ErrorCode::InvalidArgument, message)
        };
        let (anchored, mut rest) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut parts = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('[') {
                let end = after.find(']').ok_or_else(invalid)?;
                let key = &after[..end];
                parts.push(if key == "*" { PathPart::AnyKey } else { PathPart::Key(key.to_owned()) });
                rest = &after[end + 1..];
                continue;
            }
            let after = rest.strip_prefix('.').unwrap_or(rest);
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let name = &after[..end];
            if name.is_empty() || name.contains(']') {
                return Err(invalid());
            }
            parts.push(if name == "*" { PathPart::AnyProperty } else { PathPart::Property(name.to_owned()) });
            rest = &after[end..];
        }
        if parts.is_empty() && !anchored && !text.is_empty() {
            return Err(invalid());
        }
        Ok(Self { anchored: anchored || text.is_empty(), parts })
    }

    fn matches(&self, vm: &mut Vm<'_>, path: &[Step]) -> Result<bool> {
        if self.parts.len() > path.len() || (self.anchored && self.parts.len() != path.len()) {
            return Ok(false);
        }
        let tail = &path[path.len() - self.parts.len()..];
        for (part, step) in self.parts.iter().zip(tail) {
            let matches = match (part, step) {
                (PathPart::AnyProperty, Step::Property(_))
                | (PathPart::AnyKey, Step::Entry(_) | Step::Element(_)) => true,
                (PathPart::Property(name), Step::Property(symbol)) => **name == *vm.text_of(*symbol),
                (PathPart::Key(text), Step::Entry(key)) => *text == vm.library_text(*key)?,
                _ => false,
            };
            if !matches {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
