//! Small classes: functions, `Boolean`, `Class` and `Pair`.

use super::{Table, args, reflect};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#Function.applyToList", apply_to_list),
    ("pkl.base#Boolean.xor", xor),
    ("pkl.base#Boolean.implies", implies),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#Pair.first", first),
    ("pkl.base#Pair.key", first),
    ("pkl.base#Pair.second", second),
    ("pkl.base#Pair.value", second),
    ("pkl.base#Class.simpleName", simple_name),
];

fn apply_to_list(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let arguments = vm.heap.list(args::list(args[0])).to_vec();
    vm.apply(this, &arguments)
}

fn xor(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Bool(args::boolean(this) != args::boolean(args[0])))
}

fn implies(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Bool(!args::boolean(this) || args::boolean(args[0])))
}

fn first(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::pair(vm, this).0)
}

fn second(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::pair(vm, this).1)
}

fn simple_name(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let name = reflect::simple_name(vm, args::class(this));
    Ok(vm.heap.string(name))
}
