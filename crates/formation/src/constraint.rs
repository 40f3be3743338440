//! What the values of a parameter must satisfy: allowed values, a pattern, a length.

use regex_lite::{Regex, RegexBuilder};
use std::fmt;
use std::sync::Arc;

/// The most bytes of a pattern.
pub(crate) const LONGEST_PATTERN: usize = 1000;
/// The most patterns of a template, and the most bytes of a value that one is compared with: the two
/// bound what comparing can cost.
pub(crate) const MOST_PATTERNS: usize = 200;
const LONGEST_MATCHED: usize = 16 << 10;
/// The most bytes that a compiled pattern may take.
const LARGEST_PROGRAM: usize = 256 << 10;
/// How deep the groups of a pattern may be nested.
const DEEPEST_NEST: u32 = 50;

/// What the values of a parameter must satisfy; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    /// The values that there are; empty is any.
    pub allowed_values: Vec<Arc<str>>,
    /// What the whole value must match.
    pub pattern: Option<Pattern>,
    /// The fewest characters.
    pub min_length: Option<u64>,
    /// The most characters.
    pub max_length: Option<u64>,
}

impl Constraints {
    /// What a value violates, in words that follow the name of what has it, each with the constraint.
    /// The value itself is in none of them. `quiet`: nor are the allowed values, one of which it may
    /// nearly be.
    pub(crate) fn violations(&self, value: &str, quiet: bool) -> Vec<String> {
        let mut found = Vec::new();
        if !self.allowed_values.is_empty() && !self.allowed_values.iter().any(|allowed| **allowed == *value) {
            found.push(if quiet {
                "must be one of its allowed values".to_owned()
            } else {
                format!("must be one of: {}", self.allowed_values.join(", "))
            });
        }
        found.extend(self.pattern.as_ref().and_then(|pattern| pattern.violation(value)));
        let bounded = self.min_length.is_some() || self.max_length.is_some();
        let length = if bounded { value.chars().count() as u64 } else { 0 };
        if let Some(least) = self.min_length.filter(|least| length < *least) {
            found.push(format!("must have at least {}", characters(least)));
        }
        if let Some(most) = self.max_length.filter(|most| length > *most) {
            found.push(format!("must have at most {}", characters(most)));
        }
        found
    }
}

fn characters(count: u64) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

/// A regular expression that a whole value must match.
#[derive(Clone)]
pub struct Pattern {
    text: Arc<str>,
    whole: Regex,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST_PATTERN {
            return Err(format!("it may have at most {LONGEST_PATTERN} bytes"));
        }
        // By itself first: what is no expression must not become one by what is put around it.
        compile(text)?;
        Ok(Self { text: text.into(), whole: compile(&format!(r"\A(?:{text})\z"))? })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn violation(&self, value: &str) -> Option<String> {
        if value.len() > LONGEST_MATCHED {
            return Some(format!(
                "must have at most {LONGEST_MATCHED} bytes to be compared with its pattern"
            ));
        }
        (!self.whole.is_match(value)).then(|| format!("must match the pattern '{}'", self.text))
    }
}

fn compile(text: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(text);
    let built = builder.size_limit(LARGEST_PROGRAM).nest_limit(DEEPEST_NEST).build();
    built.map_err(|error| error.to_string())
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.text).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, value: &str) -> bool {
        Pattern::new(pattern).expect(pattern).violation(value).is_none()
    }

    #[test]
    fn a_pattern_is_about_the_whole_value() {
        assert!(matches("[a-z]+", "abc"));
        assert!(!matches("[a-z]+", "abc1"));
        assert!(!matches("a|b", "ab"));
        assert!(!matches("a$", "a\n"));
        assert!(matches("^a$", "a"));
        assert!(matches("a|ab", "ab"), "the longer alternative counts too");
        assert!(matches(r"\d+", "12") && !matches(r"\d+", "١٢"), "classes are those of ASCII");
    }

    #[test]
    fn what_only_the_anchors_would_close_is_no_pattern() {
        assert!(Pattern::new("a)|(b").is_err());
        assert!(Pattern::new("(?x) a # comment").is_err());
    }

    #[test]
    fn a_pattern_is_bounded() {
        assert_eq!(Pattern::new(&"a".repeat(1001)).expect_err("long"), "it may have at most 1000 bytes");
        assert!(Pattern::new("((a{500}){500}){500}").is_err());
        assert!(Pattern::new(&format!("{}{}", "(".repeat(400), ")".repeat(400))).is_err());
        let long = "a".repeat(LONGEST_MATCHED + 1);
        assert_eq!(
            Pattern::new("a*").expect("right").violation(&long).expect("long"),
            "must have at most 16384 bytes to be compared with its pattern"
        );
    }
}
