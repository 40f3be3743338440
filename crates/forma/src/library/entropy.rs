//! Where randomness comes from.

/// A source of random bytes.
pub(super) trait Entropy {
    /// The next eight bytes.
    fn next(&mut self) -> u64;

    /// A number below `bound`, each as likely as the others.
    ///
    /// Numbers that would make the first ones likelier are drawn again.
    fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below zero");
        let surplus = (u64::MAX % bound + 1) % bound;
        loop {
            let drawn = self.next();
            if drawn <= u64::MAX - surplus {
                return drawn % bound;
            }
        }
    }
}

/// The operating system's secure generator.
pub(super) struct System;

impl Entropy for System {
    fn next(&mut self) -> u64 {
        getrandom::u64().expect("the operating system has a random generator")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given(Vec<u64>);

    impl Entropy for Given {
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
    fn a_power_of_two_wastes_nothing() {
        assert_eq!(Given(vec![u64::MAX]).below(16), 15);
        assert_eq!(Given(vec![u64::MAX]).below(1), 0);
    }

    #[test]
    fn each_number_is_drawn_about_as_often() {
        let mut counts = [0_u32; 74];
        for _ in 0..74_000 {
            counts[usize::try_from(System.below(74)).expect("below 74")] += 1;
        }
        // 1,000 expected, with a deviation of 32: seven of those happen once in 10^11 runs.
        assert!(counts.iter().all(|count| (776..=1224).contains(count)), "{counts:?}");
    }
}
