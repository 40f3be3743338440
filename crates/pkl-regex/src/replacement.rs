//! Replacement text with references to groups: `$1`, `${name}`, `\$`.

use std::fmt;

use crate::regex::Regex;

/// A replacement text that isn't one for the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplacementError {
    /// A backslash at the end.
    NothingEscaped,
    /// `$` at the end.
    NoReference,
    /// `$` before something else than a digit or `{`.
    IllegalReference,
    /// `${}` or `${` before anything that is no letter.
    EmptyName,
    /// `${1}`.
    NameStartsWithDigit(String),
    /// `${name` without `}`.
    UnclosedName,
    /// A number that no group has.
    NoGroup(usize),
    /// A name that no group has.
    NoGroupNamed(String),
}

impl fmt::Display for ReplacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingEscaped => f.write_str("character to be escaped is missing"),
            Self::NoReference => f.write_str("Illegal group reference: group index is missing"),
            Self::IllegalReference => f.write_str("Illegal group reference"),
            Self::EmptyName => f.write_str("named capturing group has 0 length name"),
            Self::NameStartsWithDigit(name) => {
                write!(f, "capturing group name {{{name}}} starts with digit character")
            }
            Self::UnclosedName => f.write_str("named capturing group is missing trailing '}'"),
            Self::NoGroup(group) => write!(f, "No group {group}"),
            Self::NoGroupNamed(name) => write!(f, "No group with name {{{name}}}"),
        }
    }
}

impl std::error::Error for ReplacementError {}

impl Regex {
    /// Appends a replacement for a match in `text` with these groups, with its references resolved.
    ///
    /// # Errors
    /// If a reference is none, or of no group.
    pub fn expand(
        &self,
        out: &mut String,
        replacement: &str,
        text: &str,
        groups: &[Option<(usize, usize)>],
    ) -> Result<(), ReplacementError> {
        let mut rest = replacement;
        while let Some(at) = rest.find(['\\', '$']) {
            out.push_str(&rest[..at]);
            let is_escape = rest.as_bytes()[at] == b'\\';
            rest = &rest[at + 1..];
            if is_escape {
                let escaped = rest.chars().next().ok_or(ReplacementError::NothingEscaped)?;
                out.push(escaped);
                rest = &rest[escaped.len_utf8()..];
                continue;
            }
            let (group, after) = self.reference(rest)?;
            if let Some((start, end)) = groups.get(group).copied().flatten() {
                out.push_str(&text[start..end]);
            }
            rest = after;
        }
        out.push_str(rest);
        Ok(())
    }

    /// The group that is referred to after a `$`, and what follows.
    fn reference<'t>(&self, text: &'t str) -> Result<(usize, &'t str), ReplacementError> {
        if let Some(name) = text.strip_prefix('{') {
            return self.named(name);
        }
        let first = text.chars().next().ok_or(ReplacementError::NoReference)?;
        let mut group = first.to_digit(10).ok_or(ReplacementError::IllegalReference)? as usize;
        if group > self.group_count() {
            return Err(ReplacementError::NoGroup(group));
        }
        let mut rest = &text[1..];
        // Further digits belong to the number as long as there is such a group.
        while let Some(digit) = rest.chars().next().and_then(|c| c.to_digit(10)) {
            let longer = group * 10 + digit as usize;
            if longer > self.group_count() {
                break;
            }
            group = longer;
            rest = &rest[1..];
        }
        Ok((group, rest))
    }

    fn named<'t>(&self, text: &'t str) -> Result<(usize, &'t str), ReplacementError> {
        let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (name, rest) = text.split_at(length);
        if name.is_empty() {
            return Err(ReplacementError::EmptyName);
        }
        let rest = rest.strip_prefix('}').ok_or(ReplacementError::UnclosedName)?;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(ReplacementError::NameStartsWithDigit(name.to_owned()));
        }
        let group = self.group_named(name).ok_or_else(|| ReplacementError::NoGroupNamed(name.to_owned()))?;
        Ok((group, rest))
    }
}
