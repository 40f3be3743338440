//! `String`: its properties, parts of it, and what it is read as. Searching is in `string_search`.

use pkl_data::bytes::{self, Charset};
use pkl_data::display::excerpt;
use pkl_data::number;
use pkl_data::text;
use pkl_data::tree::Tree;
use std::sync::Arc;

use super::{Table, args};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table = &[
    ("pkl.base#String.getOrNull", get_or_null),
    ("pkl.base#String.substring", substring),
    ("pkl.base#String.substringOrNull", substring_or_null),
    ("pkl.base#String.repeat", repeat),
    ("pkl.base#String.take", take),
    ("pkl.base#String.takeWhile", take_while),
    ("pkl.base#String.takeLast", take_last),
    ("pkl.base#String.takeLastWhile", take_last_while),
    ("pkl.base#String.drop", drop),
    ("pkl.base#String.dropWhile", drop_while),
    ("pkl.base#String.dropLast", drop_last),
    ("pkl.base#String.dropLastWhile", drop_last_while),
    ("pkl.base#String.replaceRange", replace_range),
    ("pkl.base#String.toUpperCase", to_upper_case),
    ("pkl.base#String.toLowerCase", to_lower_case),
    ("pkl.base#String.reverse", reverse),
    ("pkl.base#String.trim", trim),
    ("pkl.base#String.trimStart", trim_start),
    ("pkl.base#String.trimEnd", trim_end),
    ("pkl.base#String.padStart", pad_start),
    ("pkl.base#String.padEnd", pad_end),
    ("pkl.base#String.capitalize", capitalize),
    ("pkl.base#String.decapitalize", decapitalize),
    ("pkl.base#String.toInt", to_int),
    ("pkl.base#String.toIntOrNull", to_int_or_null),
    ("pkl.base#String.toFloat", to_float),
    ("pkl.base#String.toFloatOrNull", to_float_or_null),
    ("pkl.base#String.toBoolean", to_boolean),
    ("pkl.base#String.toBooleanOrNull", to_boolean_or_null),
    ("pkl.base#String.encodeToBytes", encode_to_bytes),
];

pub(super) static PROPERTIES: Table = &[
    ("pkl.base#String.length", length),
    ("pkl.base#String.lastIndex", last_index),
    ("pkl.base#String.isEmpty", is_empty),
    ("pkl.base#String.isBlank", is_blank),
    ("pkl.base#String.isRegex", is_regex),
    ("pkl.base#String.isBase64", is_base64),
    ("pkl.base#String.md5", md5),
    ("pkl.base#String.sha1", sha1),
    ("pkl.base#String.sha256", sha256),
    ("pkl.base#String.sha256Int", sha256_int),
    ("pkl.base#String.base64", base64),
    ("pkl.base#String.base64Decoded", base64_decoded),
    ("pkl.base#String.base64DecodedBytes", base64_decoded_bytes),
    ("pkl.base#String.chars", chars),
    ("pkl.base#String.codePoints", code_points),
];

/// A failure with the string it is about.
fn about(code: ErrorCode, message: impl std::fmt::Display, text: &str) -> Failure {
    Raised::new(code, format!("{message}\nString: {}", excerpt(&Tree::from(text))))
}

/// A number of characters, which can't be negative.
fn natural(value: Value) -> Result<usize> {
    let number = args::int(value);
    usize::try_from(number).map_err(|_| {
        Raised::new(
            ErrorCode::InvalidArgument,
            format!("Expected a positive number, but got `{}`.", args::grouped(number)),
        )
    })
}

/// Fails if a text of so many bytes would exceed the memory limit.
fn reserve(vm: &mut Vm<'_>, bytes: usize) -> Result<()> {
    if vm.heap.bytes().saturating_add(bytes) > vm.limits().memory {
        vm.heap.charge(bytes);
    }
    vm.check_limits()
}

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(text::length(vm.str(this))))
}

fn last_index(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let length = i64::try_from(text::length(vm.str(this))).unwrap_or(i64::MAX);
    Ok(Value::Int(length - 1))
}

fn is_empty(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(vm.str(this).is_empty()))
}

fn is_blank(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(text::is_blank(vm.str(this))))
}

fn is_regex(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(pkl_regex::Regex::new(vm.str(this)).is_ok()))
}

fn is_base64(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Bool(bytes::from_base64(vm.str(this)).is_ok()))
}

fn md5(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let digest = bytes::md5(vm.str(this).as_bytes());
    Ok(vm.heap.string(digest))
}

fn sha1(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let digest = bytes::sha1(vm.str(this).as_bytes());
    Ok(vm.heap.string(digest))
}

fn sha256(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let digest = bytes::sha256(vm.str(this).as_bytes());
    Ok(vm.heap.string(digest))
}

fn sha256_int(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Int(bytes::sha256_int(vm.str(this).as_bytes())))
}

fn base64(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let encoded = bytes::to_base64(vm.str(this).as_bytes());
    Ok(vm.heap.string(encoded))
}

fn decoded(vm: &Vm<'_>, this: Value) -> Result<Vec<u8>> {
    let text = vm.str(this);
    bytes::from_base64(text).map_err(|error| about(ErrorCode::Parse, error, text))
}

fn base64_decoded(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let decoded = decoded(vm, this)?;
    Ok(vm.heap.string(String::from_utf8_lossy(&decoded)))
}

fn base64_decoded_bytes(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let decoded = decoded(vm, this)?;
    Ok(Value::Bytes(vm.heap.add_bytes(decoded.into())))
}

fn chars(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let characters: Vec<char> = vm.str(this).chars().collect();
    vm.check_count(characters.len())?;
    let items = characters.into_iter().map(|character| vm.heap.string(character.to_string())).collect();
    Ok(Value::List(vm.heap.add_list(items)))
}

fn code_points(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let items = vm.str(this).chars().map(|character| Value::Int(i64::from(u32::from(character)))).collect();
    Ok(Value::List(vm.heap.add_list(items)))
}

fn get_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let character = text::char_at(vm.str(this), args::int(args[0])).map(str::to_owned);
    Ok(character.map_or(Value::NULL, |character| vm.heap.string(character)))
}

fn substring(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let text = vm.str(this);
    let part = text::substring(text, args::int(args[0]), args::int(args[1]))
        .map_err(|error| about(ErrorCode::OutOfRange, error, text))?
        .to_owned();
    Ok(vm.heap.string(part))
}

fn substring_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let part = text::substring(vm.str(this), args::int(args[0]), args::int(args[1])).map(str::to_owned);
    Ok(part.map_or(Value::NULL, |part| vm.heap.string(part)))
}

fn replace_range(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let text = vm.str(this);
    let replaced = text::replace_range(text, args::int(args[0]), args::int(args[1]), vm.str(args[2]))
        .map_err(|error| about(ErrorCode::OutOfRange, error, text))?;
    Ok(vm.heap.string(replaced))
}

fn repeat(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let count = natural(args[0])?;
    reserve(vm, vm.str(this).len().saturating_mul(count))?;
    let repeated = vm.str(this).repeat(count);
    Ok(vm.heap.string(repeated))
}

macro_rules! parts {
    ($($name:ident: $part:path;)*) => {$(
        fn $name(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
            let part = $part(vm.str(this), natural(args[0])?).to_owned();
            Ok(vm.heap.string(part))
        }
    )*};
}

parts! {
    take: text::take;
    take_last: text::take_last;
    drop: text::drop;
    drop_last: text::drop_last;
}

macro_rules! converted {
    ($($name:ident: $text:ident => $converted:expr;)*) => {$(
        fn $name(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
            let $text = vm.str(this);
            let converted: String = $converted;
            Ok(vm.heap.string(converted))
        }
    )*};
}

converted! {
    to_upper_case: text => text.to_uppercase();
    to_lower_case: text => text.to_lowercase();
    reverse: text => text.chars().rev().collect();
    trim: text => text::trim(text).to_owned();
    trim_start: text => text::trim_start(text).to_owned();
    trim_end: text => text::trim_end(text).to_owned();
    capitalize: text => text::capitalize(text);
    decapitalize: text => text::decapitalize(text);
}

/// How many bytes at the start or end of a text are characters that a predicate holds for.
fn run_length(vm: &mut Vm<'_>, this: Value, predicate: Value, from_end: bool) -> Result<usize> {
    let mut characters: Vec<char> = vm.str(this).chars().collect();
    if from_end {
        characters.reverse();
    }
    let mut length = 0;
    for character in characters {
        vm.tick()?;
        let argument = vm.heap.string(character.to_string());
        if !vm.holds(predicate, &[argument])? {
            break;
        }
        length += character.len_utf8();
    }
    Ok(length)
}

fn take_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let length = run_length(vm, this, args[0], false)?;
    let part = vm.str(this)[..length].to_owned();
    Ok(vm.heap.string(part))
}

fn drop_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let length = run_length(vm, this, args[0], false)?;
    let part = vm.str(this)[length..].to_owned();
    Ok(vm.heap.string(part))
}

fn take_last_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let length = run_length(vm, this, args[0], true)?;
    let text = vm.str(this);
    let part = text[text.len() - length..].to_owned();
    Ok(vm.heap.string(part))
}

fn drop_last_while(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let length = run_length(vm, this, args[0], true)?;
    let text = vm.str(this);
    let part = text[..text.len() - length].to_owned();
    Ok(vm.heap.string(part))
}

/// A width; a negative one pads nothing.
fn width(vm: &mut Vm<'_>, args: &[Value]) -> Result<usize> {
    let width = usize::try_from(args::int(args[0])).unwrap_or(0);
    reserve(vm, width)?;
    Ok(width)
}

fn pad_start(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let width = width(vm, args)?;
    let padded = text::pad_start(vm.str(this), width, vm.str(args[1]));
    Ok(vm.heap.string(padded))
}

fn pad_end(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let width = width(vm, args)?;
    let padded = text::pad_end(vm.str(this), width, vm.str(args[1]));
    Ok(vm.heap.string(padded))
}

/// A string that isn't of the form that a type needs.
fn unreadable(vm: &Vm<'_>, this: Value, class: &str) -> Failure {
    about(ErrorCode::Parse, format_args!("Cannot parse string as `{class}`."), vm.str(this))
}

fn to_int(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    number::parse_int(vm.str(this)).map(Value::Int).ok_or_else(|| unreadable(vm, this, "Int"))
}

fn to_int_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(number::parse_int(vm.str(this)).map_or(Value::NULL, Value::Int))
}

fn to_float(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    number::parse_float(vm.str(this)).map(Value::Float).ok_or_else(|| unreadable(vm, this, "Float"))
}

fn to_float_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(number::parse_float(vm.str(this)).map_or(Value::NULL, Value::Float))
}

fn to_boolean(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    number::parse_boolean(vm.str(this)).map(Value::Bool).ok_or_else(|| unreadable(vm, this, "Boolean"))
}

fn to_boolean_or_null(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(number::parse_boolean(vm.str(this)).map_or(Value::NULL, Value::Bool))
}

fn encode_to_bytes(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let charset = charset(vm, args[0]);
    let encoded: Arc<[u8]> = match (charset, this) {
        // The bytes of the text are what it is kept as.
        (Charset::Utf8, Value::String(id)) => vm.heap.shared_text(id).into(),
        _ => charset.encode(vm.str(this)).into(),
    };
    Ok(Value::Bytes(vm.heap.add_bytes(encoded)))
}

/// A `Charset`.
pub(super) fn charset(vm: &Vm<'_>, value: Value) -> Charset {
    Charset::parse(vm.str(value)).expect("the declaration says Charset")
}
