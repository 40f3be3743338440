//! What `List` has and `Set` lacks.

use super::collection::access::distinct;
use super::collection::search::{search, search_back};
use super::collection::{position, position_or_none};
use super::{Table, args};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::value::Value;
use crate::vm::{Known, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#List.getOrNull", get_or_null),
    ("pkl.base#List.sublist", sublist),
    ("pkl.base#List.sublistOrNull", sublist_or_null),
    ("pkl.base#List.isDistinctBy", is_distinct_by),
    ("pkl.base#List.distinctBy", distinct_by),
    ("pkl.base#List.replace", replace),
    ("pkl.base#List.replaceOrNull", replace_or_null),
    ("pkl.base#List.replaceRange", replace_range),
    ("pkl.base#List.replaceRangeOrNull", replace_range_or_null),
    ("pkl.base#List.findIndex", find_index),
    ("pkl.base#List.findIndexOrNull", find_index_or_null),
    ("pkl.base#List.findLastIndex", find_last_index),
    ("pkl.base#List.findLastIndexOrNull", find_last_index_or_null),
    ("pkl.base#List.indexOf", index_of),
    ("pkl.base#List.indexOfOrNull", index_of_or_null),
    ("pkl.base#List.lastIndexOf", last_index_of),
    ("pkl.base#List.lastIndexOfOrNull", last_index_of_or_null),
    ("pkl.base#List.toBytes", to_bytes),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#List.lastIndex", last_index),
    ("pkl.base#List.isDistinct", is_distinct),
    ("pkl.base#List.distinct", distinct),
];

fn len(vm: &Vm<'_>, this: Value) -> usize {
    vm.heap.list(args::list(this)).len()
}

fn last_index(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::last_index(len(vm, this)))
}

fn is_distinct(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = vm.heap.list(args::list(this)).to_vec();
    args::is_distinct(vm, &items).map(Value::Bool)
}

fn is_distinct_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let items = vm.heap.list(args::list(this)).to_vec();
    let keys = args::applied(vm, &items, args[0])?;
    args::is_distinct(vm, &keys).map(Value::Bool)
}

fn distinct_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let items = vm.heap.list(args::list(this)).to_vec();
    let distinct = args::distinct_by(vm, &items, args[0])?;
    Ok(Value::List(vm.heap.add_list(distinct)))
}

fn get_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let items = vm.heap.list(args::list(this));
    let item = usize::try_from(args::int(args[0])).ok().and_then(|index| items.get(index));
    Ok(item.copied().unwrap_or(Value::NULL))
}

/// The bounds of a range, if they are within the list.
fn range(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<(usize, usize)> {
    let len = len(vm, this);
    let start = position(vm, this, args::int(args[0]), 0, len)?;
    let end = position(vm, this, args::int(args[1]), start, len)?;
    Ok((start, end))
}

fn range_or_none(vm: &Vm<'_>, this: Value, args: &[Value]) -> Option<(usize, usize)> {
    let len = len(vm, this);
    let start = position_or_none(args::int(args[0]), 0, len)?;
    let end = position_or_none(args::int(args[1]), start, len)?;
    Some((start, end))
}

fn sublist(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (start, end) = range(vm, this, args)?;
    Ok(Value::List(vm.heap.slice_list(args::list(this), start, end - start)))
}

fn sublist_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(match range_or_none(vm, this, args) {
        Some((start, end)) => Value::List(vm.heap.slice_list(args::list(this), start, end - start)),
        None => Value::NULL,
    })
}

fn replaced(vm: &mut Vm<'_>, this: Value, index: usize, item: Value) -> Value {
    let mut items = vm.heap.list(args::list(this)).to_vec();
    items[index] = item;
    Value::List(vm.heap.add_list(items))
}

fn replace(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (index, len) = (args::int(args[0]), len(vm, this));
    match usize::try_from(index).ok().filter(|index| *index < len) {
        Some(index) => Ok(replaced(vm, this, index, args[1])),
        None => vm.subscript(this, args[0]),
    }
}

fn replace_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (index, len) = (args::int(args[0]), len(vm, this));
    Ok(match usize::try_from(index).ok().filter(|index| *index < len) {
        Some(index) => replaced(vm, this, index, args[1]),
        None => Value::NULL,
    })
}

fn spliced(vm: &mut Vm<'_>, this: Value, (start, end): (usize, usize), replacement: Value) -> Value {
    let mut items = vm.heap.list(args::list(this)).to_vec();
    let replacement = vm.collection_items(replacement).expect("the declaration says Collection");
    items.splice(start..end, replacement);
    Value::List(vm.heap.add_list(items))
}

fn replace_range(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let range = range(vm, this, args)?;
    Ok(spliced(vm, this, range, args[2]))
}

fn replace_range_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(match range_or_none(vm, this, args) {
        Some(range) => spliced(vm, this, range, args[2]),
        None => Value::NULL,
    })
}

fn found_or_null(found: Option<(usize, Value)>) -> Value {
    found.map_or(Value::NULL, |(index, _)| args::count(index))
}

fn found(vm: &mut Vm<'_>, this: Value, found: Option<(usize, Value)>) -> Result<Value> {
    match found {
        Some((index, _)) => Ok(args::count(index)),
        None => {
            let shown = vm.show_shallow(this)?;
            let message = format!("Cannot find matching element in collection.\nCollection: {shown}");
            Err(Raised::new(ErrorCode::InvalidArgument, message))
        }
    }
}

fn find_index(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let match_ = search(vm, this, args[0])?;
    found(vm, this, match_)
}

fn find_index_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    search(vm, this, args[0]).map(found_or_null)
}

fn find_last_index(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let match_ = search_back(vm, this, args[0])?;
    found(vm, this, match_)
}

fn find_last_index_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    search_back(vm, this, args[0]).map(found_or_null)
}

/// Where an item is, looking at the indices in some order.
fn locate(
    vm: &mut Vm<'_>,
    this: Value,
    wanted: Value,
    indices: impl Iterator<Item = usize>,
) -> Result<Option<usize>> {
    for index in indices {
        vm.tick()?;
        let item = vm.heap.list(args::list(this))[index];
        if vm.same(item, wanted)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn missing(vm: &mut Vm<'_>, this: Value, wanted: Value) -> Result<Failure> {
    let (element, collection) = (vm.show_shallow(wanted)?, vm.show_shallow(this)?);
    let message =
        format!("Cannot find element in collection.\nElement   : {element}\nCollection: {collection}");
    Ok(Raised::new(ErrorCode::InvalidArgument, message))
}

fn index_of(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let indices = 0..len(vm, this);
    match locate(vm, this, args[0], indices)? {
        Some(index) => Ok(args::count(index)),
        None => Err(missing(vm, this, args[0])?),
    }
}

fn index_of_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let indices = 0..len(vm, this);
    Ok(locate(vm, this, args[0], indices)?.map_or(Value::NULL, args::count))
}

fn last_index_of(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let indices = (0..len(vm, this)).rev();
    match locate(vm, this, args[0], indices)? {
        Some(index) => Ok(args::count(index)),
        None => Err(missing(vm, this, args[0])?),
    }
}

fn last_index_of_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let indices = (0..len(vm, this)).rev();
    Ok(locate(vm, this, args[0], indices)?.map_or(Value::NULL, args::count))
}

fn to_bytes(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = vm.heap.list(args::list(this)).to_vec();
    let mut bytes = Vec::with_capacity(items.len());
    for item in items {
        let Value::Int(number) = item else {
            let class = vm.known(Known::Int)?;
            return Err(vm.mismatch(class, item)?);
        };
        bytes.push(u8::try_from(number).map_err(|_| {
            let message = format!("Type constraint `isBetween(0, 255)` violated.\nValue: {number}");
            Raised::new(ErrorCode::ConstraintViolated, message)
        })?);
    }
    Ok(Value::Bytes(vm.heap.add_bytes(bytes.into())))
}
