//! Objects, classes, functions and captured variables.

use pkl_data::tree::ClassName;
use pkl_parser::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use super::shapes::PropertyKey;
use crate::ir;
use crate::mutants::mutant;
use crate::value::{CheckId, ClassId, EnvId, FunctionId, ItemsId, ModuleId, ObjectId, ShapeId, Value};

/// What is known of a member's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cache {
    /// Not evaluated yet.
    Empty,
    /// Being evaluated: reading it again is an endless recursion.
    Busy,
    /// Evaluated.
    Ready(Value),
}

/// Whether a value is that of every object of the class with the same definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// It is that of one receiver.
    Own,
    /// It is that of all; this receiver's member wasn't read yet.
    Unread,
    /// It is that of all, and was read.
    Read,
}

/// One member of one object: who defined it, and its value once read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'ir> {
    /// The value for this object as receiver.
    pub(crate) cache: Cache,
    /// The definition.
    pub(crate) member: &'ir ir::Member,
    /// The object whose body holds the definition.
    pub(crate) definer: ObjectId,
    /// The variables that the definition sees.
    pub(crate) env: Option<EnvId>,
    pub(crate) sharing: Sharing,
}

impl Slot<'_> {
    /// The value, if the member was read.
    pub(crate) fn read_value(&self) -> Option<Value> {
        match self.cache {
            Cache::Ready(value) if self.sharing != Sharing::Unread => Some(value),
            _ => None,
        }
    }

    /// Forgets the value, for another receiver of the same class; what is that of all stays.
    pub(crate) fn forget(&mut self) {
        if self.sharing != Sharing::Own {
            self.sharing = Sharing::Unread;
        } else if !(mutant!(ValuesInherited) && matches!(self.cache, Cache::Ready(_))) {
            self.cache = Cache::Empty;
        }
    }

    /// Forgets the value, for a receiver of another class.
    pub(crate) fn forget_all(&mut self) {
        self.cache = Cache::Empty;
        self.sharing = Sharing::Own;
    }
}

/// What an object is apart from its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// An object that a body made.
    #[default]
    Plain,
    /// An object that a body made, which added nothing to what it amends.
    Same,
    /// It shows its parent's elements and entries, checked to a type.
    View,
    /// It is a class's prototype: its own members are the class's declarations.
    Prototype,
    /// It stands for a module.
    Module,
}

/// An object.
#[derive(Debug)]
pub(crate) struct Object<'ir> {
    pub(crate) class: ClassId,
    /// What it amends; for a prototype that of the superclass.
    pub(crate) parent: Option<ObjectId>,
    /// `this` where the object's body is written.
    pub(crate) enclosing_this: Value,
    /// The definer of the member in which the object's body is written.
    pub(crate) enclosing_owner: Option<ObjectId>,
    pub(crate) shape: ShapeId,
    /// Where its property slots begin.
    pub(crate) slots: u32,
    pub(crate) items: Option<ItemsId>,
    /// The type to which elements or values are checked when they are read.
    pub(crate) check: Option<CheckId>,
    /// The variables its body captured.
    pub(crate) env: Option<EnvId>,
    /// The body, if the object was made by one.
    pub(crate) body: Option<&'ir ir::Body>,
    pub(crate) role: Role,
    /// Whether all of its members, and theirs, have been or are being evaluated.
    pub(crate) forced: bool,
}

impl Object<'_> {
    /// Whether it is a class's prototype.
    pub(crate) fn is_prototype(&self) -> bool {
        self.role == Role::Prototype
    }

    /// Whether it stands for a module.
    pub(crate) fn is_module(&self) -> bool {
        self.role == Role::Module
    }

    /// Whether it shows another object's members.
    pub(crate) fn is_view(&self) -> bool {
        self.role == Role::View
    }
}

/// The kind of a member of a `Dynamic`, in the order in which members are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Property(PropertyKey),
    Entry(u32),
    Element(u32),
    /// An element that took the place of an inherited entry whose key is its index, and is still shown with that key.
    Indexed(u32),
}

/// Elements and entries of an object.
#[derive(Debug, Default, Clone)]
pub(crate) struct Items<'ir> {
    pub(crate) elements: Vec<Slot<'ir>>,
    pub(crate) keys: Vec<Value>,
    pub(crate) hashes: Vec<u64>,
    pub(crate) entries: Vec<Slot<'ir>>,
    pub(crate) index: hashbrown::HashTable<u32>,
    /// The types that inherited members are checked to: those of the collections that defined them.
    /// Shorter than the members if the rest has none.
    pub(crate) element_checks: Vec<Option<CheckId>>,
    /// As `element_checks`, for entries.
    pub(crate) entry_checks: Vec<Option<CheckId>>,
    /// For a `Dynamic`: all members in the order in which they are shown.
    pub(crate) order: Vec<Order>,
}

impl<'ir> Items<'ir> {
    /// The positions of entries whose key has this hash.
    pub(crate) fn candidates(&self, hash: u64) -> impl Iterator<Item = (usize, Value)> {
        self.index
            .iter_hash(hash)
            .map(|&position| position as usize)
            .filter(move |&position| self.hashes[position] == hash)
            .map(|position| (position, self.keys[position]))
    }

    pub(crate) fn push_entry(&mut self, hash: u64, key: Value, slot: Slot<'ir>) {
        let position = u32::try_from(self.keys.len()).expect("the memory limit is reached first");
        self.keys.push(key);
        self.hashes.push(hash);
        self.entries.push(slot);
        let hashes = &self.hashes;
        self.index.insert_unique(hash, position, |&position| hashes[position as usize]);
    }

    /// Elements that a body added take the place of entries whose key is their index.
    ///
    /// That of an entry of the same body is shown as an element, that of an inherited one still as an entry.
    pub(crate) fn replace_entries(&mut self, added: std::ops::Range<usize>, inherited_entries: usize) {
        let by_element = |key: &Value| match *key {
            Value::Int(key) => usize::try_from(key).ok().filter(|index| added.contains(index)),
            _ => None,
        };
        if added.is_empty() || !self.keys.iter().any(|key| by_element(key).is_some()) {
            return;
        }
        let mut kept = Vec::with_capacity(self.keys.len());
        let mut replacing = FxHashSet::default();
        let places: Vec<Order> = (0..)
            .zip(&self.keys)
            .map(|(position, key)| match by_element(key) {
                Some(index) => {
                    let index = u32::try_from(index).expect("the memory limit is reached first");
                    replacing.insert(index);
                    let inherited = (position as usize) < inherited_entries;
                    if inherited { Order::Indexed(index) } else { Order::Element(index) }
                }
                None => {
                    kept.push(position);
                    Order::Entry(u32::try_from(kept.len() - 1).expect("positions are u32 numbers"))
                }
            })
            .collect();
        let order = std::mem::take(&mut self.order).into_iter().filter_map(|place| match place {
            Order::Entry(position) => Some(places[position as usize]),
            Order::Element(index) if replacing.contains(&index) => None,
            other => Some(other),
        });
        self.order = order.collect();
        self.keep_entries(&kept);
    }

    /// Keeps the entries at these positions, which are in order.
    fn keep_entries(&mut self, kept: &[u32]) {
        let old = std::mem::take(self);
        let Self { elements, element_checks, order, .. } = old;
        *self = Self { elements, element_checks, order, ..Self::default() };
        for &position in kept {
            let position = position as usize;
            self.push_entry(old.hashes[position], old.keys[position], old.entries[position]);
            self.entry_checks.extend(old.entry_checks.get(position));
        }
    }

    /// A copy without values, for an object that amends the owner of these, whose members are checked to a
    /// type or not.
    pub(crate) fn inherit(&self, check: Option<CheckId>) -> Self {
        let mut copy = self.clone();
        if check.is_some() {
            copy.element_checks = vec![check; copy.elements.len()];
            copy.entry_checks = vec![check; copy.entries.len()];
        }
        for slot in copy.elements.iter_mut().chain(&mut copy.entries) {
            if !(mutant!(ItemValuesInherited) && matches!(slot.cache, Cache::Ready(_))) {
                slot.forget_all();
            }
        }
        copy
    }

    pub(crate) fn size(&self) -> usize {
        self.elements.len() * size_of::<Slot<'_>>() + self.entries.len() * (size_of::<Slot<'_>>() + 32)
    }
}

/// A function value.
#[derive(Debug)]
pub(crate) struct Function<'ir> {
    pub(crate) arity: usize,
    pub(crate) kind: FunctionKind<'ir>,
}

/// What a function does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FunctionKind<'ir> {
    /// `(params) -> body`
    Lambda { lambda: &'ir ir::Lambda, this: Value, owner: ObjectId, env: Option<EnvId> },
    /// `(function) { body }`: applies the function and amends what it returns.
    Amended {
        base: FunctionId,
        body: &'ir ir::LazyBody,
        this: Value,
        owner: ObjectId,
        env: Option<EnvId>,
        /// The variables of the frame in which the body is written.
        locals: Option<EnvId>,
    },
    /// Returns its argument, checked to the type if there is one: what a mixin amends.
    Identity(Option<CheckId>),
    /// The default of a type, for `default` of listings and mappings.
    TypeDefault(CheckId),
}

/// What kind of class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassKind {
    /// Of a `class` declaration.
    Declared,
    /// Of a module.
    Module,
}

/// A declared property as a class sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassProperty<'ir> {
    /// The most derived declaration.
    pub(crate) member: &'ir ir::Member,
    /// The class that declares it.
    pub(crate) class: ClassId,
    /// The nearest declaration with a type, and its class.
    pub(crate) typed: Option<(&'ir ir::Member, ClassId)>,
    pub(crate) modifiers: ir::Modifiers,
}

/// A method as a class sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassMethod<'ir> {
    pub(crate) method: &'ir ir::Method,
    pub(crate) class: ClassId,
}

/// A class.
pub(crate) struct Class<'ir> {
    pub(crate) kind: ClassKind,
    pub(crate) name: Symbol,
    pub(crate) module: ModuleId,
    pub(crate) ir: &'ir ir::ClassIr,
    pub(crate) superclass: Option<ClassId>,
    /// Itself and its superclasses, the root first.
    pub(crate) display: Box<[ClassId]>,
    pub(crate) modifiers: ir::Modifiers,
    pub(crate) prototype: ObjectId,
    pub(crate) properties: FxHashMap<Symbol, ClassProperty<'ir>>,
    pub(crate) methods: FxHashMap<Symbol, ClassMethod<'ir>>,
    /// The name as messages show it.
    pub(crate) display_name: Arc<str>,
    /// The name outside of the evaluation.
    pub(crate) full_name: ClassName,
}

impl Class<'_> {
    /// Whether it is `other` or one of its subclasses.
    pub(crate) fn is_subclass_of(&self, other: ClassId, other_depth: usize) -> bool {
        self.display.get(other_depth) == Some(&other)
    }
}

/// A type alias.
pub(crate) struct TypeAlias<'ir> {
    pub(crate) name: Symbol,
    pub(crate) module: ModuleId,
    pub(crate) ir: &'ir ir::AliasIr,
    pub(crate) display_name: Arc<str>,
}
