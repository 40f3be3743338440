//! What `List` and `Set` share. A native here is registered for both; it makes collections of the
//! receiver's kind.

pub(super) mod access;
pub(super) mod fold;
pub(super) mod order;
pub(super) mod parts;
pub(super) mod search;
mod sort;
pub(super) mod transform;

use super::args;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::value::Value;
use crate::vm::{Known, Vm};

/// A table that registers each native for both classes.
macro_rules! shared {
    ($($name:literal => $native:path),* $(,)?) => {
        &[$(
            (concat!("pkl.base#List.", $name), $native),
            (concat!("pkl.base#Set.", $name), $native),
        )*]
    };
}
pub(super) use shared;

/// The items of a collection.
fn items<'vm>(vm: &'vm Vm<'_>, collection: Value) -> &'vm [Value] {
    match collection {
        Value::List(id) => vm.heap.list(id),
        Value::Set(id) => vm.heap.set(id),
        other => panic!("the declaration says Collection, not {other:?}"),
    }
}

/// A collection of the same kind as another one.
fn like(vm: &mut Vm<'_>, model: Value, items: Vec<Value>) -> Result<Value> {
    match model {
        Value::Set(_) => vm.make_set(&items),
        _ => Ok(Value::List(vm.heap.add_list(items))),
    }
}

/// Some adjoining items of a collection as one of the same kind.
fn part(vm: &mut Vm<'_>, collection: Value, start: usize, len: usize) -> Result<Value> {
    match collection {
        Value::List(id) => Ok(Value::List(vm.heap.slice_list(id, start, len))),
        _ => {
            let items = items(vm, collection)[start..start + len].to_vec();
            like(vm, collection, items)
        }
    }
}

/// An error that shows the collection.
fn failure(vm: &mut Vm<'_>, code: ErrorCode, message: &str, collection: Value) -> Failure {
    match vm.show_shallow(collection) {
        Ok(shown) => Raised::new(code, format!("{message}\nCollection: {shown}")),
        Err(error) => error,
    }
}

fn empty(vm: &mut Vm<'_>, collection: Value) -> Failure {
    failure(vm, ErrorCode::InvalidArgument, "Expected a non-empty collection.", collection)
}

fn no_match(vm: &mut Vm<'_>, collection: Value) -> Failure {
    failure(vm, ErrorCode::InvalidArgument, "Cannot find matching element in collection.", collection)
}

/// A position between `low` and `high`, both inclusive, or the error that it is none.
pub(super) fn position(
    vm: &mut Vm<'_>,
    collection: Value,
    index: i64,
    low: usize,
    high: usize,
) -> Result<usize> {
    match position_or_none(index, low, high) {
        Some(position) => Ok(position),
        None => {
            let index = args::grouped(index);
            let (low, high) = (args::grouped_count(low), args::grouped_count(high));
            let message = format!("Element index `{index}` is out of range `{low}`..`{high}`.");
            Err(failure(vm, ErrorCode::OutOfRange, &message, collection))
        }
    }
}

/// A position between `low` and `high`, both inclusive.
pub(super) fn position_or_none(index: i64, low: usize, high: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|index| (low..=high).contains(index))
}

/// The items of a value that should be a collection.
fn expect_collection(vm: &mut Vm<'_>, value: Value) -> Result<Vec<Value>> {
    match vm.collection_items(value) {
        Some(items) => Ok(items),
        None => {
            let class = vm.known(Known::Collection)?;
            Err(vm.mismatch(class, value)?)
        }
    }
}
