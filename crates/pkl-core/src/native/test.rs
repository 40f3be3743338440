//! `pkl:test`: errors as values.

use super::Table;
use crate::error::{ErrorCode, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[("pkl.test#catch", catch), ("pkl.test#catchOrNull", catch_or_null)];

pub(super) static PROPERTIES: Table = &[];

/// The message of the error that a function throws, on one line.
///
/// A limit that the host set isn't the program's to catch.
fn caught(vm: &mut Vm<'_>, function: Value) -> Result<Option<String>> {
    match vm.attempt(|vm| vm.apply(function, &[])) {
        Ok(_) => Ok(None),
        Err(error) if error.code == ErrorCode::LimitExceeded => Err(error),
        Err(error) => Ok(Some(error.message.replace('\n', " "))),
    }
}

fn catch(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    match caught(vm, args[0])? {
        Some(message) => Ok(vm.heap.string(message)),
        None => Err(Raised::new(ErrorCode::InvalidArgument, "Expected an exception, but none was thrown.")),
    }
}

fn catch_or_null(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(match caught(vm, args[0])? {
        Some(message) => vm.heap.string(message),
        None => Value::NULL,
    })
}
