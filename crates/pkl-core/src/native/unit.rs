//! `Duration` and `DataSize`.

use pkl_data::units::{DataSize, DataSizeUnit, Duration, DurationUnit, Unit as _, iso_string};

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#Duration.isBetween", duration_is_between),
    ("pkl.base#Duration.toUnit", duration_to_unit),
    ("pkl.base#DataSize.isBetween", data_size_is_between),
    ("pkl.base#DataSize.toUnit", data_size_to_unit),
    ("pkl.base#DataSize.toBinaryUnit", to_binary_unit),
    ("pkl.base#DataSize.toDecimalUnit", to_decimal_unit),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#Duration.value", duration_value),
    ("pkl.base#Duration.isoString", duration_iso_string),
    ("pkl.base#Duration.unit", duration_unit),
    ("pkl.base#Duration.isPositive", duration_is_positive),
    ("pkl.base#DataSize.value", data_size_value),
    ("pkl.base#DataSize.unit", data_size_unit),
    ("pkl.base#DataSize.isPositive", data_size_is_positive),
    ("pkl.base#DataSize.isBinaryUnit", is_binary_unit),
    ("pkl.base#DataSize.isDecimalUnit", is_decimal_unit),
];

fn duration(vm: &Vm<'_>, value: Value) -> Duration {
    match value {
        Value::Duration(id) => *vm.heap.duration(id),
        other => panic!("the declaration says Duration, not {other:?}"),
    }
}

fn data_size(vm: &Vm<'_>, value: Value) -> DataSize {
    match value {
        Value::DataSize(id) => *vm.heap.data_size(id),
        other => panic!("the declaration says DataSize, not {other:?}"),
    }
}

fn duration_value(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::from_number(duration(vm, this).number()))
}

fn duration_iso_string(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let duration = duration(vm, this);
    let Some(text) = iso_string(duration) else {
        let message = format!("Cannot convert duration `{duration}` to ISO 8601 duration.");
        return Err(Raised::new(ErrorCode::Arithmetic, message));
    };
    Ok(vm.heap.string(text))
}

fn duration_unit(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let unit = duration(vm, this).unit.as_str();
    Ok(vm.heap.string(unit))
}

fn duration_is_positive(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(duration(vm, this).is_positive()))
}

fn duration_is_between(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (start, end) = (duration(vm, args[0]), duration(vm, args[1]));
    Ok(Value::Bool(duration(vm, this).is_between(start, end)))
}

fn duration_to_unit(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let unit = DurationUnit::parse(vm.str(args[0])).expect("the declaration says DurationUnit");
    let converted = duration(vm, this).to_unit(unit);
    Ok(Value::Duration(vm.heap.add_duration(converted)))
}

fn data_size_value(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::from_number(data_size(vm, this).number()))
}

fn data_size_unit(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let unit = data_size(vm, this).unit.as_str();
    Ok(vm.heap.string(unit))
}

fn data_size_is_positive(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(data_size(vm, this).is_positive()))
}

fn is_binary_unit(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(data_size(vm, this).unit.is_binary()))
}

fn is_decimal_unit(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(data_size(vm, this).unit.is_decimal()))
}

fn data_size_is_between(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (start, end) = (data_size(vm, args[0]), data_size(vm, args[1]));
    Ok(Value::Bool(data_size(vm, this).is_between(start, end)))
}

fn data_size_to_unit(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let unit = DataSizeUnit::parse(vm.str(args[0])).expect("the declaration says DataSizeUnit");
    let converted = data_size(vm, this).to_unit(unit);
    Ok(Value::DataSize(vm.heap.add_data_size(converted)))
}

fn to_binary_unit(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let converted = data_size(vm, this).to_binary_unit();
    Ok(Value::DataSize(vm.heap.add_data_size(converted)))
}

fn to_decimal_unit(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let converted = data_size(vm, this).to_decimal_unit();
    Ok(Value::DataSize(vm.heap.add_data_size(converted)))
}
