//! Finding and replacing a literal text or a regular expression.

use std::fmt;

use pkl_regex::{Budget, LimitError, Match, Regex, ReplacementError};

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub enum Pattern<'p> {
    /// A text.
    Literal(&'p str),
    /// A regular expression.
    Regex(&'p Regex),
}

/// Where a pattern was found: the groups in bytes, the whole first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Start and end of each group.
    pub groups: Vec<Option<(usize, usize)>>,
}

impl Found {
    /// Where it begins.
    pub fn start(&self) -> usize {
        self.whole().0
    }

    /// Where it ends.
    pub fn end(&self) -> usize {
        self.whole().1
    }

    fn whole(&self) -> (usize, usize) {
        self.groups.first().copied().flatten().unwrap_or_default()
    }

    fn literal(start: usize, length: usize) -> Self {
        Self { groups: vec![Some((start, start + length))] }
    }
}

impl From<&Match> for Found {
    fn from(found: &Match) -> Self {
        Self { groups: found.groups().collect() }
    }
}

/// Which matches are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first.
    First,
    /// The last.
    Last,
    /// All.
    All,
}

/// Why replacing failed.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternError {
    /// The regular expression took too long.
    Limit(LimitError),
    /// The replacement text refers to a group that isn't there.
    Replacement {
        /// The pattern.
        pattern: String,
        /// The replacement text.
        replacement: String,
        /// What is wrong.
        error: ReplacementError,
    },
}

impl From<LimitError> for PatternError {
    fn from(error: LimitError) -> Self {
        Self::Limit(error)
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit(error) => error.fmt(f),
            Self::Replacement { pattern, replacement, error } => {
                write!(f, "Error replacing matches for regex `{pattern}` with `{replacement}`: `{error}`")
            }
        }
    }
}

impl std::error::Error for PatternError {}

impl Pattern<'_> {
    /// All matches from left to right; an empty literal is found before each character and at the end.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn find_all(self, text: &str, budget: &mut Budget) -> Result<Vec<Found>, LimitError> {
        match self {
            Self::Literal(literal) => {
                Ok(text.match_indices(literal).map(|(at, _)| Found::literal(at, literal.len())).collect())
            }
            Self::Regex(regex) => {
                regex.matches(text, budget).map(|found| found.map(|found| Found::from(&found))).collect()
            }
        }
    }

    /// The first match.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn find_first(self, text: &str, budget: &mut Budget) -> Result<Option<Found>, LimitError> {
        match self {
            Self::Literal(literal) => Ok(text.find(literal).map(|at| Found::literal(at, literal.len()))),
            Self::Regex(regex) => Ok(regex.find(text, budget)?.as_ref().map(Found::from)),
        }
    }

    /// The last match.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn find_last(self, text: &str, budget: &mut Budget) -> Result<Option<Found>, LimitError> {
        match self {
            Self::Literal(literal) => Ok(text.rfind(literal).map(|at| Found::literal(at, literal.len()))),
            Self::Regex(regex) => {
                let mut last = None;
                for found in regex.matches(text, budget) {
                    last = Some(found?);
                }
                Ok(last.as_ref().map(Found::from))
            }
        }
    }

    /// `startsWith`.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn starts(self, text: &str, budget: &mut Budget) -> Result<bool, LimitError> {
        match self {
            Self::Literal(literal) => Ok(text.starts_with(literal)),
            Self::Regex(regex) => Ok(regex.match_start(text, budget)?.is_some()),
        }
    }

    /// `endsWith`: whether one of the matches ends the text.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn ends(self, text: &str, budget: &mut Budget) -> Result<bool, LimitError> {
        match self {
            Self::Literal(literal) => Ok(text.ends_with(literal)),
            Self::Regex(_) => {
                Ok(self.find_last(text, budget)?.is_some_and(|found| found.end() == text.len()))
            }
        }
    }

    /// The matches that are to be replaced.
    ///
    /// # Errors
    /// If the budget doesn't suffice.
    pub fn find(self, which: Which, text: &str, budget: &mut Budget) -> Result<Vec<Found>, LimitError> {
        match which {
            Which::First => Ok(self.find_first(text, budget)?.into_iter().collect()),
            Which::Last => Ok(self.find_last(text, budget)?.into_iter().collect()),
            Which::All => self.find_all(text, budget),
        }
    }

    /// `replaceFirst`, `replaceLast`, `replaceAll`. The replacement of a regular expression may refer to
    /// groups; that of a literal is literal.
    ///
    /// # Errors
    /// If the budget doesn't suffice, or the replacement refers to a group that isn't there.
    pub fn replace(
        self,
        which: Which,
        text: &str,
        replacement: &str,
        budget: &mut Budget,
    ) -> Result<String, PatternError> {
        let regex = match self {
            Self::Literal(literal) => return Ok(replace_literal(which, text, literal, replacement)),
            Self::Regex(regex) => regex,
        };
        let mut pieces = Vec::new();
        for found in self.find(which, text, budget)? {
            let piece = expand(regex, replacement, text, &found)?;
            pieces.push((found, piece));
        }
        Ok(super::splice(text, &pieces))
    }
}

fn replace_literal(which: Which, text: &str, literal: &str, replacement: &str) -> String {
    match which {
        Which::All => text.replace(literal, replacement),
        Which::First => text.replacen(literal, replacement, 1),
        Which::Last => match text.rfind(literal) {
            Some(start) => [&text[..start], replacement, &text[start + literal.len()..]].concat(),
            None => text.to_owned(),
        },
    }
}

fn expand(regex: &Regex, replacement: &str, text: &str, found: &Found) -> Result<String, PatternError> {
    let mut out = String::new();
    regex.expand(&mut out, replacement, text, &found.groups).map_err(|error| PatternError::Replacement {
        pattern: regex.pattern().to_owned(),
        replacement: replacement.to_owned(),
        error,
    })?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_expressions_are_replaced() {
        let regex = Regex::new("(a)b").expect("it is one");
        let replaced = |pattern: Pattern<'_>, which, replacement: &str| {
            pattern.replace(which, "abab", replacement, &mut Budget::default())
        };
        assert_eq!(replaced(Pattern::Literal("a"), Which::Last, "$1").as_deref(), Ok("ab$1b"));
        assert_eq!(replaced(Pattern::Literal(""), Which::All, "-").as_deref(), Ok("-a-b-a-b-"));
        assert_eq!(replaced(Pattern::Regex(&regex), Which::All, "[$1]").as_deref(), Ok("[a][a]"));
        assert_eq!(replaced(Pattern::Regex(&regex), Which::First, "x").as_deref(), Ok("xab"));
        let error = replaced(Pattern::Regex(&regex), Which::All, "$2").map_err(|error| error.to_string());
        assert_eq!(error, Err("Error replacing matches for regex `(a)b` with `$2`: `No group 2`".to_owned()));
    }
}
