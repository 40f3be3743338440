//! Values as owned trees, converted on the way.

use pkl_data::error::{PathStep, RenderError, RenderErrorCode};
use pkl_data::tree::{ClassName, ErrorNode, IntSeq, MAX_DEPTH, Member, Place, Tree, Typed};
use pkl_parser::Symbol;
use std::sync::Arc;

use crate::convert::{Converters, Step};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::evaluator::{resolve_error, source_place};
use crate::value::{ObjectId, Value};
use crate::vm::Vm;
use crate::vm::amend::ObjectKind;
use crate::vm::iterate::MemberKey;

/// What an export does with a member that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    /// It fails too.
    Strict,
    /// It goes on, with an error node in the member's place.
    Collecting,
}

/// What a renderer refuses before it looks any further, so that messages show values as they are then.
pub(crate) struct Refusal<'r> {
    /// The format's name, if it has no objects with both elements and other members.
    pub(crate) mixed: Option<&'static str>,
    /// What is wrong with a value, or with a document, whose members are left out but for one key.
    pub(crate) render: &'r dyn Fn(&Tree) -> Option<RenderError>,
}

/// Walks a value.
pub(crate) struct Exporter<'r> {
    mode: Export,
    converters: Option<Converters>,
    refusal: Option<Refusal<'r>>,
    /// Whether the format has no lists, whatever is in them.
    refuses_lists: bool,
    /// What was refused.
    pub(crate) refused: Option<RenderError>,
    path: Vec<Step>,
    depth: usize,
}

impl<'r> Exporter<'r> {
    pub(crate) fn new(mode: Export, converters: Option<Converters>) -> Self {
        Self {
            mode,
            converters,
            refusal: None,
            refuses_lists: false,
            refused: None,
            path: Vec::new(),
            depth: 0,
        }
    }

    /// For a renderer that refuses some values.
    pub(crate) fn refusing(converters: Option<Converters>, refusal: Refusal<'r>) -> Self {
        let refuses_lists = refused_member(&refusal, Tree::Listing(Vec::new())).is_some();
        Self { refusal: Some(refusal), refuses_lists, ..Self::new(Export::Strict, converters) }
    }

    /// Notes what is refused.
    fn refuse(&mut self, vm: &mut Vm<'_>, mut error: RenderError) -> Result<Failure> {
        for step in self.path.clone() {
            error.path.push(match step {
                Step::Property(name) => PathStep::Property(vm.text_of(name)),
                Step::Element(index) => PathStep::Element(index as usize),
                Step::Entry(key) => PathStep::Entry(Exporter::new(Export::Strict, None).export(vm, key)?),
            });
        }
        let failure = Raised::new(ErrorCode::Render, error.message.clone());
        self.refused = Some(error);
        Ok(failure)
    }

    /// Whether a whole document of this kind is refused.
    fn check_document(&mut self, vm: &mut Vm<'_>, value: Value) -> Result<()> {
        let Some(refusal) = &self.refusal else { return Ok(()) };
        let Some(error) = (refusal.render)(&without_members(vm, value)?) else { return Ok(()) };
        if error.code != RenderErrorCode::UnsupportedDocument {
            return Ok(());
        }
        let sentence = error.message.lines().next().unwrap_or_default();
        let message = if error.message.contains('\n') {
            format!("{sentence}\nValue: {}", vm.show_shallow(value)?)
        } else {
            sentence.to_owned()
        };
        Err(self.refuse(vm, RenderError { message, ..error })?)
    }

    /// Whether the format has nothing for a value.
    fn check_value(&mut self, vm: &mut Vm<'_>, value: Value) -> Result<()> {
        if self.refusal.is_none() {
            return Ok(());
        }
        let tree = without_members(vm, value)?;
        self.check_value_as(vm, value, tree)
    }

    /// The same for a value that is rendered like another kind of value.
    fn check_value_as(&mut self, vm: &mut Vm<'_>, value: Value, tree: Tree) -> Result<()> {
        let Some(refusal) = &self.refusal else { return Ok(()) };
        let is_listing = matches!(tree, Tree::Listing(_));
        let refused = match (refusal.render)(&tree) {
            // It is no document, which it may not be either.
            Some(error) if error.code == RenderErrorCode::UnsupportedDocument && !self.path.is_empty() => {
                refused_member(refusal, tree)
            }
            refused => refused,
        };
        let Some(mut error) = refused else { return Ok(()) };
        if error.code != RenderErrorCode::UnsupportedValue {
            return Ok(());
        }
        if let (true, Some((sentence, _))) = (has_members(value), error.message.split_once('\n')) {
            let mut shown = vm.show_shallow(value)?;
            if let (true, Some(body)) = (is_listing, shown.strip_prefix("new Dynamic")) {
                shown = format!("new Listing{body}");
            }
            error.message = format!("{sentence}\nValue: {shown}");
            error.path.clear();
        }
        Err(self.refuse(vm, error)?)
    }

    /// Whether the format has no place for a key of this object or map.
    fn check_key(&mut self, vm: &mut Vm<'_>, owner: Value, key: &Tree) -> Result<()> {
        let Some(refusal) = &self.refusal else { return Ok(()) };
        let entry = vec![(key.clone(), Tree::Bool(true))];
        let alone = match without_members(vm, owner)? {
            Tree::Map(_) => Tree::Map(entry),
            Tree::Dynamic(_) => Tree::Dynamic(vec![Member::Entry(key.clone(), Tree::Bool(true))]),
            _ => Tree::Mapping(entry),
        };
        let Some(mut error) = (refusal.render)(&alone) else { return Ok(()) };
        if error.code != RenderErrorCode::UnsupportedKey {
            return Ok(());
        }
        error.path.clear();
        error.message = with_owner(&error.message, &vm.show_shallow(owner)?);
        Err(self.refuse(vm, error)?)
    }

    /// Whether a `Dynamic` with these members is refused.
    fn check_mixed(&mut self, vm: &mut Vm<'_>, object: ObjectId, listed: &[MemberKey]) -> Result<()> {
        let Some(format) = self.refusal.as_ref().and_then(|refusal| refusal.mixed) else { return Ok(()) };
        let shown = listed.iter().filter(|key| matches!(key, MemberKey::Element(_))).count();
        let marker = vm.store.symbol("_isXmlElement");
        let is_element = listed.iter().any(|key| matches!(key, MemberKey::Property(name) if *name == marker));
        // Elements that are shown as entries count too.
        if vm.element_count(object) == 0 || shown == listed.len() || is_element {
            return Ok(());
        }
        let shown = vm.show_shallow(Value::Object(object))?;
        let message = format!(
            "Cannot render object with both elements and properties/entries as {format}.\nObject: {shown}"
        );
        let code = RenderErrorCode::MixedMembers;
        Err(self.refuse(vm, RenderError { code, message, hint: None, path: Vec::new() })?)
    }

    /// A value, and all values in it, as a tree.
    pub(crate) fn export(&mut self, vm: &mut Vm<'_>, value: Value) -> Result<Tree> {
        let converted = self.converted(vm, value)?;
        self.export_converted(vm, converted)
    }

    fn converted(&self, vm: &mut Vm<'_>, value: Value) -> Result<Value> {
        match &self.converters {
            Some(converters) => converters.convert(vm, value, &self.path),
            None => Ok(value),
        }
    }

    fn export_converted(&mut self, vm: &mut Vm<'_>, value: Value) -> Result<Tree> {
        vm.check_stack()?;
        vm.tick()?;
        if self.depth >= MAX_DEPTH {
            let message = format!("A value is nested more than {MAX_DEPTH} deep.");
            return Err(Raised::new(ErrorCode::Render, message));
        }
        self.depth += 1;
        if self.depth == 1 && self.path.is_empty() {
            self.check_document(vm, value)?;
        }
        let tree = self.tree(vm, value);
        self.depth -= 1;
        tree
    }

    /// A member of an object, or of a collection.
    fn member(
        &mut self,
        vm: &mut Vm<'_>,
        owner: Option<ObjectId>,
        step: Step,
        value: Result<Value>,
    ) -> Result<Tree> {
        self.path.push(step);
        let converted = value.and_then(|value| self.converted(vm, value));
        self.converted_member(vm, owner, converted)
    }

    /// The member at the end of the path, which ends with it.
    fn converted_member(
        &mut self,
        vm: &mut Vm<'_>,
        owner: Option<ObjectId>,
        converted: Result<Value>,
    ) -> Result<Tree> {
        let depth = self.depth;
        let mut result = converted.and_then(|converted| self.export_converted(vm, converted));
        if let Err(error) = &mut result
            && error.code == ErrorCode::UndefinedValue
            && error.hint.is_none()
            && self.mode == Export::Strict
            && let Some((object, name)) = error.undefined
            && owner.is_some_and(|owner| vm.shows(owner, object))
        {
            error.hint = self.rendering_hint(vm, name);
        }
        self.path.pop();
        match result {
            Err(error) if self.mode == Export::Collecting && error.code != ErrorCode::LimitExceeded => {
                self.depth = depth;
                Ok(error_node(vm, error))
            }
            result => result,
        }
    }

    /// On which way the value that is missing was reached: it is a property of the object that has the member
    /// at the end of the path.
    fn rendering_hint(&self, vm: &mut Vm<'_>, name: Symbol) -> Option<String> {
        let mut path = String::new();
        let owner = &self.path[..self.path.len().saturating_sub(1)];
        for step in owner.iter().chain([&Step::Property(name)]) {
            match *step {
                Step::Property(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&vm.text_of(name));
                }
                Step::Entry(key) => {
                    let key = vm.show_shallow(key).ok()?;
                    path.extend(["[", &key, "]"]);
                }
                Step::Element(index) => path.extend(["[", &index.to_string(), "]"]),
            }
        }
        let uri = &vm.main_module()?.uri;
        Some(format!("The above error occurred when rendering path `{path}` of module `{uri}`."))
    }

    fn tree(&mut self, vm: &mut Vm<'_>, value: Value) -> Result<Tree> {
        if may_be_refused(value) || self.refuses_lists && matches!(value, Value::List(_) | Value::Set(_)) {
            self.check_value(vm, value)?;
        }
        Ok(match value {
            Value::Null(_) => Tree::Null,
            Value::Bool(value) => Tree::Bool(value),
            Value::Int(value) => Tree::Int(value),
            Value::Float(value) => Tree::Float(value),
            Value::String(id) => Tree::String(vm.heap.shared_text(id)),
            Value::Bytes(id) => Tree::Bytes(Arc::clone(vm.heap.bytes_of(id))),
            Value::Duration(id) => Tree::Duration(*vm.heap.duration(id)),
            Value::DataSize(id) => Tree::DataSize(*vm.heap.data_size(id)),
            Value::Regex(id) => Tree::Regex(vm.heap.regex(id).pattern().into()),
            Value::IntSeq(id) => {
                let sequence = *vm.heap.int_seq(id);
                Tree::IntSeq(IntSeq { start: sequence.start, end: sequence.end, step: sequence.step })
            }
            Value::Pair(id) => {
                let (first, second) = *vm.heap.pair(id);
                let first = self.member(vm, None, Step::Element(0), Ok(first))?;
                let second = self.member(vm, None, Step::Element(1), Ok(second))?;
                Tree::Pair(Box::new((first, second)))
            }
            Value::List(id) => {
                let items = vm.heap.list(id).to_vec();
                Tree::List(self.items(vm, &items)?)
            }
            Value::Set(id) => {
                let items = vm.heap.set(id).to_vec();
                Tree::Set(self.items(vm, &items)?)
            }
            Value::Map(id) => {
                let keys = vm.heap.map_keys(id).to_vec();
                let values = vm.heap.map_values(id).to_vec();
                let entries =
                    keys.into_iter().zip(values).map(|(key, member)| self.entry(vm, value, key, Ok(member)));
                Tree::Map(entries.collect::<Result<_>>()?)
            }
            Value::Class(id) => Tree::Class(vm.class_name_of(id)),
            Value::TypeAlias(id) => {
                let alias = vm.heap.alias(id);
                let ir = vm.module(alias.module).ir;
                let name = ClassName::new(Arc::clone(&ir.name), vm.text_of(alias.name));
                Tree::TypeAlias(name.at(Arc::clone(&ir.uri)))
            }
            Value::Function(id) => Tree::Function { parameters: vm.heap.function(id).arity },
            Value::Object(object) => self.object(vm, object)?,
        })
    }

    fn items(&mut self, vm: &mut Vm<'_>, items: &[Value]) -> Result<Vec<Tree>> {
        items
            .iter()
            .zip(0..)
            .map(|(&item, index)| self.member(vm, None, Step::Element(index), Ok(item)))
            .collect()
    }

    /// An entry of an object or map. Key and value are converted before any of them is refused.
    fn entry(
        &mut self,
        vm: &mut Vm<'_>,
        owner: Value,
        key: Value,
        value: Result<Value>,
    ) -> Result<(Tree, Tree)> {
        // A key is converted by its class only.
        let converted_key = match &self.converters {
            Some(converters) => converters.convert(vm, key, &[])?,
            None => key,
        };
        self.path.push(Step::Entry(key));
        let converted = value.and_then(|value| self.converted(vm, value));
        let exported = match converted {
            Err(_) if self.mode == Export::Strict => Ok(Tree::Null),
            _ => self.key(vm, owner, converted_key),
        };
        let object = match owner {
            Value::Object(object) => Some(object),
            _ => None,
        };
        match exported {
            Ok(exported) => Ok((exported, self.converted_member(vm, object, converted)?)),
            Err(error) => {
                self.path.pop();
                Err(error)
            }
        }
    }

    /// A converted key of an object or map.
    fn key(&mut self, vm: &mut Vm<'_>, owner: Value, key: Value) -> Result<Tree> {
        let path = std::mem::take(&mut self.path);
        let refusal = self.refusal.take();
        let exported = self.export_converted(vm, key);
        self.refusal = refusal;
        self.path = path;
        let exported = exported?;
        if !matches!(exported, Tree::String(_)) {
            self.check_key(vm, owner, &exported)?;
        }
        Ok(exported)
    }

    fn object(&mut self, vm: &mut Vm<'_>, object: ObjectId) -> Result<Tree> {
        if vm.heap.object(object).is_module() && self.mode == Export::Strict {
            vm.verify(object)?;
        }
        let class = vm.heap.object(object).class;
        let kind = vm.object_kind(class)?;
        let mut properties = Vec::new();
        let mut entries = Vec::new();
        let mut elements = Vec::new();
        let mut members = Vec::new();
        let listed = vm.members_of(object);
        // All members are evaluated before any of them is gone into.
        let ordered = vm.are_waiting(&listed).then(|| vm.in_definition_order(object, listed.clone()));
        let to_force = match (self.mode, &ordered) {
            (Export::Collecting, _) => &[],
            (Export::Strict, Some(ordered)) => &ordered[..],
            (Export::Strict, None) => &listed[..],
        };
        for &(key, place) in to_force {
            if let Err(error) = vm.force(object, place) {
                let step = match key {
                    MemberKey::Property(name) => Step::Property(name),
                    MemberKey::Entry(key) => Step::Entry(key),
                    MemberKey::Element(index) => Step::Element(index),
                };
                return self.member(vm, Some(object), step, Err(error));
            }
        }
        if kind == ObjectKind::Listing && self.refuses_lists {
            self.check_value(vm, Value::Object(object))?;
        }
        if kind == ObjectKind::Dynamic {
            let keys: Vec<_> = listed.iter().map(|&(key, _)| key).collect();
            self.check_mixed(vm, object, &keys)?;
            // One that has nothing but elements is rendered like a listing.
            let is_listing = keys.iter().all(|key| matches!(key, MemberKey::Element(_))) && !keys.is_empty();
            if self.refuses_lists && is_listing {
                self.check_value_as(vm, Value::Object(object), Tree::Listing(Vec::new()))?;
            }
        }
        for (key, place) in listed {
            let value = vm.force(object, place);
            match key {
                MemberKey::Property(symbol) => {
                    let name = vm.text_of(symbol);
                    let tree = self.member(vm, Some(object), Step::Property(symbol), value)?;
                    if kind == ObjectKind::Dynamic {
                        members.push(Member::Property(name, tree));
                    } else {
                        properties.push((name, tree));
                    }
                }
                MemberKey::Entry(key) => {
                    let (exported, tree) = self.entry(vm, Value::Object(object), key, value)?;
                    if kind == ObjectKind::Dynamic {
                        members.push(Member::Entry(exported, tree));
                    } else {
                        entries.push((exported, tree));
                    }
                }
                MemberKey::Element(index) => {
                    let tree = self.member(vm, Some(object), Step::Element(index), value)?;
                    if kind == ObjectKind::Dynamic {
                        members.push(Member::Element(tree));
                    } else {
                        elements.push(tree);
                    }
                }
            }
        }
        Ok(match kind {
            ObjectKind::Dynamic => Tree::Dynamic(members),
            ObjectKind::Listing => Tree::Listing(elements),
            ObjectKind::Mapping => Tree::Mapping(entries),
            ObjectKind::Typed => Tree::Typed(Box::new(Typed { class: vm.class_name_of(class), properties })),
        })
    }
}

/// Whether some format has nothing for values like this one, whatever is in it. Bytes have a place in what is
/// rendered as it is.
fn may_be_refused(value: Value) -> bool {
    match value {
        Value::Null(_)
        | Value::Bool(_)
        | Value::Int(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::List(_)
        | Value::Set(_)
        | Value::Map(_)
        | Value::Object(_) => false,
        Value::Float(value) => !value.is_finite(),
        _ => true,
    }
}

/// Whether messages show other values in a value.
fn has_members(value: Value) -> bool {
    matches!(value, Value::Pair(_) | Value::List(_) | Value::Set(_) | Value::Object(_))
}

/// What is wrong with a value as a property.
fn refused_member(refusal: &Refusal<'_>, value: Tree) -> Option<RenderError> {
    let error = (refusal.render)(&Tree::Dynamic(vec![Member::Property("member".into(), value)]))?;
    Some(RenderError { path: Vec::new(), ..error })
}

/// A message about a key, of its three lines the second about the object as it is.
fn with_owner(message: &str, owner: &str) -> String {
    let mut lines: Vec<String> = message.split('\n').map(str::to_owned).collect();
    if let [_, shown, .., _] = &mut lines[..]
        && let Some((label, _)) = shown.split_once(": ")
    {
        *shown = format!("{label}: {owner}");
    }
    lines.join("\n")
}

/// A value of the same kind, with nothing in it.
fn without_members(vm: &mut Vm<'_>, value: Value) -> Result<Tree> {
    Ok(match value {
        Value::List(_) => Tree::List(Vec::new()),
        Value::Set(_) => Tree::Set(Vec::new()),
        Value::Map(_) => Tree::Map(Vec::new()),
        Value::Pair(_) => Tree::Pair(Box::new((Tree::Null, Tree::Null))),
        Value::Object(object) => {
            let class = vm.heap.object(object).class;
            match vm.object_kind(class)? {
                ObjectKind::Dynamic => Tree::Dynamic(Vec::new()),
                ObjectKind::Listing => Tree::Listing(Vec::new()),
                ObjectKind::Mapping => Tree::Mapping(Vec::new()),
                ObjectKind::Typed => {
                    Tree::Typed(Box::new(Typed { class: vm.class_name_of(class), properties: Vec::new() }))
                }
            }
        }
        scalar => Exporter::new(Export::Strict, None).tree(vm, scalar)?,
    })
}

fn error_node(vm: &Vm<'_>, failure: Failure) -> Tree {
    let user = failure.frames.iter().find(|frame| !vm.store.module(frame.module).uri.starts_with("pkl:"));
    let place = user.map(|frame| source_place(vm.store, frame.module, frame.span));
    let error = resolve_error(vm.store, failure);
    Tree::Error(Box::new(ErrorNode {
        code: error.code.as_str().into(),
        message: error.message.into(),
        place: place.map(|place| Place { uri: place.uri, line: place.line, column: place.column }),
    }))
}
