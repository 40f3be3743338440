//! The contents of values: typed arenas, dropped whole when the evaluation ends, their bytes counted.

mod collections;
mod objects;
mod shapes;
mod strings;

pub(crate) use collections::MapBuffer;
pub(crate) use objects::{
    Cache, Class, ClassKind, ClassMethod, ClassProperty, Env, Function, FunctionKind, Items, Object, Order,
    Role, Slot, TypeAlias,
};
pub(crate) use shapes::{PropertyKey, Shapes};

use pkl_data::units::{DataSize, Duration};

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::mutants::mutant;
use crate::value::{
    BytesId, ClassId, DataSizeId, DurationId, EnvId, FunctionId, IntSeqId, ItemsId, NullId, ObjectId, PairId,
    RegexId, TypeAliasId, Value,
};

/// `IntSeq(start, end).step(step)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntSeq {
    /// The first number.
    pub start: i64,
    /// The bound, inclusive.
    pub end: i64,
    /// The distance between two numbers; never zero.
    pub step: i64,
}

impl IntSeq {
    /// How many numbers there are.
    pub(crate) fn len(self) -> usize {
        let (start, end, step) = (i128::from(self.start), i128::from(self.end), i128::from(self.step));
        let count =
            if step > 0 { (end - start).div_euclid(step) + 1 } else { (start - end).div_euclid(-step) + 1 };
        usize::try_from(count.max(0)).unwrap_or(usize::MAX)
    }

    /// What two equal sequences have in common: first number, step and count. Those without numbers are
    /// all equal; those of a single number still differ by their steps.
    pub(crate) fn identity(self) -> Option<(i64, i64, usize)> {
        let count = self.len();
        (count > 0).then_some((self.start, self.step, count))
    }

    /// The numbers in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = i64> {
        let mut next = Some(self.start);
        std::iter::from_fn(move || {
            let current = next?;
            let inside = if self.step > 0 { current <= self.end } else { current >= self.end };
            next = if inside { current.checked_add(self.step) } else { None };
            inside.then_some(current)
        })
    }
}

/// A regular expression.
#[derive(Debug)]
pub(crate) struct Regex {
    compiled: pkl_regex::Regex,
}

impl Regex {
    /// The expression as written.
    pub(crate) fn pattern(&self) -> &str {
        self.compiled.pattern()
    }

    /// The expression, ready to match.
    pub(crate) fn compiled(&self) -> &pkl_regex::Regex {
        &self.compiled
    }
}

/// What a compiled expression takes for each byte of its pattern, about.
const REGEX_BYTES: usize = 256;

/// All contents of one evaluation.
#[derive(Default)]
pub(crate) struct Heap<'ir> {
    bytes: usize,
    strings: strings::Strings,
    collections: collections::Collections,
    pub(crate) byte_strings: Vec<Arc<[u8]>>,
    durations: Vec<Duration>,
    data_sizes: Vec<DataSize>,
    pairs: Vec<(Value, Value)>,
    int_seqs: Vec<IntSeq>,
    regexes: Vec<Regex>,
    /// The expressions by their patterns: a constraint compiles its own only once.
    regex_of: FxHashMap<Arc<str>, RegexId>,
    nulls: Vec<Value>,
    objects: Vec<Object<'ir>>,
    slots: Vec<Slot<'ir>>,
    items: Vec<Items<'ir>>,
    envs: Vec<Env>,
    functions: Vec<Function<'ir>>,
    classes: Vec<Class<'ir>>,
    aliases: Vec<TypeAlias<'ir>>,
    pub(crate) shapes: Shapes,
}

macro_rules! arena {
    ($($field:ident: $id:ident => $item:ty, $add:ident, $get:ident);* $(;)?) => {
        impl<'ir> Heap<'ir> {$(
            pub(crate) fn $add(&mut self, item: $item) -> $id {
                self.bytes += size_of::<$item>();
                self.$field.push(item);
                $id::at(self.$field.len() - 1)
            }

            #[inline]
            pub(crate) fn $get(&self, id: $id) -> &$item {
                &self.$field[id.index()]
            }
        )*}
    };
}

arena! {
    durations: DurationId => Duration, add_duration, duration;
    data_sizes: DataSizeId => DataSize, add_data_size, data_size;
    pairs: PairId => (Value, Value), add_pair, pair;
    int_seqs: IntSeqId => IntSeq, add_int_seq, int_seq;
    regexes: RegexId => Regex, add_regex, regex;
    nulls: NullId => Value, add_null, null_default;
    objects: ObjectId => Object<'ir>, add_object, object;
    items: ItemsId => Items<'ir>, add_items, items;
    envs: EnvId => Env, add_env, env;
    functions: FunctionId => Function<'ir>, add_function, function;
    classes: ClassId => Class<'ir>, add_class, class;
    aliases: TypeAliasId => TypeAlias<'ir>, add_alias, alias;
}

impl<'ir> Heap<'ir> {
    /// All classes.
    pub(crate) fn class_ids(&self) -> impl Iterator<Item = ClassId> {
        (0..self.classes.len()).map(ClassId::at)
    }

    /// The expression with this pattern, if there is one already.
    pub(crate) fn known_regex(&self, pattern: &str) -> Option<RegexId> {
        self.regex_of.get(pattern).copied()
    }

    /// A new expression.
    pub(crate) fn make_regex(&mut self, compiled: pkl_regex::Regex) -> RegexId {
        let pattern: Arc<str> = compiled.pattern().into();
        self.bytes += pattern.len() * REGEX_BYTES;
        let id = self.add_regex(Regex { compiled });
        self.regex_of.insert(pattern, id);
        id
    }

    /// The bytes taken so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn charge(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    pub(crate) fn add_bytes(&mut self, bytes: Arc<[u8]>) -> BytesId {
        self.bytes += bytes.len() + size_of::<Arc<[u8]>>();
        self.byte_strings.push(bytes);
        BytesId::at(self.byte_strings.len() - 1)
    }

    pub(crate) fn bytes_of(&self, id: BytesId) -> &Arc<[u8]> {
        &self.byte_strings[id.index()]
    }

    pub(crate) fn class_mut(&mut self, id: ClassId) -> &mut Class<'ir> {
        &mut self.classes[id.index()]
    }

    pub(crate) fn object_mut(&mut self, id: ObjectId) -> &mut Object<'ir> {
        &mut self.objects[id.index()]
    }

    pub(crate) fn items_mut(&mut self, id: ItemsId) -> &mut Items<'ir> {
        &mut self.items[id.index()]
    }

    pub(crate) fn class_count(&self) -> usize {
        self.classes.len()
    }

    pub(crate) fn add_slots(&mut self, slots: impl IntoIterator<Item = Slot<'ir>>) -> u32 {
        let start = self.slots.len();
        self.slots.extend(slots);
        self.bytes += (self.slots.len() - start) * size_of::<Slot<'_>>();
        u32::try_from(start).expect("the memory limit is reached before u32 numbers run out")
    }

    /// Copies an object's slots with empty caches to the end of the arena and adds room for `extra`.
    pub(crate) fn inherit_slots(&mut self, start: u32, len: usize) -> u32 {
        let new_start = self.slots.len();
        self.slots.extend_from_within(start as usize..start as usize + len);
        for slot in &mut self.slots[new_start..] {
            if !(mutant!(ValuesInherited) && matches!(slot.cache, Cache::Ready(_))) {
                slot.cache = Cache::Empty;
            }
        }
        self.bytes += len * size_of::<Slot<'_>>();
        u32::try_from(new_start).expect("the memory limit is reached before u32 numbers run out")
    }

    #[inline]
    pub(crate) fn slot(&self, index: u32) -> &Slot<'ir> {
        &self.slots[index as usize]
    }

    #[inline]
    pub(crate) fn slot_mut(&mut self, index: u32) -> &mut Slot<'ir> {
        &mut self.slots[index as usize]
    }

    /// The position of a property of an object in the slot arena.
    #[inline]
    pub(crate) fn find_property(&self, object: ObjectId, key: PropertyKey) -> Option<u32> {
        let object = self.object(object);
        self.shapes.get(object.shape).position(key).map(|position| object.slots + position)
    }
}
