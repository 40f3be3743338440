//! `Duration` and `DataSize`: amounts of a unit.
//!
//! An amount is a double inside, whatever it was written as: `5.0.min` is `5.min`.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::number::{Number, float_to_string};

mod iso;

pub use iso::iso_string;

/// A unit that amounts can be measured in.
pub trait Unit: Copy + Eq + 'static {
    /// All units, ascending.
    const ALL: &'static [Self];

    /// The unit's name in Pkl.
    fn as_str(self) -> &'static str;

    /// How many of the smallest unit make one of this.
    fn size(self) -> f64;

    /// The unit of this name.
    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|unit| unit.as_str() == name)
    }
}

/// A number of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Amount<U> {
    /// How many.
    pub value: f64,
    /// Of what.
    pub unit: U,
}

/// A length of time.
pub type Duration = Amount<DurationUnit>;

/// An amount of data.
pub type DataSize = Amount<DataSizeUnit>;

impl<U: Unit> Amount<U> {
    /// So many of a unit.
    pub fn new(value: impl Into<Number>, unit: U) -> Self {
        Self { value: value.into().to_f64(), unit }
    }

    /// `value`: an `Int` where the amount is whole.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::float_cmp,
        reason = "whole exactly; saturates, as the official evaluator does"
    )]
    pub fn number(self) -> Number {
        if self.value.is_finite() && self.value.trunc() == self.value {
            Number::Int(self.value as i64)
        } else {
            Number::Float(self.value)
        }
    }

    /// The same amount in another unit.
    #[must_use]
    pub fn to_unit(self, unit: U) -> Self {
        Self { value: self.value_in(unit), unit }
    }

    /// The amount counted in another unit.
    pub fn value_in(self, unit: U) -> f64 {
        self.value * self.unit.size() / unit.size()
    }

    /// Combines the numbers of two amounts in the larger of their units, which is the second result.
    /// The amount of the smaller unit is converted, the left one if the units are the same.
    fn combine(self, other: Self, operation: impl Fn(f64, f64) -> f64) -> (f64, U) {
        if self.unit.size() <= other.unit.size() {
            (operation(self.value_in(other.unit), other.value), other.unit)
        } else {
            (operation(self.value, other.value_in(self.unit)), self.unit)
        }
    }

    /// `this + other`.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let (value, unit) = self.combine(other, |a, b| a + b);
        Self { value, unit }
    }

    /// `this - other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let (value, unit) = self.combine(other, |a, b| a - b);
        Self { value, unit }
    }

    /// `this * factor`.
    #[must_use]
    pub fn times(self, factor: Number) -> Self {
        Self { value: self.value * factor.to_f64(), unit: self.unit }
    }

    /// `this / divisor`.
    #[must_use]
    pub fn divided_by(self, divisor: Number) -> Self {
        Self { value: self.value / divisor.to_f64(), unit: self.unit }
    }

    /// `this / other`: a ratio.
    pub fn ratio(self, other: Self) -> f64 {
        self.combine(other, |a, b| a / b).0
    }

    /// `this % divisor`.
    #[must_use]
    pub fn remainder(self, divisor: Number) -> Self {
        Self { value: self.value % divisor.to_f64(), unit: self.unit }
    }

    /// `this ** exponent`.
    #[must_use]
    pub fn power(self, exponent: Number) -> Self {
        Self { value: self.value.powf(exponent.to_f64()), unit: self.unit }
    }

    /// `-this`.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { value: -self.value, unit: self.unit }
    }

    /// `isPositive`: zero counts.
    pub fn is_positive(self) -> bool {
        self.value >= 0.0
    }

    /// The order of `<` and `>`, in which `NaN` comes last and is equal to itself, and negative zero
    /// comes before zero. `==` does not follow it: the amount of the smaller unit is converted to the larger
    /// one, this one if both have the same, and by that a fraction may become another.
    pub fn compare(self, other: Self) -> Ordering {
        let (a, b) = if self.unit.size() <= other.unit.size() {
            (self.base_value() / other.unit.size(), other.value)
        } else {
            (self.value, other.base_value() / self.unit.size())
        };
        match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(&b),
            (a_is_nan, b_is_nan) => a_is_nan.cmp(&b_is_nan),
        }
    }

    /// `isBetween(start, inclusiveEnd)`.
    pub fn is_between(self, start: Self, inclusive_end: Self) -> bool {
        self.compare(start).is_ge() && self.compare(inclusive_end).is_le()
    }

    /// The amount in the smallest unit.
    fn base_value(self) -> f64 {
        self.value * self.unit.size()
    }
}

/// As numbers are equal: `NaN` to nothing.
impl<U: Unit> PartialEq for Amount<U> {
    fn eq(&self, other: &Self) -> bool {
        self.base_value() == other.base_value()
    }
}

/// Equal amounts hash alike whatever their units.
impl<U: Unit> Hash for Amount<U> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Adding zero makes the two zeros one.
        (self.base_value() + 0.0).to_bits().hash(state);
    }
}

impl<U: Unit> fmt::Display for Amount<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Number::Int(value) => write!(f, "{value}.{}", self.unit.as_str()),
            Number::Float(value) => write!(f, "{}.{}", float_to_string(value), self.unit.as_str()),
        }
    }
}

/// The units of [`Duration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DurationUnit {
    /// Nanoseconds, `ns`.
    Nanos,
    /// Microseconds, `us`.
    Micros,
    /// Milliseconds, `ms`.
    Millis,
    /// Seconds, `s`.
    Seconds,
    /// Minutes, `min`.
    Minutes,
    /// Hours, `h`.
    Hours,
    /// Days of 24 hours, `d`.
    Days,
}

impl Unit for DurationUnit {
    const ALL: &'static [Self] =
        &[Self::Nanos, Self::Micros, Self::Millis, Self::Seconds, Self::Minutes, Self::Hours, Self::Days];

    fn as_str(self) -> &'static str {
        match self {
            Self::Nanos => "ns",
            Self::Micros => "us",
            Self::Millis => "ms",
            Self::Seconds => "s",
            Self::Minutes => "min",
            Self::Hours => "h",
            Self::Days => "d",
        }
    }

    fn size(self) -> f64 {
        match self {
            Self::Nanos => 1.0,
            Self::Micros => 1e3,
            Self::Millis => 1e6,
            Self::Seconds => 1e9,
            Self::Minutes => 60e9,
            Self::Hours => 3600e9,
            Self::Days => 86400e9,
        }
    }
}

/// The units of [`DataSize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataSizeUnit {
    /// Bytes, `b`.
    Bytes,
    /// 1000 bytes, `kb`.
    Kilobytes,
    /// 1024 bytes, `kib`.
    Kibibytes,
    /// 1000 kilobytes, `mb`.
    Megabytes,
    /// 1024 kibibytes, `mib`.
    Mebibytes,
    /// 1000 megabytes, `gb`.
    Gigabytes,
    /// 1024 mebibytes, `gib`.
    Gibibytes,
    /// 1000 gigabytes, `tb`.
    Terabytes,
    /// 1024 gibibytes, `tib`.
    Tebibytes,
    /// 1000 terabytes, `pb`.
    Petabytes,
    /// 1024 tebibytes, `pib`.
    Pebibytes,
}

impl Unit for DataSizeUnit {
    const ALL: &'static [Self] = &[
        Self::Bytes,
        Self::Kilobytes,
        Self::Kibibytes,
        Self::Megabytes,
        Self::Mebibytes,
        Self::Gigabytes,
        Self::Gibibytes,
        Self::Terabytes,
        Self::Tebibytes,
        Self::Petabytes,
        Self::Pebibytes,
    ];

    fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "b",
            Self::Kilobytes => "kb",
            Self::Kibibytes => "kib",
            Self::Megabytes => "mb",
            Self::Mebibytes => "mib",
            Self::Gigabytes => "gb",
            Self::Gibibytes => "gib",
            Self::Terabytes => "tb",
            Self::Tebibytes => "tib",
            Self::Petabytes => "pb",
            Self::Pebibytes => "pib",
        }
    }

    fn size(self) -> f64 {
        match self {
            Self::Bytes => 1.0,
            Self::Kilobytes => 1e3,
            Self::Kibibytes => 1024.0,
            Self::Megabytes => 1e6,
            Self::Mebibytes => 1_048_576.0,
            Self::Gigabytes => 1e9,
            Self::Gibibytes => 1_073_741_824.0,
            Self::Terabytes => 1e12,
            Self::Tebibytes => 1_099_511_627_776.0,
            Self::Petabytes => 1e15,
            Self::Pebibytes => 1_125_899_906_842_624.0,
        }
    }
}

impl DataSize {
    /// `toBinaryUnit()`: as it is if its unit is binary.
    #[must_use]
    pub fn to_binary_unit(self) -> Self {
        if self.unit.is_binary() { self } else { self.to_unit(self.unit.binary()) }
    }

    /// `toDecimalUnit()`: as it is if its unit is decimal.
    #[must_use]
    pub fn to_decimal_unit(self) -> Self {
        if self.unit.is_decimal() { self } else { self.to_unit(self.unit.decimal()) }
    }
}

impl DataSizeUnit {
    /// Whether it is a power of 1024; bytes are.
    pub fn is_binary(self) -> bool {
        self == Self::Bytes || self.binary() == self
    }

    /// Whether it is a power of 1000; bytes are.
    pub fn is_decimal(self) -> bool {
        self == Self::Bytes || self.decimal() == self
    }

    /// The binary unit of the same rank: `kib` for `kb`.
    #[must_use]
    pub fn binary(self) -> Self {
        match self {
            Self::Bytes => Self::Bytes,
            Self::Kilobytes | Self::Kibibytes => Self::Kibibytes,
            Self::Megabytes | Self::Mebibytes => Self::Mebibytes,
            Self::Gigabytes | Self::Gibibytes => Self::Gibibytes,
            Self::Terabytes | Self::Tebibytes => Self::Tebibytes,
            Self::Petabytes | Self::Pebibytes => Self::Pebibytes,
        }
    }

    /// The decimal unit of the same rank: `kb` for `kib`.
    #[must_use]
    pub fn decimal(self) -> Self {
        match self {
            Self::Bytes => Self::Bytes,
            Self::Kilobytes | Self::Kibibytes => Self::Kilobytes,
            Self::Megabytes | Self::Mebibytes => Self::Megabytes,
            Self::Gigabytes | Self::Gibibytes => Self::Gigabytes,
            Self::Terabytes | Self::Tebibytes => Self::Terabytes,
            Self::Petabytes | Self::Pebibytes => Self::Petabytes,
        }
    }
}
