//! The contents of values: typed arenas, dropped whole when the evaluation ends, their bytes counted.

mod arena;
mod collections;
mod objects;
mod shapes;
mod strings;

pub(crate) use collections::MapBuffer;
pub(crate) use objects::{
    Cache, Class, ClassKind, ClassMethod, ClassProperty, Function, FunctionKind, Items, Object, Order, Role,
    Sharing, Slot, TypeAlias,
};
pub(crate) use shapes::{PropertyKey, Shapes};

use arena::{Arena, Run, Runs};
use pkl_data::units::{DataSize, Duration};

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::value::{
    BytesId, ClassId, DataSizeId, DurationId, EnvId, FunctionId, IntSeqId, ItemsId, NullId, ObjectId, PairId,
    RegexId, TypeAliasId, Value,
};

/// Variables that a body or function sees, kept beyond their frame.
#[derive(Debug)]
struct Env {
    parent: Option<EnvId>,
    values: Run,
}

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
    byte_strings: Arena<Arc<[u8]>>,
    durations: Arena<Duration>,
    data_sizes: Arena<DataSize>,
    pairs: Arena<(Value, Value)>,
    int_seqs: Arena<IntSeq>,
    regexes: Arena<Regex>,
    /// The expressions by their patterns: a constraint compiles its own only once.
    regex_of: FxHashMap<Arc<str>, RegexId>,
    nulls: Arena<Value>,
    objects: Arena<Object<'ir>>,
    slots: Arena<Slot<'ir>>,
    items: Arena<Items<'ir>>,
    envs: Arena<Env>,
    env_values: Runs<Value>,
    functions: Arena<Function<'ir>>,
    classes: Arena<Class<'ir>>,
    aliases: Arena<TypeAlias<'ir>>,
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
                self.$field.get(id.index())
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

    /// Variables kept beyond their frame, inside of others.
    pub(crate) fn add_env(&mut self, parent: Option<EnvId>, values: &[Value]) -> EnvId {
        self.bytes += size_of::<Env>() + size_of_val(values);
        let values = self.env_values.push(values);
        self.envs.push(Env { parent, values });
        EnvId::at(self.envs.len() - 1)
    }

    /// The variables around others.
    #[inline]
    pub(crate) fn env_parent(&self, id: EnvId) -> Option<EnvId> {
        self.envs.get(id.index()).parent
    }

    /// The variables.
    #[inline]
    pub(crate) fn env_values(&self, id: EnvId) -> &[Value] {
        self.env_values.get(self.envs.get(id.index()).values)
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
        self.byte_strings.get(id.index())
    }

    pub(crate) fn class_mut(&mut self, id: ClassId) -> &mut Class<'ir> {
        self.classes.get_mut(id.index())
    }

    pub(crate) fn object_mut(&mut self, id: ObjectId) -> &mut Object<'ir> {
        self.objects.get_mut(id.index())
    }

    pub(crate) fn items_mut(&mut self, id: ItemsId) -> &mut Items<'ir> {
        self.items.get_mut(id.index())
    }

    pub(crate) fn class_count(&self) -> usize {
        self.classes.len()
    }

    pub(crate) fn add_slots(&mut self, slots: impl IntoIterator<Item = Slot<'ir>>) -> u32 {
        let start = self.slots.len();
        for slot in slots {
            self.slots.push(slot);
        }
        self.bytes += (self.slots.len() - start) * size_of::<Slot<'_>>();
        u32::try_from(start).expect("the memory limit is reached before u32 numbers run out")
    }

    /// Copies an object's slots to the end of the arena, for another object of its class.
    pub(crate) fn inherit_slots(&mut self, start: u32, len: usize) -> u32 {
        self.copy_slots(start, len, Slot::forget)
    }

    fn copy_slots(&mut self, start: u32, len: usize, forget: impl Fn(&mut Slot<'ir>)) -> u32 {
        let new_start = self.slots.len();
        for index in start as usize..start as usize + len {
            let mut slot = *self.slots.get(index);
            forget(&mut slot);
            self.slots.push(slot);
        }
        self.bytes += len * size_of::<Slot<'_>>();
        u32::try_from(new_start).expect("the memory limit is reached before u32 numbers run out")
    }

    /// Copies the slots of a prototype to the end of the arena, for that of a subclass.
    pub(crate) fn inherit_slots_of_superclass(&mut self, start: u32, len: usize) -> u32 {
        self.copy_slots(start, len, Slot::forget_all)
    }

    #[inline]
    pub(crate) fn slot(&self, index: u32) -> &Slot<'ir> {
        self.slots.get(index as usize)
    }

    #[inline]
    pub(crate) fn slot_mut(&mut self, index: u32) -> &mut Slot<'ir> {
        self.slots.get_mut(index as usize)
    }

    /// The position of a property of an object in the slot arena.
    #[inline]
    pub(crate) fn find_property(&self, object: ObjectId, key: PropertyKey) -> Option<u32> {
        let object = self.object(object);
        self.shapes.get(object.shape).position(key).map(|position| object.slots + position)
    }
}
