//! `Int`.

use super::{Table, args};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[("pkl.base#Int.isBetween", is_between)];

pub(super) static PROPERTIES: Table = &[("pkl.base#Int.isEven", is_even), ("pkl.base#Int.isOdd", is_odd)];

fn is_even(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(args::int(this) % 2 == 0))
}

fn is_odd(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(args::int(this) % 2 != 0))
}

fn is_between(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (this, start, end) = (args::number(this).to_f64(), args::number(args[0]), args::number(args[1]));
    Ok(Value::Bool(start.to_f64() <= this && this <= end.to_f64()))
}
