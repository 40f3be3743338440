//! `Typed`, and what it has in common with `Dynamic`.

use pkl_parser::Symbol;
use pkl_parser::ast::ModifierKind;

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::PropertyKey;
use crate::ir::MemberSource;
use crate::value::{ClassId, ObjectId, Value};
use crate::vm::{Known, MemberKey, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#Typed.hasProperty", has_property),
    ("pkl.base#Typed.getProperty", get_property),
    ("pkl.base#Typed.getPropertyOrNull", get_property_or_null),
    ("pkl.base#Typed.toDynamic", to_dynamic),
    ("pkl.base#Typed.toMap", to_map),
];

pub(super) static PROPERTIES: Table = &[];

pub(super) fn has_property(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let name = vm.store.symbol(vm.str(args[0]));
    let object = args::object(this);
    let declares = match vm.heap.find_property(object, PropertyKey::Named(name)) {
        Some(index) => !matches!(
            vm.heap.slot(index).member.source,
            MemberSource::Class(_) | MemberSource::Alias(_) | MemberSource::Import(_)
        ),
        None => vm.class(vm.heap.object(object).class).properties.contains_key(&name),
    };
    Ok(Value::Bool(declares))
}

pub(super) fn get_property(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let name = vm.store.symbol(vm.str(args[0]));
    vm.read_property(this, name)
}

pub(super) fn get_property_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let name = vm.store.symbol(vm.str(args[0]));
    Ok(vm.find_property(this, name)?.unwrap_or(Value::NULL))
}

/// The visible properties of an object.
pub(super) fn properties(vm: &mut Vm<'_>, object: ObjectId) -> Result<Vec<(Symbol, Value)>> {
    let mut properties = Vec::new();
    let members = vm.members_of(object);
    vm.force_in_order(object, &members)?;
    for (key, place) in members {
        if let MemberKey::Property(name) = key {
            properties.push((name, vm.force(object, place)?));
        }
    }
    Ok(properties)
}

/// The names of the visible properties of an object.
pub(super) fn property_names(vm: &Vm<'_>, object: ObjectId) -> Vec<Symbol> {
    let names = vm.members_of(object).into_iter().filter_map(|(key, _)| match key {
        MemberKey::Property(name) => Some(name),
        _ => None,
    });
    names.collect()
}

fn to_dynamic(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let source = args::object(this);
    let dynamic = vm.make_dynamic(&[], &[], &[])?;
    let names = property_names(vm, source);
    vm.forward_properties(args::object(dynamic), source, names);
    Ok(dynamic)
}

fn to_map(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let mut pairs = Vec::new();
    for (name, value) in properties(vm, args::object(this))? {
        let name = vm.text_of(name);
        pairs.push((vm.heap.string(name), value));
    }
    vm.make_map(&pairs)
}

/// Whether `toTyped` can make an object of a class.
pub(super) fn check_typed(vm: &mut Vm<'_>, class: ClassId) -> Result<()> {
    if !vm.is_kind(class, Known::Typed)? {
        let name = vm.class_name(class);
        let message = format!("Class `{name}` is not a subtype of `Typed`.");
        return Err(Raised::new(ErrorCode::InvalidArgument, message));
    }
    vm.check_instantiable(class)
}

/// Whether `toTyped` sets a property: one that the class declares and doesn't hide.
pub(super) fn is_converted(vm: &Vm<'_>, class: ClassId, name: Symbol) -> bool {
    vm.class(class).properties.get(&name).is_some_and(|it| !it.modifiers.contains(ModifierKind::Hidden))
}
