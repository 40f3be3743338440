//! Numbers to text and back.

use super::hex;

/// `Float.toString()`, which is Java's `Double.toString`.
///
/// The shortest decimal that reads back as the same number, but at least two digits are looked at:
/// of the decimals with two digits the nearest wins over one with a single digit (`4.9E-324`).
pub fn float_to_string(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return format!("{sign}Infinity");
    }
    if magnitude == 0.0 {
        return format!("{sign}0.0");
    }
    if let Some(text) = short_decimal(magnitude) {
        return format!("{sign}{text}");
    }
    let (digits, exponent) = shortest_digits(magnitude);
    let text = if (-3..7).contains(&exponent) {
        positional(&digits, exponent)
    } else {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        format!("{first}.{rest}E{exponent}")
    };
    format!("{sign}{text}")
}

/// The text of a number that has no exponent and few digits: then Rust's own is the same.
fn short_decimal(magnitude: f64) -> Option<String> {
    if !(1e-3..1e7).contains(&magnitude) {
        return None;
    }
    let mut text = magnitude.to_string();
    if text.len() > 15 {
        return None;
    }
    if !text.contains('.') {
        text.push_str(".0");
    }
    Some(text)
}

/// The significant digits and the exponent of the first of them.
///
/// Among the shortest decimals Rust's own conversion may not take the nearest with an even last
/// digit; rounding to the same length does. Only with 16 digits or more can there be two as near.
fn shortest_digits(magnitude: f64) -> (String, i32) {
    let (digits, exponent) = scientific(&format!("{magnitude:e}"));
    if (2..16).contains(&digits.len()) {
        return (digits, exponent);
    }
    let rounded = format!("{magnitude:.*e}", digits.len().max(2) - 1);
    if rounded.parse::<f64>().is_ok_and(|value| value.to_bits() == magnitude.to_bits()) {
        return scientific(&rounded);
    }
    (digits, exponent)
}

/// Splits `d.ddde-5`; trailing zeros go, but one digit stays.
pub(super) fn scientific(text: &str) -> (String, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mut digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let kept = digits.trim_end_matches('0').len().max(1);
    digits.truncate(kept);
    (digits, exponent.parse().unwrap_or(0))
}

/// Digits with a point, at least one of them on either side.
fn positional(digits: &str, exponent: i32) -> String {
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
    format!("{digits}{}.0", "0".repeat(whole - digits.len()))
}

/// `Int.toRadixString`, for a radix of 2 to 36.
pub fn to_radix_string(value: i64, radix: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let radix = u64::from(radix.clamp(2, 36));
    let mut rest = value.unsigned_abs();
    let mut reversed = Vec::new();
    loop {
        let digit = usize::try_from(rest % radix).unwrap_or(0);
        reversed.push(char::from(DIGITS[digit]));
        rest /= radix;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        reversed.push('-');
    }
    reversed.into_iter().rev().collect()
}

/// `String.toInt()`: an optional sign and decimal digits of any script of the basic plane, with
/// underscores anywhere but at the very front.
pub fn parse_int(text: &str) -> Option<i64> {
    if text.starts_with('_') {
        return None;
    }
    let mut rest = text.chars().filter(|&c| c != '_').peekable();
    let negative = matches!(rest.peek(), Some('-'));
    if matches!(rest.peek(), Some('-' | '+')) {
        rest.next();
    }
    rest.peek()?;
    let mut value = 0_i64;
    for character in rest {
        let digit = i64::from(decimal_digit(character)?);
        value = value.checked_mul(10)?;
        value = if negative { value.checked_sub(digit)? } else { value.checked_add(digit)? };
    }
    Some(value)
}

/// The value of a decimal digit of the basic plane (general category Nd).
fn decimal_digit(character: char) -> Option<u32> {
    /// The zeros of the scripts' digits; the nine others follow each.
    const ZEROS: [u32; 37] = [
        0x0030, 0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
        0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80,
        0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0,
        0xFF10,
    ];
    let code = u32::from(character);
    let zero = ZEROS[..ZEROS.partition_point(|&zero| zero <= code)].last()?;
    (code - zero < 10).then_some(code - zero)
}

/// `String.toFloat()`: what Java's `Double.parseDouble` takes, with underscores anywhere but at the
/// very front, after a point and after `e`.
pub fn parse_float(text: &str) -> Option<f64> {
    let mut plain = String::with_capacity(text.len());
    let mut before = None;
    for character in text.chars() {
        if character == '_' {
            if matches!(before, None | Some('.' | 'e' | 'E')) {
                return None;
            }
        } else {
            plain.push(character);
        }
        before = Some(character);
    }
    parse_java_double(plain.trim_matches(|c: char| c <= ' '))
}

fn parse_java_double(text: &str) -> Option<f64> {
    let (negative, unsigned) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let magnitude = match unsigned {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        _ => {
            let number = unsigned.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(unsigned);
            match unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
                Some(_) => hex::parse(&number[2..])?,
                None => parse_decimal(number)?,
            }
        }
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn parse_decimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let points = mantissa.bytes().filter(|&b| b == b'.').count();
    if digits == 0 || points > 1 || digits + points != mantissa.len() {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
    }
    text.parse().ok()
}

/// `String.toBoolean()`: `true` and `false` in any case.
pub fn parse_boolean(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_java_prints_them() {
        for (value, text) in [
            (1e10, "1.0E10"),
            (12_345_678.9, "1.23456789E7"),
            (1e-5, "1.0E-5"),
            (f64::from_bits(1), "4.9E-324"),
            (1e-323, "9.9E-324"),
            (2e-323, "2.0E-323"),
            (2e23, "2.0E23"),
            (0.001, "0.001"),
            (0.000_99, "9.9E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (-0.0, "-0.0"),
            (100.0, "100.0"),
            (1.0 / 3.0, "0.3333333333333333"),
            (f64::MAX, "1.7976931348623157E308"),
            (-588_417_053.222_656_2, "-5.884170532226562E8"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(float_to_string(value), text);
        }
    }

    #[test]
    fn ints_parse_with_underscores_and_digits_of_any_script() {
        for (text, value) in [
            ("1_0", Some(10)),
            ("-_1", Some(-1)),
            ("1_", Some(1)),
            ("_1", None),
            ("٣", Some(3)),
            ("５", Some(5)),
            ("𝟓", None),
            (" 5", None),
            ("+", None),
            ("", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
        ] {
            assert_eq!(parse_int(text), value, "{text}");
        }
    }

    #[test]
    fn floats_parse_as_java_parses_them() {
        for (text, value) in [
            ("1_e5", Some(1e5)),
            ("1e_5", None),
            ("1._5", None),
            ("0x1.8p3", Some(12.0)),
            ("0x_1p3", Some(8.0)),
            ("0x1p3f", Some(8.0)),
            ("1f", Some(1.0)),
            (" 1.5\n", Some(1.5)),
            ("5.", Some(5.0)),
            (".", None),
            ("1e", None),
            ("inf", None),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("0x1f", None),
            ("0x", None),
            ("1e400", Some(f64::INFINITY)),
        ] {
            assert_eq!(parse_float(text), value, "{text}");
        }
    }

    #[test]
    fn a_radix_string_of_the_smallest_int_has_one_sign() {
        assert_eq!(to_radix_string(i64::MIN, 16), "-8000000000000000");
        assert_eq!(to_radix_string(-123, 2), "-1111011");
        assert_eq!(to_radix_string(0, 36), "0");
    }
}
