//! Characters regardless of case, the way Java compares them: upper case, then lower case, one
//! character to one.

use std::sync::OnceLock;

/// The upper case of a character, if that is one character: Java's `Character.toUpperCase`.
pub fn upper(character: char) -> char {
    let mut mapped = character.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(upper), None) => upper,
        _ => simple_upper(character),
    }
}

/// Where the full mapping gives several characters, the simple one gives one of these.
fn simple_upper(character: char) -> char {
    let code = u32::from(character);
    let upper = match code {
        0x1F80..=0x1FAF if code & 8 == 0 => code + 8,
        0x1FB3 | 0x1FC3 | 0x1FF3 => code + 9,
        _ => code,
    };
    char::from_u32(upper).unwrap_or(character)
}

/// The lower case of a character, if that is one character; `İ` is `i`.
fn lower(character: char) -> char {
    let mut mapped = character.to_lowercase();
    match (mapped.next(), mapped.next()) {
        (Some(lower), None) => lower,
        (Some('i'), Some(_)) => 'i',
        _ => character,
    }
}

/// What two characters that differ only in case have in common.
pub(crate) fn fold(character: char) -> char {
    if character.is_ascii() { character.to_ascii_lowercase() } else { lower(upper(character)) }
}

/// Whether a literal of this character matches others too, regardless of case.
pub(crate) fn has_case(character: char) -> bool {
    let upper = upper(character);
    lower(upper) != upper
}

/// All characters that upper or lower case changes.
pub(crate) fn cased() -> &'static [char] {
    static CASED: OnceLock<Vec<char>> = OnceLock::new();
    CASED.get_or_init(|| {
        ('\0'..=char::MAX)
            .filter(|&character| upper(character) != character || fold(character) != character)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_fold_one_to_one() {
        for (a, b) in
            [('É', 'é'), ('K', 'k'), ('ſ', 's'), ('ς', 'Σ'), ('ǅ', 'Ǆ'), ('ı', 'i'), ('İ', 'i'), ('ᾈ', 'ᾀ')]
        {
            assert_eq!(fold(a), fold(b), "{a} {b}");
        }
        assert!(!has_case('ß'));
        assert!(!has_case('1'));
    }
}
