//! What a YAML scalar is: the core schema (YAML 1.2.2 §10.3), in which `yes`, `no` and dates are
//! text.

use crate::number::{self, BadNumber};
use formwork_model::Json;
use saphyr_parser::Tag;

/// What a scalar came to.
pub(super) enum Scalar {
    Value(Json),
    /// Its tag is not of the core schema.
    UnknownTag,
    /// Its text is not what its tag says.
    Mismatch {
        wanted: &'static str,
    },
    /// A number that would lose digits.
    Number(BadNumber),
    /// An infinity, or no number at all.
    NotFinite,
}

/// Reads a scalar.
pub(super) fn resolve(text: &str, plain: bool, tag: Option<&Tag>) -> Scalar {
    let Some(tag) = tag else {
        return if plain { by_text(text) } else { Scalar::Value(Json::from(text)) };
    };
    if tag_text(tag) == "!" {
        return Scalar::Value(Json::from(text));
    }
    let resolved = by_text(text);
    match core_suffix(tag) {
        Some("str") => Scalar::Value(Json::from(text)),
        Some("null") => wanted(resolved, "null", Json::is_null),
        Some("bool") => wanted(resolved, "boolean", Json::is_boolean),
        Some("int") => wanted(resolved, "integer", |value| value.is_i64() || value.is_u64()),
        Some("float") => wanted(resolved, "number", Json::is_number),
        _ => Scalar::UnknownTag,
    }
}

fn wanted(resolved: Scalar, wanted: &'static str, is_right: impl Fn(&Json) -> bool) -> Scalar {
    match resolved {
        Scalar::Value(value) if !is_right(&value) => Scalar::Mismatch { wanted },
        other => other,
    }
}

/// The name of a tag of the core schema, however it is written.
pub(super) fn core_suffix(tag: &Tag) -> Option<&str> {
    const CORE: &str = "tag:yaml.org,2002:";
    if tag.handle == CORE {
        return Some(&tag.suffix);
    }
    if tag.handle.is_empty() { tag.suffix.strip_prefix(CORE) } else { None }
}

/// A tag as messages show it.
pub(super) fn tag_text(tag: &Tag) -> String {
    match core_suffix(tag) {
        Some(suffix) => format!("!!{suffix}"),
        None => format!("{}{}", tag.handle, tag.suffix),
    }
}

fn by_text(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Value(Json::Null),
        "true" | "True" | "TRUE" => return Scalar::Value(Json::Bool(true)),
        "false" | "False" | "FALSE" => return Scalar::Value(Json::Bool(false)),
        _ => {}
    }
    let Some(number) = by_number(text) else { return Scalar::Value(Json::from(text)) };
    number
}

/// `None` if the text is not of the form of a number.
fn by_number(text: &str) -> Option<Scalar> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Scalar::NotFinite);
    }
    let number = if let Some(octal) = text.strip_prefix("0o").filter(|digits| is_radix(digits, 8)) {
        number::radix_integer(octal, 8)
    } else if let Some(hex) = text.strip_prefix("0x").filter(|digits| is_radix(digits, 16)) {
        number::radix_integer(hex, 16)
    } else if is_digits(unsigned) {
        if text == "-0" { number::float(text) } else { number::integer(text) }
    } else if is_float(unsigned) {
        number::float(text)
    } else {
        return None;
    };
    Some(number.map_or_else(Scalar::Number, |number| Scalar::Value(Json::Number(number))))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_radix(text: &str, radix: u32) -> bool {
    !text.is_empty() && text.chars().all(|digit| digit.is_digit(radix))
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let exponent_is_right =
        exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let mantissa_is_right = match mantissa.split_once('.') {
        None => is_digits(mantissa),
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && (fraction.is_empty() || is_digits(fraction)),
    };
    exponent_is_right && mantissa_is_right
}
