//! `receiver[key]`

use super::Vm;
use super::amend::ObjectKind;
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::native::args::grouped;
use crate::value::{ObjectId, Value};

impl Vm<'_> {
    pub(crate) fn subscript(&mut self, receiver: Value, key: Value) -> Result<Value> {
        match (receiver, key) {
            (Value::List(id), Value::Int(index)) => {
                let items = self.heap.list(id);
                match usize::try_from(index).ok().and_then(|index| items.get(index)) {
                    Some(&item) => Ok(item),
                    None => {
                        let len = items.len();
                        let shown = self.show_shallow(receiver)?;
                        let error = out_of_range("Element", index, len);
                        Err(Raised::new(
                            ErrorCode::OutOfRange,
                            format!("{}\nCollection: {shown}", error.message),
                        ))
                    }
                }
            }
            (Value::Map(id), key) => match self.map_get(id, key)? {
                Some(value) => Ok(value),
                None => {
                    let keys = self.heap.map_keys(id).to_vec();
                    Err(self.unknown_key_of(&keys, key)?)
                }
            },
            (Value::String(id), Value::Int(index)) => {
                let text = self.heap.text(id);
                let found = usize::try_from(index).ok().and_then(|index| nth_char(text, index));
                match found {
                    Some(character) => Ok(self.heap.string(character)),
                    None => {
                        let len = text.chars().count();
                        let shown = self.show_shallow(receiver)?;
                        let error = out_of_range("Character", index, len);
                        Err(Raised::new(ErrorCode::OutOfRange, format!("{}\nString: {shown}", error.message)))
                    }
                }
            }
            (Value::Bytes(id), Value::Int(index)) => {
                let bytes = self.heap.bytes_of(id);
                match usize::try_from(index).ok().and_then(|index| bytes.get(index)) {
                    // A single byte is signed, as in the official evaluator.
                    Some(&byte) => Ok(Value::Int(i64::from(byte.cast_signed()))),
                    None => {
                        let len = bytes.len();
                        let shown = self.show_shallow(receiver)?;
                        let error = out_of_range("Element", index, len);
                        Err(Raised::new(ErrorCode::OutOfRange, format!("{}\nValue: {shown}", error.message)))
                    }
                }
            }
            (Value::Object(object), key) => self.subscript_object(object, key),
            _ => Err(self.invalid_operands("[]", receiver, key)?),
        }
    }

    fn subscript_object(&mut self, object: ObjectId, key: Value) -> Result<Value> {
        let class = self.heap.object(object).class;
        match (self.object_kind(class)?, key) {
            (ObjectKind::Listing, Value::Int(index)) => match self.item(object, key)? {
                Some(value) => Ok(value),
                None => {
                    let len = self.element_count(object);
                    Err(out_of_range("Element", index, len))
                }
            },
            (ObjectKind::Typed | ObjectKind::Listing, _) => {
                Err(self.invalid_operands("[]", Value::Object(object), key)?)
            }
            _ => match self.item(object, key)? {
                Some(value) => Ok(value),
                None => {
                    let items = self.heap.object(object).items;
                    let keys = items.map(|items| self.heap.items(items).keys.clone()).unwrap_or_default();
                    Err(self.unknown_key_of(&keys, key)?)
                }
            },
        }
    }

    /// How many elements an object has.
    pub(crate) fn element_count(&self, object: ObjectId) -> usize {
        self.heap.object(object).items.map_or(0, |items| self.heap.items(items).elements.len())
    }

    pub(crate) fn unknown_key(&mut self, key: Value) -> Result<Failure> {
        let shown = self.show(key)?;
        Ok(Raised::new(ErrorCode::UnknownKey, format!("Cannot find key `{shown}`.")))
    }

    fn unknown_key_of(&mut self, keys: &[Value], key: Value) -> Result<Failure> {
        let error = self.unknown_key(key)?;
        Ok(match self.similar_keys(key, keys) {
            Some(hint) => error.with_hint(hint),
            None => error,
        })
    }
}

fn nth_char(text: &str, index: usize) -> Option<String> {
    if text.is_ascii() {
        return text.get(index..=index).map(str::to_owned);
    }
    text.chars().nth(index).map(String::from)
}

/// An index that nothing is at.
pub(crate) fn out_of_range(what: &str, index: i64, len: usize) -> Failure {
    let last = i64::try_from(len).unwrap_or(i64::MAX) - 1;
    let (index, last) = (grouped(index), grouped(last));
    let message = format!("{what} index `{index}` is out of range `0`..`{last}`.");
    Raised::new(ErrorCode::OutOfRange, message)
}
