//! Numbers, without losing any of their digits in silence.

use serde_json::Number;

/// Why a number is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadNumber {
    /// An integer beyond 64 bits.
    Integer,
    /// A number beyond the range of a 64-bit float.
    Float,
}

impl BadNumber {
    pub(crate) fn message(self, text: &str) -> String {
        let text = shortened(text);
        match self {
            Self::Integer => format!("The integer `{text}` does not fit into 64 bits"),
            Self::Float => format!("The number `{text}` is out of range"),
        }
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(39).chain(['…']).collect()
}

/// An integer in decimal digits, with an optional sign.
pub(crate) fn integer(text: &str) -> Result<Number, BadNumber> {
    let text = text.strip_prefix('+').unwrap_or(text);
    if let Ok(value) = text.parse::<i64>() {
        return Ok(value.into());
    }
    text.parse::<u64>().map(Into::into).map_err(|_| BadNumber::Integer)
}

/// An integer in the digits of another radix, without prefix.
pub(crate) fn radix_integer(digits: &str, radix: u32) -> Result<Number, BadNumber> {
    u64::from_str_radix(digits, radix).map(Into::into).map_err(|_| BadNumber::Integer)
}

/// A number with a fraction or an exponent.
pub(crate) fn float(text: &str) -> Result<Number, BadNumber> {
    text.parse::<f64>().ok().and_then(Number::from_f64).ok_or(BadNumber::Float)
}
