//! Members in traces, and hints for names that aren't found.

use pkl_parser::Symbol;
use std::sync::Arc;

use super::Vm;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{ClassKind, PropertyKey};
use crate::ir::{Code, IrId, Member, Method};
use crate::value::{ClassId, ModuleId, ObjectId, Value};

/// How alike two names must be for one to be suggested instead of the other.
const SIMILAR: f64 = 0.77;

impl<'ir> Vm<'ir> {
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
        let base = self.store.base().names.properties.keys().copied();
        let mut names: Vec<Arc<str>> =
            module.scope.visible_names().into_iter().chain(base).map(|name| self.text_of(name)).collect();
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
