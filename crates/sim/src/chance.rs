//! Chance: every roll of the dice in a run, from one seed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of rolls that gives the same ones for the same seed.
#[derive(Clone, Debug)]
pub struct Chance(ChaCha8Rng);

impl Chance {
    /// The rolls of a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A source of its own for one part of a run, so that a change in one part leaves the rolls of
    /// the others as they were.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.any())
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.random_range(0..=u64::MAX)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.0.random_range(0..end) }
    }

    /// An index below `end`; 0 if there is none.
    pub fn index(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.random_range(0..end) }
    }

    /// True this many times in a thousand.
    pub fn happens(&mut self, per_mille: u32) -> bool {
        self.below(1000) < u64::from(per_mille)
    }

    /// One of several; `None` if there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }
}
