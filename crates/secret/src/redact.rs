//! Taking known secrets out of text that is about to be logged, stored or shown.

mod spelling;

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde_json::Value;

use self::spelling::{Spelling, spellings_of};
use crate::Secret;

/// What stands in a redacted text where a secret stood.
const REPLACEMENT: &str = "(secret)";

/// The shortest value searched for, in bytes.
const SHORTEST: usize = 6;

/// Replaces every occurrence of known secrets in a text by `(secret)`.
///
/// It finds a secret as it is, with or without the white space around it, JSON-escaped (once or
/// twice, with whichever characters escaped), as Rust's `{:?}` prints it, percent-encoded (with
/// whichever characters encoded, in either case, a space also as `+`), and in base64 (standard and
/// URL alphabet, padded or not, alone or inside a longer encoded text such as a `Basic`
/// authorization header, where up to one character on each side remains).
///
/// **Values shorter than 6 bytes are not searched for**: they occur in texts by chance, and
/// replacing them would mangle every message. Nor are numbers and object keys in JSON, or a secret
/// cut in two. Redaction is the last net, not a licence to put secrets in texts.
///
/// ```
/// use formwork_secret::{Redactor, Secret};
///
/// let mut redactor = Redactor::new();
/// redactor.add(&Secret::new(String::from("correct horse")));
/// assert_eq!(
///     redactor.redact("bad password `correct horse` in ?p=correct%20horse"),
///     "bad password `(secret)` in ?p=(secret)",
/// );
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    values: Vec<Secret<String>>,
    spellings: Vec<Spelling>,
    /// The spellings, by the bytes an occurrence of them can begin with.
    by_first_byte: BTreeMap<u8, Vec<usize>>,
}

impl Redactor {
    /// A redactor that knows no secret and changes no text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether no secret is searched for, so that [`redact`](Self::redact) never changes a text.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Searches for this value from now on, unless it is shorter than 6 bytes.
    pub fn add(&mut self, secret: &Secret<String>) {
        self.add_text(secret.expose());
    }

    /// Searches for every string in a JSON value from now on, each as [`add`](Self::add) does.
    pub fn add_json(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.add_text(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_json(item)),
            Value::Object(members) => members.values().for_each(|member| self.add_json(member)),
        }
    }

    /// The text without the secrets; borrowed when it holds none.
    ///
    /// Occurrences that overlap become one `(secret)`, so that no rest of the second stays.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut redacted = String::new();
        let mut copied = 0;
        let mut found: Option<(usize, usize)> = None;
        for (start, _) in text.char_indices() {
            let Some(length) = self.longest_at(&text.as_bytes()[start..]) else { continue };
            let end = start + length;
            found = match found {
                Some((first, last)) if start < last => Some((first, last.max(end))),
                Some((first, last)) => {
                    redacted.push_str(&text[copied..first]);
                    redacted.push_str(REPLACEMENT);
                    copied = last;
                    Some((start, end))
                }
                None => Some((start, end)),
            };
        }
        let Some((first, last)) = found else { return Cow::Borrowed(text) };
        redacted.push_str(&text[copied..first]);
        redacted.push_str(REPLACEMENT);
        redacted.push_str(&text[last..]);
        Cow::Owned(redacted)
    }

    fn add_text(&mut self, text: &str) {
        self.add_exactly(text);
        self.add_exactly(text.trim());
    }

    fn add_exactly(&mut self, text: &str) {
        if text.len() < SHORTEST || self.values.iter().any(|known| known.expose() == text) {
            return;
        }
        self.values.push(Secret::new(text.to_owned()));
        for spelling in spellings_of(text) {
            for first in spelling.first_bytes() {
                self.by_first_byte.entry(first).or_default().push(self.spellings.len());
            }
            self.spellings.push(spelling);
        }
    }

    /// The length of the longest secret the bytes begin with.
    fn longest_at(&self, bytes: &[u8]) -> Option<usize> {
        let candidates = self.by_first_byte.get(bytes.first()?)?;
        candidates.iter().filter_map(|&index| self.spellings[index].length_at(bytes)).max()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Redactor({} values)", self.values.len())
    }
}
