//! `toFixed`: decimals, rounded half to even.

use super::Number;
use super::text::{float_to_string, scientific};

/// A number with this many decimals.
///
/// A `Float` is rounded by its exact value. Where it has fewer digits than are asked for, the
/// rest are zeros: `0.1.toFixed(20)` is `0.10000000000000000000`.
pub fn to_fixed(value: Number, decimals: usize) -> String {
    match value {
        Number::Int(value) if decimals == 0 => value.to_string(),
        Number::Int(value) => format!("{value}.{}", "0".repeat(decimals)),
        Number::Float(value) if !value.is_finite() => float_to_string(value),
        Number::Float(value) => {
            let sign = if value.is_sign_negative() { "-" } else { "" };
            format!("{sign}{}", magnitude_to_fixed(value.abs(), decimals))
        }
    }
}

fn magnitude_to_fixed(magnitude: f64, decimals: usize) -> String {
    let (digits, exponent) = inner_digits(magnitude);
    let digits_after_point = i64::try_from(digits.len()).unwrap_or(i64::MAX) - 1 - i64::from(exponent);
    if digits_after_point > i64::try_from(decimals).unwrap_or(i64::MAX) {
        return format!("{magnitude:.decimals$}");
    }
    let plain = plain_decimal(&digits, exponent);
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    if decimals == 0 {
        return whole.to_owned();
    }
    format!("{whole}.{fraction:0<decimals$}")
}

/// The shortest digits that lie *inside* the interval of decimals that read as this number.
///
/// A decimal exactly between two numbers reads as one of them, yet it does not count here:
/// `1e23.toFixed(0)` is `99999999999999990000000`.
fn inner_digits(magnitude: f64) -> (String, i32) {
    let shortest = scientific(&format!("{magnitude:e}"));
    if !is_on_the_edge(magnitude, &shortest) {
        return shortest;
    }
    for precision in shortest.0.len()..17 {
        let candidate = scientific(&format!("{magnitude:.precision$e}"));
        let same =
            as_text(&candidate).parse::<f64>().is_ok_and(|value| value.to_bits() == magnitude.to_bits());
        if same && !is_on_the_edge(magnitude, &candidate) {
            return candidate;
        }
    }
    scientific(&format!("{magnitude:.16e}"))
}

fn as_text((digits, exponent): &(String, i32)) -> String {
    let (first, rest) = digits.split_at(1);
    format!("{first}.{rest}e{exponent}")
}

/// Whether a decimal is exactly halfway to a neighbour: only possible where both are whole.
fn is_on_the_edge(magnitude: f64, decimal: &(String, i32)) -> bool {
    const TWO_TO_53: f64 = 9_007_199_254_740_992.0;
    if magnitude < TWO_TO_53 {
        return false;
    }
    let whole = plain_decimal(&decimal.0, decimal.1);
    let above = format!("{whole}.5").parse::<f64>();
    let below = format!("{}.5", predecessor(&whole)).parse::<f64>();
    [above, below].into_iter().any(|near| near.is_ok_and(|near| near.to_bits() != magnitude.to_bits()))
}

/// The whole number before this one, which isn't zero.
fn predecessor(whole: &str) -> String {
    let mut digits = whole.as_bytes().to_vec();
    for digit in digits.iter_mut().rev() {
        if *digit == b'0' {
            *digit = b'9';
        } else {
            *digit -= 1;
            break;
        }
    }
    digits.into_iter().map(char::from).collect()
}

/// Digits without an exponent, and without a point if nothing follows it.
fn plain_decimal(digits: &str, exponent: i32) -> String {
    let Ok(whole) = usize::try_from(exponent + 1) else {
        let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
        return format!("0.{}{digits}", "0".repeat(zeros));
    };
    if whole == 0 {
        return format!("0.{digits}");
    }
    if digits.len() > whole {
        let (whole, fraction) = digits.split_at(whole);
        return format!("{whole}.{fraction}");
    }
    format!("{digits}{}", "0".repeat(whole - digits.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_round_half_to_even_by_the_exact_value() {
        for (value, decimals, text) in [
            (2.5, 0, "2"),
            (1.5, 0, "2"),
            (1.005, 2, "1.00"),
            (1.25, 1, "1.2"),
            (1.35, 1, "1.4"),
            (-0.001, 2, "-0.00"),
            (0.0, 2, "0.00"),
            (0.1, 20, "0.10000000000000000000"),
            (1e23, 0, "99999999999999990000000"),
            (1e22, 1, "10000000000000000000000.0"),
            (8.41e21, 0, "8409999999999999000000"),
            (123_456_789_012_345_680_000.0, 3, "123456789012345680000.000"),
            (99.95, 1, "100.0"),
            (f64::NAN, 2, "NaN"),
        ] {
            assert_eq!(to_fixed(Number::Float(value), decimals), text);
        }
        assert_eq!(to_fixed(Number::Int(i64::MIN), 0), "-9223372036854775808");
        assert_eq!(to_fixed(Number::Int(-5), 2), "-5.00");
    }
}
