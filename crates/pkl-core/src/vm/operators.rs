//! Operators.

use pkl_data::number::Number;
use std::cmp::Ordering;

use super::Vm;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::ir::{BinaryOp, UnaryOp};
use crate::mutants::mutant;
use crate::value::Value;

fn overflow() -> Failure {
    Raised::new(ErrorCode::Arithmetic, "Integer overflow.")
}

fn number(value: Value) -> Option<Number> {
    match value {
        Value::Int(value) => Some(Number::Int(value)),
        Value::Float(value) => Some(Number::Float(value)),
        _ => None,
    }
}

/// `a ~/ b` of floats.
fn whole_quotient(a: f64, b: f64) -> Result<Value> {
    match pkl_data::number::checked_i64((a / b).trunc()) {
        Some(whole) => Ok(Value::Int(whole)),
        None => {
            let shown = pkl_data::number::float_to_string(a);
            let message = format!("Cannot convert Float `{shown}` to Int because it is too large.");
            Err(Raised::new(ErrorCode::Arithmetic, message))
        }
    }
}

/// `left ** right` of integers: exact if it fits, a float for a negative exponent.
fn int_power(base: i64, exponent: i64) -> Result<Value> {
    if exponent < 0 {
        #[expect(clippy::cast_precision_loss, reason = "the result is a float by definition")]
        return Ok(Value::Float(libm::pow(base as f64, exponent as f64)));
    }
    let exact = match u32::try_from(exponent) {
        Ok(exponent) => base.checked_pow(exponent),
        Err(_) => match base {
            0 | 1 => Some(base),
            -1 => Some(if exponent % 2 == 0 { 1 } else { -1 }),
            _ => None,
        },
    };
    exact.map(Value::Int).ok_or_else(overflow)
}

fn floor_to_int(value: f64) -> Result<Value> {
    match pkl_data::number::checked_i64(value.trunc()) {
        Some(whole) => Ok(Value::Int(whole)),
        None => {
            let shown = pkl_data::number::float_to_string(value);
            let reason = if value.is_finite() { "it is too large" } else { "it is not finite" };
            let message = format!("Cannot convert Float `{shown}` to Int because {reason}.");
            Err(Raised::new(ErrorCode::Arithmetic, message))
        }
    }
}

impl Vm<'_> {
    /// `left op right`, both evaluated.
    pub(crate) fn operate(&mut self, op: BinaryOp, left: Value, right: Value) -> Result<Value> {
        if let (Value::Int(a), Value::Int(b)) = (left, right) {
            return self.operate_ints(op, a, b);
        }
        match op {
            BinaryOp::Equal => return self.equal(left, right).map(Value::Bool),
            BinaryOp::NotEqual => return self.equal(left, right).map(|equal| Value::Bool(!equal)),
            _ => {}
        }
        if let (Some(a), Some(b)) = (number(left), number(right)) {
            return Self::operate_floats(op, a.to_f64(), b.to_f64());
        }
        match self.operate_others(op, left, right)? {
            Some(value) => Ok(value),
            None => Err(self.invalid_operands(op.as_str(), left, right)?),
        }
    }

    fn operate_ints(&mut self, op: BinaryOp, a: i64, b: i64) -> Result<Value> {
        #[expect(clippy::cast_precision_loss, reason = "`/` is a division of floats by definition")]
        match op {
            BinaryOp::Add => a.checked_add(b).map(Value::Int).ok_or_else(overflow),
            BinaryOp::Subtract => a.checked_sub(b).map(Value::Int).ok_or_else(overflow),
            BinaryOp::Multiply => a.checked_mul(b).map(Value::Int).ok_or_else(overflow),
            BinaryOp::Divide => Ok(Value::Float(a as f64 / b as f64)),
            BinaryOp::IntDivide | BinaryOp::Remainder if b == 0 => {
                Err(Raised::new(ErrorCode::Arithmetic, "Division by zero."))
            }
            BinaryOp::IntDivide if mutant!(WholeDivisionFloors) => {
                a.checked_div_euclid(b).map(Value::Int).ok_or_else(overflow)
            }
            BinaryOp::IntDivide => a.checked_div(b).map(Value::Int).ok_or_else(overflow),
            BinaryOp::Remainder => Ok(Value::Int(a.wrapping_rem(b))),
            BinaryOp::Power => int_power(a, b),
            BinaryOp::Less => Ok(Value::Bool(a < b)),
            BinaryOp::Greater => Ok(Value::Bool(a > b)),
            BinaryOp::LessOrEqual => Ok(Value::Bool(a <= b)),
            BinaryOp::GreaterOrEqual => Ok(Value::Bool(a >= b)),
            BinaryOp::Equal => Ok(Value::Bool(a == b)),
            BinaryOp::NotEqual => Ok(Value::Bool(a != b)),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Pipe | BinaryOp::Coalesce => {
                Err(self.invalid_operands(op.as_str(), Value::Int(a), Value::Int(b))?)
            }
        }
    }

    fn operate_floats(op: BinaryOp, a: f64, b: f64) -> Result<Value> {
        Ok(match op {
            BinaryOp::Add => Value::Float(a + b),
            BinaryOp::Subtract => Value::Float(a - b),
            BinaryOp::Multiply => Value::Float(a * b),
            BinaryOp::Divide => Value::Float(a / b),
            BinaryOp::IntDivide => return whole_quotient(a, b),
            BinaryOp::Remainder => Value::Float(a % b),
            BinaryOp::Power => Value::Float(libm::pow(a, b)),
            BinaryOp::Less => Value::Bool(a < b),
            BinaryOp::Greater => Value::Bool(a > b),
            BinaryOp::LessOrEqual => Value::Bool(a <= b),
            BinaryOp::GreaterOrEqual => Value::Bool(a >= b),
            _ => unreachable!("equality and logic are decided before"),
        })
    }

    fn operate_others(&mut self, op: BinaryOp, left: Value, right: Value) -> Result<Option<Value>> {
        Ok(match (left, right) {
            (Value::String(a), Value::String(b)) => match op {
                BinaryOp::Add => {
                    self.check_room(self.heap.text(a).len() + self.heap.text(b).len())?;
                    Some(Value::String(self.heap.concat(a, b)))
                }
                _ => comparison(op, Some(compare_utf16(self.heap.text(a), self.heap.text(b)))),
            },
            (Value::Duration(a), Value::Duration(b)) => {
                let (a, b) = (*self.heap.duration(a), *self.heap.duration(b));
                match op {
                    BinaryOp::Add => Some(Value::Duration(self.heap.add_duration(a.plus(b)))),
                    BinaryOp::Subtract => Some(Value::Duration(self.heap.add_duration(a.minus(b)))),
                    BinaryOp::Divide => Some(Value::Float(a.ratio(b))),
                    BinaryOp::IntDivide => Some(floor_to_int(a.ratio(b))?),
                    _ => comparison(op, Some(a.compare(b))),
                }
            }
            (Value::DataSize(a), Value::DataSize(b)) => {
                let (a, b) = (*self.heap.data_size(a), *self.heap.data_size(b));
                match op {
                    BinaryOp::Add => Some(Value::DataSize(self.heap.add_data_size(a.plus(b)))),
                    BinaryOp::Subtract => Some(Value::DataSize(self.heap.add_data_size(a.minus(b)))),
                    BinaryOp::Divide => Some(Value::Float(a.ratio(b))),
                    BinaryOp::IntDivide => Some(floor_to_int(a.ratio(b))?),
                    _ => comparison(op, Some(a.compare(b))),
                }
            }
            (Value::Duration(a), _) => {
                let Some(b) = number(right) else { return Ok(None) };
                let a = *self.heap.duration(a);
                let result = match op {
                    BinaryOp::Multiply => a.times(b),
                    BinaryOp::Divide => a.divided_by(b),
                    BinaryOp::IntDivide => whole(a.divided_by(b)),
                    BinaryOp::Remainder => a.remainder(b),
                    BinaryOp::Power => a.power(b),
                    _ => return Ok(None),
                };
                Some(Value::Duration(self.heap.add_duration(result)))
            }
            (Value::DataSize(a), _) => {
                let Some(b) = number(right) else { return Ok(None) };
                let a = *self.heap.data_size(a);
                let result = match op {
                    BinaryOp::Multiply => a.times(b),
                    BinaryOp::Divide => a.divided_by(b),
                    BinaryOp::IntDivide => whole(a.divided_by(b)),
                    BinaryOp::Remainder => a.remainder(b),
                    BinaryOp::Power => a.power(b),
                    _ => return Ok(None),
                };
                Some(Value::DataSize(self.heap.add_data_size(result)))
            }
            (_, Value::Duration(b)) if op == BinaryOp::Multiply => {
                let Some(a) = number(left) else { return Ok(None) };
                let product = self.heap.duration(b).times(a);
                Some(Value::Duration(self.heap.add_duration(product)))
            }
            (_, Value::DataSize(b)) if op == BinaryOp::Multiply => {
                let Some(a) = number(left) else { return Ok(None) };
                let product = self.heap.data_size(b).times(a);
                Some(Value::DataSize(self.heap.add_data_size(product)))
            }
            _ if op == BinaryOp::Add => self.add_collections(left, right)?,
            _ => None,
        })
    }

    fn add_collections(&mut self, left: Value, right: Value) -> Result<Option<Value>> {
        Ok(match (left, right) {
            (Value::List(a), Value::List(_) | Value::Set(_)) => {
                let items = self.collection_items(right).unwrap_or_default();
                self.check_count(self.heap.list(a).len() + items.len())?;
                Some(Value::List(self.heap.extend_list(a, &items)))
            }
            (Value::Set(_), Value::List(_) | Value::Set(_)) => {
                let mut set = left;
                for item in self.collection_items(right).unwrap_or_default() {
                    set = self.set_with(set, item)?;
                }
                Some(set)
            }
            (Value::Map(_), Value::Map(b)) => {
                let keys = self.heap.map_keys(b).to_vec();
                let values = self.heap.map_values(b).to_vec();
                let mut map = left;
                for (key, value) in keys.into_iter().zip(values) {
                    map = self.map_with(map, key, value)?;
                }
                Some(map)
            }
            (Value::Bytes(a), Value::Bytes(b)) => {
                self.check_room(self.heap.bytes_of(a).len() + self.heap.bytes_of(b).len())?;
                let joined = [&**self.heap.bytes_of(a), &**self.heap.bytes_of(b)].concat();
                Some(Value::Bytes(self.heap.add_bytes(joined.into())))
            }
            _ => None,
        })
    }

    /// The items of a `List` or `Set`.
    pub(crate) fn collection_items(&self, value: Value) -> Option<Vec<Value>> {
        match value {
            Value::List(id) => Some(self.heap.list(id).to_vec()),
            Value::Set(id) => Some(self.heap.set(id).to_vec()),
            _ => None,
        }
    }

    /// A set with an item, which it may have already.
    pub(crate) fn set_with(&mut self, set: Value, item: Value) -> Result<Value> {
        let Value::Set(id) = set else { return Ok(set) };
        let hash = self.hash(item)?;
        let candidates: Vec<(usize, Value)> = self.heap.set_candidates(id, hash).collect();
        for (_, candidate) in candidates {
            if self.same(candidate, item)? {
                return Ok(set);
            }
        }
        Ok(Value::Set(self.heap.grow_set(id, hash, item)))
    }

    /// A map with an entry, whose key it may have already.
    pub(crate) fn map_with(&mut self, map: Value, key: Value, value: Value) -> Result<Value> {
        let Value::Map(id) = map else { return Ok(map) };
        let hash = self.hash(key)?;
        let candidates: Vec<(usize, Value)> = self.heap.map_candidates(id, hash).collect();
        for (position, candidate) in candidates {
            if self.same(candidate, key)? {
                let mut copy = self.heap.copy_map(id);
                copy.values[position] = value;
                return Ok(Value::Map(self.heap.add_map_buffer(copy)));
            }
        }
        Ok(Value::Map(self.heap.grow_map(id, hash, key, value)))
    }

    /// The value of a key in a map.
    pub(crate) fn map_get(&mut self, map: crate::value::MapId, key: Value) -> Result<Option<Value>> {
        let hash = self.hash(key)?;
        let candidates: Vec<(usize, Value)> = self.heap.map_candidates(map, hash).collect();
        for (position, candidate) in candidates {
            if self.same(candidate, key)? {
                return Ok(Some(self.heap.map_values(map)[position]));
            }
        }
        Ok(None)
    }

    /// Whether a set has an item.
    pub(crate) fn set_contains(&mut self, set: crate::value::SetId, item: Value) -> Result<bool> {
        let hash = self.hash(item)?;
        let candidates: Vec<(usize, Value)> = self.heap.set_candidates(set, hash).collect();
        for (_, candidate) in candidates {
            if self.same(candidate, item)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `-value`, `!value`
    pub(crate) fn unary(&mut self, op: UnaryOp, value: Value) -> Result<Value> {
        match (op, value) {
            (UnaryOp::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
            (UnaryOp::Negate, Value::Int(value)) => value.checked_neg().map(Value::Int).ok_or_else(overflow),
            (UnaryOp::Negate, Value::Float(value)) => Ok(Value::Float(-value)),
            (UnaryOp::Negate, Value::Duration(id)) => {
                let negated = self.heap.duration(id).negated();
                Ok(Value::Duration(self.heap.add_duration(negated)))
            }
            (UnaryOp::Negate, Value::DataSize(id)) => {
                let negated = self.heap.data_size(id).negated();
                Ok(Value::DataSize(self.heap.add_data_size(negated)))
            }
            _ => Err(self.invalid_operand(op.as_str(), value)?),
        }
    }

    pub(crate) fn invalid_operand(&mut self, op: &str, value: Value) -> Result<Failure> {
        let class = self.class_of(value)?;
        let (name, shown) = (self.class_name(class), self.show_shallow(value)?);
        let message = format!("Operator `{op}` is not defined for operand type `{name}`.\nOperand: {shown}");
        Ok(Raised::new(ErrorCode::InvalidOperands, message))
    }

    pub(crate) fn invalid_left_operand(&mut self, op: &str, value: Value) -> Result<Failure> {
        let class = self.class_of(value)?;
        let (name, shown) = (self.class_name(class), self.show_shallow(value)?);
        let message =
            format!("Operator `{op}` is not defined for left operand type `{name}`.\nLeft operand: {shown}");
        Ok(Raised::new(ErrorCode::InvalidOperands, message))
    }

    pub(crate) fn invalid_operands(&mut self, op: &str, left: Value, right: Value) -> Result<Failure> {
        let (left_class, right_class) = (self.class_of(left)?, self.class_of(right)?);
        let (left_name, right_name) = (self.class_name(left_class), self.class_name(right_class));
        let (left, right) = (self.show_shallow(left)?, self.show_shallow(right)?);
        let message = format!(
            "Operator `{op}` is not defined for operand types `{left_name}` and `{right_name}`.\nLeft operand : {left}\nRight operand: {right}"
        );
        Ok(Raised::new(ErrorCode::InvalidOperands, message))
    }
}

fn whole<U: pkl_data::units::Unit>(amount: pkl_data::units::Amount<U>) -> pkl_data::units::Amount<U> {
    pkl_data::units::Amount { value: amount.value.trunc(), unit: amount.unit }
}

fn comparison(op: BinaryOp, ordering: Option<Ordering>) -> Option<Value> {
    let holds = |wanted: fn(Ordering) -> bool| Some(Value::Bool(ordering.is_some_and(wanted)));
    match op {
        BinaryOp::Less => holds(Ordering::is_lt),
        BinaryOp::Greater => holds(Ordering::is_gt),
        BinaryOp::LessOrEqual => holds(Ordering::is_le),
        BinaryOp::GreaterOrEqual => holds(Ordering::is_ge),
        _ => None,
    }
}

/// The order of strings: by UTF-16 unit.
pub(crate) fn compare_utf16(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}
