//! Taking and dropping items at either end.

use super::super::{Table, args};
use super::{items, part, shared};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(in super::super) static METHODS: Table = shared! {
    "take" => take,
    "takeLast" => take_last,
    "takeWhile" => take_while,
    "takeLastWhile" => take_last_while,
    "drop" => drop_first,
    "dropLast" => drop_last,
    "dropWhile" => drop_while,
    "dropLastWhile" => drop_last_while,
};

/// How many items there are and how many of them an argument asks for.
fn lengths(vm: &Vm<'_>, this: Value, args: &[Value]) -> Result<(usize, usize)> {
    let len = items(vm, this).len();
    Ok((len, args::positive_count(args[0])?.min(len)))
}

fn take(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (_, count) = lengths(vm, this, args)?;
    part(vm, this, 0, count)
}

fn take_last(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (len, count) = lengths(vm, this, args)?;
    part(vm, this, len - count, count)
}

fn drop_first(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (len, count) = lengths(vm, this, args)?;
    part(vm, this, count, len - count)
}

fn drop_last(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (len, count) = lengths(vm, this, args)?;
    part(vm, this, 0, len - count)
}

/// How many items from the start satisfy a predicate.
fn prefix(vm: &mut Vm<'_>, this: Value, predicate: Value) -> Result<usize> {
    for (position, item) in items(vm, this).to_vec().into_iter().enumerate() {
        vm.tick()?;
        if !vm.holds(predicate, &[item])? {
            return Ok(position);
        }
    }
    Ok(items(vm, this).len())
}

/// How many items there are and how many before the last that fails a predicate, itself included.
fn before_suffix(vm: &mut Vm<'_>, this: Value, predicate: Value) -> Result<(usize, usize)> {
    let all = items(vm, this).to_vec();
    for (position, &item) in all.iter().enumerate().rev() {
        vm.tick()?;
        if !vm.holds(predicate, &[item])? {
            return Ok((all.len(), position + 1));
        }
    }
    Ok((all.len(), 0))
}

fn take_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let count = prefix(vm, this, args[0])?;
    part(vm, this, 0, count)
}

fn drop_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let count = prefix(vm, this, args[0])?;
    let len = items(vm, this).len();
    part(vm, this, count, len - count)
}

fn take_last_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (len, start) = before_suffix(vm, this, args[0])?;
    part(vm, this, start, len - start)
}

fn drop_last_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (_, start) = before_suffix(vm, this, args[0])?;
    part(vm, this, 0, start)
}
