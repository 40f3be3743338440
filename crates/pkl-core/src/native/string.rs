//! `String`.

use super::{Table, args};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table =
    &[("pkl.base#String.reverse", reverse), ("pkl.base#String.encodeToBytes", encode_to_bytes)];

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

fn encode_to_bytes(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let text = vm.str(this);
    let bytes: Vec<u8> = match vm.str(args[0]) {
        "UTF-8" => text.as_bytes().to_vec(),
        "UTF-16" => [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect(),
        _ => text.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect(),
    };
    Ok(Value::Bytes(vm.heap.add_bytes(bytes.into())))
}
