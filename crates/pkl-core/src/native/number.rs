//! `Int` and `Float`.

use pkl_data::number::{self, Number};
use pkl_data::units::{DataSize, DataSizeUnit, Duration, DurationUnit, Unit as _};

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#Int.round", itself),
    ("pkl.base#Int.truncate", itself),
    ("pkl.base#Int.toInt", itself),
    ("pkl.base#Int.toFloat", to_float),
    ("pkl.base#Int.toString", to_string),
    ("pkl.base#Int.toRadixString", to_radix_string),
    ("pkl.base#Int.toFixed", to_fixed),
    ("pkl.base#Int.toDuration", to_duration),
    ("pkl.base#Int.toDataSize", to_data_size),
    ("pkl.base#Int.shl", shl),
    ("pkl.base#Int.shr", shr),
    ("pkl.base#Int.ushr", ushr),
    ("pkl.base#Int.and", and),
    ("pkl.base#Int.or", or),
    ("pkl.base#Int.xor", xor),
    ("pkl.base#Int.isBetween", is_between),
    ("pkl.base#Int.toChar", to_char),
    ("pkl.base#Float.round", round),
    ("pkl.base#Float.truncate", truncate),
    ("pkl.base#Float.toInt", float_to_int),
    ("pkl.base#Float.toFloat", itself),
    ("pkl.base#Float.toString", to_string),
    ("pkl.base#Float.toFixed", to_fixed),
    ("pkl.base#Float.toDuration", to_duration),
    ("pkl.base#Float.toDataSize", to_data_size),
    ("pkl.base#Float.isBetween", is_between),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#Int.sign", int_sign),
    ("pkl.base#Int.abs", int_abs),
    ("pkl.base#Int.ceil", itself),
    ("pkl.base#Int.floor", itself),
    ("pkl.base#Int.inv", inv),
    ("pkl.base#Int.isPositive", is_positive),
    ("pkl.base#Int.isFinite", is_finite),
    ("pkl.base#Int.isInfinite", is_infinite),
    ("pkl.base#Int.isNaN", is_nan),
    ("pkl.base#Int.isEven", is_even),
    ("pkl.base#Int.isOdd", is_odd),
    ("pkl.base#Int.isNonZero", is_non_zero),
    ("pkl.base#Float.sign", float_sign),
    ("pkl.base#Float.abs", float_abs),
    ("pkl.base#Float.ceil", ceil),
    ("pkl.base#Float.floor", floor),
    ("pkl.base#Float.isPositive", is_positive),
    ("pkl.base#Float.isFinite", is_finite),
    ("pkl.base#Float.isInfinite", is_infinite),
    ("pkl.base#Float.isNaN", is_nan),
    ("pkl.base#Float.isNonZero", is_non_zero),
];

fn itself(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(this)
}

fn float(value: Value) -> f64 {
    args::number(value).to_f64()
}

fn to_float(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(float(this)))
}

fn to_string(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(vm.heap.string(args::number(this).to_string()))
}

fn to_radix_string(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let radix = u32::try_from(args::int(args[0])).unwrap_or(10);
    Ok(vm.heap.string(number::to_radix_string(args::int(this), radix)))
}

fn to_fixed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let decimals = usize::try_from(args::int(args[0])).unwrap_or(0);
    Ok(vm.heap.string(number::to_fixed(args::number(this), decimals)))
}

fn to_duration(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let unit = DurationUnit::parse(vm.str(args[0])).expect("the declaration says DurationUnit");
    Ok(Value::Duration(vm.heap.add_duration(Duration::new(args::number(this), unit))))
}

fn to_data_size(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let unit = DataSizeUnit::parse(vm.str(args[0])).expect("the declaration says DataSizeUnit");
    Ok(Value::DataSize(vm.heap.add_data_size(DataSize::new(args::number(this), unit))))
}

fn shl(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Int(number::shl(args::int(this), args::int(args[0]))))
}

fn shr(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Int(number::shr(args::int(this), args::int(args[0]))))
}

fn ushr(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Int(number::ushr(args::int(this), args::int(args[0]))))
}

fn and(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Int(args::int(this) & args::int(args[0])))
}

fn or(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Int(args::int(this) | args::int(args[0])))
}

fn xor(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Int(args::int(this) ^ args::int(args[0])))
}

fn is_between(_: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let is_between = match (this, args[0], args[1]) {
        (Value::Int(this), Value::Int(start), Value::Int(end)) => start <= this && this <= end,
        (this, start, end) => float(start) <= float(this) && float(this) <= float(end),
    };
    Ok(Value::Bool(is_between))
}

fn to_char(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let code_point = args::int(this);
    let Some(character) = number::code_point_to_char(code_point) else {
        let message = format!("Decimal `{}` is not a valid Unicode code point.", args::grouped(code_point));
        return Err(Raised::new(ErrorCode::InvalidArgument, message));
    };
    Ok(vm.heap.string(character.to_string()))
}

fn int_sign(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Int(args::int(this).signum()))
}

fn int_abs(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let magnitude = args::int(this).checked_abs();
    magnitude.map(Value::Int).ok_or_else(|| Raised::new(ErrorCode::Arithmetic, "Integer overflow."))
}

fn inv(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Int(!args::int(this)))
}

fn is_positive(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(float(this) >= 0.0))
}

fn is_finite(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(float(this).is_finite()))
}

fn is_infinite(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(float(this).is_infinite()))
}

fn is_nan(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(float(this).is_nan()))
}

fn is_even(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(args::int(this) % 2 == 0))
}

fn is_odd(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(args::int(this) % 2 != 0))
}

fn is_non_zero(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(float(this) != 0.0))
}

fn round(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(float(this).round_ties_even()))
}

fn truncate(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(float(this).trunc()))
}

fn ceil(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(float(this).ceil()))
}

fn floor(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(float(this).floor()))
}

fn float_abs(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Float(float(this).abs()))
}

/// Zeros and `NaN` are their own sign.
fn float_sign(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let value = float(this);
    Ok(Value::Float(if value == 0.0 || value.is_nan() { value } else { value.signum() }))
}

fn float_to_int(_: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let converted = number::float_to_int(float(this));
    converted.map(Value::Int).map_err(|error| Raised::new(ErrorCode::Arithmetic, error.to_string()))
}

macro_rules! units {
    ($($name:ident, $member:literal: $class:ident, $add:ident, $unit:expr;)*) => {
        $(
            fn $name(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
                let amount = $class::new(Number::from(args::number(this)), $unit);
                Ok(Value::$class(vm.heap.$add(amount)))
            }
        )*

        /// `5.min`, `2.5.mb` and so on.
        pub(super) static UNITS: Table = &[
            $((concat!("pkl.base#Int.", $member), $name), (concat!("pkl.base#Float.", $member), $name),)*
        ];
    };
}

units! {
    ns, "ns": Duration, add_duration, DurationUnit::Nanos;
    us, "us": Duration, add_duration, DurationUnit::Micros;
    ms, "ms": Duration, add_duration, DurationUnit::Millis;
    s, "s": Duration, add_duration, DurationUnit::Seconds;
    min, "min": Duration, add_duration, DurationUnit::Minutes;
    h, "h": Duration, add_duration, DurationUnit::Hours;
    d, "d": Duration, add_duration, DurationUnit::Days;
    b, "b": DataSize, add_data_size, DataSizeUnit::Bytes;
    kb, "kb": DataSize, add_data_size, DataSizeUnit::Kilobytes;
    mb, "mb": DataSize, add_data_size, DataSizeUnit::Megabytes;
    gb, "gb": DataSize, add_data_size, DataSizeUnit::Gigabytes;
    tb, "tb": DataSize, add_data_size, DataSizeUnit::Terabytes;
    pb, "pb": DataSize, add_data_size, DataSizeUnit::Petabytes;
    kib, "kib": DataSize, add_data_size, DataSizeUnit::Kibibytes;
    mib, "mib": DataSize, add_data_size, DataSizeUnit::Mebibytes;
    gib, "gib": DataSize, add_data_size, DataSizeUnit::Gibibytes;
    tib, "tib": DataSize, add_data_size, DataSizeUnit::Tebibytes;
    pib, "pib": DataSize, add_data_size, DataSizeUnit::Pebibytes;
}
