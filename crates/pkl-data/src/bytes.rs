//! `Bytes`, and the encodings and digests that strings have too.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// `base64`.
pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// `hex`: two lower-case digits for each byte.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// `md5`, in hexadecimal.
pub fn md5(bytes: &[u8]) -> String {
    to_hex(&Md5::digest(bytes))
}

/// `sha1`, in hexadecimal.
pub fn sha1(bytes: &[u8]) -> String {
    to_hex(&Sha1::digest(bytes))
}

/// `sha256`, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// `sha256Int`: the first eight bytes of the digest, the lowest first.
pub fn sha256_int(bytes: &[u8]) -> i64 {
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).rev().fold(0, |number, &byte| number << 8 | i64::from(byte))
}

/// Why a text isn't base 64. Displays as the Java library says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base64Error {
    /// A single character.
    TooShort,
    /// A character (as a byte) that doesn't belong there.
    IllegalCharacter(u8),
    /// Padding in the wrong place.
    WrongEnding,
    /// Something after the padding.
    IncorrectEnding(usize),
    /// Bits that make no byte.
    NotEnoughBits,
}

impl fmt::Display for Base64Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => f.write_str("Input byte[] should at least have 2 bytes for base64 bytes"),
            Self::IllegalCharacter(byte) => write!(f, "Illegal base64 character {byte:x}"),
            Self::WrongEnding => f.write_str("Input byte array has wrong 4-byte ending unit"),
            Self::IncorrectEnding(at) => write!(f, "Input byte array has incorrect ending byte at {at}"),
            Self::NotEnoughBits => f.write_str("Last unit does not have enough valid bits"),
        }
    }
}

impl std::error::Error for Base64Error {}

/// Decodes base 64; padding may be left out.
///
/// # Errors
/// If it isn't base 64.
pub fn from_base64(text: &str) -> Result<Vec<u8>, Base64Error> {
    let input: Vec<u8> = text.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect();
    if input.len() == 1 {
        return Err(Base64Error::TooShort);
    }
    let mut out = Vec::with_capacity(input.len() / 4 * 3 + 3);
    let mut bits = 0_u32;
    let mut sextets = 0;
    let mut at = 0;
    while at < input.len() {
        let byte = input[at];
        at += 1;
        if byte == b'=' {
            let wants_second = sextets == 2;
            if sextets == 0 || (wants_second && input.get(at) != Some(&b'=')) {
                return Err(Base64Error::WrongEnding);
            }
            at += usize::from(wants_second);
            break;
        }
        bits = bits << 6 | u32::from(sextet(byte).ok_or(Base64Error::IllegalCharacter(byte))?);
        sextets += 1;
        if sextets == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, sextets) = (0, 0);
        }
    }
    match sextets {
        1 => return Err(Base64Error::NotEnoughBits),
        2 => out.push((bits >> 4).to_be_bytes()[3]),
        3 => out.extend_from_slice(&(bits >> 2).to_be_bytes()[2..]),
        _ => {}
    }
    if at < input.len() { Err(Base64Error::IncorrectEnding(at)) } else { Ok(out) }
}

fn sextet(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// The character sets that text can be encoded in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8.
    Utf8,
    /// UTF-16, with a byte order mark when written.
    Utf16,
    /// ISO 8859-1.
    Latin1,
}

impl Charset {
    /// The character set of this name in Pkl.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "UTF-8" => Some(Self::Utf8),
            "UTF-16" => Some(Self::Utf16),
            "ISO-8859-1" => Some(Self::Latin1),
            _ => None,
        }
    }

    /// `encodeToBytes`; what the set has not becomes a question mark.
    pub fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16 if text.is_empty() => Vec::new(),
            Self::Utf16 => {
                [0xFE, 0xFF].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect()
            }
            Self::Latin1 => text.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect(),
        }
    }

    /// `decodeToString`; `None` for what isn't of this set.
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::Utf8 => std::str::from_utf8(bytes).ok().map(str::to_owned),
            Self::Utf16 => decode_utf16(bytes),
            Self::Latin1 => Some(bytes.iter().map(|&byte| char::from(byte)).collect()),
        }
    }
}

/// With a byte order mark, else the high byte first.
fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let (bytes, is_little) = match bytes {
        [0xFF, 0xFE, rest @ ..] => (rest, true),
        [0xFE, 0xFF, rest @ ..] => (rest, false),
        _ => (bytes, false),
    };
    let pairs = bytes.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let units = pairs.map(|pair| {
        let pair = [pair[0], pair[1]];
        if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
    });
    char::decode_utf16(units).collect::<Result<String, _>>().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standards() {
        assert_eq!(md5(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(sha1(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha256_int(b"abc"), -1_527_000_031_757_436_742);
        assert_eq!(sha256_int(b""), 1_449_310_910_991_872_227);
    }

    #[test]
    fn base_64_decodes_as_java_decodes_it() {
        for (text, decoded) in [
            ("", Ok(vec![])),
            ("YQ==", Ok(b"a".to_vec())),
            ("YQ", Ok(b"a".to_vec())),
            ("YR==", Ok(b"a".to_vec())),
            ("YWI", Ok(b"ab".to_vec())),
            ("YWI=", Ok(b"ab".to_vec())),
            ("YWJj", Ok(b"abc".to_vec())),
            ("YWJjZA", Ok(b"abcd".to_vec())),
            ("Y", Err(Base64Error::TooShort)),
            ("Y===", Err(Base64Error::NotEnoughBits)),
            ("YQ=", Err(Base64Error::WrongEnding)),
            ("YWJj=", Err(Base64Error::WrongEnding)),
            ("YWI==", Err(Base64Error::IncorrectEnding(4))),
            ("YQ==YQ==", Err(Base64Error::IncorrectEnding(4))),
            ("a b", Err(Base64Error::IllegalCharacter(b' '))),
        ] {
            assert_eq!(from_base64(text), decoded, "{text}");
        }
    }

    #[test]
    fn character_sets_encode_and_decode() {
        assert_eq!(Charset::Utf16.encode("é"), [0xFE, 0xFF, 0, 0xE9]);
        assert_eq!(Charset::Utf16.decode(&[0xFF, 0xFE, b'a', 0]).as_deref(), Some("a"));
        assert_eq!(Charset::Utf16.decode(&[0, b'a', 0]), None);
        assert_eq!(Charset::Utf16.decode(&[0xD8, 0]), None);
        assert_eq!(Charset::Latin1.encode("é😀"), [0xE9, b'?']);
        assert_eq!(Charset::Utf8.decode(&[0xC3, 0x28]), None);
    }
}
