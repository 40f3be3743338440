//! Fixed-length bytes as lower-case hexadecimal text, and back.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Why a text is not the hexadecimal spelling of a value. It never quotes the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HexError {
    /// The text has the wrong length.
    #[error("expected {expected} hexadecimal characters, found {found}")]
    Length {
        /// How many characters the value takes.
        expected: usize,
        /// How many bytes the text has.
        found: usize,
    },
    /// A character is no hexadecimal digit.
    #[error("the character at byte {position} is not a hexadecimal digit")]
    Digit {
        /// Where it stands, counted from 0.
        position: usize,
    },
}

/// Bytes in lower-case hexadecimal, written into one buffer that never grows, so no copy is left behind.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 0xf)]));
    }
    text
}

/// Exactly `N` bytes from `2 * N` digits of either case.
pub(crate) fn decode<const N: usize>(text: impl AsRef<[u8]>) -> Result<[u8; N], HexError> {
    let text = text.as_ref();
    if text.len() != N * 2 {
        return Err(HexError::Length { expected: N * 2, found: text.len() });
    }
    let mut bytes = [0; N];
    for (position, &character) in text.iter().enumerate() {
        let digit = digit_value(character).ok_or(HexError::Digit { position })?;
        bytes[position / 2] = bytes[position / 2] << 4 | digit;
    }
    Ok(bytes)
}

/// What one digit of either case stands for.
pub(crate) fn digit_value(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        b'A'..=b'F' => Some(character - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_round_trip() {
        assert_eq!(hex(&[0x00, 0x7f, 0xff]), "007fff");
        assert_eq!(decode::<3>("007fff"), Ok([0x00, 0x7f, 0xff]));
        assert_eq!(decode::<3>("007FfF"), Ok([0x00, 0x7f, 0xff]));
    }

    #[test]
    fn a_wrong_length_or_digit_is_refused() {
        assert_eq!(decode::<2>("007"), Err(HexError::Length { expected: 4, found: 3 }));
        assert_eq!(decode::<2>("00g0"), Err(HexError::Digit { position: 2 }));
        assert_eq!(decode::<2>("é00"), Err(HexError::Digit { position: 0 }));
    }
}
