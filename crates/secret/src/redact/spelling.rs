//! The ways a secret can be spelled in a text.

use std::collections::BTreeSet;

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD},
};
use zeroize::Zeroizing;

use crate::{Secret, hex::digit_value};

/// One way to recognise a secret.
#[derive(Clone)]
pub(super) enum Spelling {
    /// These bytes and no others.
    Literal(Secret<Vec<u8>>),
    /// The secret with any of its characters escaped as in a JSON string.
    Json(Secret<String>),
    /// The secret with any of its bytes percent-encoded.
    Percent(Secret<String>),
}

/// Every spelling a secret is searched in.
pub(super) fn spellings_of(secret: &str) -> Vec<Spelling> {
    let mut literals = BTreeSet::from([
        secret.to_owned(),
        unquoted(&Zeroizing::new(format!("{secret:?}"))),
        BASE64_STANDARD.encode(secret),
        BASE64_STANDARD_NO_PAD.encode(secret),
        BASE64_URL_SAFE.encode(secret),
        BASE64_URL_SAFE_NO_PAD.encode(secret),
    ]);
    for offset in 0..3 {
        literals.insert(base64_inside(&BASE64_STANDARD_NO_PAD, secret, offset));
        literals.insert(base64_inside(&BASE64_URL_SAFE_NO_PAD, secret, offset));
    }
    let tolerant = [
        Spelling::Json(Secret::new(secret.to_owned())),
        Spelling::Json(Secret::new(json_escaped(secret))),
        Spelling::Percent(Secret::new(secret.to_owned())),
    ];
    let literals = literals.into_iter().map(|text| Spelling::Literal(Secret::new(text.into_bytes())));
    literals.chain(tolerant).collect()
}

impl Spelling {
    /// The bytes an occurrence can begin with.
    pub(super) fn first_bytes(&self) -> BTreeSet<u8> {
        let (first, others): (_, &[u8]) = match self {
            Self::Literal(bytes) => (bytes.expose().first(), b""),
            Self::Json(text) => (text.expose().as_bytes().first(), b"\\"),
            Self::Percent(text) => (text.expose().as_bytes().first(), b"%+"),
        };
        first.into_iter().chain(others).copied().collect()
    }

    /// How many of the bytes an occurrence at their beginning takes; `None` when there is none.
    pub(super) fn length_at(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Literal(literal) => bytes.starts_with(literal.expose()).then(|| literal.expose().len()),
            Self::Json(secret) => secret
                .expose()
                .chars()
                .try_fold(0, |at, wanted| Some(at + json_length(&bytes[at..], wanted)?)),
            Self::Percent(secret) => secret
                .expose()
                .bytes()
                .try_fold(0, |at, wanted| Some(at + percent_length(&bytes[at..], wanted)?)),
        }
    }
}

/// The text as `serde_json` spells it inside a string.
fn json_escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("every string has a JSON spelling");
    unquoted(&Zeroizing::new(quoted))
}

/// What stands between the first and the last byte, which are quotes.
fn unquoted(quoted: &str) -> String {
    quoted[1..quoted.len() - 1].to_owned()
}

/// The characters that stand for the secret alone when `offset` bytes (modulo 3) precede it in a
/// longer encoded text: those on its edges that also carry bits of its neighbours are left out.
fn base64_inside(engine: &impl Engine, secret: &str, offset: usize) -> String {
    let preceded = Zeroizing::new([&[0; 2][..offset], secret.as_bytes()].concat());
    let encoded = Zeroizing::new(engine.encode(&*preceded));
    let first = (offset * 8).div_ceil(6);
    let last = preceded.len() * 8 / 6;
    encoded[first..last].to_owned()
}

/// The length of the wanted character at the beginning of the bytes, escaped or not.
fn json_length(bytes: &[u8], wanted: char) -> Option<usize> {
    if let Some((found, length)) = json_escape(bytes) {
        return (found == wanted).then_some(length);
    }
    let mut buffer = [0; 4];
    let plain = wanted.encode_utf8(&mut buffer).as_bytes();
    bytes.starts_with(plain).then_some(plain.len())
}

/// The character an escape at the beginning of the bytes stands for, and the escape's length.
fn json_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let [b'\\', kind, ..] = bytes else { return None };
    let character = match kind {
        b'"' | b'\\' | b'/' => char::from(*kind),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(bytes),
        _ => return None,
    };
    Some((character, 2))
}

/// A `\uXXXX` escape, or the two of a surrogate pair.
fn unicode_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let first = utf16_unit(bytes)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, 6));
    }
    let second = utf16_unit(&bytes[6..])?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 12))
}

fn utf16_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | u16::from(digit_value(digit)?)))
}

/// The length of the wanted byte at the beginning of the bytes, encoded or not.
fn percent_length(bytes: &[u8], wanted: u8) -> Option<usize> {
    match bytes {
        [b'%', high, low, ..] if hex_pair(*high, *low) == Some(wanted) => Some(3),
        [b'+', ..] if wanted == b' ' => Some(1),
        [plain, ..] if *plain == wanted => Some(1),
        _ => None,
    }
}

fn hex_pair(high: u8, low: u8) -> Option<u8> {
    Some(digit_value(high)? << 4 | digit_value(low)?)
}
