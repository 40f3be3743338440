//! `pkl:math`.

use pkl_data::number::Number;

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static PROPERTIES: Table = &[
    ("pkl.math#minInt", |_, _, _| Ok(Value::Int(i64::MIN))),
    ("pkl.math#minInt8", |_, _, _| Ok(Value::Int(i64::from(i8::MIN)))),
    ("pkl.math#minInt16", |_, _, _| Ok(Value::Int(i64::from(i16::MIN)))),
    ("pkl.math#minInt32", |_, _, _| Ok(Value::Int(i64::from(i32::MIN)))),
    ("pkl.math#maxInt", |_, _, _| Ok(Value::Int(i64::MAX))),
    ("pkl.math#maxInt8", |_, _, _| Ok(Value::Int(i64::from(i8::MAX)))),
    ("pkl.math#maxInt16", |_, _, _| Ok(Value::Int(i64::from(i16::MAX)))),
    ("pkl.math#maxInt32", |_, _, _| Ok(Value::Int(i64::from(i32::MAX)))),
    ("pkl.math#maxUInt", |_, _, _| Ok(Value::Int(i64::MAX))),
    ("pkl.math#maxUInt8", |_, _, _| Ok(Value::Int(i64::from(u8::MAX)))),
    ("pkl.math#maxUInt16", |_, _, _| Ok(Value::Int(i64::from(u16::MAX)))),
    ("pkl.math#maxUInt32", |_, _, _| Ok(Value::Int(i64::from(u32::MAX)))),
    ("pkl.math#minFiniteFloat", |_, _, _| Ok(Value::Float(f64::MIN))),
    ("pkl.math#maxFiniteFloat", |_, _, _| Ok(Value::Float(f64::MAX))),
    // The smallest subnormal number.
    ("pkl.math#minPositiveFloat", |_, _, _| Ok(Value::Float(f64::from_bits(1)))),
    ("pkl.math#e", |_, _, _| Ok(Value::Float(std::f64::consts::E))),
    ("pkl.math#pi", |_, _, _| Ok(Value::Float(std::f64::consts::PI))),
];

pub(super) static METHODS: Table = &[
    ("pkl.math#exp", |_, _, args| Ok(of_float(args, f64::exp))),
    ("pkl.math#sqrt", |_, _, args| Ok(of_float(args, f64::sqrt))),
    ("pkl.math#cbrt", |_, _, args| Ok(of_float(args, f64::cbrt))),
    ("pkl.math#log", |_, _, args| Ok(of_float(args, f64::ln))),
    ("pkl.math#log2", |_, _, args| Ok(of_float(args, |x| x.ln() / std::f64::consts::LN_2))),
    ("pkl.math#log10", |_, _, args| Ok(of_float(args, f64::log10))),
    ("pkl.math#sin", |_, _, args| Ok(of_float(args, f64::sin))),
    ("pkl.math#cos", |_, _, args| Ok(of_float(args, f64::cos))),
    ("pkl.math#tan", |_, _, args| Ok(of_float(args, f64::tan))),
    ("pkl.math#asin", |_, _, args| Ok(of_float(args, f64::asin))),
    ("pkl.math#acos", |_, _, args| Ok(of_float(args, f64::acos))),
    ("pkl.math#atan", |_, _, args| Ok(of_float(args, f64::atan))),
    ("pkl.math#atan2", atan2),
    ("pkl.math#gcd", gcd),
    ("pkl.math#lcm", lcm),
    ("pkl.math#isPowerOfTwo", is_power_of_two),
    ("pkl.math#min", min),
    ("pkl.math#max", max),
];

fn float(value: Value) -> f64 {
    args::number(value).to_f64()
}

fn of_float(args: &[Value], function: impl Fn(f64) -> f64) -> Value {
    Value::Float(function(float(args[0])))
}

fn atan2(_: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Float(float(args[0]).atan2(float(args[1]))))
}

/// Two arguments that must not be below zero.
fn two_positive(args: &[Value]) -> Result<(i64, i64)> {
    let (x, y) = (args::int(args[0]), args::int(args[1]));
    match [x, y].into_iter().find(|number| *number < 0) {
        Some(negative) => Err(args::not_positive(negative)),
        None => Ok((x, y)),
    }
}

fn divisor(mut x: i64, mut y: i64) -> i64 {
    while y != 0 {
        (x, y) = (y, x % y);
    }
    x
}

fn gcd(_: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let (x, y) = two_positive(args)?;
    Ok(Value::Int(divisor(x, y)))
}

fn lcm(_: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let (x, y) = two_positive(args)?;
    let multiple = match divisor(x, y) {
        0 => Some(0),
        divisor => (x / divisor).checked_mul(y),
    };
    multiple.map(Value::Int).ok_or_else(|| Raised::new(ErrorCode::Arithmetic, "Integer overflow."))
}

fn is_power_of_two(_: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Bool(match args::number(args[0]) {
        Number::Int(number) => number > 0 && number.count_ones() == 1,
        Number::Float(number) => float_is_power_of_two(number),
    }))
}

/// A positive float is a power of two if its significand is one bit.
fn float_is_power_of_two(number: f64) -> bool {
    const FRACTION: u64 = (1 << 52) - 1;
    let fraction = number.to_bits() & FRACTION;
    number > 0.0
        && number.is_finite()
        && (if number.is_normal() { fraction == 0 } else { fraction.count_ones() == 1 })
}

fn min(_: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(chosen(args, i64::min, |x, y| if is_less(x, y) { x } else { y }))
}

fn max(_: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(chosen(args, i64::max, |x, y| if is_less(x, y) { y } else { x }))
}

/// Integers are compared exactly, other numbers as floats; not-a-number wins.
fn chosen(args: &[Value], of_ints: impl Fn(i64, i64) -> i64, of_floats: impl Fn(f64, f64) -> f64) -> Value {
    if let (Number::Int(x), Number::Int(y)) = (args::number(args[0]), args::number(args[1])) {
        return Value::Int(of_ints(x, y));
    }
    let (x, y) = (float(args[0]), float(args[1]));
    Value::Float(if x.is_nan() || y.is_nan() { f64::NAN } else { of_floats(x, y) })
}

/// Whether a float is below another one, negative zero being below zero.
fn is_less(x: f64, y: f64) -> bool {
    x < y || (x == 0.0 && y == 0.0 && x.is_sign_negative())
}
