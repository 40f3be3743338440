//! What a plain scalar is: null, a boolean, a number, or a string.

use super::Mode;
use crate::tree::Tree;

/// The value of a plain scalar.
///
/// # Errors
/// If it is an integer that doesn't fit.
pub(super) fn plain(text: &str, mode: Mode) -> Result<Tree, String> {
    if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return Ok(Tree::Null);
    }
    if let Some(value) = boolean(text, mode) {
        return Ok(Tree::Bool(value));
    }
    if let Some(value) = special_float(text) {
        return Ok(Tree::Float(value));
    }
    if let Some((digits, radix)) = integer(text, mode) {
        let negative = text.starts_with('-');
        return match whole(&digits, radix, negative) {
            Some(value) => Ok(Tree::Int(value)),
            None => Err(format!("the integer `{text}` is too large")),
        };
    }
    Ok(float(text, mode).map_or_else(|| Tree::string(text), Tree::Float))
}

fn boolean(text: &str, mode: Mode) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ if mode == Mode::Yaml12 => None,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn special_float(text: &str) -> Option<f64> {
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(f64::NAN);
    }
    match unsigned(text) {
        ".inf" | ".Inf" | ".INF" => {
            Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY })
        }
        _ => None,
    }
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

/// The smallest integer and what is below it count as too large, as in the official evaluator.
fn whole(digits: &str, radix: u32, negative: bool) -> Option<i64> {
    let magnitude = i64::from_str_radix(digits, radix).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// The digits of an integer, without underscores, and their base; sums of base 60 are in base 10.
fn integer(text: &str, mode: Mode) -> Option<(String, u32)> {
    let number = unsigned(text);
    let old = mode != Mode::Yaml12;
    // Signs before a prefix and underscores are of YAML 1.1.
    let prefixed = |prefix: &str, radix: u32, underscores: bool| {
        let source = if underscores { number } else { text };
        let digits = source.strip_prefix(prefix)?;
        let is_digit = |c: char| c.is_digit(radix) || (underscores && c == '_');
        let digits: String = digits.chars().all(is_digit).then(|| digits.replace('_', ""))?;
        (!digits.is_empty()).then_some((digits, radix))
    };
    if let Some(found) = prefixed("0x", 16, old) {
        return Some(found);
    }
    if mode != Mode::Yaml11
        && let Some(found) = prefixed("0o", 8, old)
    {
        return Some(found);
    }
    if !old {
        return (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
            .then(|| (number.to_owned(), 10));
    }
    if let Some(found) = prefixed("0b", 2, true) {
        return Some(found);
    }
    if mode == Mode::Yaml11
        && let Some(seconds) = base_60(number)
    {
        return Some((seconds.to_string(), 10));
    }
    let is_decimal = number.starts_with(|c: char| c.is_ascii_digit());
    if !is_decimal || !number.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    let digits = number.replace('_', "");
    match number.strip_prefix('0') {
        Some("") | None => Some((digits, 10)),
        Some(_) if digits.bytes().all(|b| b < b'8') => Some((digits, 8)),
        Some(_) => None,
    }
}

/// `190:20:30`.
fn base_60(number: &str) -> Option<u64> {
    let mut parts = number.split(':');
    let first = parts.next()?;
    if !first.starts_with(|c: char| matches!(c, '1'..='9')) || !number.contains(':') {
        return None;
    }
    if !first.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    parts.try_fold(first.replace('_', "").parse().ok()?, |sum: u64, part| {
        sum.checked_mul(60)?.checked_add(sixtieth(part)?)
    })
}

/// One or two digits below sixty.
fn sixtieth(part: &str) -> Option<u64> {
    let is_number = matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
    part.parse().ok().filter(|&number| is_number && number < 60)
}

fn float(text: &str, mode: Mode) -> Option<f64> {
    let number = unsigned(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if mode == Mode::Yaml11
        && let Some(value) = base_60_float(number)
    {
        return Some(sign * value);
    }
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], Some(&number[at + 1..])),
        None => (number, None),
    };
    let underscores = mode != Mode::Yaml12;
    let is_digit = |b: u8| b.is_ascii_digit() || (underscores && b == b'_');
    let points = mantissa.bytes().filter(|&b| b == b'.').count();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    if points > 1 || !mantissa.bytes().all(|b| b == b'.' || is_digit(b)) || mantissa.starts_with('_') {
        return None;
    }
    // In YAML 1.1 a float has a point, and a lone one is a number; otherwise there are digits.
    if mode == Mode::Yaml11 {
        if points == 0 {
            return None;
        }
    } else if digits == 0 {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = unsigned(exponent);
        let is_signed = digits.len() < exponent.len();
        if digits.is_empty()
            || !digits.bytes().all(|b| b.is_ascii_digit())
            || (mode == Mode::Yaml11 && !is_signed)
        {
            return None;
        }
    }
    let plain = number.replace('_', "");
    let plain = if digits == 0 { plain.replacen('.', "0.", 1) } else { plain };
    plain.parse::<f64>().ok().map(|value| sign * value)
}

/// `190:20:30.15`.
fn base_60_float(number: &str) -> Option<f64> {
    let (whole, fraction) = number.split_once('.')?;
    let mut parts = whole.split(':');
    let first = parts.next()?.replace('_', "");
    if !whole.contains(':') || first.is_empty() || !first.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if !fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    let seconds = parts.try_fold(first.parse::<f64>().ok()?, |sum, part| {
        let part = u32::try_from(sixtieth(part)?).ok()?;
        Some(sum * 60.0 + f64::from(part))
    })?;
    let fraction = format!("0.{}0", fraction.replace('_', "")).parse::<f64>().ok()?;
    Some(seconds + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::one_line;

    #[test]
    fn each_version_understands_scalars_its_own_way() {
        for (text, expected) in [
            ("yes", ["true", "true", "\"yes\""]),
            ("y", ["true", "true", "\"y\""]),
            ("~", ["null", "null", "null"]),
            ("08", ["8.0", "\"08\"", "8"]),
            ("017", ["15", "15", "17"]),
            ("0o17", ["15", "\"0o17\"", "15"]),
            ("-0x1", ["-1", "-1", "\"-0x1\""]),
            ("0b11", ["3", "3", "\"0b11\""]),
            ("1_000", ["1000", "1000", "\"1_000\""]),
            (".", ["\".\"", "0.0", "\".\""]),
            ("1e3", ["1000.0", "\"1e3\"", "1000.0"]),
            (".e3", ["\".e3\"", "\".e3\"", "\".e3\""]),
            ("1:30", ["\"1:30\"", "90", "\"1:30\""]),
            ("1:30.5", ["\"1:30.5\"", "90.5", "\"1:30.5\""]),
            ("01:30", ["\"01:30\"", "\"01:30\"", "\"01:30\""]),
            ("685_230.15", ["685230.15", "685230.15", "\"685_230.15\""]),
            ("+.INF", ["Infinity", "Infinity", "Infinity"]),
            ("_1", ["\"_1\"", "\"_1\"", "\"_1\""]),
        ] {
            for (mode, expected) in [Mode::Compat, Mode::Yaml11, Mode::Yaml12].into_iter().zip(expected) {
                let value = plain(text, mode).map(|value| one_line(&value));
                assert_eq!(value.as_deref(), Ok(expected), "{text} in {mode:?}");
            }
        }
        assert!(plain("9223372036854775808", Mode::Compat).is_err());
    }
}
