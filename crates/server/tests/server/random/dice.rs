//! Chance from a seed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0.random_range(0..end)
    }

    /// True once in so many times.
    pub(super) fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    pub(super) fn word(&mut self) -> &'static str {
        self.pick(&["amber", "birch", "cedar", "delta", "ember", "fjord"])
    }
}
