//! Finding secrets in a text of which only the digests are known: what a row was given by an earlier
//! operation, and nobody keeps.
//!
//! A digest tells only whether a text *is* the secret, so the parts of a text that a person would call a
//! word or a quotation are tried. A secret that the provider encoded, or glued to other letters, is not
//! found: that takes the plaintext, and those of the operation itself are searched for with it.

use formwork_model::{Digest, InstanceKey, Json, Row, StoredLeaf, digest_of};
use std::borrow::Cow;
use std::ops::Range;

/// The shortest text that is tried, in bytes: shorter ones occur by chance.
const SHORTEST: usize = 6;
/// The longest text that is searched, in bytes.
const LONGEST: usize = 64 << 10;
const REPLACEMENT: &str = "(secret)";

/// Secrets by their digests.
#[derive(Clone, Debug)]
pub(crate) struct Recogniser {
    key: InstanceKey,
    digests: Vec<Digest>,
}

impl Recogniser {
    /// One that knows what these rows were given; `None` if they were given no secret.
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a Row>, key: &InstanceKey) -> Option<Self> {
        let mut digests = Vec::new();
        for row in rows {
            let objects =
                row.current.iter().chain(&row.deposed).flat_map(|object| [&object.sent, &object.echo]);
            for stored in objects.chain(row.intent.iter().map(|intent| &intent.sent)) {
                stored.for_each_leaf(&mut |_, leaf| match leaf {
                    StoredLeaf::Digest(digest) | StoredLeaf::Sealed { digest, .. }
                        if digest.key_id == key.id() =>
                    {
                        digests.push(*digest);
                    }
                    _ => {}
                });
            }
        }
        digests.sort_unstable_by_key(Digest::hex);
        digests.dedup();
        (!digests.is_empty()).then(|| Self { key: key.clone(), digests })
    }

    /// The text without the secrets in it; borrowed where there is none.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found: Vec<Range<usize>> =
            candidates(text).into_iter().filter(|range| self.is_secret(&text[range.clone()])).collect();
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        found.sort_unstable_by_key(|range| (range.start, range.end));
        let (mut redacted, mut copied) = (String::new(), 0);
        for range in found {
            if range.start >= copied {
                redacted.push_str(&text[copied..range.start]);
                redacted.push_str(REPLACEMENT);
            }
            copied = copied.max(range.end);
        }
        redacted.push_str(&text[copied..]);
        Cow::Owned(redacted)
    }

    fn is_secret(&self, text: &str) -> bool {
        self.digests.contains(&digest_of(&self.key, &Json::from(text)))
    }
}

/// The parts of a text that may be a secret: the whole, quotations, words, words without the marks
/// around them, and what stands beside a `:` or `=` in one.
fn candidates(text: &str) -> Vec<Range<usize>> {
    if text.len() > LONGEST {
        return Vec::new();
    }
    let mut parts = vec![trimmed(text, 0..text.len(), char::is_whitespace)];
    for quote in ['"', '\'', '`'] {
        let marks: Vec<usize> = text.match_indices(quote).map(|(at, _)| at).collect();
        parts.extend(marks.windows(2).map(|pair| pair[0] + 1..pair[1]));
    }
    for word in
        split(text, 0..text.len(), |letter| letter.is_whitespace() || "\"'`<>()[]{},;".contains(letter))
    {
        parts.push(trimmed(text, word.clone(), is_mark));
        for piece in split(text, word.clone(), |letter| ":=".contains(letter)) {
            parts.push(trimmed(text, piece, is_mark));
        }
        parts.push(word);
    }
    parts.retain(|range| range.len() >= SHORTEST);
    parts.sort_unstable_by_key(|range| (range.start, range.end));
    parts.dedup();
    parts
}

fn is_mark(letter: char) -> bool {
    letter.is_ascii_punctuation()
}

/// The pieces of a part of a text between certain characters.
fn split(text: &str, part: Range<usize>, is_border: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut from = part.start;
    for (at, letter) in text[part.clone()].char_indices().filter(|(_, letter)| is_border(*letter)) {
        pieces.push(from..part.start + at);
        from = part.start + at + letter.len_utf8();
    }
    pieces.push(from..part.end);
    pieces
}

fn trimmed(text: &str, part: Range<usize>, is_border: impl Fn(char) -> bool) -> Range<usize> {
    let shown = &text[part.clone()];
    let start = part.start + (shown.len() - shown.trim_start_matches(&is_border).len());
    let length = text[start..part.end].trim_end_matches(&is_border).len();
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recogniser(secrets: &[&str]) -> Recogniser {
        let key = InstanceKey::from_bytes([7; 32]);
        let digests = secrets.iter().map(|secret| digest_of(&key, &Json::from(*secret))).collect();
        Recogniser { key, digests }
    }

    #[test]
    fn words_and_quotations_are_found() {
        let known = recogniser(&["tok-123/ab", "correct horse battery"]);
        for (text, shown) in [
            ("tok-123/ab", "(secret)"),
            ("the token tok-123/ab is no longer valid.", "the token (secret) is no longer valid."),
            ("unknown token: tok-123/ab.", "unknown token: (secret)."),
            ("token=tok-123/ab&x", "token=tok-123/ab&x"),
            ("token=tok-123/ab, retry", "token=(secret), retry"),
            ("{\"token\":\"tok-123/ab\"}", "{\"token\":\"(secret)\"}"),
            ("bad password 'correct horse battery'", "bad password '(secret)'"),
            ("nothing of note", "nothing of note"),
            ("é tok-123/ab é", "é (secret) é"),
            ("", ""),
        ] {
            assert_eq!(known.redact(text), shown);
        }
    }
}
