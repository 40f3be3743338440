//! Pkl values as Rust types, by serde.

use pkl_data::tree::{Member, Tree};
use serde::de::value::{MapDeserializer, SeqDeserializer, StringDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::fmt;

/// Why a value isn't of a Rust type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeserializeError {
    message: String,
}

impl fmt::Display for DeserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DeserializeError {}

impl de::Error for DeserializeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string() }
    }
}

/// Makes a Rust value of an exported one.
///
/// An object becomes a map or a struct by its properties and entries, or a sequence if it has elements
/// only; a `Duration` or `DataSize` a map of `value` and `unit`; a `Pair` a sequence of two; a `Regex` its
/// pattern. A string names a variant of an enum, and an object with one member is a variant with content.
///
/// ```
/// use pkl_core::{Evaluator, ModuleSource, from_tree};
///
/// #[derive(serde::Deserialize)]
/// struct Bird {
///     name: String,
///     age: Option<u8>,
/// }
///
/// let module = ModuleSource::text("name = \"Dodo\"\nage = null");
/// let tree = Evaluator::builder().build().evaluate_module(&module).unwrap();
/// let bird: Bird = from_tree(&tree).unwrap();
/// assert_eq!(bird.name, "Dodo");
/// assert_eq!(bird.age, None);
/// ```
///
/// # Errors
/// If the value isn't what `T` needs.
pub fn from_tree<T: DeserializeOwned>(tree: &Tree) -> Result<T, DeserializeError> {
    T::deserialize(Value(tree))
}

#[derive(Clone, Copy)]
struct Value<'a>(&'a Tree);

impl IntoDeserializer<'_, DeserializeError> for Value<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn sequence<'de, V: Visitor<'de>>(items: &[Tree], visitor: V) -> Result<V::Value, DeserializeError> {
    let mut items = SeqDeserializer::new(items.iter().map(Value));
    let value = visitor.visit_seq(&mut items)?;
    items.end()?;
    Ok(value)
}

fn map<'de, 'a, V: Visitor<'de>>(
    entries: impl Iterator<Item = (Key<'a>, &'a Tree)>,
    visitor: V,
) -> Result<V::Value, DeserializeError> {
    let mut entries = MapDeserializer::new(entries.map(|(key, value)| (key, Value(value))));
    let value = visitor.visit_map(&mut entries)?;
    entries.end()?;
    Ok(value)
}

fn amount<'de, V: Visitor<'de>>(
    number: pkl_data::number::Number,
    unit: &str,
    visitor: V,
) -> Result<V::Value, DeserializeError> {
    let number = match number {
        pkl_data::number::Number::Int(value) => Tree::Int(value),
        pkl_data::number::Number::Float(value) => Tree::Float(value),
    };
    let unit = Tree::string(unit);
    map([(Key::Name("value"), &number), (Key::Name("unit"), &unit)].into_iter(), visitor)
}

impl<'de> de::Deserializer<'de> for Value<'_> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            Tree::Null => visitor.visit_unit(),
            Tree::Bool(value) => visitor.visit_bool(*value),
            Tree::Int(value) => visitor.visit_i64(*value),
            Tree::Float(value) => visitor.visit_f64(*value),
            Tree::String(text) | Tree::Regex(text) => visitor.visit_str(text),
            Tree::Bytes(bytes) => visitor.visit_bytes(bytes),
            Tree::Duration(duration) => {
                amount(duration.number(), pkl_data::units::Unit::as_str(duration.unit), visitor)
            }
            Tree::DataSize(size) => amount(size.number(), pkl_data::units::Unit::as_str(size.unit), visitor),
            Tree::Pair(pair) => {
                let mut items = SeqDeserializer::new([&pair.0, &pair.1].into_iter().map(Value));
                visitor.visit_seq(&mut items)
            }
            Tree::IntSeq(seq) => {
                let numbers = crate::heap::IntSeq { start: seq.start, end: seq.end, step: seq.step };
                visitor.visit_seq(SeqDeserializer::new(numbers.iter()))
            }
            Tree::List(items) | Tree::Set(items) | Tree::Listing(items) => sequence(items, visitor),
            Tree::Map(entries) | Tree::Mapping(entries) => {
                map(entries.iter().map(|(key, value)| (Key::Value(key), value)), visitor)
            }
            Tree::Typed(typed) => {
                map(typed.properties.iter().map(|(name, value)| (Key::Name(name), value)), visitor)
            }
            Tree::Dynamic(members) => dynamic(members, visitor),
            Tree::Class(name) | Tree::TypeAlias(name) => visitor.visit_string(name.to_string()),
            Tree::Function { .. } => Err(de::Error::custom("a function has no Rust value")),
            Tree::Error(error) => Err(de::Error::custom(&error.message)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self.0 {
            Tree::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DeserializeError> {
        if let Tree::String(text) = self.0 {
            return visitor.visit_enum(StringDeserializer::new(text.to_string()));
        }
        let entries: Vec<(Key<'_>, &Tree)> = match self.0 {
            Tree::Map(entries) | Tree::Mapping(entries) => {
                entries.iter().map(|(key, value)| (Key::Value(key), value)).collect()
            }
            Tree::Typed(typed) => {
                typed.properties.iter().map(|(name, value)| (Key::Name(name), value)).collect()
            }
            Tree::Dynamic(members) => members.iter().filter_map(named).collect(),
            _ => Vec::new(),
        };
        let [(key, value)] = entries[..] else {
            return Err(de::Error::custom("a variant is a string or an object with one member"));
        };
        let entry = MapDeserializer::new(std::iter::once((key, Value(value))));
        visitor.visit_enum(de::value::MapAccessDeserializer::new(entry))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

fn named(member: &Member) -> Option<(Key<'_>, &Tree)> {
    match member {
        Member::Property(name, value) => Some((Key::Name(name), value)),
        Member::Entry(key, value) => Some((Key::Value(key), value)),
        Member::Element(_) => None,
    }
}

fn dynamic<'de, V: Visitor<'de>>(members: &[Member], visitor: V) -> Result<V::Value, DeserializeError> {
    let entries: Vec<(Key<'_>, &Tree)> = members.iter().filter_map(named).collect();
    if entries.is_empty() && !members.is_empty() {
        let mut items = SeqDeserializer::new(members.iter().map(|member| Value(member.value())));
        return visitor.visit_seq(&mut items);
    }
    if entries.len() < members.len() {
        return Err(de::Error::custom("an object with both elements and named members has no Rust value"));
    }
    map(entries.into_iter(), visitor)
}

/// A key of a map.
#[derive(Clone, Copy)]
enum Key<'a> {
    Name(&'a str),
    Value(&'a Tree),
}

impl IntoDeserializer<'_, DeserializeError> for Key<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> de::Deserializer<'de> for Key<'_> {
    type Error = DeserializeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DeserializeError> {
        match self {
            Self::Name(name) => visitor.visit_str(name),
            Self::Value(value) => Value(value).deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluator, ModuleSource};
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Deserialize, Debug, PartialEq)]
    enum Diet {
        Seeds,
        Other(String),
    }

    #[derive(Deserialize, Debug, PartialEq)]
    struct Amount {
        value: f64,
        unit: String,
    }

    #[derive(Deserialize, Debug, PartialEq)]
    struct Birds {
        names: Vec<String>,
        ages: BTreeMap<String, u8>,
        diet: Diet,
        other: Diet,
        rest: Amount,
        pair: (i64, bool),
    }

    #[test]
    fn objects_become_structs_maps_sequences_and_variants() {
        let module = ModuleSource::text(
            r#"
            names = new Listing { "Dodo"; "Moa" }
            ages { ["Dodo"] = 3 }
            diet = "Seeds"
            other { Other = "grass" }
            rest = 1.5.min
            pair = Pair(1, true)
            "#,
        );
        let tree = Evaluator::builder().build().evaluate_module(&module).unwrap();
        let birds: Birds = from_tree(&tree).unwrap();
        let expected = Birds {
            names: vec!["Dodo".to_owned(), "Moa".to_owned()],
            ages: BTreeMap::from([("Dodo".to_owned(), 3)]),
            diet: Diet::Seeds,
            other: Diet::Other("grass".to_owned()),
            rest: Amount { value: 1.5, unit: "min".to_owned() },
            pair: (1, true),
        };
        assert_eq!(birds, expected);
    }

    #[test]
    fn a_wrong_type_says_what_was_expected() {
        let error = from_tree::<u8>(&Tree::string("x")).unwrap_err();
        assert!(error.to_string().contains("expected u8"), "{error}");
    }
}
