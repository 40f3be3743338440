//! Strings, numbers and words of JSON.

use super::{Reader, Stop, is_word};
use crate::builder::{Built, NUL};
use crate::number;
use formwork_model::{Diagnostic, DiagnosticCode, Json};
use std::borrow::Cow;

impl<'t> Reader<'t, '_, '_> {
    /// Reads the scalar that begins with `byte`.
    pub(super) fn scalar(&mut self, byte: u8) -> Result<Built, Stop> {
        let start = self.at;
        let value = match byte {
            b'"' => Json::String(self.string()?.into_owned()),
            b'\'' => Json::String(self.single_quoted()?.into_owned()),
            b'-' | b'0'..=b'9' => self.number(),
            _ if is_word(byte) => self.literal(),
            _ => return Err(self.fatal(&format!("expected a value, found {}", self.found_here()))),
        };
        Ok(Built::scalar(value, self.span(start)))
    }

    fn literal(&mut self) -> Json {
        let start = self.at;
        let word = self.word();
        let meant = match word.as_str() {
            "true" => return Json::Bool(true),
            "false" => return Json::Bool(false),
            "null" => return Json::Null,
            "True" | "TRUE" => Some("true"),
            "False" | "FALSE" => Some("false"),
            "None" | "Null" | "NULL" | "nil" | "undefined" => Some("null"),
            _ => None,
        };
        let hint = meant.map_or_else(|| format!("write \"{word}\""), |meant| format!("write `{meant}`"));
        let message = format!("`{word}` is no JSON value");
        self.push_syntax(self.span(start), &message, Some(hint));
        Json::Null
    }

    fn number(&mut self) -> Json {
        let start = self.at;
        let word = self.word();
        let parsed = match shape(&word) {
            Some(Shape::Integer) => number::integer(&word),
            Some(Shape::MinusZero | Shape::Float) => number::float(&word),
            None => {
                let message = format!("`{word}` is no JSON number");
                self.syntax(self.span(start), &message);
                return Json::Null;
            }
        };
        let refuse = |bad: number::BadNumber| {
            let path = self.builder.path();
            let diagnostic = Diagnostic::error(DiagnosticCode::WrongType, path, bad.message(&word));
            let span = self.span(start);
            self.report.push(span, diagnostic.hint("quote it to keep it as text"));
            Json::Null
        };
        parsed.map_or_else(refuse, Json::Number)
    }

    /// Reads a string, whose opening quote comes next. Without escapes it is a piece of the text.
    pub(super) fn string(&mut self) -> Result<Cow<'t, str>, Stop> {
        let start = self.at;
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let rest = &self.bytes[self.at..];
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\\') || *byte < 0x20;
            let Some(length) = rest.iter().position(is_special) else {
                self.at = self.bytes.len();
                return Err(self.unterminated(start));
            };
            // Cut at ASCII characters on both sides.
            text += &self.text[self.at..self.at + length];
            self.at += length;
            match rest[length] {
                b'"' => {
                    self.at += 1;
                    return Ok(text);
                }
                b'\\' => self.escape(text.to_mut()),
                b'\n' | b'\r' => return Err(self.unterminated(start)),
                byte => {
                    let message = format!("A string holds the control character U+{byte:04X}");
                    self.push_syntax(self.here(), &message, Some(format!("write \\u{byte:04x}")));
                    self.at += 1;
                }
            }
        }
    }

    fn unterminated(&mut self, start: usize) -> Stop {
        self.syntax(self.span(start), "This string has no closing quote on its line");
        Stop
    }

    /// Reads an escape sequence, whose backslash comes next.
    fn escape(&mut self, text: &mut String) {
        let start = self.at;
        self.at += 1;
        let Some(byte) = self.peek() else { return };
        let plain = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(start, text),
            _ => {
                let width = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                if byte >= 0x20 {
                    self.at += width;
                }
                let span = self.span(start);
                return self.push_syntax(
                    span,
                    "JSON has no such escape",
                    Some("a backslash is `\\\\`".into()),
                );
            }
        };
        self.at += 1;
        text.push(plain);
    }

    fn unicode_escape(&mut self, start: usize, text: &mut String) {
        let Some(first) = self.four_digits() else {
            return self.syntax(self.span(start), "`\\u` needs four hexadecimal digits");
        };
        let code = match first {
            0xD800..=0xDBFF if self.bytes[self.at..].starts_with(b"\\u") => {
                let low_start = self.at;
                self.at += 1;
                if let Some(low @ 0xDC00..=0xDFFF) = self.four_digits() {
                    0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00)
                } else {
                    self.at = low_start;
                    first
                }
            }
            code => code,
        };
        match char::from_u32(code) {
            Some('\0') => self.syntax(self.span(start), NUL),
            Some(character) => text.push(character),
            None => self.syntax(self.span(start), "Half of a surrogate pair is no character"),
        }
    }

    /// Reads the `u` of an escape, which comes next, and its digits.
    fn four_digits(&mut self) -> Option<u32> {
        self.at += 1;
        let digits = self.bytes.get(self.at..self.at + 4)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let code = u32::from_str_radix(&self.text[self.at..self.at + 4], 16).ok()?;
        self.at += 4;
        Some(code)
    }

    /// Reads a string in single quotes, with a complaint.
    pub(super) fn single_quoted(&mut self) -> Result<Cow<'t, str>, Stop> {
        let start = self.at;
        let rest = &self.text[start + 1..];
        let Some(end) = rest.find(['\'', '\n']).filter(|end| rest.as_bytes()[*end] == b'\'') else {
            return Err(self.unterminated(start));
        };
        self.at = start + 1 + end + 1;
        self.syntax(self.span(start), "A string stands in double quotes");
        Ok(Cow::Borrowed(&rest[..end]))
    }
}

/// The form of a number.
enum Shape {
    Integer,
    /// `-0`: only a float keeps the sign.
    MinusZero,
    Float,
}

/// The form of a number by the grammar of RFC 8259; `None` if it is none.
fn shape(text: &str) -> Option<Shape> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let whole_is_right = digits(whole) && (whole.len() == 1 || !whole.starts_with('0'));
    let fraction_is_right = fraction.is_none_or(digits);
    let exponent_is_right =
        exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    if !(whole_is_right && fraction_is_right && exponent_is_right) {
        return None;
    }
    if fraction.is_some() || exponent.is_some() {
        return Some(Shape::Float);
    }
    Some(if text == "-0" { Shape::MinusZero } else { Shape::Integer })
}
