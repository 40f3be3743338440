//! Drawing from the system's generator, each outcome as likely as the others.

/// A source of random numbers.
pub(super) trait Source {
    /// The next number.
    fn next(&mut self) -> u64;

    /// A number below a bound. Numbers that would make the first ones likelier are drawn again.
    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
        let surplus = (u64::MAX % bound + 1) % bound;
        loop {
            let drawn = self.next();
            if drawn <= u64::MAX - surplus {
                return usize::try_from(drawn % bound).unwrap_or(0);
            }
        }
    }

    /// One of some letters.
    fn pick(&mut self, letters: &[char]) -> char {
        letters[self.below(letters.len())]
    }

    /// Brings letters into an order by chance.
    fn shuffle(&mut self, letters: &mut [char]) {
        for last in (1..letters.len()).rev() {
            letters.swap(last, self.below(last + 1));
        }
    }
}

/// The system's generator.
pub(super) struct System;

impl Source for System {
    fn next(&mut self) -> u64 {
        u64::from_ne_bytes(formwork_secret::random_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given(Vec<u64>);

    impl Source for Given {
        fn next(&mut self) -> u64 {
            self.0.remove(0)
        }
    }

    #[test]
    fn what_would_favour_small_numbers_is_drawn_again() {
        // 2^64 = 6 mod 10: the last six numbers would make 0 to 5 likelier.
        let mut source = Given(vec![u64::MAX, u64::MAX - 5, u64::MAX - 6]);
        assert_eq!(source.below(10), 9);
        assert!(source.0.is_empty());
    }

    #[test]
    fn each_order_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut letters = ['a', 'b', 'c'];
            System.shuffle(&mut letters);
            *counts.entry(letters).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }
}
