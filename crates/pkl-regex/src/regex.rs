//! The public face: patterns and matches.

use std::sync::Arc;

use crate::budget::{Budget, LimitError};
use crate::compile::{self, Program};
use crate::error::SyntaxError;
use crate::exec::{Groups, Machine, Until};
use crate::parse;

/// A pattern, ready to match. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Regex {
    pattern: Arc<str>,
    program: Arc<Program>,
    names: Arc<[(String, usize)]>,
}

/// Where a pattern matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    groups: Groups,
}

impl Match {
    /// Where it begins, in bytes.
    pub fn start(&self) -> usize {
        self.group(0).map_or(0, |(start, _)| start)
    }

    /// Where it ends, in bytes.
    pub fn end(&self) -> usize {
        self.group(0).map_or(0, |(_, end)| end)
    }

    /// Start and end of a group, the whole match being group 0; `None` if the group took nothing.
    pub fn group(&self, index: usize) -> Option<(usize, usize)> {
        self.groups.get(index).copied().flatten()
    }

    /// All groups, the whole match first.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = Option<(usize, usize)>> + '_ {
        self.groups.iter().copied()
    }
}

impl Regex {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it isn't one.
    pub fn new(pattern: &str) -> Result<Self, SyntaxError> {
        let parsed = parse::parse(pattern)?;
        let program = compile::compile(&parsed);
        Ok(Self { pattern: pattern.into(), program: Arc::new(program), names: parsed.names.into() })
    }

    /// The pattern as it was written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// How many groups it has, the whole match not counted.
    pub fn group_count(&self) -> usize {
        self.program.groups - 1
    }

    /// The number of a named group.
    pub fn group_named(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|&(_, group)| group)
    }

    /// The match of the whole text.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn match_entire(&self, text: &str, budget: &mut Budget) -> Result<Option<Match>, LimitError> {
        let groups = Machine::new(&self.program, text, budget, Until::TextEnd).match_at(0)?;
        Ok(groups.map(|groups| Match { groups }))
    }

    /// The match at the start of the text.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn match_start(&self, text: &str, budget: &mut Budget) -> Result<Option<Match>, LimitError> {
        let groups = Machine::new(&self.program, text, budget, Until::Anywhere).match_at(0)?;
        Ok(groups.map(|groups| Match { groups }))
    }

    /// The first match.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn find(&self, text: &str, budget: &mut Budget) -> Result<Option<Match>, LimitError> {
        self.matches(text, budget).next().transpose()
    }

    /// All matches from left to right that don't overlap. After one that took nothing the next begins a
    /// character later.
    pub fn matches<'r, 't, 'b>(&'r self, text: &'t str, budget: &'b mut Budget) -> Matches<'r, 't, 'b> {
        let machine = Machine::new(&self.program, text, budget, Until::Anywhere);
        Matches { machine, text, from: Some(0), last_end: 0 }
    }
}

/// The matches in a text; ends after an error.
pub struct Matches<'r, 't, 'b> {
    machine: Machine<'r, 't, 'b>,
    text: &'t str,
    /// Where the next search begins, if there is one.
    from: Option<usize>,
    last_end: usize,
}

impl Iterator for Matches<'_, '_, '_> {
    type Item = Result<Match, LimitError>;

    fn next(&mut self) -> Option<Self::Item> {
        let from = self.from.take()?;
        let found = match self.machine.search(from, self.last_end) {
            Ok(found) => Match { groups: found? },
            Err(error) => return Some(Err(error)),
        };
        self.last_end = found.end();
        self.from = if found.start() < found.end() {
            Some(found.end())
        } else {
            self.text[found.end()..].chars().next().map(|character| found.end() + character.len_utf8())
        };
        Some(Ok(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(steps: u64) -> Budget {
        Budget { steps, ..Budget::default() }
    }

    #[test]
    fn a_pattern_that_explodes_ends_with_the_limit() {
        let text = "a".repeat(40);
        for pattern in [
            "(a+)+b",
            "(a|aa)+b",
            "(?:a*)*b",
            "(.*)(.*)(.*)(.*)(.*)(.*)b",
            "(?=(a+)+b)a",
            "(?<!(a|aa){1,30}b)c|(a*)*d",
        ] {
            let found = Regex::new(pattern).expect("it is one").find(&text, &mut budget(100_000));
            assert_eq!(found, Err(LimitError::Steps), "{pattern}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let text = "ab".repeat(1_000_000);
        let regex = Regex::new("(?:a|b)*c").expect("it is one");
        assert_eq!(regex.find(&text, &mut Budget::default()), Err(LimitError::Choices));
        let regex = Regex::new("[ab]*+$").expect("it is one");
        assert!(
            matches!(regex.find(&text, &mut Budget::default()), Ok(Some(found)) if found.end() == text.len())
        );
    }

    #[test]
    fn a_deadline_ends_a_run() {
        let mut budget = Budget { deadline: Some(std::time::Instant::now()), ..Budget::default() };
        let regex = Regex::new("(a+)+b").expect("it is one");
        assert_eq!(regex.find(&"a".repeat(40), &mut budget), Err(LimitError::Deadline));
    }

    #[test]
    fn nesting_is_bounded() {
        for (open, close) in [("(", ")"), ("(?:", ")*"), ("[a", "]"), ("(?=", ")"), ("(?<=", ")")] {
            let pattern = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
            assert!(Regex::new(&pattern).is_err());
            let pattern = format!("{}{}", open.repeat(150), close.repeat(150));
            let regex = Regex::new(&pattern).expect("deep, but not too deep");
            assert!(regex.find("aaa", &mut Budget::default()).is_ok());
        }
        assert!(Regex::new(&"a|".repeat(30_000)).is_ok());
        assert!(Regex::new(&"a".repeat(1 << 17)).is_err());
    }

    #[test]
    fn counted_repetitions_are_not_unrolled() {
        let regex = Regex::new("(?:(?:(?:ab){1,1000}){1,1000}){1,1000}$").expect("it is one");
        let text = "ab".repeat(2000);
        assert!(matches!(regex.find(&text, &mut Budget::default()), Ok(Some(_))));
    }

    #[test]
    fn errors_show_the_place() {
        let error = Regex::new("a{,3}").expect_err("it is none");
        assert_eq!(error.to_string(), "Illegal repetition near index 2\na{,3}\n  ^");
        let error = Regex::new("(").expect_err("it is none");
        assert_eq!(error.to_string(), "Unclosed group near index 1\n(");
    }

    #[test]
    fn replacements_refer_to_groups() {
        let regex = Regex::new("(?<first>a)(b)?").expect("it is one");
        let found = regex.find("xab", &mut Budget::default()).expect("no limit").expect("it matches");
        let expanded = |replacement: &str| {
            let mut out = String::new();
            regex.expand(&mut out, replacement, "xab", &found.groups).map(|()| out)
        };
        assert_eq!(expanded("[$2$1${first}\\$23]").as_deref(), Ok("[baa$23]"));
        assert_eq!(expanded("$23").as_deref(), Ok("b3"));
        assert_eq!(expanded("$3").map_err(|e| e.to_string()), Err("No group 3".to_owned()));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

        #[test]
        fn nothing_panics(pattern in "[a-c(){}|*+?\\[\\]^$.\\\\<>=!:&,0-9pPQEdwbBRXkxu -]{0,24}", text in "[a-c\\n é😀1]{0,12}") {
            if let Ok(regex) = Regex::new(&pattern) {
                for found in regex.matches(&text, &mut budget(20_000)).flatten() {
                    for (start, end) in found.groups().flatten() {
                        proptest::prop_assert!(text.get(start..end).is_some());
                    }
                }
            }
        }
    }
}
