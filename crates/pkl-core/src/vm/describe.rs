//! Values, members and types as messages and interpolations show them.

use pkl_parser::Symbol;
use std::fmt::Write as _;
use std::sync::Arc;

use super::Vm;
use super::amend::ObjectKind;
use super::iterate::MemberKey;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{Cache, ClassKind, PropertyKey};
use crate::ir::{Code, IrId, Member, Method};
use crate::value::{ClassId, ModuleId, ObjectId, Value};

/// How alike two names must be for one to be suggested instead of the other.
const SIMILAR: f64 = 0.77;

/// Whether values that aren't evaluated yet are evaluated to be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Forced,
    AsIs,
}

/// A string as a literal.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// A name as it is written, back-quoted if it must be.
pub(crate) fn identifier(name: &str) -> String {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$');
    let plain = starts && characters.all(|next| next.is_alphanumeric() || next == '_' || next == '$');
    if plain { name.to_owned() } else { format!("`{name}`") }
}

impl<'ir> Vm<'ir> {
    /// A value as `\(value)` shows it: by its `toString`.
    pub(crate) fn to_display(&mut self, value: Value) -> Result<String> {
        if let Value::Object(_) = value {
            let name = self.words.to_string;
            return match self.call_method(value, name, &[])? {
                Value::String(id) => Ok(self.heap.text(id).to_owned()),
                other => self.show(other),
            };
        }
        self.to_text(value)
    }

    /// A value as the library's own `toString` shows it.
    pub(crate) fn to_text(&mut self, value: Value) -> Result<String> {
        match value {
            Value::String(id) => Ok(self.heap.text(id).to_owned()),
            other => self.show(other),
        }
    }

    /// A value as it would be written, all of its members evaluated.
    pub(crate) fn show(&mut self, value: Value) -> Result<String> {
        let mut out = String::new();
        self.write_value(&mut out, value, Depth::Forced)?;
        Ok(out)
    }

    /// A value as messages show it: what isn't evaluated is `?`.
    pub(crate) fn show_shallow(&mut self, value: Value) -> Result<String> {
        let mut out = String::new();
        self.write_value(&mut out, value, Depth::AsIs)?;
        Ok(out)
    }

    fn write_value(&mut self, out: &mut String, value: Value, depth: Depth) -> Result<()> {
        match value {
            Value::Null(_) => out.push_str("null"),
            Value::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            Value::Int(value) => out.push_str(&value.to_string()),
            Value::Float(value) => out.push_str(&pkl_data::number::float_to_string(value)),
            Value::String(id) => out.push_str(&quote(self.heap.text(id))),
            Value::Duration(id) => out.push_str(&self.heap.duration(id).to_string()),
            Value::DataSize(id) => out.push_str(&self.heap.data_size(id).to_string()),
            Value::Regex(id) => {
                out.push_str("Regex(");
                out.push_str(&quote(self.heap.regex(id).pattern()));
                out.push(')');
            }
            Value::IntSeq(id) => {
                let sequence = *self.heap.int_seq(id);
                let _infallible = write!(out, "IntSeq({}, {})", sequence.start, sequence.end);
                if sequence.step != 1 {
                    let _infallible = write!(out, ".step({})", sequence.step);
                }
            }
            Value::Bytes(id) => {
                let bytes = self.heap.bytes_of(id);
                let shown: Vec<String> = bytes.iter().map(u8::to_string).collect();
                let _infallible = write!(out, "Bytes({})", shown.join(", "));
            }
            Value::Class(id) => out.push_str(&self.class_name(id)),
            Value::TypeAlias(id) => {
                let name = Arc::clone(&self.heap.alias(id).display_name);
                out.push_str(&name);
            }
            Value::Function(id) => {
                let _infallible = write!(out, "new Function{} {{}}", self.heap.function(id).arity);
            }
            Value::Pair(id) => {
                let (first, second) = *self.heap.pair(id);
                self.write_list(out, "Pair", &[first, second], depth)?;
            }
            Value::List(id) => {
                let items = self.heap.list(id).to_vec();
                self.write_list(out, "List", &items, depth)?;
            }
            Value::Set(id) => {
                let items = self.heap.set(id).to_vec();
                self.write_list(out, "Set", &items, depth)?;
            }
            Value::Map(id) => {
                let keys = self.heap.map_keys(id).to_vec();
                let values = self.heap.map_values(id).to_vec();
                let items: Vec<Value> =
                    keys.into_iter().zip(values).flat_map(|(key, value)| [key, value]).collect();
                self.write_list(out, "Map", &items, depth)?;
            }
            Value::Object(object) => self.write_object(out, object, depth)?,
        }
        if out.len() > self.limits().output {
            return Err(Raised::new(ErrorCode::LimitExceeded, "The text of a value is too long."));
        }
        Ok(())
    }

    fn write_list(&mut self, out: &mut String, name: &str, items: &[Value], depth: Depth) -> Result<()> {
        self.check_stack()?;
        out.push_str(name);
        out.push('(');
        for (position, &item) in items.iter().enumerate() {
            if position > 0 {
                out.push_str(", ");
            }
            self.write_value(out, item, depth)?;
        }
        out.push(')');
        Ok(())
    }

    fn write_object(&mut self, out: &mut String, object: ObjectId, depth: Depth) -> Result<()> {
        self.check_stack()?;
        let class = self.heap.object(object).class;
        let name = match self.object_kind(class)? {
            ObjectKind::Typed if self.heap.class(class).kind == ClassKind::Module => {
                let name = self.class_name(class);
                name.rsplit('.').next().unwrap_or_default().to_owned()
            }
            _ => self.text_of(self.heap.class(class).name).to_string(),
        };
        let _infallible = write!(out, "new {name} {{");
        let members = self.members_of(object);
        for (position, (key, place)) in members.iter().enumerate() {
            out.push_str(if position > 0 { "; " } else { " " });
            match *key {
                MemberKey::Property(name) => {
                    let _infallible = write!(out, "{} = ", identifier(&self.text_of(name)));
                }
                MemberKey::Entry(key) => {
                    out.push('[');
                    self.write_value(out, key, depth)?;
                    out.push_str("] = ");
                }
                MemberKey::Element(_) => {}
            }
            let value = match (depth, self.slot_at(*place).cache) {
                (Depth::Forced, _) => Some(self.force(object, *place)?),
                (Depth::AsIs, Cache::Ready(value)) => Some(value),
                (Depth::AsIs, _) => None,
            };
            match value {
                Some(value) => self.write_value(out, value, depth)?,
                None => out.push('?'),
            }
        }
        out.push_str(if members.is_empty() { "}" } else { " }" });
        Ok(())
    }

    /// The name of a member in traces.
    pub(crate) fn member_name(&self, member: &'ir Member, definer: ObjectId) -> String {
        let module = &self.store.module(member.module).name;
        let Some(name) = member.name else { return module.to_string() };
        let name = self.text_of(name);
        let object = self.heap.object(definer);
        let class = self.heap.class(object.class);
        if object.flags.prototype && class.kind == ClassKind::Declared {
            format!("{module}#{}.{name}", self.text_of(class.name))
        } else {
            format!("{module}#{name}")
        }
    }

    pub(crate) fn method_name(&self, method: &'ir Method) -> String {
        let module = &self.store.module(method.module).name;
        let name = self.text_of(method.name);
        match method.class_name {
            Some(class) => format!("{module}#{}.{name}", self.text_of(class)),
            None => format!("{module}#{name}"),
        }
    }

    pub(crate) fn function_name(&self, module: IrId) -> String {
        format!("{}#<function>", self.store.module(module).name)
    }

    /// "Did you mean" with names like `wanted`, or nothing.
    fn suggestions(wanted: &str, names: &[Arc<str>]) -> Option<String> {
        let lower = wanted.to_lowercase();
        let mut alike: Vec<(f64, &str)> = names
            .iter()
            .map(|name| (strsim::jaro_winkler(&lower, &name.to_lowercase()), &**name))
            .filter(|(likeness, _)| *likeness >= SIMILAR)
            .collect();
        if alike.is_empty() {
            return None;
        }
        alike.sort_by(|(a, name_a), (b, name_b)| b.total_cmp(a).then(name_a.cmp(name_b)));
        let names: Vec<&str> = alike.into_iter().map(|(_, name)| name).collect();
        Some(format!("Did you mean any of the following?\n{}", names.join("\n")))
    }

    fn property_names(&self, receiver: Option<ObjectId>, class: ClassId) -> Vec<Arc<str>> {
        let record = self.heap.class(class);
        let mut names: Vec<Arc<str>> = record.properties.keys().map(|name| self.text_of(*name)).collect();
        if let Some(object) = receiver {
            let shape = self.heap.shapes.get(self.heap.object(object).shape);
            names.extend(shape.keys().iter().filter_map(|key| match key {
                PropertyKey::Named(name) => Some(self.text_of(*name)),
                PropertyKey::Local(_) => None,
            }));
        }
        names.sort();
        names.dedup();
        names
    }

    pub(crate) fn unknown_property(&mut self, receiver: Value, name: Symbol) -> Result<Failure> {
        let class = self.class_of(receiver)?;
        let object = match receiver {
            Value::Object(object) => Some(object),
            _ => None,
        };
        Ok(self.unknown_property_in(object, class, name))
    }

    pub(crate) fn unknown_property_of_class(&self, class: ClassId, name: Symbol) -> Failure {
        self.unknown_property_in(None, class, name)
    }

    fn unknown_property_in(&self, object: Option<ObjectId>, class: ClassId, name: Symbol) -> Failure {
        let text = self.text_of(name);
        let (class_name, is_module) =
            (self.class_name(class), self.heap.class(class).kind == ClassKind::Module);
        let place = if is_module {
            format!("module `{class_name}`")
        } else {
            format!("object of type `{class_name}`")
        };
        let message = format!("Cannot find property `{text}` in {place}.");
        let names = self.property_names(object, class);
        let error = Raised::new(ErrorCode::UnknownProperty, message);
        if let Some(hint) = Self::suggestions(&text, &names) {
            return error.with_hint(hint);
        }
        if names.is_empty() {
            return error;
        }
        let place = if is_module { format!(" in module `{class_name}`") } else { String::new() };
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        error.with_hint(format!("Available properties{place}:\n{}", names.join("\n")))
    }

    pub(crate) fn unknown_name(&mut self, code: &'ir Code, name: Symbol, this: Value) -> Failure {
        let text = self.text_of(name);
        let module = self.store.module(code.module);
        let mut names: Vec<Arc<str>> =
            module.scope.visible_names().into_iter().map(|name| self.text_of(name)).collect();
        if let Value::Object(object) = this {
            names.extend(self.property_names(Some(object), self.heap.object(object).class));
        }
        names.sort();
        names.dedup();
        let error = Raised::new(ErrorCode::UnknownProperty, format!("Cannot find property `{text}`."));
        match Self::suggestions(&text, &names) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    pub(crate) fn unknown_method(&mut self, class: ClassId, name: Symbol) -> Failure {
        let text = self.text_of(name);
        let class_name = self.class_name(class);
        let record = self.heap.class(class);
        let place = match record.kind {
            ClassKind::Module => format!("module `{class_name}`"),
            ClassKind::Declared => format!("class `{class_name}`"),
        };
        let names: Vec<Arc<str>> = record.methods.keys().map(|name| self.text_of(*name)).collect();
        let error = Raised::new(ErrorCode::UnknownMethod, format!("Cannot find method `{text}` in {place}."));
        match Self::suggestions(&text, &names) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }

    pub(crate) fn similar_types(&self, module: ModuleId, wanted: &str) -> Option<String> {
        let own = self.module(module).ir;
        let base = self.store.base();
        let names: Vec<Arc<str>> = [own, base]
            .into_iter()
            .flat_map(|ir| {
                ir.classes.iter().map(|class| class.name).chain(ir.aliases.iter().map(|alias| alias.name))
            })
            .map(|name| self.text_of(name))
            .collect();
        Self::suggestions(wanted, &names)
    }
}
