//! `Listing`.

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#Listing.getOrNull", get_or_null),
    ("pkl.base#Listing.isDistinctBy", is_distinct_by),
    ("pkl.base#Listing.distinctBy", distinct_by),
    ("pkl.base#Listing.every", every),
    ("pkl.base#Listing.any", any),
    ("pkl.base#Listing.contains", contains),
    ("pkl.base#Listing.fold", fold),
    ("pkl.base#Listing.foldIndexed", fold_indexed),
    ("pkl.base#Listing.join", join),
    ("pkl.base#Listing.toList", to_list),
    ("pkl.base#Listing.toSet", to_set),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#Listing.length", length),
    ("pkl.base#Listing.isEmpty", is_empty),
    ("pkl.base#Listing.lastIndex", last_index),
    ("pkl.base#Listing.isDistinct", is_distinct),
    ("pkl.base#Listing.distinct", distinct),
    ("pkl.base#Listing.first", first),
    ("pkl.base#Listing.firstOrNull", first_or_null),
    ("pkl.base#Listing.last", last),
    ("pkl.base#Listing.lastOrNull", last_or_null),
    ("pkl.base#Listing.single", single),
    ("pkl.base#Listing.singleOrNull", single_or_null),
];

fn len(vm: &Vm<'_>, this: Value) -> usize {
    vm.element_count(args::object(this))
}

/// The element at an index, or null outside of the listing.
fn element(vm: &mut Vm<'_>, this: Value, index: usize) -> Result<Value> {
    Ok(vm.item(args::object(this), args::count(index))?.unwrap_or(Value::NULL))
}

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(len(vm, this)))
}

fn is_empty(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(len(vm, this) == 0))
}

fn last_index(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::last_index(len(vm, this)))
}

fn is_distinct(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    args::is_distinct(vm, &elements).map(Value::Bool)
}

fn distinct(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    let distinct = vm.make_set(&elements)?;
    let distinct = vm.heap.set(args::set(distinct)).to_vec();
    vm.make_listing(&distinct)
}

fn is_distinct_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    let keys = args::applied(vm, &elements, args[0])?;
    args::is_distinct(vm, &keys).map(Value::Bool)
}

fn distinct_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    let distinct = args::distinct_by(vm, &elements, args[0])?;
    vm.make_listing(&distinct)
}

fn non_empty(vm: &Vm<'_>, this: Value) -> Result<usize> {
    match len(vm, this) {
        0 => Err(Raised::new(ErrorCode::InvalidArgument, "Expected a non-empty Listing.")),
        len => Ok(len),
    }
}

fn first(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    non_empty(vm, this)?;
    element(vm, this, 0)
}

fn first_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    element(vm, this, 0)
}

fn last(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let len = non_empty(vm, this)?;
    element(vm, this, len - 1)
}

fn last_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match len(vm, this) {
        0 => Ok(Value::NULL),
        len => element(vm, this, len - 1),
    }
}

fn single(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match len(vm, this) {
        1 => element(vm, this, 0),
        _ => Err(Raised::new(ErrorCode::InvalidArgument, "Expected a single-element Listing.")),
    }
}

fn single_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match len(vm, this) {
        1 => element(vm, this, 0),
        _ => Ok(Value::NULL),
    }
}

fn get_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(vm.item(args::object(this), args[0])?.unwrap_or(Value::NULL))
}

fn every(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for index in 0..len(vm, this) {
        vm.tick()?;
        let element = element(vm, this, index)?;
        if !vm.holds(args[0], &[element])? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn any(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for index in 0..len(vm, this) {
        vm.tick()?;
        let element = element(vm, this, index)?;
        if vm.holds(args[0], &[element])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn contains(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for index in 0..len(vm, this) {
        vm.tick()?;
        let element = element(vm, this, index)?;
        if vm.same(element, args[0])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn fold(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut result = args[0];
    for element in vm.elements(args::object(this))? {
        vm.tick()?;
        result = vm.apply(args[1], &[result, element])?;
    }
    Ok(result)
}

fn fold_indexed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut result = args[0];
    for (index, element) in vm.elements(args::object(this))?.into_iter().enumerate() {
        vm.tick()?;
        result = vm.apply(args[1], &[args::count(index), result, element])?;
    }
    Ok(result)
}

fn join(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    let separator = vm.str(args[0]).to_owned();
    args::join(vm, &elements, &separator)
}

fn to_list(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    Ok(Value::List(vm.heap.add_list(elements)))
}

fn to_set(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    vm.make_set(&elements)
}
