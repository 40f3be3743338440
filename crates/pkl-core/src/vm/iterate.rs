//! Going through the members of a value.

use pkl_parser::Symbol;
use pkl_parser::ast::ModifierKind;

use super::amend::ObjectKind;
use super::spread::Spread;
use super::{MemberRef, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{Order, PropertyKey};
use crate::ir::MemberSource;
use crate::mutants::mutant;
use crate::value::{ObjectId, Value};

const TYPED: &str = "`Typed` values are not iterable. If you mean to spread its members, convert it to `Dynamic` using `toDynamic()`.";

/// What names a member of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberKey {
    Property(Symbol),
    Entry(Value),
    Element(u32),
}

impl Vm<'_> {
    /// The visible members of an object in order: neither local nor hidden ones.
    pub(crate) fn members_of(&self, object: ObjectId) -> Vec<(MemberKey, MemberRef)> {
        let record = self.heap.object(object);
        let property = |key: PropertyKey| -> Option<(MemberKey, MemberRef)> {
            let PropertyKey::Named(name) = key else { return None };
            let index = self.heap.find_property(object, key)?;
            self.is_visible(object, name, index)
                .then_some((MemberKey::Property(name), MemberRef::Property(index)))
        };
        let Some(id) = record.items else {
            return self
                .heap
                .shapes
                .get(record.shape)
                .keys()
                .iter()
                .filter_map(|&key| property(key))
                .collect();
        };
        let items = self.heap.items(id);
        let element = |position: u32| (MemberKey::Element(position), MemberRef::Element(id, position));
        let entry =
            |position: u32| (MemberKey::Entry(items.keys[position as usize]), MemberRef::Entry(id, position));
        if items.order.is_empty() {
            let elements = (0..).take(items.elements.len()).map(element);
            return elements.chain((0..).take(items.entries.len()).map(entry)).collect();
        }
        let member = |order: &Order| match *order {
            Order::Property(key) => property(key),
            Order::Entry(position) => Some(entry(position)),
            Order::Element(position) => Some(element(position)),
            Order::Indexed(position) => {
                Some((MemberKey::Entry(Value::Int(i64::from(position))), MemberRef::Element(id, position)))
            }
        };
        items.order.iter().filter_map(member).collect()
    }

    /// Whether an object is another one, or a view of it.
    pub(crate) fn shows(&self, object: ObjectId, original: ObjectId) -> bool {
        let mut views = std::iter::successors(Some(object), |object| {
            let record = self.heap.object(*object);
            record.parent.filter(|_| record.is_view())
        });
        views.any(|shown| shown == original)
    }

    /// Whether a property is seen by renderers, comparisons and conversions.
    pub(crate) fn is_visible(&self, object: ObjectId, name: Symbol, index: u32) -> bool {
        let member = self.heap.slot(index).member;
        if matches!(member.source, MemberSource::Class(_) | MemberSource::Alias(_) | MemberSource::Import(_))
        {
            return false;
        }
        let class = self.heap.object(object).class;
        match self.heap.class(class).properties.get(&name) {
            Some(property) => !property.modifiers.contains(ModifierKind::Hidden) || mutant!(HiddenVisible),
            None => !member.modifiers.contains(ModifierKind::Hidden) && name != self.words.default,
        }
    }

    /// The pairs of key and value that `for` goes through.
    pub(crate) fn iterate(&mut self, value: Value) -> Result<Vec<(Value, Value)>> {
        let indexed = |values: &[Value]| (0..).map(Value::Int).zip(values.iter().copied()).collect();
        Ok(match value {
            Value::List(id) => indexed(self.heap.list(id)),
            Value::Set(id) => indexed(self.heap.set(id)),
            Value::Map(id) => {
                self.heap.map_keys(id).iter().copied().zip(self.heap.map_values(id).iter().copied()).collect()
            }
            Value::IntSeq(id) => {
                let sequence = *self.heap.int_seq(id);
                self.check_count(sequence.len())?;
                (0..).map(Value::Int).zip(sequence.iter().map(Value::Int)).collect()
            }
            Value::Bytes(id) => {
                let bytes = self.heap.bytes_of(id);
                (0..).map(Value::Int).zip(bytes.iter().map(|&byte| Value::Int(i64::from(byte)))).collect()
            }
            Value::Object(object) => {
                let class = self.heap.object(object).class;
                if self.object_kind(class)? == ObjectKind::Typed {
                    return Err(self.not_iterable(value)?);
                }
                let mut pairs = Vec::new();
                let members = self.members_of(object);
                self.force_in_order(object, &members)?;
                for (key, place) in members {
                    let value = self.force(object, place)?;
                    let key = match key {
                        MemberKey::Property(name) => {
                            let name = self.text_of(name);
                            self.heap.string(name)
                        }
                        MemberKey::Entry(key) => key,
                        MemberKey::Element(position) => Value::Int(i64::from(position)),
                    };
                    pairs.push((key, value));
                }
                pairs
            }
            other => return Err(self.not_iterable(other)?),
        })
    }

    /// Whether so many values can be made at all.
    pub(crate) fn check_count(&self, count: usize) -> Result<()> {
        self.check_room(count.saturating_mul(size_of::<Value>()))
    }

    /// Whether there is room for so many bytes.
    pub(crate) fn check_room(&self, bytes: usize) -> Result<()> {
        if self.heap.bytes().saturating_add(bytes) > self.limits().memory {
            let message = format!("The evaluation needs more than {} bytes of memory.", self.limits().memory);
            return Err(Raised::new(ErrorCode::LimitExceeded, message));
        }
        Ok(())
    }

    pub(crate) fn not_iterable(&mut self, value: Value) -> Result<Failure> {
        let class = self.class_of(value)?;
        let name = self.class_name(class);
        let shown = self.show_shallow(value)?;
        let message = format!("Cannot iterate over value of type `{name}`.\nValue: {shown}");
        Ok(Raised::new(ErrorCode::TypeMismatch, message))
    }

    /// The members that spreading a value adds.
    pub(crate) fn spread_members(&mut self, value: Value) -> Result<Vec<Spread>> {
        match value {
            Value::Null(_) => {
                let error = Raised::new(ErrorCode::TypeMismatch, "Cannot iterate over value of type `Null`.");
                Err(error)
            }
            Value::Object(object) => {
                let class = self.heap.object(object).class;
                if self.object_kind(class)? == ObjectKind::Typed {
                    return Err(self.not_iterable(value)?.with_hint(TYPED));
                }
                let mut spread = Vec::new();
                let members = self.members_of(object);
                self.force_in_order(object, &members)?;
                for (key, place) in members {
                    let value = self.force(object, place)?;
                    spread.push(match key {
                        MemberKey::Property(name) => Spread::Property(name, value),
                        MemberKey::Entry(key) => Spread::Entry(key, value),
                        MemberKey::Element(_) => Spread::Element(value),
                    });
                }
                Ok(spread)
            }
            Value::Map(_) => {
                Ok(self.iterate(value)?.into_iter().map(|(key, value)| Spread::Entry(key, value)).collect())
            }
            _ => Ok(self.iterate(value)?.into_iter().map(|(_, value)| Spread::Element(value)).collect()),
        }
    }

    /// The values of an object's elements.
    pub(crate) fn elements(&mut self, object: ObjectId) -> Result<Vec<Value>> {
        if self.heap.object(object).items.is_none() {
            return Ok(Vec::new());
        }
        let members = self.members_of(object);
        self.force_in_order(object, &members)?;
        let elements = members.into_iter().filter(|(key, _)| matches!(key, MemberKey::Element(_)));
        elements.map(|(_, place)| self.force(object, place)).collect()
    }

    /// Keys and values of an object's entries.
    pub(crate) fn entries(&mut self, object: ObjectId) -> Result<Vec<(Value, Value)>> {
        let members = self.members_of(object);
        self.force_in_order(object, &members)?;
        let mut entries = Vec::new();
        for (key, place) in members {
            if let MemberKey::Entry(key) = key {
                entries.push((key, self.force(object, place)?));
            }
        }
        Ok(entries)
    }
}
