//! `Bytes`.

use pkl_data::bytes;
use pkl_data::units::{DataSize, DataSizeUnit};
use std::sync::Arc;

use super::string::charset;
use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#Bytes.getOrNull", get_or_null),
    ("pkl.base#Bytes.decodeToString", decode_to_string),
    ("pkl.base#Bytes.toList", to_list),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#Bytes.length", length),
    ("pkl.base#Bytes.size", size),
    ("pkl.base#Bytes.base64", base64),
    ("pkl.base#Bytes.hex", hex),
    ("pkl.base#Bytes.md5", md5),
    ("pkl.base#Bytes.sha1", sha1),
    ("pkl.base#Bytes.sha256", sha256),
    ("pkl.base#Bytes.sha256Int", sha256_int),
];

fn of(vm: &Vm<'_>, value: Value) -> Arc<[u8]> {
    match value {
        Value::Bytes(id) => Arc::clone(vm.heap.bytes_of(id)),
        other => panic!("the declaration says Bytes, not {other:?}"),
    }
}

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(of(vm, this).len()))
}

fn size(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let length = i64::try_from(of(vm, this).len()).unwrap_or(i64::MAX);
    Ok(Value::DataSize(vm.heap.add_data_size(DataSize::new(length, DataSizeUnit::Bytes))))
}

macro_rules! texts {
    ($($name:ident: $text:path;)*) => {$(
        fn $name(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
            let text = $text(&of(vm, this));
            Ok(vm.heap.string(text))
        }
    )*};
}

texts! {
    base64: bytes::to_base64;
    hex: bytes::to_hex;
    md5: bytes::md5;
    sha1: bytes::sha1;
    sha256: bytes::sha256;
}

fn sha256_int(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Int(bytes::sha256_int(&of(vm, this))))
}

fn get_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let bytes = of(vm, this);
    let byte = usize::try_from(args::int(args[0])).ok().and_then(|index| bytes.get(index));
    Ok(byte.map_or(Value::NULL, |&byte| Value::Int(i64::from(byte))))
}

fn decode_to_string(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let Some(text) = charset(vm, args[0]).decode(&of(vm, this)) else {
        let message = format!("Invalid bytes for charset \"{}\".", vm.str(args[0]));
        return Err(Raised::new(ErrorCode::Parse, message));
    };
    Ok(vm.heap.string(text))
}

fn to_list(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = of(vm, this).iter().map(|&byte| Value::Int(i64::from(byte))).collect();
    Ok(Value::List(vm.heap.add_list(items)))
}
