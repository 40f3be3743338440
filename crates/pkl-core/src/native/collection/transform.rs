//! Collections made item by item from others.

use super::super::{Table, args};
use super::{expect_collection, items, like, shared};
use crate::error::{ErrorCode, Raised, Result};
use crate::value::Value;
use crate::vm::{Known, Vm};

pub(in super::super) static METHODS: Table = shared! {
    "filter" => filter,
    "filterNonNull" => filter_non_null,
    "filterIndexed" => filter_indexed,
    "filterIsInstance" => filter_is_instance,
    "map" => map,
    "mapIndexed" => map_indexed,
    "mapNonNull" => map_non_null,
    "mapNonNullIndexed" => map_non_null_indexed,
    "flatMap" => flat_map,
    "flatMapIndexed" => flat_map_indexed,
    "flatten" => flatten,
    "add" => add,
    "repeat" => repeat,
    "reverse" => reverse,
    "zip" => zip,
    "toMap" => to_map,
    "groupBy" => group_by,
};

/// What a function makes of each item, of its index too if asked for.
fn applied(vm: &mut Vm<'_>, this: Value, function: Value, indexed: bool) -> Result<Vec<Value>> {
    let all = items(vm, this).to_vec();
    let mut results = Vec::with_capacity(all.len());
    for (position, item) in all.into_iter().enumerate() {
        vm.tick()?;
        results.push(if indexed {
            vm.apply(function, &[args::count(position), item])?
        } else {
            vm.apply(function, &[item])?
        });
    }
    Ok(results)
}

fn map(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let results = applied(vm, this, args[0], false)?;
    like(vm, this, results)
}

fn map_indexed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let results = applied(vm, this, args[0], true)?;
    like(vm, this, results)
}

fn map_non_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut results = applied(vm, this, args[0], false)?;
    results.retain(|result| !result.is_null());
    like(vm, this, results)
}

fn map_non_null_indexed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut results = applied(vm, this, args[0], true)?;
    results.retain(|result| !result.is_null());
    like(vm, this, results)
}

fn flat_map(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    flat_mapped(vm, this, args[0], false)
}

fn flat_map_indexed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    flat_mapped(vm, this, args[0], true)
}

fn flat_mapped(vm: &mut Vm<'_>, this: Value, function: Value, indexed: bool) -> Result<Value> {
    let mut joined = Vec::new();
    for (position, item) in items(vm, this).to_vec().into_iter().enumerate() {
        vm.tick()?;
        let result = if indexed {
            vm.apply(function, &[args::count(position), item])?
        } else {
            vm.apply(function, &[item])?
        };
        joined.extend(expect_collection(vm, result)?);
        vm.check_count(joined.len())?;
    }
    like(vm, this, joined)
}

fn flatten(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let mut joined = Vec::new();
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        let Some(inner) = vm.collection_items(item) else {
            let shown = vm.show_shallow(item)?;
            let message =
                format!("Cannot flatten a collection containing a non-collection element.\nElement: {shown}");
            return Err(Raised::new(ErrorCode::InvalidArgument, message));
        };
        joined.extend(inner);
        vm.check_count(joined.len())?;
    }
    like(vm, this, joined)
}

fn filter(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut kept = Vec::new();
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        if vm.holds(args[0], &[item])? {
            kept.push(item);
        }
    }
    like(vm, this, kept)
}

fn filter_non_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let kept = items(vm, this).iter().copied().filter(|item| !item.is_null()).collect();
    like(vm, this, kept)
}

fn filter_indexed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut kept = Vec::new();
    for (position, item) in items(vm, this).to_vec().into_iter().enumerate() {
        vm.tick()?;
        if vm.holds(args[0], &[args::count(position), item])? {
            kept.push(item);
        }
    }
    like(vm, this, kept)
}

fn filter_is_instance(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let wanted = args::class(args[0]);
    let mut kept = Vec::new();
    for item in items(vm, this).to_vec() {
        let class = vm.class_of(item)?;
        if vm.is_subclass(class, wanted) {
            kept.push(item);
        }
    }
    like(vm, this, kept)
}

fn add(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    match this {
        Value::List(id) => Ok(Value::List(vm.heap.extend_list(id, args))),
        _ => vm.set_with(this, args[0]),
    }
}

fn repeat(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let count = args::positive_count(args[0])?;
    let all = items(vm, this).to_vec();
    vm.check_count(all.len().saturating_mul(count))?;
    Ok(Value::List(vm.heap.add_list(all.repeat(count))))
}

fn reverse(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let reversed = items(vm, this).iter().rev().copied().collect();
    Ok(Value::List(vm.heap.add_list(reversed)))
}

fn zip(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (left, right) = (items(vm, this).to_vec(), expect_collection(vm, args[0])?);
    let pairs = left.into_iter().zip(right).map(|pair| Value::Pair(vm.heap.add_pair(pair))).collect();
    like(vm, this, pairs)
}

fn to_map(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut pairs = Vec::new();
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        pairs.push((vm.apply(args[0], &[item])?, vm.apply(args[1], &[item])?));
    }
    vm.make_map(&pairs)
}

fn group_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    // The map holds the positions of the groups until these are complete.
    let mut positions = vm.make_map(&[])?;
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for item in items(vm, this).to_vec() {
        vm.tick()?;
        let key = vm.apply(args[0], &[item])?;
        match vm.map_get(args::map(positions), key)? {
            Some(Value::Int(position)) => {
                let position = usize::try_from(position).expect("a position in `groups`");
                groups[position].1.push(item);
            }
            _ => {
                positions = vm.map_with(positions, key, args::count(groups.len()))?;
                groups.push((key, vec![item]));
            }
        }
    }
    let mut pairs = Vec::with_capacity(groups.len());
    for (key, group) in groups {
        pairs.push((key, like(vm, this, group)?));
    }
    vm.make_map(&pairs)
}

/// A value of a class was expected, but not this one.
pub(in super::super) fn expect_pair(vm: &mut Vm<'_>, value: Value) -> Result<(Value, Value)> {
    match value {
        Value::Pair(id) => Ok(*vm.heap.pair(id)),
        other => {
            let class = vm.known(Known::Pair)?;
            Err(vm.mismatch(class, other)?)
        }
    }
}
