//! `IntSeq`.

use super::{Table, args};
use crate::error::Result;
use crate::heap::IntSeq;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#IntSeq.step", with_step),
    ("pkl.base#IntSeq.fold", fold),
    ("pkl.base#IntSeq.map", map),
    ("pkl.base#IntSeq.toList", to_list),
    ("pkl.base#IntSeq.toListing", to_listing),
];

pub(super) static PROPERTIES: Table =
    &[("pkl.base#IntSeq.start", start), ("pkl.base#IntSeq.end", end), ("pkl.base#IntSeq.step", step)];

fn start(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Int(vm.int_seq(this).start))
}

fn end(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Int(vm.int_seq(this).end))
}

fn step(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Int(vm.int_seq(this).step))
}

fn with_step(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let sequence = IntSeq { step: args::int(args[0]), ..vm.int_seq(this) };
    Ok(Value::IntSeq(vm.heap.add_int_seq(sequence)))
}

fn fold(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut result = args[0];
    for number in vm.int_seq(this).iter() {
        vm.tick()?;
        result = vm.apply(args[1], &[result, Value::Int(number)])?;
    }
    Ok(result)
}

fn map(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut items = Vec::new();
    for number in vm.int_seq(this).iter() {
        vm.check_count(items.len())?;
        items.push(vm.apply(args[0], &[Value::Int(number)])?);
    }
    Ok(Value::List(vm.heap.add_list(items)))
}

fn items(vm: &mut Vm<'_>, this: Value) -> Result<Vec<Value>> {
    let sequence = vm.int_seq(this);
    vm.check_count(sequence.len())?;
    Ok(sequence.iter().map(Value::Int).collect())
}

fn to_list(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = items(vm, this)?;
    Ok(Value::List(vm.heap.add_list(items)))
}

fn to_listing(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = items(vm, this)?;
    vm.make_listing(&items)
}
