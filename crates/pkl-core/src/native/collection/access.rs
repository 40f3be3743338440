//! Single items, and what a collection has at its ends.

use super::super::{Table, args};
use super::{empty, failure, items, like, part, position, position_or_none, shared};
use crate::error::{ErrorCode, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(in super::super) static PROPERTIES: Table = shared! {
    "length" => length,
    "isEmpty" => is_empty,
    "first" => first,
    "firstOrNull" => first_or_null,
    "rest" => rest,
    "restOrNull" => rest_or_null,
    "last" => last,
    "lastOrNull" => last_or_null,
    "single" => single,
    "singleOrNull" => single_or_null,
};

pub(in super::super) static METHODS: Table = shared! {
    "contains" => contains,
    "startsWith" => starts_with,
    "endsWith" => ends_with,
    "split" => split,
    "splitOrNull" => split_or_null,
    "toList" => to_list,
    "toSet" => to_set,
    "toListing" => to_listing,
    "toDynamic" => to_dynamic,
    "join" => join,
};

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(items(vm, this).len()))
}

fn is_empty(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(items(vm, this).is_empty()))
}

fn first(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    items(vm, this).first().copied().ok_or_else(|| empty(vm, this))
}

fn first_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(items(vm, this).first().copied().unwrap_or(Value::NULL))
}

fn rest(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match items(vm, this).len() {
        0 => Err(empty(vm, this)),
        len => part(vm, this, 1, len - 1),
    }
}

fn rest_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match items(vm, this).len() {
        0 => Ok(Value::NULL),
        len => part(vm, this, 1, len - 1),
    }
}

fn last(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    items(vm, this).last().copied().ok_or_else(|| empty(vm, this))
}

fn last_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(items(vm, this).last().copied().unwrap_or(Value::NULL))
}

fn single(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match *items(vm, this) {
        [only] => Ok(only),
        _ => Err(failure(vm, ErrorCode::InvalidArgument, "Expected a single-element collection.", this)),
    }
}

fn single_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match *items(vm, this) {
        [only] => Ok(only),
        _ => Ok(Value::NULL),
    }
}

fn contains(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    if let Value::Set(id) = this {
        return vm.set_contains(id, args[0]).map(Value::Bool);
    }
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        if vm.same(item, args[0])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn starts_with(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (own, other) = (items(vm, this).to_vec(), items(vm, args[0]).to_vec());
    match own.get(..other.len()) {
        Some(start) => all_same(vm, start, &other),
        None => Ok(Value::Bool(false)),
    }
}

fn ends_with(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (own, other) = (items(vm, this).to_vec(), items(vm, args[0]).to_vec());
    match own.len().checked_sub(other.len()) {
        Some(start) => all_same(vm, &own[start..], &other),
        None => Ok(Value::Bool(false)),
    }
}

fn all_same(vm: &mut Vm<'_>, left: &[Value], right: &[Value]) -> Result<Value> {
    for (&left, &right) in left.iter().zip(right) {
        vm.tick()?;
        if !vm.same(left, right)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn split(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let len = items(vm, this).len();
    let at = position(vm, this, args::int(args[0]), 0, len)?;
    split_at(vm, this, at)
}

fn split_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let len = items(vm, this).len();
    match position_or_none(args::int(args[0]), 0, len) {
        Some(at) => split_at(vm, this, at),
        None => Ok(Value::NULL),
    }
}

fn split_at(vm: &mut Vm<'_>, this: Value, at: usize) -> Result<Value> {
    let len = items(vm, this).len();
    let pair = (part(vm, this, 0, at)?, part(vm, this, at, len - at)?);
    Ok(Value::Pair(vm.heap.add_pair(pair)))
}

fn to_list(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = match this {
        Value::List(_) => return Ok(this),
        _ => items(vm, this).to_vec(),
    };
    Ok(Value::List(vm.heap.add_list(items)))
}

fn to_set(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match this {
        Value::Set(_) => Ok(this),
        _ => {
            let items = items(vm, this).to_vec();
            vm.make_set(&items)
        }
    }
}

fn to_listing(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = items(vm, this).to_vec();
    vm.make_listing(&items)
}

fn to_dynamic(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = items(vm, this).to_vec();
    vm.make_dynamic(&[], &[], &items)
}

fn join(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let items = items(vm, this).to_vec();
    let separator = vm.str(args[0]).to_owned();
    args::join(vm, &items, &separator)
}

/// The items without those that equal an earlier one.
pub(in super::super) fn distinct(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = items(vm, this).to_vec();
    let distinct = vm.make_set(&items)?;
    let distinct = super::items(vm, distinct).to_vec();
    like(vm, this, distinct)
}
