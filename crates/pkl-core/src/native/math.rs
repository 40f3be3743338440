//! `pkl:math`.
//!
//! The last bit of a result is seen by programs. The official evaluator computes most functions as fdlibm
//! does, and so does the crate `libm`; the platform's own functions differ more often.

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
    ("pkl.math#exp", |_, _, args| Ok(of_float(args, libm::exp))),
    ("pkl.math#sqrt", |_, _, args| Ok(of_float(args, f64::sqrt))),
    ("pkl.math#cbrt", |_, _, args| Ok(of_float(args, cube_root))),
    ("pkl.math#log", |_, _, args| Ok(of_float(args, libm::log))),
    ("pkl.math#log2", |_, _, args| Ok(of_float(args, |x| libm::log(x) / std::f64::consts::LN_2))),
    ("pkl.math#log10", |_, _, args| Ok(of_float(args, f64::log10))),
    ("pkl.math#sin", |_, _, args| Ok(of_float(args, libm::sin))),
    ("pkl.math#cos", |_, _, args| Ok(of_float(args, libm::cos))),
    ("pkl.math#tan", |_, _, args| Ok(of_float(args, libm::tan))),
    ("pkl.math#asin", |_, _, args| Ok(of_float(args, libm::asin))),
    ("pkl.math#acos", |_, _, args| Ok(of_float(args, libm::acos))),
    ("pkl.math#atan", |_, _, args| Ok(of_float(args, libm::atan))),
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

/// The cube root by fdlibm's method: an estimate from the exponent, a rational approximation good to 23
/// bits of which 20 are kept, so that its square is exact, and one step of Newton's.
fn cube_root(x: f64) -> f64 {
    const ESTIMATE: u64 = 715_094_163;
    /// The estimate for subnormal numbers, which are taken times two to the power of 54.
    const SUBNORMAL_ESTIMATE: u64 = 696_219_795;
    const TWO_TO_54: f64 = 18_014_398_509_481_984.0;
    const HIGH_WORD: u64 = 0xffff_ffff_0000_0000;
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let size = x.abs();
    let estimate = if size.is_normal() {
        (size.to_bits() >> 32) / 3 + ESTIMATE
    } else {
        ((size * TWO_TO_54).to_bits() >> 32) / 3 + SUBNORMAL_ESTIMATE
    };
    let mut root = f64::from_bits(estimate << 32);
    let ratio = root * root / size;
    let term = 19.0 / 35.0 + ratio * root;
    root *= 5.0 / 14.0 + 45.0 / 28.0 / (term + 99.0 / 70.0 - 864.0 / 1225.0 / term);
    root = f64::from_bits((root.to_bits() & HIGH_WORD) + (1 << 32));
    let quotient = size / (root * root);
    root += root * ((quotient - root) / (root + root + quotient));
    root.copysign(x)
}

fn atan2(_: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Float(libm::atan2(float(args[0]), float(args[1]))))
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
        && (if number.is_normal() { fraction == 0 } else { fraction.is_power_of_two() })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_of_cubes_are_exact() {
        for root in 1_i32..1_000 {
            let root = f64::from(root);
            assert!(cube_root(root * root * root).to_bits() == root.to_bits());
            assert!(cube_root(-root * root * root).to_bits() == (-root).to_bits());
        }
    }

    #[test]
    fn cube_roots_of_special_numbers() {
        assert!(cube_root(f64::NAN).is_nan());
        assert!(cube_root(f64::NEG_INFINITY).is_infinite());
        assert!(cube_root(-0.0).is_sign_negative());
        let tiny = f64::from_bits(8);
        assert!((cube_root(tiny).powi(3) - tiny).abs() <= f64::from_bits(1));
    }

    #[test]
    fn powers_of_two_are_floats_of_one_bit() {
        for exponent in -1074..1024 {
            assert!(float_is_power_of_two(2_f64.powi(exponent)) || exponent < -1022);
        }
        assert!(float_is_power_of_two(f64::from_bits(1)));
        assert!(!float_is_power_of_two(3.0) && !float_is_power_of_two(0.0) && !float_is_power_of_two(-2.0));
    }
}
