//! Text that comes from elsewhere (a server's message, a template's label), made fit to print: what
//! a terminal would act on is shown instead, and lines are cut where they must not wrap.

use formwork_formation::{clean, width};
use std::fmt::Write as _;

/// A text of several lines; each is cleaned, the line ends stay.
pub(crate) fn lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// A text in at most so many columns, `…` where it was cut.
pub(crate) fn fitted(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let mut cut: String = text
        .chars()
        .take_while(|&letter| {
            let fits = width(letter) <= left;
            left = left.saturating_sub(width(letter));
            fits
        })
        .collect();
    if most > 0 {
        cut.push('…');
    }
    cut
}

/// JSON text whose strings hold nothing that a terminal would act on: JSON itself escapes only what
/// lies below U+0020. Outside its strings JSON is ASCII, so every such letter stands in one.
pub(crate) fn json(text: String) -> String {
    if !text.chars().any(is_active) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_active(letter) {
            let _ = write!(safe, "\\u{:04x}", u32::from(letter));
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// Beyond the controls of ASCII: those of Latin-1, and what turns the direction of text.
fn is_active(letter: char) -> bool {
    matches!(letter, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown_instead() {
        assert_eq!(lines("a\u{1b}[2Jb\r\nc\u{9b}1md"), "a␛[2Jb␍\nc\u{fffd}1md");
    }

    #[test]
    fn a_text_is_cut_at_columns_not_at_characters() {
        assert_eq!(fitted("abc", 3), "abc");
        assert_eq!(fitted("abcd", 3), "ab…");
        assert_eq!(fitted("日本語", 5), "日本…");
        assert_eq!(fitted("日本語", 4), "日…");
        assert_eq!(fitted("abc", 0), "");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": "\u{1b}[1m \u{202e} é 日"});
        let text = json(value.to_string());
        assert!(!text.chars().any(|letter| letter.is_control() || is_active(letter)), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }
}
