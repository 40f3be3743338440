//! What the members of `String` do: by code point, on `&str`.

mod case;
mod search;
mod slice;

pub use case::{capitalize, decapitalize, is_blank, trim, trim_end, trim_start};
pub use search::{Found, Pattern, PatternError, Which};
pub use slice::{
    IndexError, char_at, drop, drop_last, pad_end, pad_start, replace_range, substring, take, take_last,
};

use std::cmp::Ordering;

/// `length`: how many code points.
pub fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The code point index of a place in bytes.
pub fn index_of_byte(text: &str, at: usize) -> usize {
    length(&text[..at])
}

/// The place in UTF-16 units, as `RegexMatch.start` and `end` count.
pub fn utf16_index(text: &str, at: usize) -> usize {
    let before = &text[..at];
    if before.is_ascii() { at } else { before.encode_utf16().count() }
}

/// The order of `<` and of sorting: by UTF-16 unit.
pub fn compare(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// `split` with a pattern, and `splitLimit` with at most `limit` parts.
///
/// Without a limit empty parts at the end are dropped. A match that takes nothing at the start of the
/// text doesn't split off an empty part.
pub fn split<'t>(text: &'t str, matches: &[Found], limit: Option<usize>) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for found in matches {
        if limit.is_some_and(|limit| parts.len() + 1 >= limit) {
            break;
        }
        if found.end() == 0 {
            continue;
        }
        parts.push(&text[from..found.start()]);
        from = found.end();
    }
    if from == 0 {
        return vec![text];
    }
    parts.push(&text[from..]);
    if limit.is_none() {
        while parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
    }
    parts
}

/// The text with each match replaced.
pub fn splice(text: &str, replacements: &[(Found, String)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (found, replacement) in replacements {
        out.push_str(&text[from..found.start()]);
        out.push_str(replacement);
        from = found.end();
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkl_regex::Budget;

    fn parts(text: &str, separator: &str, limit: Option<usize>) -> Vec<String> {
        let matches =
            Pattern::Literal(separator).find_all(text, &mut Budget::default()).expect("no limit is near");
        split(text, &matches, limit).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn texts_split_as_in_java() {
        assert_eq!(parts("a,b,,c,,", ",", None), ["a", "b", "", "c"]);
        assert_eq!(parts("", ",", None), [""]);
        assert_eq!(parts(",", ",", None), Vec::<String>::new());
        assert_eq!(parts("a😀b", "", None), ["a", "😀", "b"]);
        assert_eq!(parts("abc", "", Some(9)), ["a", "b", "c", ""]);
        assert_eq!(parts("a,b,c", ",", Some(2)), ["a", "b,c"]);
        assert_eq!(parts("a,b", ",", Some(1)), ["a,b"]);
    }

    #[test]
    fn order_is_by_utf16_unit() {
        assert_eq!(compare("\u{e000}", "\u{10000}"), Ordering::Greater);
        assert_eq!(compare("a", "ab"), Ordering::Less);
    }
}
