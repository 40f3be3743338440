//! Public ids: a prefix and 16 random base-62 characters (`formations-behaviour.md` §1.4).

use formwork_secret::random_bytes;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH: usize = 16;
/// The largest multiple of 62 that fits a byte: bytes from here on would favour the first letters.
const UNBIASED: u8 = 248;

/// A new id with this prefix.
pub(crate) fn new_id(prefix: &str) -> String {
    let mut id = format!("{prefix}_");
    let whole = id.len() + LENGTH;
    while id.len() < whole {
        let drawn = random_bytes::<32>().into_iter().filter(|byte| *byte < UNBIASED);
        let letters = drawn.map(|byte| char::from(ALPHABET[usize::from(byte % 62)]));
        id.extend(letters.take(whole - id.len()));
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn an_id_is_its_prefix_and_sixteen_letters_or_digits() {
        let id = new_id("mem_entry");
        let tail = id.strip_prefix("mem_entry_").expect("the prefix");
        assert_eq!(tail.len(), 16);
        assert!(tail.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    }

    #[test]
    fn ids_are_distinct_and_use_each_letter_about_equally() {
        let ids: BTreeSet<_> = (0..4000).map(|_| new_id("x")).collect();
        assert_eq!(ids.len(), 4000);
        let mut counts = BTreeMap::<char, u32>::new();
        ids.iter().flat_map(|id| id[2..].chars()).for_each(|letter| *counts.entry(letter).or_default() += 1);
        assert_eq!(counts.len(), 62);
        // 64,000 letters: 1032 each on average, with a standard deviation of 32.
        assert!(counts.values().all(|count| (800..1300).contains(count)), "{counts:?}");
    }
}
