//! `List`.

use super::{Table, args};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#List.add", add),
    ("pkl.base#List.map", map),
    ("pkl.base#List.filter", filter),
    ("pkl.base#List.fold", fold),
];

pub(super) static PROPERTIES: Table =
    &[("pkl.base#List.length", length), ("pkl.base#List.isEmpty", is_empty)];

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(vm.heap.list(args::list(this)).len()))
}

fn is_empty(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(vm.heap.list(args::list(this)).is_empty()))
}

fn add(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::List(vm.heap.extend_list(args::list(this), args)))
}

fn map(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let items = vm.heap.list(args::list(this)).to_vec();
    let mut mapped = Vec::with_capacity(items.len());
    for item in items {
        vm.tick()?;
        mapped.push(vm.apply(args[0], &[item])?);
    }
    Ok(Value::List(vm.heap.add_list(mapped)))
}

fn filter(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let items = vm.heap.list(args::list(this)).to_vec();
    let mut kept = Vec::new();
    for item in items {
        vm.tick()?;
        if vm.holds(args[0], &[item])? {
            kept.push(item);
        }
    }
    Ok(Value::List(vm.heap.add_list(kept)))
}

fn fold(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let list = args::list(this);
    let mut result = args[0];
    for position in 0..vm.heap.list(list).len() {
        vm.tick()?;
        let item = vm.heap.list(list)[position];
        result = vm.apply(args[1], &[result, item])?;
    }
    Ok(result)
}
