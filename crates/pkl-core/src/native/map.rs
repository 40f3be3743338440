//! `Map`.

use super::collection::transform::expect_pair;
use super::{Table, args, typed};
use crate::error::Result;
use crate::value::Value;
use crate::vm::{Known, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#Map.getOrNull", get_or_null),
    ("pkl.base#Map.containsKey", contains_key),
    ("pkl.base#Map.containsValue", contains_value),
    ("pkl.base#Map.put", put),
    ("pkl.base#Map.remove", remove),
    ("pkl.base#Map.filter", filter),
    ("pkl.base#Map.fold", fold),
    ("pkl.base#Map.map", map),
    ("pkl.base#Map.mapKeys", map_keys),
    ("pkl.base#Map.mapValues", map_values),
    ("pkl.base#Map.flatMap", flat_map),
    ("pkl.base#Map.every", every),
    ("pkl.base#Map.any", any),
    ("pkl.base#Map.toMap", to_map),
    ("pkl.base#Map.toDynamic", to_dynamic),
    ("pkl.base#Map.toTyped", to_typed),
    ("pkl.base#Map.toMapping", to_mapping),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#Map.length", length),
    ("pkl.base#Map.isEmpty", is_empty),
    ("pkl.base#Map.keys", keys),
    ("pkl.base#Map.values", values),
    ("pkl.base#Map.entries", entries),
];

/// The entries of a map in order.
fn pairs(vm: &Vm<'_>, map: Value) -> Vec<(Value, Value)> {
    let id = args::map(map);
    vm.heap.map_keys(id).iter().copied().zip(vm.heap.map_values(id).iter().copied()).collect()
}

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(vm.heap.map_keys(args::map(this)).len()))
}

fn is_empty(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(vm.heap.map_keys(args::map(this)).is_empty()))
}

fn keys(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let keys = vm.heap.map_keys(args::map(this)).to_vec();
    vm.make_set(&keys)
}

fn values(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let values = vm.heap.map_values(args::map(this)).to_vec();
    Ok(Value::List(vm.heap.add_list(values)))
}

fn entries(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let pairs = pairs(vm, this);
    let entries = pairs.into_iter().map(|pair| Value::Pair(vm.heap.add_pair(pair))).collect();
    Ok(Value::List(vm.heap.add_list(entries)))
}

fn get_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(vm.map_get(args::map(this), args[0])?.unwrap_or(Value::NULL))
}

fn contains_key(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Bool(vm.map_get(args::map(this), args[0])?.is_some()))
}

fn contains_value(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for value in vm.heap.map_values(args::map(this)).to_vec() {
        vm.tick()?;
        if vm.same(value, args[0])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn put(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    vm.map_with(this, args[0], args[1])
}

fn remove(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    if vm.map_get(args::map(this), args[0])?.is_none() {
        return Ok(this);
    }
    let mut kept = Vec::new();
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        if !vm.same(key, args[0])? {
            kept.push((key, value));
        }
    }
    vm.make_map(&kept)
}

fn filter(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut kept = Vec::new();
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        if vm.holds(args[0], &[key, value])? {
            kept.push((key, value));
        }
    }
    vm.make_map(&kept)
}

fn fold(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut result = args[0];
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        result = vm.apply(args[1], &[result, key, value])?;
    }
    Ok(result)
}

fn map(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut mapped = Vec::new();
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        let result = vm.apply(args[0], &[key, value])?;
        mapped.push(expect_pair(vm, result)?);
    }
    vm.make_map(&mapped)
}

fn map_keys(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut mapped = Vec::new();
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        mapped.push((vm.apply(args[0], &[key, value])?, value));
    }
    vm.make_map(&mapped)
}

fn map_values(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut mapped = Vec::new();
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        mapped.push((key, vm.apply(args[0], &[key, value])?));
    }
    vm.make_map(&mapped)
}

fn flat_map(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let mut joined = Vec::new();
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        let result = vm.apply(args[0], &[key, value])?;
        if !matches!(result, Value::Map(_)) {
            let class = vm.known(Known::Map)?;
            return Err(vm.mismatch(class, result)?);
        }
        joined.extend(pairs(vm, result));
        vm.check_count(joined.len())?;
    }
    vm.make_map(&joined)
}

fn every(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        if !vm.holds(args[0], &[key, value])? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn any(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    for (key, value) in pairs(vm, this) {
        vm.tick()?;
        if vm.holds(args[0], &[key, value])? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn to_map(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(this)
}

/// Splits entries into those whose key is a string, which can be properties, and the others.
fn to_dynamic(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let (mut properties, mut entries) = (Vec::new(), Vec::new());
    for (key, value) in pairs(vm, this) {
        match key {
            Value::String(id) => properties.push((vm.store.symbol(vm.heap.text(id)), value)),
            _ => entries.push((key, value)),
        }
    }
    vm.make_dynamic(&properties, &entries, &[])
}

fn to_typed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let class = args::class(args[0]);
    typed::check_typed(vm, class)?;
    let mut properties = Vec::new();
    for (key, value) in pairs(vm, this) {
        if let Value::String(id) = key {
            let name = vm.store.symbol(vm.heap.text(id));
            if typed::is_converted(vm, class, name) {
                properties.push((name, value));
            }
        }
    }
    let typed = vm.make_typed(class, &properties);
    let given: Vec<_> = properties.iter().map(|(name, _)| *name).collect();
    vm.settle_defaults(args::object(typed), &given);
    Ok(typed)
}

fn to_mapping(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let pairs = pairs(vm, this);
    vm.make_mapping(&pairs)
}
