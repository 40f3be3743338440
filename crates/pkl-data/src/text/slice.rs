//! Parts of a text.

use std::fmt;

use super::length;
use crate::display::grouped;

/// A character index out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexError {
    /// The index.
    pub index: i64,
    /// The lowest that would be right.
    pub first: i64,
    /// The highest that would be right.
    pub last: i64,
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [index, first, last] = [self.index, self.first, self.last].map(grouped);
        write!(f, "Character index `{index}` is out of range `{first}`..`{last}`.")
    }
}

impl std::error::Error for IndexError {}

/// The place in bytes of a code point index that is at most the length.
fn byte_of(text: &str, index: usize) -> usize {
    if text.is_ascii() {
        return index.min(text.len());
    }
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

/// The character at an index.
pub fn char_at(text: &str, index: i64) -> Option<&str> {
    let index = usize::try_from(index).ok()?;
    let rest = &text[byte_of(text, index)..];
    let character = rest.chars().next()?;
    Some(&rest[..character.len_utf8()])
}

fn as_i64(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Start and end in bytes of a range of code points.
fn range(text: &str, start: i64, exclusive_end: i64) -> Result<(usize, usize), IndexError> {
    let length = as_i64(length(text));
    let checked = |index: i64, first: i64| {
        let error = IndexError { index, first, last: length };
        if (first..=length).contains(&index) { usize::try_from(index).map_err(|_| error) } else { Err(error) }
    };
    let from = checked(start, 0)?;
    let to = checked(exclusive_end, start)?;
    Ok((byte_of(text, from), byte_of(text, to)))
}

/// `substring`.
///
/// # Errors
/// If an index is out of range, or the end is before the start.
pub fn substring(text: &str, start: i64, exclusive_end: i64) -> Result<&str, IndexError> {
    let (from, to) = range(text, start, exclusive_end)?;
    Ok(&text[from..to])
}

/// `replaceRange`.
///
/// # Errors
/// If an index is out of range, or the end is before the start.
pub fn replace_range(
    text: &str,
    start: i64,
    exclusive_end: i64,
    replacement: &str,
) -> Result<String, IndexError> {
    let (from, to) = range(text, start, exclusive_end)?;
    Ok([&text[..from], replacement, &text[to..]].concat())
}

/// `take(n)`: the first characters.
pub fn take(text: &str, n: usize) -> &str {
    &text[..byte_of(text, n)]
}

/// `drop(n)`: without the first characters.
pub fn drop(text: &str, n: usize) -> &str {
    &text[byte_of(text, n)..]
}

/// `takeLast(n)`: the last characters.
pub fn take_last(text: &str, n: usize) -> &str {
    &text[byte_of(text, length(text).saturating_sub(n))..]
}

/// `dropLast(n)`: without the last characters.
pub fn drop_last(text: &str, n: usize) -> &str {
    &text[..byte_of(text, length(text).saturating_sub(n))]
}

/// `padStart`. The width counts UTF-16 units, as in the official evaluator.
pub fn pad_start(text: &str, width: usize, character: &str) -> String {
    let mut padded = character.repeat(missing(text, width));
    padded.push_str(text);
    padded
}

/// How many UTF-16 units are missing to a width.
fn missing(text: &str, width: usize) -> usize {
    width.saturating_sub(text.encode_utf16().count())
}

/// `padEnd`. The width counts UTF-16 units.
pub fn pad_end(text: &str, width: usize, character: &str) -> String {
    let mut padded = text.to_owned();
    padded.push_str(&character.repeat(missing(text, width)));
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_in_code_points() {
        let text = "a😀b";
        assert_eq!(char_at(text, 1), Some("😀"));
        assert_eq!(char_at(text, 3), None);
        assert_eq!(char_at(text, -1), None);
        assert_eq!(substring(text, 1, 3), Ok("😀b"));
        assert_eq!(substring(text, 3, 3), Ok(""));
        assert_eq!(substring(text, 2, 1), Err(IndexError { index: 1, first: 2, last: 3 }));
        assert_eq!(substring(text, 9, 9), Err(IndexError { index: 9, first: 0, last: 3 }));
        assert_eq!(replace_range(text, 1, 2, "XX"), Ok("aXXb".to_owned()));
        assert_eq!(
            (take(text, 2), drop(text, 2), take_last(text, 2), drop_last(text, 2)),
            ("a😀", "b", "😀b", "a")
        );
        assert_eq!((take(text, 9), drop(text, 9)), (text, ""));
        assert_eq!(pad_start("abc", 5, "😀"), "😀😀abc");
        assert_eq!(pad_end("abc", 2, "x"), "abc");
    }
}
