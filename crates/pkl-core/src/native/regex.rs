//! `Regex` and `RegexMatch`.

use pkl_data::text::utf16_index;
use pkl_regex::{Budget, LimitError};

use super::{Table, args};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::value::{RegexId, Value};
use crate::vm::{Known, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#Regex", regex),
    ("pkl.base#Regex.findMatchesIn", find_matches_in),
    ("pkl.base#Regex.matchEntire", match_entire),
];

pub(super) static PROPERTIES: Table =
    &[("pkl.base#Regex.pattern", pattern), ("pkl.base#Regex.groupCount", group_count)];

/// A match that took too long.
pub(super) fn limit_exceeded(error: LimitError) -> Failure {
    Raised::new(ErrorCode::LimitExceeded, error.to_string())
}

impl Vm<'_> {
    /// What a search may use up.
    pub(super) fn regex_budget(&self) -> Budget {
        Budget { deadline: self.deadline(), ..Budget::default() }
    }
}

fn id(value: Value) -> RegexId {
    match value {
        Value::Regex(id) => id,
        other => panic!("the declaration says Regex, not {other:?}"),
    }
}

fn regex(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let pattern = vm.str(args[0]);
    if let Some(known) = vm.heap.known_regex(pattern) {
        return Ok(Value::Regex(known));
    }
    let compiled = pkl_regex::Regex::new(pattern).map_err(|error| {
        Raised::new(ErrorCode::InvalidArgument, format!("Syntax error in regex `{pattern}`: {error}"))
    })?;
    Ok(Value::Regex(vm.heap.make_regex(compiled)))
}

fn pattern(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let pattern = vm.heap.regex(id(this)).pattern().to_owned();
    Ok(vm.heap.string(pattern))
}

fn group_count(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(vm.heap.regex(id(this)).compiled().group_count()))
}

fn find_matches_in(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let regex = vm.heap.regex(id(this)).compiled().clone();
    let text = vm.str(args[0]).to_owned();
    let mut budget = vm.regex_budget();
    let mut items = Vec::new();
    for found in regex.matches(&text, &mut budget) {
        let found = found.map_err(limit_exceeded)?;
        vm.tick()?;
        let groups: Vec<_> = found.groups().collect();
        items.push(regex_match(vm, &text, &groups)?);
    }
    Ok(Value::List(vm.heap.add_list(items)))
}

fn match_entire(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let regex = vm.heap.regex(id(this)).compiled().clone();
    let text = vm.str(args[0]).to_owned();
    let found = regex.match_entire(&text, &mut vm.regex_budget()).map_err(limit_exceeded)?;
    match found {
        None => Ok(Value::NULL),
        Some(found) => {
            let groups: Vec<_> = found.groups().collect();
            regex_match(vm, &text, &groups)
        }
    }
}

/// A `RegexMatch` of these groups, the whole match first. Places are counted in UTF-16 units.
pub(super) fn regex_match(vm: &mut Vm<'_>, text: &str, groups: &[Option<(usize, usize)>]) -> Result<Value> {
    let mut items = Vec::with_capacity(groups.len());
    for group in groups {
        items.push(match group {
            Some(range) => single(vm, text, *range, Vec::new())?,
            None => Value::NULL,
        });
    }
    let whole = groups.first().copied().flatten().unwrap_or_default();
    single(vm, text, whole, items)
}

fn single(vm: &mut Vm<'_>, text: &str, (start, end): (usize, usize), groups: Vec<Value>) -> Result<Value> {
    let class = vm.known(Known::RegexMatch)?;
    let value = vm.heap.string(&text[start..end]);
    let groups = Value::List(vm.heap.add_list(groups));
    let names = &vm.words;
    let properties = [
        (names.value, value),
        (names.start, args::count(utf16_index(text, start))),
        (names.end, args::count(utf16_index(text, end))),
        (names.groups, groups),
    ];
    Ok(vm.make_typed(class, &properties))
}
