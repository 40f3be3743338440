//! Numbers by chance, each as likely as the others.

/// A source of random numbers.
pub trait Draw {
    /// The next number.
    fn next(&mut self) -> u64;

    /// A number below a bound, each as likely as the others; 0, if there is none. Numbers that would make the first ones
    /// likelier are drawn again.
    fn below(&mut self, bound: u64) -> u64 {
        let bound = bound.max(1);
        let surplus = (u64::MAX % bound + 1) % bound;
        loop {
            let drawn = self.next();
            if drawn <= u64::MAX - surplus {
                return drawn % bound;
            }
        }
    }

    /// A place in something of so many places.
    fn place(&mut self, places: usize) -> usize {
        let drawn = self.below(u64::try_from(places).unwrap_or(u64::MAX));
        usize::try_from(drawn).unwrap_or(0)
    }

    /// Brings items into an order by chance, each as likely as the others.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.place(last + 1));
        }
    }
}

/// The operating system's generator, fit for secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDraw;

impl Draw for SystemDraw {
    fn next(&mut self) -> u64 {
        u64::from_ne_bytes(crate::random_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given(Vec<u64>);

    impl Draw for Given {
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
        assert_eq!(Given(vec![u64::MAX]).below(0), 0);
    }

    #[test]
    fn each_number_is_drawn_about_as_often() {
        let mut counts = [0_u32; 74];
        for _ in 0..74_000 {
            counts[SystemDraw.place(74)] += 1;
        }
        // 1,000 expected, with a deviation of 32: seven of those happen once in 10^11 runs.
        assert!(counts.iter().all(|count| (776..=1224).contains(count)), "{counts:?}");
    }

    #[test]
    fn each_order_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut letters = ['a', 'b', 'c'];
            SystemDraw.shuffle(&mut letters);
            *counts.entry(letters).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }
}
