//! Case and white space.

/// `capitalize`: the first character in title case, if that is one character.
pub fn capitalize(text: &str) -> String {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return String::new() };
    let mut out = String::with_capacity(text.len());
    out.push(title(first));
    out.push_str(characters.as_str());
    out
}

/// `decapitalize`: the first character in lower case.
pub fn decapitalize(text: &str) -> String {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return String::new() };
    first.to_lowercase().chain(characters).collect()
}

/// Title case differs from upper case for the digraphs and for Georgian letters.
fn title(character: char) -> char {
    match character {
        '\u{1C4}'..='\u{1C6}' => '\u{1C5}',
        '\u{1C7}'..='\u{1C9}' => '\u{1C8}',
        '\u{1CA}'..='\u{1CC}' => '\u{1CB}',
        '\u{1F1}'..='\u{1F3}' => '\u{1F2}',
        '\u{10D0}'..='\u{10FF}' => character,
        _ => pkl_regex::to_upper_case(character),
    }
}

/// `isBlank`: empty or white space as Unicode has it.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// `trim`: without white space at either end. Not the same as for the other two: no-break spaces stay,
/// separators of the control characters go.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_java_space)
}

/// `trimStart`.
pub fn trim_start(text: &str) -> &str {
    text.trim_start()
}

/// `trimEnd`.
pub fn trim_end(text: &str) -> &str {
    text.trim_end()
}

fn is_java_space(character: char) -> bool {
    match character {
        '\u{1c}'..='\u{1f}' => true,
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        other => other.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_character_changes_case() {
        for (text, capital) in
            [("ab", "Ab"), ("ǆa", "ǅa"), ("ßa", "ßa"), ("ა", "ა"), ("ᾳ", "ᾼ"), ("𐐨x", "𐐀x"), ("", "")]
        {
            assert_eq!(capitalize(text), capital);
        }
        assert_eq!(decapitalize("İx"), "i\u{307}x");
        assert_eq!(decapitalize("ABC"), "aBC");
    }

    #[test]
    fn trimming_knows_java_white_space() {
        assert_eq!(trim("\u{1c} a\u{a0}\u{2003}"), "a\u{a0}");
        assert!(is_blank(" \u{a0}\u{85}"));
        assert!(!is_blank("\u{1c}"));
    }
}
