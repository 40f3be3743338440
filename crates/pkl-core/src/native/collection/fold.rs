//! Combining the items of a collection into one value.

use super::super::{Table, args};
use super::{empty, items, shared};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(in super::super) static METHODS: Table = shared! {
    "fold" => fold,
    "foldBack" => fold_back,
    "foldIndexed" => fold_indexed,
    "reduce" => reduce,
    "reduceOrNull" => reduce_or_null,
};

fn fold(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    fold_from(vm, this, args[0], 0, args[1])
}

fn fold_from(vm: &mut Vm<'_>, this: Value, initial: Value, start: usize, operator: Value) -> Result<Value> {
    let mut result = initial;
    for position in start..items(vm, this).len() {
        vm.tick()?;
        let item = items(vm, this)[position];
        result = vm.apply(operator, &[result, item])?;
    }
    Ok(result)
}

fn fold_back(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut result = args[0];
    for position in (0..items(vm, this).len()).rev() {
        vm.tick()?;
        let item = items(vm, this)[position];
        result = vm.apply(args[1], &[item, result])?;
    }
    Ok(result)
}

fn fold_indexed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut result = args[0];
    for position in 0..items(vm, this).len() {
        vm.tick()?;
        let item = items(vm, this)[position];
        result = vm.apply(args[1], &[args::count(position), result, item])?;
    }
    Ok(result)
}

fn reduce(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    match items(vm, this).first().copied() {
        Some(first) => fold_from(vm, this, first, 1, args[0]),
        None => Err(empty(vm, this)),
    }
}

fn reduce_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    match items(vm, this).first().copied() {
        Some(first) => fold_from(vm, this, first, 1, args[0]),
        None => Ok(Value::NULL),
    }
}
