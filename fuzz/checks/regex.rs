//! Any pattern is read or refused, and matches any text within its budget; groups lie in the text.
//! The first line is the pattern, the rest the text.

use pkl_regex::{Budget, Regex};

/// Panics if a rule does not hold for `data`.
pub fn check(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let (pattern, text) = source.split_once('\n').unwrap_or((source, ""));
    let regex = match Regex::new(pattern) {
        Ok(regex) => regex,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let mut budget = Budget { steps: 100_000, max_choices: 10_000, ..Budget::default() };
    let mut last = 0;
    for found in regex.matches(text, &mut budget).flatten() {
        assert!(found.start() >= last, "matches go from left to right");
        last = found.end();
        for (start, end) in found.groups().flatten() {
            assert!(text.get(start..end).is_some(), "groups lie in the text");
        }
    }
}
