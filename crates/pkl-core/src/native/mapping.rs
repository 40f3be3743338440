//! `Mapping`.

use super::{Table, args};
use crate::error::Result;
use crate::value::Value;
use crate::vm::{MemberRef, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#Mapping.containsKey", contains_key),
    ("pkl.base#Mapping.containsValue", contains_value),
    ("pkl.base#Mapping.getOrNull", get_or_null),
    ("pkl.base#Mapping.fold", fold),
    ("pkl.base#Mapping.every", every),
    ("pkl.base#Mapping.any", any),
    ("pkl.base#Mapping.toMap", to_map),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#Mapping.isEmpty", is_empty),
    ("pkl.base#Mapping.length", length),
    ("pkl.base#Mapping.keys", keys),
];

/// The keys of a mapping and where their values are.
fn places(vm: &Vm<'_>, this: Value) -> Vec<(Value, MemberRef)> {
    let Some(items) = vm.heap.object(args::object(this)).items else { return Vec::new() };
    let keys = vm.heap.items(items).keys.iter().copied();
    keys.zip(0..).map(|(key, position)| (key, MemberRef::Entry(items, position))).collect()
}

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(places(vm, this).len()))
}

fn is_empty(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(places(vm, this).is_empty()))
}

fn keys(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let keys: Vec<Value> = places(vm, this).into_iter().map(|(key, _)| key).collect();
    vm.make_set(&keys)
}

fn contains_key(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Bool(vm.find_item(args::object(this), args[0])?.is_some()))
}

fn contains_value(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for (_, place) in places(vm, this) {
        vm.tick()?;
        let value = vm.force(args::object(this), place)?;
        if vm.same(value, args[0])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn get_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(vm.item(args::object(this), args[0])?.unwrap_or(Value::NULL))
}

fn fold(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut result = args[0];
    for (key, value) in vm.entries(args::object(this))? {
        vm.tick()?;
        result = vm.apply(args[1], &[result, key, value])?;
    }
    Ok(result)
}

fn every(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for (key, place) in places(vm, this) {
        vm.tick()?;
        let value = vm.force(args::object(this), place)?;
        if !vm.holds(args[0], &[key, value])? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn any(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for (key, place) in places(vm, this) {
        vm.tick()?;
        let value = vm.force(args::object(this), place)?;
        if vm.holds(args[0], &[key, value])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn to_map(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let entries = vm.entries(args::object(this))?;
    vm.make_map(&entries)
}
