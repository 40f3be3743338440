//! Names that people read: one rule for what may stand in them, wherever they are given.

use std::fmt;

/// What is wrong with a name, as the end of a sentence that begins with what the name is of. It quotes
/// nothing: what can't be seen is told by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameProblem {
    /// White space at its beginning or end, which makes two names of what looks like one.
    OuterSpace {
        /// Which character, from 1.
        at: usize,
    },
    /// A character that is not seen, or changes how those around it are seen.
    Unseen {
        /// The character.
        character: char,
        /// Which one it is, from 1.
        at: usize,
    },
}

impl fmt::Display for NameProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OuterSpace { at } => {
                write!(formatter, "must not begin or end with white space (character {at})")
            }
            Self::Unseen { character, at } => write!(
                formatter,
                "must not have control or invisible characters (U+{:04X}, character {at})",
                u32::from(*character)
            ),
        }
    }
}

/// What is wrong with a name that people read, whatever it names.
pub fn name_problem(name: &str) -> Option<NameProblem> {
    let mut before = None;
    let mut letters = name.chars().enumerate().peekable();
    while let Some((index, letter)) = letters.next() {
        let after = letters.peek().map(|(_, letter)| *letter);
        let at = index + 1;
        if is_unseen(letter) || (is_joiner(letter) && !(is_joined(before) && is_joined(after))) {
            return Some(NameProblem::Unseen { character: letter, at });
        }
        if letter.is_whitespace() && (before.is_none() || after.is_none()) {
            return Some(NameProblem::OuterSpace { at });
        }
        before = Some(letter);
    }
    None
}

/// Controls, marks of direction, and what takes no room: by Unicode's names, not by its classes, some of
/// which hold letters' own marks.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// Joins or parts the letters of some scripts, and makes one emoji of several; elsewhere it is not seen.
fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200c}' | '\u{200d}')
}

fn is_joined(letter: Option<char>) -> bool {
    letter.is_some_and(|letter| !letter.is_ascii() && !letter.is_whitespace() && !is_joiner(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_scripts_are_fine() {
        for name in [
            "",
            "a",
            "two words",
            "Ünïcode",
            "漢字 かな",
            "שלום",
            "می\u{200c}خواهم",
            "👩\u{200d}🚀",
            "⚠\u{fe0f}",
        ] {
            assert_eq!(name_problem(name), None, "{name}");
        }
    }

    #[test]
    fn what_is_not_seen_is_told_by_number_and_place() {
        for (name, character, at) in [
            ("a\nb", '\n', 2),
            ("\u{7f}", '\u{7f}', 1),
            ("abc\u{202e}def", '\u{202e}', 4),
            ("a\u{200b}", '\u{200b}', 2),
            ("\u{feff}a", '\u{feff}', 1),
            ("ad\u{200d}min", '\u{200d}', 3),
            ("👩\u{200d}", '\u{200d}', 2),
            ("a\u{e0041}", '\u{e0041}', 2),
        ] {
            assert_eq!(name_problem(name), Some(NameProblem::Unseen { character, at }), "{name:?}");
        }
        let problem = name_problem("abc\u{202e}def").expect("a problem").to_string();
        assert_eq!(problem, "must not have control or invisible characters (U+202E, character 4)");
    }

    #[test]
    fn white_space_stands_between_letters_only() {
        for (name, at) in [(" a", 1), ("a ", 2), ("ab\u{a0}", 3), (" ", 1)] {
            assert_eq!(name_problem(name), Some(NameProblem::OuterSpace { at }), "{name:?}");
        }
    }
}
