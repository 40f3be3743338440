//! Numbers as Pkl has them: text, parsing, rounding.

mod fixed;
mod hex;
mod text;

pub use fixed::to_fixed;
pub use text::{float_to_string, parse_boolean, parse_float, parse_int, to_radix_string};

/// An `Int` or a `Float`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An `Int`.
    Int(i64),
    /// A `Float`.
    Float(f64),
}

impl Number {
    /// The nearest `Float`.
    #[expect(clippy::cast_precision_loss, reason = "the rounding of Int.toFloat()")]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&float_to_string(*value)),
        }
    }
}

/// Why a `Float` has no `Int`.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ToIntError {
    /// `NaN` or an infinity.
    #[error("Cannot convert non-finite Float `{}` to Int.", float_to_string(*.0))]
    NotFinite(f64),
    /// Beyond 64 bits.
    #[error("Cannot convert Float `{}` to Int because it is too large.", float_to_string(*.0))]
    TooLarge(f64),
}

/// `Float.toInt()`: towards zero.
///
/// # Errors
/// If the value isn't finite or doesn't fit.
pub fn float_to_int(value: f64) -> Result<i64, ToIntError> {
    if !value.is_finite() {
        return Err(ToIntError::NotFinite(value));
    }
    checked_i64(value.trunc()).ok_or(ToIntError::TooLarge(value))
}

/// The `Int` equal to a whole `Float`, if there is one.
#[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
pub fn checked_i64(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (value.trunc().to_bits() == value.to_bits() && (-LIMIT..LIMIT).contains(&value)).then_some(value as i64)
}

/// `Int.toChar()`: the character with this code point.
///
/// `None` for what is no code point. A surrogate has no text of its own: it becomes `?`, as it
/// does where the official evaluator writes one out.
pub fn code_point_to_char(code_point: i64) -> Option<char> {
    let code_point = u32::try_from(code_point).ok()?;
    match code_point {
        0xD800..=0xDFFF => Some('?'),
        _ => char::from_u32(code_point),
    }
}

/// `Int.shl`, with the shift taken modulo 64.
pub fn shl(value: i64, by: i64) -> i64 {
    value.wrapping_shl(shift(by))
}

/// `Int.shr`, keeping the sign, with the shift taken modulo 64.
pub fn shr(value: i64, by: i64) -> i64 {
    value.wrapping_shr(shift(by))
}

/// `Int.ushr`, filling with zeros, with the shift taken modulo 64.
pub fn ushr(value: i64, by: i64) -> i64 {
    value.cast_unsigned().wrapping_shr(shift(by)).cast_signed()
}

#[expect(clippy::cast_sign_loss, reason = "0 to 63")]
fn shift(by: i64) -> u32 {
    (by & 63) as u32
}
