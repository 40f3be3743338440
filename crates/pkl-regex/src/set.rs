//! Sets of characters.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::fold;

/// A set of characters, quick to ask.
#[derive(Clone, Debug)]
pub(crate) struct CharSet {
    ascii: u128,
    ranges: Box<[(char, char)]>,
}

impl CharSet {
    pub(crate) fn new(class: &ClassUnicode) -> Self {
        let ranges: Box<[(char, char)]> = class.iter().map(|range| (range.start(), range.end())).collect();
        let mut ascii = 0;
        for (first, last) in &ranges {
            for code in u32::from(*first)..=u32::from(*last).min(127) {
                ascii |= 1 << code;
            }
        }
        Self { ascii, ranges }
    }

    pub(crate) fn contains(&self, character: char) -> bool {
        if character.is_ascii() {
            return self.ascii >> u32::from(character) & 1 == 1;
        }
        let at = self.ranges.partition_point(|&(first, _)| first <= character);
        at > 0 && character <= self.ranges[at - 1].1
    }
}

/// The set of these ranges, both ends inclusive.
pub(crate) fn of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|&(first, last)| ClassUnicodeRange::new(first, last)))
}

/// A set of one character.
pub(crate) fn of_char(character: char) -> ClassUnicode {
    of_ranges(&[(character, character)])
}

/// Everything.
pub(crate) fn all() -> ClassUnicode {
    of_ranges(&[('\0', char::MAX)])
}

/// The other characters.
pub(crate) fn negated(mut class: ClassUnicode) -> ClassUnicode {
    class.negate();
    class
}

/// The characters of either set.
pub(crate) fn union(mut class: ClassUnicode, other: &ClassUnicode) -> ClassUnicode {
    class.union(other);
    class
}

/// The set with every character that is in it regardless of case.
pub(crate) fn regardless_of_case(class: &ClassUnicode) -> ClassUnicode {
    let members = CharSet::new(class);
    let added = fold::cased().iter().filter(|&&character| {
        members.contains(fold::upper(character)) || members.contains(fold::fold(character))
    });
    union(
        class.clone(),
        &ClassUnicode::new(added.map(|&character| ClassUnicodeRange::new(character, character))),
    )
}
