//! Values one level deep, as a host that walks them by itself needs them: classes to compare, members in
//! order, and the very bytes of code that define each.

use std::sync::Arc;

use pkl_parser::Span;

use crate::error::Error;
use crate::ir::{IrId, MemberSource};
use crate::session::{Handle, Session};
use crate::value::{ClassId, ObjectId, Value};
use crate::vm::amend::ObjectKind;
use crate::vm::{MemberKey, MemberRef};

/// A class of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassHandle(ClassId);

/// What a value is.
#[derive(Clone, Debug)]
pub enum View {
    /// `null`.
    Null,
    /// A `Boolean`.
    Bool(bool),
    /// An `Int`.
    Int(i64),
    /// A `Float`.
    Float(f64),
    /// A `String`.
    String(Arc<str>),
    /// A `List` or a `Set`, in its order.
    Items(Vec<Handle>),
    /// A `Map`, in its order.
    Map(Vec<(Handle, Handle)>),
    /// A `Dynamic`, a `Listing`, a `Mapping`, or an instance of another class.
    Object(ObjectView),
    /// A `Class`.
    Class(ClassHandle),
    /// Anything else; none of it has members.
    Other,
}

/// An object whose members are not evaluated yet.
#[derive(Clone, Debug)]
pub struct ObjectView {
    /// Its class.
    pub class: ClassHandle,
    /// Which kind of members it has.
    pub kind: Members,
    /// The visible members in order.
    pub members: Vec<Member>,
}

/// Which kind of members an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// Properties, entries and elements: a `Dynamic`.
    Any,
    /// Elements: a `Listing`.
    Elements,
    /// Entries: a `Mapping`.
    Entries,
    /// Properties: an instance of any other class.
    Properties,
}

/// A member of an object.
#[derive(Clone, Debug)]
pub struct Member {
    /// What names it.
    pub key: Key,
    /// The code that defines it; `None` if no code of its own does, only the declaration of its class.
    pub place: Option<CodeSpan>,
    object: ObjectId,
    slot: MemberRef,
}

/// What names a member.
#[derive(Clone, Debug)]
pub enum Key {
    /// The name of a property.
    Property(Arc<str>),
    /// The key of an entry.
    Entry(Handle),
    /// The position of an element.
    Element(u32),
}

/// Some bytes of a module's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeSpan {
    /// The module.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// The bytes of its name, where it is a property with one.
    pub name: Option<(u32, u32)>,
}

/// A module's source, of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceId(IrId);

impl Session<'_, '_> {
    /// What a value is.
    ///
    /// # Errors
    /// If the library's declarations can't be evaluated.
    pub fn view(&mut self, value: Handle) -> Result<View, Error> {
        let handles = |values: &[Value]| values.iter().map(|&value| Handle(value)).collect();
        let vm = self.vm();
        Ok(match value.0 {
            Value::Null(_) => View::Null,
            Value::Bool(value) => View::Bool(value),
            Value::Int(value) => View::Int(value),
            Value::Float(value) => View::Float(value),
            Value::String(id) => View::String(vm.heap.shared_text(id)),
            Value::List(id) => View::Items(handles(vm.heap.list(id))),
            Value::Set(id) => View::Items(handles(vm.heap.set(id))),
            Value::Map(id) => {
                let keys = vm.heap.map_keys(id).iter();
                View::Map(
                    keys.zip(vm.heap.map_values(id))
                        .map(|(&key, &value)| (Handle(key), Handle(value)))
                        .collect(),
                )
            }
            Value::Class(id) => View::Class(ClassHandle(id)),
            Value::Object(object) => View::Object(self.view_object(object)?),
            _ => View::Other,
        })
    }

    fn view_object(&mut self, object: ObjectId) -> Result<ObjectView, Error> {
        let class = self.vm().heap.object(object).class;
        let kind = match self.attempt(|vm| vm.object_kind(class))? {
            ObjectKind::Dynamic => Members::Any,
            ObjectKind::Listing => Members::Elements,
            ObjectKind::Mapping => Members::Entries,
            ObjectKind::Typed => Members::Properties,
        };
        let members = self.vm().members_of(object);
        let member = |(key, slot)| {
            let key = match key {
                MemberKey::Property(name) => Key::Property(self.vm().text_of(name)),
                MemberKey::Entry(key) => Key::Entry(Handle(key)),
                MemberKey::Element(index) => Key::Element(index),
            };
            Member { key, place: self.code_of(slot), object, slot }
        };
        let members = members.into_iter().map(member).collect();
        Ok(ObjectView { class: ClassHandle(class), kind, members })
    }

    fn code_of(&mut self, member: MemberRef) -> Option<CodeSpan> {
        let vm = self.vm();
        let definition = vm.slot_at(member).member;
        let ir = vm.store.module(definition.module);
        // The declaration of a class says what its objects are like, not what this one is.
        if definition.ty.is_some() {
            return None;
        }
        let span = match definition.source {
            // What was spread has no code of its own.
            MemberSource::Given => return None,
            MemberSource::Expr(expr) => ir.ast[expr].span,
            _ => definition.span,
        };
        let name = definition.name_span;
        let known = |span: Span| span != Span::default();
        known(span).then(|| CodeSpan {
            source: SourceId(definition.module),
            start: span.start,
            end: span.end,
            name: known(name).then_some((name.start, name.end)),
        })
    }

    /// The value of a member.
    ///
    /// # Errors
    /// Why it can't be evaluated.
    pub fn value_of(&mut self, member: &Member) -> Result<Handle, Error> {
        self.attempt(|vm| vm.force(member.object, member.slot)).map(Handle)
    }

    /// A property of an object, hidden or not, as the code that defines it last; `None` if there is none.
    pub fn code_of_property(&mut self, value: Handle, name: &str) -> Option<CodeSpan> {
        let Value::Object(object) = value.0 else { return None };
        let key = crate::heap::PropertyKey::Named(self.vm().store.symbol(name));
        let index = self.vm().heap.find_property(object, key)?;
        self.code_of(MemberRef::Property(index))
    }

    /// The class of a value.
    ///
    /// # Errors
    /// If the library's declarations can't be evaluated.
    pub fn class(&mut self, value: Handle) -> Result<ClassHandle, Error> {
        self.attempt(|vm| vm.class_of(value.0)).map(ClassHandle)
    }

    /// Whether a class is another one or extends it.
    pub fn is_subclass(&mut self, class: ClassHandle, of: ClassHandle) -> bool {
        self.vm().is_subclass(class.0, of.0)
    }

    /// A class as a value.
    pub fn class_value(&self, class: ClassHandle) -> Handle {
        Handle(Value::Class(class.0))
    }

    /// The URI and the text of a module.
    pub fn source(&mut self, source: SourceId) -> (Arc<str>, Arc<str>) {
        let ir = self.vm().store.module(source.0);
        (Arc::clone(&ir.uri), Arc::clone(&ir.source))
    }

    /// The text of a loaded module by its URI.
    pub fn source_at(&mut self, uri: &str) -> Option<Arc<str>> {
        self.vm()
            .modules
            .iter()
            .find(|module| *module.ir.uri == *uri)
            .map(|module| Arc::clone(&module.ir.source))
    }

    /// Values as a `List`.
    pub fn list(&mut self, values: &[Handle]) -> Handle {
        let values = values.iter().map(|value| value.0).collect();
        Handle(Value::List(self.vm().heap.add_list(values)))
    }
}
