//! Lists of what may be read, as the command line gives them.
//!
//! The official command line takes regular expressions that match at the beginning of a URI. Nearly all
//! in use are plain prefixes; those are understood, with a dot as a dot, and any other is refused.

use super::PklError;
use pkl_core::reader::Allowed;

/// What resources may begin with if nothing is said.
const RESOURCES: [&str; 7] =
    ["prop:", "env:", "file:", "modulepath:", "package:", "projectpackage:", "https:"];

/// Which modules may be loaded.
///
/// # Errors
/// A pattern is no plain prefix.
pub(super) fn modules(patterns: Option<&[String]>) -> Result<Allowed, PklError> {
    patterns.map_or(Ok(Allowed::All), prefixes)
}

/// Which resources may be read.
///
/// # Errors
/// A pattern is no plain prefix.
pub(super) fn resources(patterns: Option<&[String]>) -> Result<Allowed, PklError> {
    patterns.map_or_else(|| Ok(Allowed::Prefixes(RESOURCES.map(str::to_owned).to_vec())), prefixes)
}

fn prefixes(patterns: &[String]) -> Result<Allowed, PklError> {
    patterns.iter().map(|pattern| prefix(pattern)).collect::<Result<_, _>>().map(Allowed::Prefixes)
}

fn prefix(pattern: &str) -> Result<String, PklError> {
    let unsupported = || PklError::Unsupported {
        what: format!("the pattern `{pattern}`"),
        hint: Some("give what URIs begin with, as in `file:,https://example.com/`"),
    };
    let mut prefix = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped) if !escaped.is_alphanumeric() => prefix.push(escaped),
                _ => return Err(unsupported()),
            },
            // Matching at the beginning, both say the same.
            '^' if prefix.is_empty() => {}
            '.' if letters.peek() == Some(&'*') && letters.clone().count() == 1 => break,
            '*' | '+' | '?' | '[' | ']' | '(' | ')' | '{' | '}' | '|' | '^' | '$' => {
                return Err(unsupported());
            }
            letter => prefix.push(letter),
        }
    }
    Ok(prefix)
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn plain_prefixes_are_understood_and_others_refused() {
        for (pattern, expected) in [
            ("file:", Some("file:")),
            ("https://a.b/", Some("https://a.b/")),
            (r"https://a\.b/", Some("https://a.b/")),
            ("^pkl:", Some("pkl:")),
            ("file:.*", Some("file:")),
            ("", Some("")),
            ("file:|pkl:", None),
            (".*x", None),
            ("a$", None),
            (r"\d", None),
            ("\\", None),
        ] {
            assert_eq!(prefix(pattern).ok().as_deref(), expected, "{pattern}");
        }
    }
}
