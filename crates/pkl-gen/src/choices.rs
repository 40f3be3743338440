//! The choices that a program is made of.
//!
//! A program is a function of a sequence of numbers. A random sequence makes a random program; a
//! recorded one makes the same program again; and a shorter or smaller one makes a simpler program,
//! which is all that shrinking needs to know.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Where choices come from; it records those that were made.
#[derive(Debug)]
pub struct Choices {
    source: Source,
    made: Vec<u32>,
    spans: Vec<Range<usize>>,
}

#[derive(Debug)]
enum Source {
    Random(Box<ChaCha8Rng>),
    /// The recorded choices; after the last one every choice is 0, the simplest.
    Recorded(Vec<u32>),
}

impl Choices {
    /// Random choices, the same for the same seed.
    pub fn random(seed: u64) -> Self {
        Self {
            source: Source::Random(Box::new(ChaCha8Rng::seed_from_u64(seed))),
            made: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// Choices that were made before.
    pub fn recorded(choices: Vec<u32>) -> Self {
        Self { source: Source::Recorded(choices), made: Vec::new(), spans: Vec::new() }
    }

    /// The choices made so far.
    pub fn into_made(self) -> Vec<u32> {
        self.made
    }

    /// The choices that each part of the program was made of.
    pub fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    /// Where a part begins, for [`Choices::part_ends`].
    pub(crate) fn part_begins(&self) -> usize {
        self.made.len()
    }

    /// Notes that a part, which could be left out or be simpler, was made of the choices since `begin`.
    pub(crate) fn part_ends(&mut self, begin: usize) {
        self.spans.push(begin..self.made.len());
    }

    /// A number below `count`, which is at least 1. What is simplest must be 0.
    pub fn below(&mut self, count: usize) -> usize {
        let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
        let choice = match &mut self.source {
            Source::Random(random) => random.random_range(0..count),
            Source::Recorded(choices) => choices.get(self.made.len()).copied().unwrap_or(0) % count,
        };
        self.made.push(choice);
        choice as usize
    }

    /// Yes, in `percent` of the cases; no is simplest.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent.min(100)
    }

    /// One of several; the first is simplest.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_choices_are_made_again() {
        let mut random = Choices::random(7);
        let first: Vec<usize> = (1..50).map(|count| random.below(count)).collect();
        let mut again = Choices::recorded(random.into_made());
        let second: Vec<usize> = (1..50).map(|count| again.below(count)).collect();
        assert_eq!(first, second);
        assert_eq!(again.below(9), 0);
    }
}
