//! The smallest and greatest items, and sorting.

use super::super::Table;
use super::sort::sort;
use super::{empty, items, shared};
use crate::error::Result;
use crate::ir::BinaryOp;
use crate::value::Value;
use crate::vm::Vm;

pub(in super::super) static PROPERTIES: Table = shared! {
    "min" => min,
    "minOrNull" => min_or_null,
    "max" => max,
    "maxOrNull" => max_or_null,
};

pub(in super::super) static METHODS: Table = shared! {
    "minBy" => min_by,
    "minByOrNull" => min_by_or_null,
    "minWith" => min_with,
    "minWithOrNull" => min_with_or_null,
    "maxBy" => max_by,
    "maxByOrNull" => max_by_or_null,
    "maxWith" => max_with,
    "maxWithOrNull" => max_with_or_null,
    "sort" => sorted,
    "sortBy" => sorted_by,
    "sortWith" => sorted_with,
};

fn compare(vm: &mut Vm<'_>, op: BinaryOp, left: Value, right: Value) -> Result<bool> {
    Ok(matches!(vm.operate(op, left, right)?, Value::Bool(true)))
}

/// The first of the items that nothing beats by an operator; `select` says what is compared.
fn extreme(
    vm: &mut Vm<'_>,
    this: Value,
    op: BinaryOp,
    select: &mut impl FnMut(&mut Vm<'_>, Value) -> Result<Value>,
) -> Result<Option<Value>> {
    let all = items(vm, this).to_vec();
    let Some((&first, others)) = all.split_first() else { return Ok(None) };
    let mut best = (first, select(vm, first)?);
    for &item in others {
        vm.tick()?;
        let key = select(vm, item)?;
        if compare(vm, op, key, best.1)? {
            best = (item, key);
        }
    }
    Ok(Some(best.0))
}

fn itself(_: &mut Vm<'_>, item: Value) -> Result<Value> {
    Ok(item)
}

fn or_empty(vm: &mut Vm<'_>, this: Value, found: Option<Value>) -> Result<Value> {
    found.ok_or_else(|| empty(vm, this))
}

fn min(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let found = extreme(vm, this, BinaryOp::Less, &mut itself)?;
    or_empty(vm, this, found)
}

fn min_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(extreme(vm, this, BinaryOp::Less, &mut itself)?.unwrap_or(Value::NULL))
}

fn max(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let found = extreme(vm, this, BinaryOp::Greater, &mut itself)?;
    or_empty(vm, this, found)
}

fn max_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(extreme(vm, this, BinaryOp::Greater, &mut itself)?.unwrap_or(Value::NULL))
}

fn min_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let found = extreme(vm, this, BinaryOp::Less, &mut |vm, item| vm.apply(args[0], &[item]))?;
    or_empty(vm, this, found)
}

fn min_by_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let found = extreme(vm, this, BinaryOp::Less, &mut |vm, item| vm.apply(args[0], &[item]))?;
    Ok(found.unwrap_or(Value::NULL))
}

fn max_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let found = extreme(vm, this, BinaryOp::Greater, &mut |vm, item| vm.apply(args[0], &[item]))?;
    or_empty(vm, this, found)
}

fn max_by_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let found = extreme(vm, this, BinaryOp::Greater, &mut |vm, item| vm.apply(args[0], &[item]))?;
    Ok(found.unwrap_or(Value::NULL))
}

/// Which of two items an order asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    First,
    Last,
}

/// Whether a comparator, which may also answer with a negative number, puts one item before another.
///
/// Only sorting and the methods of `Set` take numbers.
fn is_before(vm: &mut Vm<'_>, comparator: Value, left: Value, right: Value, numbers: bool) -> Result<bool> {
    match vm.apply(comparator, &[left, right])? {
        Value::Bool(before) => Ok(before),
        Value::Int(order) if numbers => Ok(order < 0),
        other => {
            let expected = if numbers { "Boolean` or `Int" } else { "Boolean" };
            Err(vm.mismatch_text(expected, other)?)
        }
    }
}

fn extreme_with(vm: &mut Vm<'_>, this: Value, comparator: Value, wanted: Wanted) -> Result<Option<Value>> {
    let all = items(vm, this).to_vec();
    let Some((&first, others)) = all.split_first() else { return Ok(None) };
    let numbers = matches!(this, Value::Set(_));
    let mut best = first;
    for &item in others {
        vm.tick()?;
        let (left, right) = if wanted == Wanted::First { (item, best) } else { (best, item) };
        if is_before(vm, comparator, left, right, numbers)? {
            best = item;
        }
    }
    Ok(Some(best))
}

fn min_with(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let found = extreme_with(vm, this, args[0], Wanted::First)?;
    or_empty(vm, this, found)
}

fn min_with_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(extreme_with(vm, this, args[0], Wanted::First)?.unwrap_or(Value::NULL))
}

/// As the official evaluator does, a set gives what comes first here.
fn max_with(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let wanted = if matches!(this, Value::Set(_)) { Wanted::First } else { Wanted::Last };
    let found = extreme_with(vm, this, args[0], wanted)?;
    or_empty(vm, this, found)
}

fn max_with_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(extreme_with(vm, this, args[0], Wanted::Last)?.unwrap_or(Value::NULL))
}

fn sorted(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let mut all = items(vm, this).to_vec();
    sort(vm, &mut all, &mut |vm, left, right| compare(vm, BinaryOp::Less, left, right))?;
    Ok(Value::List(vm.heap.add_list(all)))
}

fn sorted_by(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let all = items(vm, this).to_vec();
    if all.len() < 2 {
        return Ok(Value::List(vm.heap.add_list(all)));
    }
    // Each key is computed once, when it is first compared.
    let mut keys = vec![None; all.len()];
    let mut key = |vm: &mut Vm<'_>, position: usize| -> Result<Value> {
        if let Some(key) = keys[position] {
            return Ok(key);
        }
        vm.tick()?;
        let key = vm.apply(args[0], &[all[position]])?;
        keys[position] = Some(key);
        Ok(key)
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    sort(vm, &mut order, &mut |vm, left, right| {
        let (left, right) = (key(vm, left)?, key(vm, right)?);
        compare(vm, BinaryOp::Less, left, right)
    })?;
    let sorted = order.into_iter().map(|position| all[position]).collect();
    Ok(Value::List(vm.heap.add_list(sorted)))
}

fn sorted_with(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut all = items(vm, this).to_vec();
    sort(vm, &mut all, &mut |vm, left, right| is_before(vm, args[0], left, right, true))?;
    Ok(Value::List(vm.heap.add_list(all)))
}
