//! Looking for items that satisfy a predicate.

use super::super::{Table, args};
use super::{items, like, no_match, shared};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(in super::super) static METHODS: Table = shared! {
    "find" => find,
    "findOrNull" => find_or_null,
    "findLast" => find_last,
    "findLastOrNull" => find_last_or_null,
    "count" => count,
    "every" => every,
    "any" => any,
    "partition" => partition,
};

/// The first item that satisfies a predicate, and its index.
pub(in super::super) fn search(
    vm: &mut Vm<'_>,
    this: Value,
    predicate: Value,
) -> Result<Option<(usize, Value)>> {
    for (position, item) in items(vm, this).to_vec().into_iter().enumerate() {
        vm.tick()?;
        if vm.holds(predicate, &[item])? {
            return Ok(Some((position, item)));
        }
    }
    Ok(None)
}

/// The last item that satisfies a predicate, and its index.
pub(in super::super) fn search_back(
    vm: &mut Vm<'_>,
    this: Value,
    predicate: Value,
) -> Result<Option<(usize, Value)>> {
    for (position, item) in items(vm, this).to_vec().into_iter().enumerate().rev() {
        vm.tick()?;
        if vm.holds(predicate, &[item])? {
            return Ok(Some((position, item)));
        }
    }
    Ok(None)
}

fn find(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    match search(vm, this, args[0])? {
        Some((_, item)) => Ok(item),
        None => Err(no_match(vm, this)),
    }
}

fn find_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(search(vm, this, args[0])?.map_or(Value::NULL, |(_, item)| item))
}

fn find_last(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    match search_back(vm, this, args[0])? {
        Some((_, item)) => Ok(item),
        None => Err(no_match(vm, this)),
    }
}

fn find_last_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(search_back(vm, this, args[0])?.map_or(Value::NULL, |(_, item)| item))
}

fn count(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut count = 0;
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        if vm.holds(args[0], &[item])? {
            count += 1;
        }
    }
    Ok(args::count(count))
}

fn every(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        if !vm.holds(args[0], &[item])? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn any(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Bool(search(vm, this, args[0])?.is_some()))
}

fn partition(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (mut held, mut others) = (Vec::new(), Vec::new());
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        if vm.holds(args[0], &[item])? { held.push(item) } else { others.push(item) }
    }
    let pair = (like(vm, this, held)?, like(vm, this, others)?);
    Ok(Value::Pair(vm.heap.add_pair(pair)))
}
