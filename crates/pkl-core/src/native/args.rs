//! Taking the arguments of natives apart. A declaration's types have been checked when a native is called.

use crate::error::{ErrorCode, Raised, Result};
use crate::heap::IntSeq;
use crate::value::{ClassId, ListId, MapId, ObjectId, SetId, Value};
use crate::vm::Vm;
pub(crate) use pkl_data::display::grouped;
use pkl_data::number::Number;

macro_rules! take {
    ($($(#[$doc:meta])* $name:ident: $variant:ident => $ty:ty),* $(,)?) => {$(
        $(#[$doc])*
        pub(crate) fn $name(value: Value) -> $ty {
            match value {
                Value::$variant(inner) => inner,
                other => panic!(concat!("the declaration says ", stringify!($variant), ", not {:?}"), other),
            }
        }
    )*};
}

take! {
    /// A `Boolean`.
    boolean: Bool => bool,
    /// An `Int`.
    int: Int => i64,
    /// A `List`.
    list: List => ListId,
    /// A `Set`.
    set: Set => SetId,
    /// A `Map`.
    map: Map => MapId,
    /// An object.
    object: Object => ObjectId,
    /// A class.
    class: Class => ClassId,
}

/// An `Int` or `Float`.
pub(crate) fn number(value: Value) -> Number {
    match value {
        Value::Int(value) => Number::Int(value),
        Value::Float(value) => Number::Float(value),
        other => panic!("the declaration says Number, not {other:?}"),
    }
}

/// The parts of a `Pair`.
pub(crate) fn pair(vm: &Vm<'_>, value: Value) -> (Value, Value) {
    match value {
        Value::Pair(id) => *vm.heap.pair(id),
        other => panic!("the declaration says Pair, not {other:?}"),
    }
}

/// A number as a value.
pub(crate) fn from_number(number: Number) -> Value {
    match number {
        Number::Int(value) => Value::Int(value),
        Number::Float(value) => Value::Float(value),
    }
}

/// A count as an `Int`.
pub(crate) fn count(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// The index of the last of so many, -1 if there is none.
pub(crate) fn last_index(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX) - 1)
}

/// A count as messages show it.
pub(crate) fn grouped_count(count: usize) -> String {
    grouped(i64::try_from(count).unwrap_or(i64::MAX))
}

/// A count that a program gives, zero or above.
pub(crate) fn positive_count(value: Value) -> Result<usize> {
    let number = int(value);
    if number < 0 {
        return Err(not_positive(number));
    }
    Ok(usize::try_from(number).unwrap_or(usize::MAX))
}

/// The error that a number is below zero.
pub(crate) fn not_positive(number: i64) -> crate::error::Failure {
    let message = format!("Expected a positive number, but got `{}`.", grouped(number));
    Raised::new(ErrorCode::InvalidArgument, message)
}

/// The texts of values with a separator between them.
pub(crate) fn join(vm: &mut Vm<'_>, items: &[Value], separator: &str) -> Result<Value> {
    let mut joined = String::new();
    for (position, &item) in items.iter().enumerate() {
        vm.tick()?;
        if position > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&vm.library_text(item)?);
        vm.check_count(joined.len() / size_of::<Value>())?;
    }
    Ok(vm.heap.string(joined))
}

/// What a function gives for each value.
pub(crate) fn applied(vm: &mut Vm<'_>, items: &[Value], function: Value) -> Result<Vec<Value>> {
    let mut results = Vec::with_capacity(items.len());
    for &item in items {
        vm.tick()?;
        results.push(vm.apply(function, &[item])?);
    }
    Ok(results)
}

/// Whether no two values are the same.
pub(crate) fn is_distinct(vm: &mut Vm<'_>, items: &[Value]) -> Result<bool> {
    let distinct = vm.make_set(items)?;
    Ok(vm.heap.set(set(distinct)).len() == items.len())
}

/// The values for which a function gives nothing that it gave for an earlier one.
pub(crate) fn distinct_by(vm: &mut Vm<'_>, items: &[Value], selector: Value) -> Result<Vec<Value>> {
    let mut seen = vm.make_set(&[])?;
    let mut distinct = Vec::new();
    for &item in items {
        vm.tick()?;
        let key = vm.apply(selector, &[item])?;
        if !vm.set_contains(set(seen), key)? {
            seen = vm.set_with(seen, key)?;
            distinct.push(item);
        }
    }
    Ok(distinct)
}

impl Vm<'_> {
    /// The text of a `String`.
    pub(crate) fn str(&self, value: Value) -> &str {
        match value {
            Value::String(id) => self.heap.text(id),
            other => panic!("the declaration says String, not {other:?}"),
        }
    }

    /// The numbers of an `IntSeq`.
    pub(crate) fn int_seq(&self, value: Value) -> IntSeq {
        match value {
            Value::IntSeq(id) => *self.heap.int_seq(id),
            other => panic!("the declaration says IntSeq, not {other:?}"),
        }
    }

    /// A condition that a function gave.
    pub(crate) fn holds(&mut self, function: Value, args: &[Value]) -> Result<bool> {
        match self.apply(function, args)? {
            Value::Bool(holds) => Ok(holds),
            other => {
                let class = self.known(crate::vm::Known::Boolean)?;
                Err(self.mismatch(class, other)?)
            }
        }
    }
}
