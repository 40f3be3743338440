//! Members in traces, and hints for names that aren't found.

use pkl_parser::Symbol;
use std::sync::Arc;

use super::Vm;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{ClassKind, PropertyKey};
use crate::ir::{Code, IrId, Member, Method};
use crate::value::{ClassId, ObjectId, Value};

/// How alike two names must be for one to be suggested instead of the other.
const SIMILAR: f64 = 0.77;

/// A name that might have been meant.
struct Candidate {
    name: Arc<str>,
    shown: Arc<str>,
}

impl Candidate {
    fn plain(name: Arc<str>) -> Self {
        Self { shown: Arc::clone(&name), name }
    }
}

/// "Did you mean" with those candidates whose names are like `wanted`, or nothing.
fn suggestions(wanted: &str, candidates: &[Candidate]) -> Option<String> {
    let mut alike: Vec<(f64, &str)> = candidates
        .iter()
        .map(|candidate| (strsim::jaro_winkler(wanted, &candidate.name), &*candidate.shown))
        .filter(|(likeness, _)| *likeness >= SIMILAR)
        .collect();
    if alike.is_empty() {
        return None;
    }
    alike.sort_by(|(a, name_a), (b, name_b)| b.total_cmp(a).then(name_a.cmp(name_b)));
    alike.dedup_by(|(_, a), (_, b)| a == b);
    let names: Vec<&str> = alike.into_iter().map(|(_, name)| name).collect();
    Some(format!("Did you mean any of the following?\n{}", names.join("\n")))
}

fn with_suggestions(error: Failure, wanted: &str, candidates: &[Candidate]) -> Failure {
    match suggestions(wanted, candidates) {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

impl<'ir> Vm<'ir> {
    /// The name of a member in traces.
    pub(crate) fn member_name(&self, member: &'ir Member, definer: ObjectId) -> String {
        let module = &self.store.module(member.module).name;
        let Some(name) = member.name else { return module.to_string() };
        let name = self.text_of(name);
        let object = self.heap.object(definer);
        let class = self.heap.class(object.class);
        if object.is_prototype() && class.kind == ClassKind::Declared {
            format!("{module}#{}.{name}", self.text_of(class.name))
        } else {
            format!("{module}#{name}")
        }
    }

    pub(crate) fn method_name(&self, method: &Method) -> String {
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

    fn property_names(&self, receiver: Option<ObjectId>, class: ClassId) -> Vec<Arc<str>> {
        let record = self.heap.class(class);
        let mut names: Vec<Arc<str>> = record.properties.keys().map(|name| self.text_of(*name)).collect();
        for object in receiver.into_iter().chain([record.prototype]) {
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

    fn method_candidates(&self, class: ClassId) -> Vec<Candidate> {
        self.heap.class(class).methods.values().map(|found| self.method_candidate(found.method)).collect()
    }

    fn method_candidate(&self, method: &Method) -> Candidate {
        let ast = &self.store.module(method.module).ast;
        let params = ast[ast[method.ast].params].iter();
        let params: Vec<Arc<str>> = params
            .map(|param| param.name.map_or_else(|| "_".into(), |name| self.text_of(name.symbol)))
            .collect();
        let name = self.text_of(method.name);
        Candidate { shown: format!("{name}({})", params.join(", ")).into(), name }
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
        let error =
            Raised::new(ErrorCode::UnknownProperty, format!("Cannot find property `{text}` in {place}."));
        let names = self.property_names(object, class);
        let mut candidates: Vec<Candidate> = names.iter().cloned().map(Candidate::plain).collect();
        candidates.extend(self.method_candidates(class).into_iter().filter(|method| method.name != text));
        if let Some(hint) = suggestions(&text, &candidates) {
            return error.with_hint(hint);
        }
        let place = if is_module { format!(" in module `{class_name}`") } else { String::new() };
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let names = if names.is_empty() { "(none)".to_owned() } else { names.join("\n") };
        error.with_hint(format!("Available properties{place}:\n{names}"))
    }

    /// A name that is neither in scope nor a property of `this`.
    pub(crate) fn unknown_name(&mut self, code: &'ir Code, name: Symbol, this: Value) -> Failure {
        let text = self.text_of(name);
        let error = Raised::new(ErrorCode::UnknownProperty, format!("Cannot find property `{text}`."));
        let mut candidates = self.visible_candidates(code, this);
        candidates.retain(|candidate| candidate.name != text);
        with_suggestions(error, &text, &candidates)
    }

    /// A method that is neither in scope nor one of `this`.
    pub(crate) fn unknown_call(&mut self, code: &'ir Code, name: Symbol, this: Value) -> Failure {
        let text = self.text_of(name);
        let mut candidates = self.visible_candidates(code, this);
        for candidate in &mut candidates {
            let class = candidate.name.starts_with(char::is_uppercase);
            if candidate.name == text && !class && !candidate.shown.ends_with(')') {
                candidate.shown = format!("{text}.apply(...)").into();
            }
        }
        let error = Raised::new(ErrorCode::UnknownMethod, format!("Cannot find method `{text}`."));
        with_suggestions(error, &text, &candidates)
    }

    /// Everything that a name without a receiver could mean.
    fn visible_candidates(&mut self, code: &'ir Code, this: Value) -> Vec<Candidate> {
        let scope = &self.store.module(code.module).scope;
        let base = self.store.base();
        let names = scope.visible_names().into_iter().chain(base.names.public_properties());
        let mut candidates: Vec<Candidate> = names.map(|name| Candidate::plain(self.text_of(name))).collect();
        let modules = [self.base_module().ok(), Some(self.module_of(code.module))];
        let objects = modules.into_iter().flatten().filter_map(|module| self.module(module).object);
        let mut classes: Vec<ClassId> = objects.map(|object| self.heap.object(object).class).collect();
        if let Value::Object(object) = this {
            let class = self.heap.object(object).class;
            candidates.extend(self.property_names(Some(object), class).into_iter().map(Candidate::plain));
            classes.push(class);
        }
        for class in classes {
            candidates.extend(self.method_candidates(class));
        }
        candidates
    }

    pub(crate) fn unknown_method(&mut self, class: ClassId, name: Symbol) -> Failure {
        let text = self.text_of(name);
        let class_name = self.class_name(class);
        let place = match self.heap.class(class).kind {
            ClassKind::Module => format!("module `{class_name}`"),
            ClassKind::Declared => format!("class `{class_name}`"),
        };
        let error = Raised::new(ErrorCode::UnknownMethod, format!("Cannot find method `{text}` in {place}."));
        let mut candidates = self.method_candidates(class);
        let mut available: Vec<Arc<str>> = candidates.iter().map(|method| Arc::clone(&method.name)).collect();
        available.sort();
        candidates.extend(self.property_names(None, class).into_iter().map(Candidate::plain));
        match suggestions(&text, &candidates) {
            Some(hint) => error.with_hint(hint),
            None => error.with_hint(format!("Available methods in {place}:\n{}", available.join("\n"))),
        }
    }

    /// "Did you mean" with keys like `wanted`.
    pub(crate) fn similar_keys(&mut self, wanted: Value, keys: &[Value]) -> Option<String> {
        let Value::String(wanted) = wanted else { return None };
        let wanted = self.heap.shared_text(wanted);
        let candidate = |key: &Value| match key {
            Value::String(id) => {
                let name = self.heap.shared_text(*id);
                Some(Candidate { shown: pkl_data::literal::plain(&name).into(), name })
            }
            _ => None,
        };
        suggestions(&wanted, &keys.iter().filter_map(candidate).collect::<Vec<_>>())
    }
}
