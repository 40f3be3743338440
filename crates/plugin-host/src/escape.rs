//! What comes from a plugin's process, made fit to show.

use std::fmt::Write as _;

/// A text in one line of at most so many characters: what a terminal would act on is shown instead.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(most));
    for (count, letter) in text.trim_end().chars().enumerate() {
        if count == most {
            shown.push('…');
            break;
        }
        match letter {
            '\t' => shown.push(' '),
            _ if is_active(letter) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(letter));
            }
            _ => shown.push(letter),
        }
    }
    shown
}

/// Controls, and what turns the direction of text.
fn is_active(letter: char) -> bool {
    let turns = |letter| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || turns(letter)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn nothing_reaches_a_terminal_that_it_would_act_on() {
        assert_eq!(shown("a\u{1b}[2Jb\tc\u{202e}\n", 80), r"a\u{1b}[2Jb c\u{202e}");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(shown("abc", 3), "abc");
    }
}
