//! Which characters names are made of.
//!
//! Names are those of Unicode's identifiers with `_` and `$`, of the Basic Multilingual Plane only, and,
//! after the first character, with characters that are ignorable in identifiers.

/// The bytes that are letters, digits, `_` and `$` of ASCII.
static PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
        byte += 1;
    }
    table
};

/// Whether a byte is one of those that nearly all names consist of.
pub(super) fn is_plain(byte: u8) -> bool {
    PLAIN[usize::from(byte)]
}

/// Whether a byte that isn't plain ends a name for sure: it begins no character that names may have inside.
pub(super) fn ends_name(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' '..=b'~')
}

/// Whether a name can begin with `c`.
pub(super) fn starts_name(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '_' | '$' => true,
        _ if c.is_ascii() || c > '\u{FFFF}' => false,
        _ => unicode_ident::is_xid_start(c) || only_id_start(c),
    }
}

/// Whether a name can go on with `c`.
pub(super) fn continues_name(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' => true,
        _ if c > '\u{FFFF}' => false,
        _ => is_ignorable(c) || unicode_ident::is_xid_continue(c) || only_id_start(c),
    }
}

/// What begins an identifier of Unicode but not one that is stable under normalisation.
fn only_id_start(c: char) -> bool {
    matches!(
        c,
        '\u{37A}' | '\u{E33}' | '\u{EB3}' | '\u{2E2F}' | '\u{309B}' | '\u{309C}' | '\u{FC5E}'
            ..='\u{FC63}'
                | '\u{FDFA}'
                | '\u{FDFB}'
                | '\u{FE70}'
                | '\u{FE72}'
                | '\u{FE74}'
                | '\u{FE76}'
                | '\u{FE78}'
                | '\u{FE7A}'
                | '\u{FE7C}'
                | '\u{FE7E}'
                | '\u{FF9E}'
                | '\u{FF9F}'
    )
}

/// Control and format characters that an identifier may hold without looking different.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{8}' | '\u{E}'..='\u{1B}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{600}'..='\u{605}'
            | '\u{61C}' | '\u{6DD}' | '\u{70F}' | '\u{890}' | '\u{891}' | '\u{8E2}' | '\u{180E}' | '\u{200B}'
            | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_letters_digits_and_ignorable_characters() {
        for c in ['a', '_', '$', 'é', '日', '℘', 'ﹾ'] {
            assert!(starts_name(c), "{c}");
        }
        for c in ['1', '٣', '\u{300}', '‿', '\u{200C}', '\u{1}', 'a'] {
            assert!(continues_name(c), "{c:?}");
        }
        for c in ['€', '-', ' ', '😀', '𝒳', '\u{A0}', '\u{2028}'] {
            assert!(!starts_name(c) && !continues_name(c), "{c:?}");
        }
        assert!(!starts_name('\u{FEFF}') && !starts_name('٣') && !starts_name('‿'));
    }
}
