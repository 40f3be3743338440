//! `String`: finding, replacing and splitting with a text or a regular expression.

use pkl_data::display::excerpt;
use pkl_data::text::{self, Found, Pattern, PatternError, Which};
use pkl_data::tree::Tree;

use super::regex::{limit_exceeded, regex_match};
use super::{Table, args};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::value::Value;
use crate::vm::{Known, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#String.contains", contains),
    ("pkl.base#String.matches", matches),
    ("pkl.base#String.startsWith", starts_with),
    ("pkl.base#String.endsWith", ends_with),
    ("pkl.base#String.indexOf", index_of),
    ("pkl.base#String.indexOfOrNull", index_of_or_null),
    ("pkl.base#String.lastIndexOf", last_index_of),
    ("pkl.base#String.lastIndexOfOrNull", last_index_of_or_null),
    ("pkl.base#String.replaceFirst", replace_first),
    ("pkl.base#String.replaceLast", replace_last),
    ("pkl.base#String.replaceAll", replace_all),
    ("pkl.base#String.replaceFirstMapped", replace_first_mapped),
    ("pkl.base#String.replaceLastMapped", replace_last_mapped),
    ("pkl.base#String.replaceAllMapped", replace_all_mapped),
    ("pkl.base#String.split", split),
    ("pkl.base#String.splitLimit", split_limit),
];

/// What is sought.
fn pattern<'v>(vm: &'v Vm<'_>, value: Value) -> Pattern<'v> {
    match value {
        Value::String(id) => Pattern::Literal(vm.heap.text(id)),
        Value::Regex(id) => Pattern::Regex(vm.heap.regex(id).compiled()),
        other => panic!("the declaration says String|Regex, not {other:?}"),
    }
}

fn contains(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let found =
        pattern(vm, args[0]).find_first(vm.str(this), &mut vm.regex_budget()).map_err(limit_exceeded)?;
    Ok(Value::Bool(found.is_some()))
}

fn matches(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let Value::Regex(id) = args[0] else { panic!("the declaration says Regex, not {:?}", args[0]) };
    let regex = vm.heap.regex(id).compiled();
    let found = regex.match_entire(vm.str(this), &mut vm.regex_budget()).map_err(limit_exceeded)?;
    Ok(Value::Bool(found.is_some()))
}

fn starts_with(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let starts = pattern(vm, args[0]).starts(vm.str(this), &mut vm.regex_budget()).map_err(limit_exceeded)?;
    Ok(Value::Bool(starts))
}

fn ends_with(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let ends = pattern(vm, args[0]).ends(vm.str(this), &mut vm.regex_budget()).map_err(limit_exceeded)?;
    Ok(Value::Bool(ends))
}

/// The code point index of the first or last match.
fn position(vm: &Vm<'_>, this: Value, pattern: Value, last: bool) -> Result<Option<Value>> {
    let text = vm.str(this);
    let mut budget = vm.regex_budget();
    let found = if last {
        self::pattern(vm, pattern).find_last(text, &mut budget)
    } else {
        self::pattern(vm, pattern).find_first(text, &mut budget)
    };
    let found = found.map_err(limit_exceeded)?;
    Ok(found.map(|found| args::count(text::index_of_byte(text, found.start()))))
}

fn not_found(vm: &Vm<'_>, this: Value, pattern: Value) -> Failure {
    let (kind, pattern) = match pattern {
        Value::Regex(id) => ("regex", Tree::Regex(vm.heap.regex(id).pattern().into())),
        other => ("literal", Tree::from(vm.str(other))),
    };
    let message = format!(
        "String does not contain a match for {kind} pattern.\nString : {}\nPattern: {}",
        excerpt(&Tree::from(vm.str(this))),
        excerpt(&pattern)
    );
    Raised::new(ErrorCode::InvalidArgument, message)
}

fn index_of(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    position(vm, this, args[0], false)?.ok_or_else(|| not_found(vm, this, args[0]))
}

fn index_of_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(position(vm, this, args[0], false)?.unwrap_or(Value::NULL))
}

fn last_index_of(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    position(vm, this, args[0], true)?.ok_or_else(|| not_found(vm, this, args[0]))
}

fn last_index_of_or_null(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(position(vm, this, args[0], true)?.unwrap_or(Value::NULL))
}

fn replace(vm: &mut Vm<'_>, this: Value, args: &[Value], which: Which) -> Result<Value> {
    let replaced = pattern(vm, args[0])
        .replace(which, vm.str(this), vm.str(args[1]), &mut vm.regex_budget())
        .map_err(|error| match error {
            PatternError::Limit(error) => limit_exceeded(error),
            error @ PatternError::Replacement { .. } => {
                Raised::new(ErrorCode::InvalidArgument, error.to_string())
            }
        })?;
    Ok(vm.heap.string(replaced))
}

fn replace_first(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    replace(vm, this, args, Which::First)
}

fn replace_last(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    replace(vm, this, args, Which::Last)
}

fn replace_all(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    replace(vm, this, args, Which::All)
}

/// The matches of the first argument in `this`.
fn found(vm: &Vm<'_>, this: Value, pattern: Value, which: Which) -> Result<Vec<Found>> {
    self::pattern(vm, pattern).find(which, vm.str(this), &mut vm.regex_budget()).map_err(limit_exceeded)
}

fn replace_mapped(vm: &mut Vm<'_>, this: Value, args: &[Value], which: Which) -> Result<Value> {
    let Value::String(id) = this else { panic!("the declaration says String, not {this:?}") };
    let text = vm.heap.shared_text(id);
    let mut pieces = Vec::new();
    for found in found(vm, this, args[0], which)? {
        vm.tick()?;
        let argument = regex_match(vm, &text, &found.groups)?;
        let piece = match vm.apply(args[1], &[argument])? {
            Value::String(id) => vm.heap.text(id).to_owned(),
            other => {
                let class = vm.known(Known::String)?;
                return Err(vm.mismatch(class, other)?);
            }
        };
        // The official evaluator escapes the text for a single replacement, and leaves it so.
        let piece = if which == Which::All { piece } else { piece.replace('\\', "\\\\").replace('$', "\\$") };
        pieces.push((found, piece));
    }
    Ok(vm.heap.string(text::splice(&text, &pieces)))
}

fn replace_first_mapped(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    replace_mapped(vm, this, args, Which::First)
}

fn replace_last_mapped(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    replace_mapped(vm, this, args, Which::Last)
}

fn replace_all_mapped(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    replace_mapped(vm, this, args, Which::All)
}

fn parts(vm: &mut Vm<'_>, this: Value, pattern: Value, limit: Option<usize>) -> Result<Value> {
    let matches = found(vm, this, pattern, Which::All)?;
    vm.check_count(matches.len())?;
    let parts: Vec<String> =
        text::split(vm.str(this), &matches, limit).into_iter().map(str::to_owned).collect();
    let items = parts.into_iter().map(|part| vm.heap.string(part)).collect();
    Ok(Value::List(vm.heap.add_list(items)))
}

fn split(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    parts(vm, this, args[0], None)
}

fn split_limit(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    parts(vm, this, args[0], Some(usize::try_from(args::int(args[1])).unwrap_or(0)))
}
