//! Semantic versions, and which of two is the higher.

use std::cmp::Ordering;
use std::fmt;

/// A semantic version (semver 2.0.0), kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    text: String,
    numbers: [u64; 3],
    pre_release: Vec<Identifier>,
}

/// A part of a pre-release. Numbers come before words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl Version {
    /// Reads a version; `None` if the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (rest, build) = match text.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (text, None),
        };
        if let Some(build) = build
            && !build.split('.').all(is_identifier)
        {
            return None;
        }
        let (core, pre_release) = match rest.split_once('-') {
            Some((core, pre_release)) => (core, Some(pre_release)),
            None => (rest, None),
        };
        let mut parts = core.split('.').map(number);
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        if parts.next().is_some() {
            return None;
        }
        let pre_release = match pre_release {
            Some(text) => text.split('.').map(identifier).collect::<Option<_>>()?,
            None => Vec::new(),
        };
        Some(Self { text: text.to_owned(), numbers, pre_release })
    }

    /// The first number: packages of different ones stand side by side.
    pub fn major(&self) -> u64 {
        self.numbers[0]
    }

    /// Which one is higher. What follows a plus sign says nothing about that.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let released = |version: &Self| version.pre_release.is_empty();
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| released(self).cmp(&released(other)))
            .then_with(|| self.pre_release.cmp(&other.pre_release))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_identifier(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
}

fn number(part: &str) -> Option<u64> {
    let plain =
        part.chars().all(|letter| letter.is_ascii_digit()) && (part.len() == 1 || !part.starts_with('0'));
    if plain { part.parse().ok() } else { None }
}

fn identifier(part: &str) -> Option<Identifier> {
    if !is_identifier(part) {
        return None;
    }
    if part.chars().all(|letter| letter.is_ascii_digit()) {
        return number(part).map(Identifier::Number);
    }
    Some(Identifier::Word(part.to_owned()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_precedence() {
        let ascending = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.10.0",
            "2.0.0",
        ];
        let versions: Vec<_> = ascending.iter().map(|text| Version::parse(text).unwrap()).collect();
        for pair in versions.windows(2) {
            assert_eq!(pair[0].precedence(&pair[1]), Ordering::Less, "{} < {}", pair[0], pair[1]);
        }
        let build = |text| Version::parse(text).unwrap();
        assert_eq!(build("1.2.3+a").precedence(&build("1.2.3+b")), Ordering::Equal);
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "01.2.3",
            "1.2.x",
            "1.2.3-",
            "1.2.3+",
            "1.2.3-01",
            "1.2.3-a..b",
            " 1.2.3",
        ] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
