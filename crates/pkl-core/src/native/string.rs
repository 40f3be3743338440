//! `String`.

use super::{Table, args};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[("pkl.base#String.reverse", reverse)];

pub(super) static PROPERTIES: Table =
    &[("pkl.base#String.length", length), ("pkl.base#String.isEmpty", is_empty)];

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(vm.str(this).chars().count()))
}

fn is_empty(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(vm.str(this).is_empty()))
}

fn reverse(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let reversed: String = vm.str(this).chars().rev().collect();
    Ok(vm.heap.string(reversed))
}
