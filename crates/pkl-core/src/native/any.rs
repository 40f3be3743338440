//! `Any`, and the functions of the base module itself.

use super::{Table, args};
use crate::error::Result;
use crate::heap::IntSeq;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#Any.getClass", get_class),
    ("pkl.base#Any.toString", to_string),
    ("pkl.base#Null", null),
    ("pkl.base#Pair", pair),
    ("pkl.base#IntSeq", int_seq),
    ("pkl.base#Function0.apply", apply),
    ("pkl.base#Function1.apply", apply),
    ("pkl.base#Function2.apply", apply),
    ("pkl.base#Function3.apply", apply),
    ("pkl.base#Function4.apply", apply),
    ("pkl.base#Function5.apply", apply),
];

pub(super) static PROPERTIES: Table = &[("pkl.base#NaN", nan), ("pkl.base#Infinity", infinity)];

fn get_class(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    vm.class_of(this).map(Value::Class)
}

fn to_string(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let text = vm.library_text(this)?;
    Ok(vm.heap.string(text))
}

fn nan(_: &mut Vm<'_>, _: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(f64::NAN))
}

fn infinity(_: &mut Vm<'_>, _: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(f64::INFINITY))
}

fn null(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Null(Some(vm.heap.add_null(args[0]))))
}

fn pair(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Pair(vm.heap.add_pair((args[0], args[1]))))
}

fn int_seq(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let sequence = IntSeq { start: args::int(args[0]), end: args::int(args[1]), step: 1 };
    Ok(Value::IntSeq(vm.heap.add_int_seq(sequence)))
}

fn apply(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    vm.apply(this, args)
}
