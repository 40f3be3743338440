//! `pkl:pklbinary`: values in MessagePack, as the bindings for other languages read them.
//!
//! Numbers, strings, booleans and null are those of MessagePack. Everything else is an array whose first item
//! says what it is.

use super::walk::{Step, Walk};
use crate::error::{RenderError, RenderErrorCode};
use crate::tree::{ClassName, Member, Tree};
use crate::units::Unit;

/// What an array stands for.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Code {
    Object = 0x01,
    Map = 0x02,
    Mapping = 0x03,
    List = 0x04,
    Listing = 0x05,
    Set = 0x06,
    Duration = 0x07,
    DataSize = 0x08,
    Pair = 0x09,
    IntSeq = 0x0A,
    Regex = 0x0B,
    Class = 0x0C,
    TypeAlias = 0x0D,
    Function = 0x0E,
    Bytes = 0x0F,
    Property = 0x10,
    Entry = 0x11,
    Element = 0x12,
}

/// `renderValue` and `renderDocument`, which are the same.
///
/// # Errors
/// If the output is longer than `max_bytes`, or the value holds a member that failed.
pub fn value(value: &Tree, max_bytes: usize) -> Result<Vec<u8>, RenderError> {
    let mut writer = Writer { out: Vec::new(), walk: Walk::new("pkl-binary", max_bytes), max_bytes };
    writer.value(value)?;
    if writer.out.len() > max_bytes {
        return Err(writer.too_long());
    }
    Ok(writer.out)
}

struct Writer<'a> {
    out: Vec<u8>,
    walk: Walk<'a>,
    max_bytes: usize,
}

impl<'a> Writer<'a> {
    fn value(&mut self, value: &'a Tree) -> Result<(), RenderError> {
        match value {
            Tree::Null => self.out.push(0xC0),
            Tree::Bool(value) => self.out.push(if *value { 0xC3 } else { 0xC2 }),
            Tree::Int(value) => self.int(*value),
            Tree::Float(value) => self.float(*value),
            Tree::String(text) => self.string(text),
            Tree::Bytes(bytes) => {
                self.begin(Code::Bytes, 2);
                self.length(bytes.len(), [(0xC4, Width::One), (0xC5, Width::Two), (0xC6, Width::Four)]);
                self.out.extend_from_slice(bytes);
            }
            Tree::Duration(duration) => {
                self.begin(Code::Duration, 3);
                self.float(duration.value);
                self.string(duration.unit.as_str());
            }
            Tree::DataSize(size) => {
                self.begin(Code::DataSize, 3);
                self.float(size.value);
                self.string(size.unit.as_str());
            }
            Tree::Regex(pattern) => {
                self.begin(Code::Regex, 2);
                self.string(pattern);
            }
            Tree::IntSeq(sequence) => {
                self.begin(Code::IntSeq, 4);
                self.int(sequence.start);
                self.int(sequence.end);
                self.int(sequence.step);
            }
            Tree::Pair(pair) => {
                self.begin(Code::Pair, 3);
                self.item(0, &pair.0)?;
                self.item(1, &pair.1)?;
            }
            Tree::List(items) => self.items(Code::List, items)?,
            Tree::Listing(items) => self.items(Code::Listing, items)?,
            Tree::Set(items) => self.items(Code::Set, items)?,
            Tree::Map(entries) => self.entries(Code::Map, entries)?,
            Tree::Mapping(entries) => self.entries(Code::Mapping, entries)?,
            Tree::Typed(typed) => {
                if let Some(bytes) = value.render_directive_bytes() {
                    self.out.extend_from_slice(bytes);
                    return Ok(());
                }
                self.object(&typed.class, typed.properties.len());
                for (name, value) in &typed.properties {
                    self.property(name, value)?;
                }
            }
            Tree::Dynamic(members) => {
                self.object(&ClassName::new("pkl.base", "Dynamic").at("pkl:base"), members.len());
                self.members(members)?;
            }
            Tree::Class(name) => self.name(Code::Class, name),
            Tree::TypeAlias(name) => self.name(Code::TypeAlias, name),
            Tree::Function { .. } => self.begin(Code::Function, 1),
            Tree::Error(_) => return Err(self.walk.unsupported(value)),
        }
        Ok(())
    }

    fn object(&mut self, class: &ClassName, members: usize) {
        self.begin(Code::Object, 4);
        self.string(&class.to_string());
        self.string(&class.uri);
        self.array(members);
    }

    fn members(&mut self, members: &'a [Member]) -> Result<(), RenderError> {
        let mut index = 0;
        for member in members {
            match member {
                Member::Property(name, value) => self.property(name, value)?,
                Member::Entry(key, value) => {
                    self.begin(Code::Entry, 3);
                    self.entry(key, value)?;
                }
                Member::Element(value) => {
                    self.begin(Code::Element, 3);
                    self.int(i64::try_from(index).unwrap_or(i64::MAX));
                    self.item(index, value)?;
                    index += 1;
                }
            }
        }
        Ok(())
    }

    fn property(&mut self, name: &'a str, value: &'a Tree) -> Result<(), RenderError> {
        self.begin(Code::Property, 3);
        self.string(name);
        self.below(Step::Property(name), value)
    }

    fn name(&mut self, code: Code, name: &ClassName) {
        self.begin(code, 3);
        self.string(&name.to_string());
        self.string(&name.uri);
    }

    fn items(&mut self, code: Code, items: &'a [Tree]) -> Result<(), RenderError> {
        self.begin(code, 2);
        self.array(items.len());
        items.iter().enumerate().try_for_each(|(index, item)| self.item(index, item))
    }

    fn item(&mut self, index: usize, item: &'a Tree) -> Result<(), RenderError> {
        self.below(Step::Element(index), item)
    }

    fn entries(&mut self, code: Code, entries: &'a [(Tree, Tree)]) -> Result<(), RenderError> {
        self.begin(code, 2);
        match u8::try_from(entries.len()) {
            Ok(len @ 0..16) => self.out.push(0x80 | len),
            _ => self.length(entries.len(), [(0xDE, Width::Two), (0xDF, Width::Four)]),
        }
        entries.iter().try_for_each(|(key, value)| self.entry(key, value))
    }

    fn entry(&mut self, key: &'a Tree, value: &'a Tree) -> Result<(), RenderError> {
        self.below(Step::Entry(key), key)?;
        self.below(Step::Entry(key), value)
    }

    fn below(&mut self, step: Step<'a>, value: &'a Tree) -> Result<(), RenderError> {
        self.walk.enter(step, self.out.len())?;
        self.value(value)?;
        self.walk.leave();
        Ok(())
    }

    /// Begins an array of so many items, the first of which says what it is.
    fn begin(&mut self, code: Code, items: usize) {
        self.array(items);
        self.out.push(code as u8);
    }

    fn array(&mut self, items: usize) {
        match u8::try_from(items) {
            Ok(len @ 0..16) => self.out.push(0x90 | len),
            _ => self.length(items, [(0xDC, Width::Two), (0xDD, Width::Four)]),
        }
    }

    fn string(&mut self, text: &str) {
        match u8::try_from(text.len()) {
            Ok(len @ 0..32) => self.out.push(0xA0 | len),
            _ => self.length(text.len(), [(0xD9, Width::One), (0xDA, Width::Two), (0xDB, Width::Four)]),
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    /// A number in as few bytes as it takes; one that isn't negative is written without a sign.
    fn int(&mut self, value: i64) {
        if let Ok(value) = u64::try_from(value) {
            let forms = [(0xCC, Width::One), (0xCD, Width::Two), (0xCE, Width::Four), (0xCF, Width::Eight)];
            match u8::try_from(value) {
                Ok(small @ 0..128) => self.out.push(small),
                _ => self.number(value, forms),
            }
        } else if let Ok(small @ -32..) = i8::try_from(value) {
            self.out.push(small.cast_unsigned());
        } else {
            let (form, width) = match value {
                -0x80.. => (0xD0, Width::One),
                -0x8000.. => (0xD1, Width::Two),
                -0x8000_0000.. => (0xD2, Width::Four),
                _ => (0xD3, Width::Eight),
            };
            self.out.push(form);
            self.low_bytes(value.cast_unsigned(), width);
        }
    }

    fn float(&mut self, value: f64) {
        self.out.push(0xCB);
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    fn length<const N: usize>(&mut self, length: usize, forms: [(u8, Width); N]) {
        self.number(length as u64, forms);
    }

    /// The shortest of the forms, which are in order, that holds a number.
    fn number<const N: usize>(&mut self, number: u64, forms: [(u8, Width); N]) {
        let fits = |(_, width): &&(u8, Width)| number <= u64::MAX >> (64 - 8 * *width as u32);
        let (form, width) = forms.iter().find(fits).copied().unwrap_or(forms[N - 1]);
        self.out.push(form);
        self.low_bytes(number, width);
    }

    fn low_bytes(&mut self, number: u64, width: Width) {
        self.out.extend_from_slice(&number.to_be_bytes()[8 - width as usize..]);
    }

    fn too_long(&self) -> RenderError {
        let message = format!("The pkl-binary output is longer than {} bytes.", self.max_bytes);
        self.walk.error(RenderErrorCode::TooLong, message)
    }
}

/// How many bytes a number takes.
#[derive(Clone, Copy)]
enum Width {
    One = 1,
    Two = 2,
    Four = 4,
    Eight = 8,
}
