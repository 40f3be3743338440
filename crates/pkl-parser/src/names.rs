//! Names that are known before anything is read.

/// Names whose symbols are fixed when a program is built: no work is left for when it starts.
///
/// A tree that was read with an interner, and written down together with the interner's names, can be
/// used with every interner that begins with these names.
#[derive(Debug, Clone, Copy)]
pub struct FixedNames {
    texts: &'static [&'static str],
    /// An open hash table: the position in `texts` and one, or zero where it is empty.
    slots: &'static [u16],
}

impl FixedNames {
    /// No names.
    pub const NONE: Self = Self { texts: &[], slots: &[] };

    /// Names in the order of their symbols, and the table that [`table`](Self::table) makes of them.
    ///
    /// # Panics
    /// If the table has another length than theirs would, or speaks of names that there aren't.
    pub const fn new(texts: &'static [&'static str], slots: &'static [u16]) -> Self {
        assert!(slots.len() == (texts.len() * 2).next_power_of_two(), "the table is of other names");
        let mut place = 0;
        while place < slots.len() {
            assert!(slots[place] as usize <= texts.len(), "the table speaks of a name that isn't there");
            place += 1;
        }
        Self { texts, slots }
    }

    /// The hash table of `texts`, for [`new`](Self::new): a power of two of places, half of them empty.
    ///
    /// # Panics
    /// If there are more than 65,534 names.
    pub fn table<T: AsRef<str>>(texts: &[T]) -> Vec<u16> {
        let mut slots = vec![0; (texts.len() * 2).next_power_of_two()];
        for (position, text) in texts.iter().enumerate() {
            let free = places(text.as_ref(), slots.len()).find(|&place| slots[place] == 0);
            slots[free.expect("half of the places are empty")] =
                u16::try_from(position + 1).expect("there are fewer names than u16 has numbers");
        }
        slots
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The position of a name.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        for place in places(text, self.slots.len()) {
            let position = usize::from(self.slots[place]).checked_sub(1)?;
            if self.texts[position] == text {
                return Some(position);
            }
        }
        None
    }

    /// The names in the order of their symbols.
    pub(crate) const fn texts(&self) -> &'static [&'static str] {
        self.texts
    }
}

/// The places where a name may be, in the order in which they are looked at.
fn places(text: &str, count: usize) -> impl Iterator<Item = usize> {
    // FNV-1a: the same on the machine that builds and on the one that runs.
    let hash =
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let start = hash as usize;
    (0..count).map(move |step| (start + step) & (count - 1))
}

#[cfg(test)]
mod tests {
    use crate::{FixedNames, Interner};

    const TEXTS: &[&str] = &["bird", "nest", "egg"];

    fn fixed() -> FixedNames {
        FixedNames::new(TEXTS, FixedNames::table(TEXTS).leak())
    }

    #[test]
    fn a_table_of_other_names_is_refused() {
        let made = |slots: &'static [u16]| std::panic::catch_unwind(|| FixedNames::new(TEXTS, slots)).is_ok();
        assert!(made(FixedNames::table(TEXTS).leak()));
        assert!(!made(&[]) && !made(&[1, 2, 3]) && !made(FixedNames::table(&["bird"]).leak()));
        assert!(!made(&[1, 2, 3, 4, 0, 0, 0, 0]));
    }

    #[test]
    fn fixed_names_have_the_symbols_of_an_interner_that_met_them_in_order() {
        let (met, fixed) = (Interner::new(), Interner::starting_with(fixed()));
        for text in TEXTS.iter().chain(&["wing", "feather", "bird"]) {
            assert_eq!(met.intern(text), fixed.intern(text));
            assert_eq!(fixed.get(text), Some(fixed.intern(text)));
            assert_eq!(&*fixed.text(fixed.intern(text)), *text);
        }
        assert_eq!(met.names(), fixed.names());
        assert_eq!(fixed.get("tail"), None);
        assert_eq!(Interner::new().get("bird"), None);
    }
}
