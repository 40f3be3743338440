//! Equality and hashing.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

use super::amend::ObjectKind;
use super::force::Undefined;
use super::iterate::MemberKey;
use super::{MemberRef, Vm};
use crate::error::Result;
use crate::heap::{FunctionKind, Role};
use crate::mutants::mutant;
use crate::value::{FunctionId, ObjectId, Value};

impl Vm<'_> {
    /// `left == right`: as [`Vm::same`], but an `Int` equals the same `Float`.
    pub(crate) fn equal(&mut self, left: Value, right: Value) -> Result<bool> {
        match (left, right) {
            (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => {
                #[expect(
                    clippy::cast_precision_loss,
                    clippy::float_cmp,
                    reason = "as the language defines it"
                )]
                let equal = a as f64 == b;
                Ok(equal)
            }
            #[expect(clippy::float_cmp, reason = "as the language defines it")]
            (Value::Float(a), Value::Float(b)) => Ok(a == b),
            _ => self.same(left, right),
        }
    }

    /// Equality inside of collections and for keys: classes must be the same.
    pub(crate) fn same(&mut self, left: Value, right: Value) -> Result<bool> {
        Ok(match (left, right) {
            (Value::Null(_), Value::Null(_)) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (Value::String(a), Value::String(b)) => a == b || self.heap.text(a) == self.heap.text(b),
            (Value::Bytes(a), Value::Bytes(b)) => self.heap.bytes_of(a) == self.heap.bytes_of(b),
            (Value::Duration(a), Value::Duration(b)) => self.heap.duration(a) == self.heap.duration(b),
            (Value::DataSize(a), Value::DataSize(b)) => self.heap.data_size(a) == self.heap.data_size(b),
            (Value::IntSeq(a), Value::IntSeq(b)) => {
                self.heap.int_seq(a).identity() == self.heap.int_seq(b).identity()
            }
            (Value::Regex(a), Value::Regex(b)) => {
                a == b || self.heap.regex(a).pattern() == self.heap.regex(b).pattern()
            }
            (Value::Class(a), Value::Class(b)) => a == b,
            (Value::TypeAlias(a), Value::TypeAlias(b)) => a == b,
            (Value::Function(a), Value::Function(b)) => a == b || self.same_function(a, b),
            (Value::Pair(a), Value::Pair(b)) => {
                self.check_stack()?;
                let ((a1, a2), (b1, b2)) = (*self.heap.pair(a), *self.heap.pair(b));
                self.same(a1, b1)? && self.same(a2, b2)?
            }
            (Value::List(a), Value::List(b)) => {
                if a == b {
                    return Ok(true);
                }
                self.check_stack()?;
                let (a, b) = (self.heap.list(a).to_vec(), self.heap.list(b).to_vec());
                self.same_items(&a, &b)?
            }
            (Value::Set(a), Value::Set(b)) => {
                self.check_stack()?;
                let items = self.heap.set(a).to_vec();
                if items.len() != self.heap.set(b).len() {
                    return Ok(false);
                }
                for item in items {
                    self.tick()?;
                    if !self.set_contains(b, item)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Map(a), Value::Map(b)) => {
                self.check_stack()?;
                let keys = self.heap.map_keys(a).to_vec();
                if keys.len() != self.heap.map_keys(b).len() {
                    return Ok(false);
                }
                for (position, key) in keys.into_iter().enumerate() {
                    self.tick()?;
                    let value = self.heap.map_values(a)[position];
                    match self.map_get(b, key)? {
                        Some(other) if self.same(value, other)? => {}
                        _ => return Ok(false),
                    }
                }
                true
            }
            (Value::Object(a), Value::Object(b)) => a == b || self.same_objects(a, b)?,
            _ => false,
        })
    }

    fn same_items(&mut self, a: &[Value], b: &[Value]) -> Result<bool> {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (&a, &b) in a.iter().zip(b) {
            self.tick()?;
            if !self.same(a, b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Two closures are equal if one literal made them in the same surroundings.
    fn same_function(&self, a: FunctionId, b: FunctionId) -> bool {
        match (self.heap.function(a).kind, self.heap.function(b).kind) {
            (
                FunctionKind::Lambda { lambda: a, env: env_a, owner: owner_a, .. },
                FunctionKind::Lambda { lambda: b, env: env_b, owner: owner_b, .. },
            ) => {
                let prototype = self.heap.object(owner_a).is_prototype();
                std::ptr::eq(a, b) && env_a == env_b && owner_a == owner_b && prototype
            }
            (FunctionKind::TypeDefault(a), FunctionKind::TypeDefault(b)) => a == b,
            _ => false,
        }
    }

    /// Whether an object is what its class makes of it, nothing having been added.
    fn is_bare(&self, object: ObjectId) -> bool {
        let record = self.heap.object(object);
        record.parent.is_some_and(|parent| matches!(self.heap.object(parent).role, Role::Prototype))
            && record.body.is_some_and(|body| body.members.is_empty() && body.ops.is_empty())
            && !record.is_module()
    }

    fn same_objects(&mut self, a: ObjectId, b: ObjectId) -> Result<bool> {
        if self.heap.object(a).class != self.heap.object(b).class && !mutant!(EqualityIgnoresClass) {
            return Ok(false);
        }
        if self.heap.object(a).is_module() != self.heap.object(b).is_module() {
            return Ok(false);
        }
        self.check_stack()?;
        let kind = self.object_kind(self.heap.object(a).class)?;
        if kind == ObjectKind::Listing && self.element_count(a) != self.element_count(b) {
            return Ok(false);
        }
        if self.is_bare(a) && self.is_bare(b) {
            return Ok(true);
        }
        // An error of a member counts, whether it would decide or not.
        for object in [a, b] {
            self.force_object(object, Undefined::Fails)?;
        }
        let mut members = self.members_of(a);
        let others = self.members_of(b);
        if mutant!(HiddenInEquality) {
            let shape = self.heap.object(a).shape;
            let keys = self.heap.shapes.get(shape).keys().to_vec();
            for key in keys {
                if let (crate::heap::PropertyKey::Named(name), Some(index)) =
                    (key, self.heap.find_property(a, key))
                    && kind == ObjectKind::Typed
                    && !self.is_visible(a, name, index)
                {
                    members.push((MemberKey::Property(name), MemberRef::Property(index)));
                }
            }
        } else if members.len() != others.len() {
            return Ok(false);
        }
        for (key, place) in members {
            self.tick()?;
            let other = match key {
                MemberKey::Property(name) => {
                    self.heap.find_property(b, crate::heap::PropertyKey::Named(name)).map(MemberRef::Property)
                }
                MemberKey::Entry(key) => self.find_item(b, key)?,
                // The same as an entry with its index as key.
                MemberKey::Element(position) => self.find_item(b, Value::Int(position.into()))?,
            };
            let Some(other) = other else { return Ok(false) };
            let (value, other) = (self.force(a, place)?, self.force(b, other)?);
            if !self.same(value, other)? && !mutant!(EqualityIgnoresValues) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A hash that agrees with [`Vm::same`].
    pub(crate) fn hash(&mut self, value: Value) -> Result<u64> {
        let mut hasher = FxHasher::default();
        self.hash_into(value, &mut hasher)?;
        Ok(hasher.finish())
    }

    fn hash_into(&mut self, value: Value, hasher: &mut FxHasher) -> Result<()> {
        self.tick()?;
        std::mem::discriminant(&value).hash(hasher);
        match value {
            Value::Null(_) | Value::Function(_) => {}
            Value::Bool(value) => value.hash(hasher),
            Value::Int(value) => value.hash(hasher),
            Value::Float(value) if value.is_nan() => f64::NAN.to_bits().hash(hasher),
            Value::Float(value) => value.to_bits().hash(hasher),
            Value::String(id) => self.heap.text(id).hash(hasher),
            Value::Bytes(id) => self.heap.bytes_of(id).hash(hasher),
            Value::Duration(id) => self.heap.duration(id).hash(hasher),
            Value::DataSize(id) => self.heap.data_size(id).hash(hasher),
            Value::IntSeq(id) => {
                self.heap.int_seq(id).identity().hash(hasher);
            }
            Value::Regex(id) => self.heap.regex(id).pattern().hash(hasher),
            Value::Class(id) => id.hash(hasher),
            Value::TypeAlias(id) => id.hash(hasher),
            Value::Pair(id) => {
                self.check_stack()?;
                let (first, second) = *self.heap.pair(id);
                self.hash_into(first, hasher)?;
                self.hash_into(second, hasher)?;
            }
            Value::List(id) => {
                self.check_stack()?;
                for item in self.heap.list(id).to_vec() {
                    self.hash_into(item, hasher)?;
                }
            }
            Value::Set(id) => {
                self.check_stack()?;
                let mut sum = 0_u64;
                for item in self.heap.set(id).to_vec() {
                    sum = sum.wrapping_add(scattered(self.hash(item)?));
                }
                sum.hash(hasher);
            }
            Value::Map(id) => {
                self.check_stack()?;
                let keys = self.heap.map_keys(id).to_vec();
                let values = self.heap.map_values(id).to_vec();
                let mut sum = 0_u64;
                for (key, value) in keys.into_iter().zip(values) {
                    sum = sum.wrapping_add(scattered(self.hash(key)?.rotate_left(5) ^ self.hash(value)?));
                }
                sum.hash(hasher);
            }
            Value::Object(object) => self.hash_object(object, hasher)?,
        }
        Ok(())
    }

    fn hash_object(&mut self, object: ObjectId, hasher: &mut FxHasher) -> Result<()> {
        self.check_stack()?;
        self.heap.object(object).class.hash(hasher);
        let mut sum = 0_u64;
        for (key, place) in self.members_of(object) {
            let value = self.force(object, place)?;
            let key = match key {
                MemberKey::Property(name) => name.index() as u64,
                MemberKey::Entry(key) => self.hash(key)?,
                MemberKey::Element(position) => self.hash(Value::Int(position.into()))?,
            };
            sum = sum.wrapping_add(scattered(key.rotate_left(7) ^ self.hash(value)?));
        }
        sum.hash(hasher);
        Ok(())
    }
}

/// Makes a hash fit to be added to others. Those of numbers are multiples of the numbers, so that without this all
/// sets of numbers with one sum would have one hash.
fn scattered(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}
