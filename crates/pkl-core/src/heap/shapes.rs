//! Shapes: which properties an object has, in which order, at which positions.

use hashbrown::HashTable;
use pkl_parser::Symbol;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

use crate::value::ShapeId;

/// What a property is found by: its name, or for a local one its declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum PropertyKey {
    /// By name.
    Named(Symbol),
    /// A `local` declaration.
    Local(u32),
}

const SMALL: usize = 8;

/// An ordered set of property keys.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    keys: Box<[PropertyKey]>,
    index: FxHashMap<PropertyKey, u32>,
}

impl Shape {
    fn new(keys: Box<[PropertyKey]>) -> Self {
        let index =
            if keys.len() <= SMALL { FxHashMap::default() } else { keys.iter().copied().zip(0..).collect() };
        Self { keys, index }
    }

    pub(crate) fn keys(&self) -> &[PropertyKey] {
        &self.keys
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    #[inline]
    pub(crate) fn position(&self, key: PropertyKey) -> Option<u32> {
        if self.keys.len() <= SMALL {
            self.keys.iter().zip(0..).find(|(candidate, _)| **candidate == key).map(|(_, position)| position)
        } else {
            self.index.get(&key).copied()
        }
    }
}

/// All shapes of one evaluation; equal key lists are one shape.
pub(crate) struct Shapes {
    all: Vec<Shape>,
    by_keys: HashTable<u32>,
    /// (shape, body) → shape, for bodies whose properties are known statically.
    grown: FxHashMap<(ShapeId, usize), ShapeId>,
}

impl Default for Shapes {
    fn default() -> Self {
        let mut shapes = Self { all: Vec::new(), by_keys: HashTable::new(), grown: FxHashMap::default() };
        shapes.intern(Vec::new());
        shapes
    }
}

impl Shapes {
    /// The shape without properties.
    pub(crate) const EMPTY: ShapeId = ShapeId(0);

    pub(crate) fn get(&self, id: ShapeId) -> &Shape {
        &self.all[id.index()]
    }

    /// The shape of these keys in this order.
    pub(crate) fn intern(&mut self, keys: Vec<PropertyKey>) -> ShapeId {
        let hash = FxBuildHasher.hash_one(&keys[..]);
        let shapes = &self.all;
        if let Some(found) = self.by_keys.find(hash, |&id| *shapes[id as usize].keys == keys[..]) {
            return ShapeId(*found);
        }
        let id = ShapeId::at(self.all.len());
        self.all.push(Shape::new(keys.into_boxed_slice()));
        let shapes = &self.all;
        self.by_keys.insert_unique(hash, id.0, |&id| FxBuildHasher.hash_one(&*shapes[id as usize].keys));
        id
    }

    /// The shape of `base` grown by the keys of one body that it lacks. `body` identifies the key list.
    pub(crate) fn grow(&mut self, base: ShapeId, body: usize, keys: &[PropertyKey]) -> ShapeId {
        if let Some(&known) = self.grown.get(&(base, body)) {
            return known;
        }
        if keys.len() <= SMALL && keys.iter().all(|key| self.get(base).position(*key).is_some()) {
            // This takes no longer than to remember it.
            return base;
        }
        let shape = self.grow_once(base, keys.iter().copied());
        self.grown.insert((base, body), shape);
        shape
    }

    /// As [`Shapes::grow`], not remembered.
    pub(crate) fn grow_once(&mut self, base: ShapeId, keys: impl Iterator<Item = PropertyKey>) -> ShapeId {
        let mut all = self.get(base).keys.to_vec();
        let before = all.len();
        let mut added = FxHashSet::default();
        for key in keys {
            if self.get(base).position(key).is_none() && added.insert(key) {
                all.push(key);
            }
        }
        if all.len() == before { base } else { self.intern(all) }
    }
}
