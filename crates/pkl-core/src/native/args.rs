//! Taking the arguments of natives apart. A declaration's types have been checked when a native is called.

use crate::heap::IntSeq;
use crate::value::{FunctionId, ListId, MapId, ObjectId, SetId, Value};
use crate::vm::Vm;
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
    /// A function.
    function: Function => FunctionId,
}

/// An `Int` or `Float`.
pub(crate) fn number(value: Value) -> Number {
    match value {
        Value::Int(value) => Number::Int(value),
        Value::Float(value) => Number::Float(value),
        other => panic!("the declaration says Number, not {other:?}"),
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
    pub(crate) fn holds(&mut self, function: Value, args: &[Value]) -> crate::error::Result<bool> {
        match self.apply(function, args)? {
            Value::Bool(holds) => Ok(holds),
            other => {
                let class = self.known(crate::vm::Known::Boolean)?;
                Err(self.mismatch(class, other)?)
            }
        }
    }
}
