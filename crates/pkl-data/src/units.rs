//! `Duration` and `DataSize`.

use crate::number::Number;

/// A length of time: a number of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duration {
    /// How many.
    pub value: Number,
    /// Of what.
    pub unit: DurationUnit,
}

/// An amount of data: a number of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataSize {
    /// How many.
    pub value: Number,
    /// Of what.
    pub unit: DataSizeUnit,
}

/// The units of [`Duration`], in ascending order.
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

impl DurationUnit {
    /// All units, ascending.
    pub const ALL: [Self; 7] =
        [Self::Nanos, Self::Micros, Self::Millis, Self::Seconds, Self::Minutes, Self::Hours, Self::Days];

    /// The unit's name in Pkl.
    pub fn as_str(self) -> &'static str {
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

    /// The unit of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.as_str() == name)
    }
}

impl DataSizeUnit {
    /// All units, ascending.
    pub const ALL: [Self; 11] = [
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

    /// The unit's name in Pkl.
    pub fn as_str(self) -> &'static str {
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

    /// The unit of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.as_str() == name)
    }
}
