//! How a string is written: plain where every reader takes it for a string, else quoted.

use std::fmt::Write as _;

use super::Mode;

/// The style of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// A literal block, for what has several lines.
    Block,
}

/// The style that a string needs.
pub(super) fn style(text: &str, mode: Mode) -> Style {
    if text.chars().any(|character| character < ' ' && character != '\n') {
        Style::DoubleQuoted
    } else if text.contains('\n') {
        Style::Block
    } else if has_syntax(text) || resolves(text, mode) {
        Style::SingleQuoted
    } else {
        Style::Plain
    }
}

/// The style that a string needs as a key: brackets and commas are quoted wherever they stand.
pub(super) fn key_style(text: &str, mode: Mode) -> Style {
    match style(text, mode) {
        Style::Plain if text.contains([',', '[', ']', '{', '}']) => Style::SingleQuoted,
        style => style,
    }
}

/// Writes a string in quotes or plain.
pub(super) fn push_flow(out: &mut String, text: &str, style: Style) {
    match style {
        Style::Plain | Style::Block => out.push_str(text),
        Style::SingleQuoted => {
            out.push('\'');
            out.push_str(&text.replace('\'', "''"));
            out.push('\'');
        }
        Style::DoubleQuoted => push_double_quoted(out, text),
    }
}

fn push_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        let letter = match character {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' | '\\' => character,
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(character));
                continue;
            }
            other => {
                out.push(other);
                continue;
            }
        };
        out.push('\\');
        out.push(letter);
    }
    out.push('"');
}

/// The header of a literal block: an indentation indicator if its first line begins with a space,
/// and what becomes of the line ends at its end.
pub(super) fn block_header(text: &str, indent_width: usize) -> String {
    let indicator = if text.starts_with(' ') { indent_width.to_string() } else { String::new() };
    let chomping = match text.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
        Some(_) => "",
    };
    format!("|{indicator}{chomping}")
}

/// Whether a plain string would be syntax.
fn has_syntax(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return true };
    let rest = &text[first.len_utf8()..];
    let is_indicator = matches!(
        first,
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
    );
    let is_indicator_before_space =
        matches!(first, '-' | '?' | ':') && (rest.is_empty() || rest.starts_with(' '));
    is_indicator
        || is_indicator_before_space
        || text.starts_with(' ')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
}

/// Whether a plain string would be read as something else by a reader of this version.
fn resolves(text: &str, mode: Mode) -> bool {
    match mode {
        Mode::Yaml11 => is_null(text) || is_bool_11(text) || is_number_11(text),
        Mode::Yaml12 => is_null(text) || is_bool_12(text) || is_number_12(text),
        Mode::Compat => {
            is_null(text)
                || is_bool_11(text)
                || is_bool_12(text)
                || is_number_11(text)
                || is_number_12(text)
                || is_number_of_either(text)
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "~" | "null" | "Null" | "NULL")
}

fn is_bool_11(text: &str) -> bool {
    is_bool_12(text)
        || matches!(
            text,
            "y" | "Y"
                | "yes"
                | "Yes"
                | "YES"
                | "n"
                | "N"
                | "no"
                | "No"
                | "NO"
                | "on"
                | "On"
                | "ON"
                | "off"
                | "Off"
                | "OFF"
        )
}

fn is_bool_12(text: &str) -> bool {
    matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn all(text: &str, accepts: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(accepts)
}

fn is_digit_or_underscore(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

fn is_special_float(text: &str) -> bool {
    matches!(unsigned(text), ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn starts_like_a_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
}

fn is_number_11(text: &str) -> bool {
    let number = unsigned(text);
    let radix = |prefix: &str, accepts: fn(u8) -> bool| {
        number.strip_prefix(prefix).is_some_and(|rest| all(rest, accepts))
    };
    if radix("o", |b| matches!(b, b'0'..=b'7' | b'_')) || is_special_float(text) {
        return true;
    }
    starts_like_a_number(text)
        && (all(number, is_digit_or_underscore)
            || radix("0b", |b| matches!(b, b'0' | b'1' | b'_'))
            || radix("0x", |b| b.is_ascii_hexdigit() || b == b'_')
            || is_base_60(number)
            || is_float(number, FloatForm { underscores: true, point: true, signed_exponent: true }))
}

fn is_number_12(text: &str) -> bool {
    let number = unsigned(text);
    let radix = |prefix: &str, accepts: fn(u8) -> bool| {
        text.strip_prefix(prefix).is_some_and(|rest| all(rest, accepts))
    };
    is_special_float(text)
        || radix("0o", |b| matches!(b, b'0'..=b'7'))
        || radix("0x", |b| b.is_ascii_hexdigit())
        || (starts_like_a_number(text)
            && !matches!(text, "." | "+")
            && is_float(number, FloatForm { underscores: false, point: false, signed_exponent: false }))
}

/// What the union of both versions' forms adds: underscores, signs and exponents anywhere.
fn is_number_of_either(text: &str) -> bool {
    let number = unsigned(text);
    let octal = number.strip_prefix("0o").is_some_and(|rest| all(rest, |b| matches!(b, b'0'..=b'7' | b'_')));
    octal
        || (starts_like_a_number(text)
            && text != "+"
            && is_float(number, FloatForm { underscores: true, point: false, signed_exponent: false }))
}

/// Minutes and seconds after colons, as `190:20:30` and `1:30.5`.
fn is_base_60(number: &str) -> bool {
    let mut parts = number.split(':');
    let first = parts.next().unwrap_or_default();
    if !all(first, is_digit_or_underscore) || !first.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let parts: Vec<&str> = parts.collect();
    let Some((last, others)) = parts.split_last() else { return false };
    let (last, fraction) = match last.split_once('.') {
        Some((last, fraction)) => (last, Some(fraction)),
        None => (*last, None),
    };
    let is_sixty = |part: &str| {
        all(part, |b| b.is_ascii_digit())
            && (part.len() == 1 || (part.len() == 2 && part.as_bytes()[0] < b'6'))
    };
    let is_whole = fraction.is_none();
    others.iter().all(|part| is_sixty(part))
        && is_sixty(last)
        && fraction.is_none_or(|fraction| fraction.bytes().all(is_digit_or_underscore))
        && !(is_whole && first.starts_with('0'))
}

/// The forms of a number with a point or an exponent.
#[derive(Clone, Copy)]
struct FloatForm {
    underscores: bool,
    /// Whether there must be a point.
    point: bool,
    /// Whether an exponent must have a sign.
    signed_exponent: bool,
}

fn is_float(number: &str, form: FloatForm) -> bool {
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(at) => (&number[..at], Some(&number[at + 1..])),
        None => (number, None),
    };
    if form.point && !mantissa.contains('.') {
        return false;
    }
    let is_digit = |b: u8| b.is_ascii_digit() || (form.underscores && b == b'_');
    let points = mantissa.bytes().filter(|&b| b == b'.').count();
    let is_mantissa = points <= 1 && mantissa.bytes().all(|b| b == b'.' || is_digit(b));
    is_mantissa
        && exponent.is_none_or(|exponent| {
            let digits = unsigned(exponent);
            all(digits, |b| b.is_ascii_digit()) && !(form.signed_exponent && digits.len() == exponent.len())
        })
}
