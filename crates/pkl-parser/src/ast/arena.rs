//! Arenas and pools: nodes are kept in vectors and named by number, so that dropping, cloning and
//! walking a tree of any depth needs no recursion.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;

/// The name of one node of type `T` in its [`Ast`](super::Ast). An `Option` of it is as small.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(bound = ""))]
pub struct Id<T> {
    raw: NonZeroU32,
    kind: PhantomData<fn() -> T>,
}

impl<T> Id<T> {
    pub(super) fn at(index: usize) -> Self {
        let raw = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Self { raw: raw.expect("a bounded source has fewer nodes than u32 has numbers"), kind: PhantomData }
    }

    /// The position among the nodes of this type, from zero without gaps: fit to index a side table.
    pub const fn index(self) -> usize {
        self.raw.get() as usize - 1
    }
}

impl<T> Clone for Id<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Id<T> {}

impl<T> PartialEq for Id<T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<T> Eq for Id<T> {}

impl<T> Hash for Id<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl<T> fmt::Debug for Id<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index())
    }
}

/// The name of a run of items of type `T` in their [`Ast`](super::Ast), in source order.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(bound = ""))]
pub struct List<T> {
    start: u32,
    len: u32,
    kind: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    /// The list without items.
    pub const EMPTY: Self = Self { start: 0, len: 0, kind: PhantomData };

    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }

    /// The number of items.
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are no items.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<T> {}

impl<T> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self.start == other.start && self.len == other.len
    }
}

impl<T> Eq for List<T> {}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:?}]", self.range())
    }
}

pub(super) fn push<T>(arena: &mut Vec<T>, node: T) -> Id<T> {
    arena.push(node);
    Id::at(arena.len() - 1)
}

pub(super) fn extend<T>(pool: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> List<T> {
    let start = pool.len();
    pool.extend(items);
    let number = |n: usize| u32::try_from(n).expect("a bounded source has fewer items than u32 has numbers");
    List { start: number(start), len: number(pool.len() - start), kind: PhantomData }
}
