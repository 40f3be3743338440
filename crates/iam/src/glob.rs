//! Patterns in which `*` is any text and `?` any one character.

/// Whether a text is one that the pattern means.
///
/// It goes back to the last star only, so it takes at most the product of both lengths, whatever
/// the pattern: a policy can't make a decision slow.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where to go on if what follows the last star does not fit: after the star, one character on.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, read));
                at += 1;
            }
            Some(expected) if *expected == '?' || *expected == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((after, taken)) => {
                    star = Some((after, taken + 1));
                    (at, read) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_mean_what_they_say() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("?", "", false),
            ("?", "ä", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("agent_*", "agent_1", true),
            ("agent_*", "agent", false),
            ("*_1", "agent_1", true),
            ("*_1", "agent_12", false),
            ("a*b*c", "axxbxbxc", true),
            ("a*b*c", "axxbxbx", false),
            ("**", "x", true),
            ("a*", "*", false),
            ("*", "*", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "`{pattern}` on `{text}`");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_answered_at_once() {
        let pattern = "*a".repeat(200);
        assert!(!matches(&pattern, &"a".repeat(199)));
        assert!(!matches(&pattern, &format!("{}b", "a".repeat(2_000))));
    }
}
