//! Random numbers and passwords.

use serde_json::{Value, json};

use super::CallError;
use super::call::Call;
use formwork_secret::Draw;

const LETTERS_AND_DIGITS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const SPECIAL: &[u8] = b"!@#$%^*()_+-";

/// A number with so many decimal digits.
pub(super) fn id(call: &Call, entropy: &mut impl Draw) -> Result<Value, CallError> {
    let length = call.number("length", 1..=18, "a whole number from 1 to 18")?;
    let smallest = 10_u64.pow(u32::try_from(length - 1).expect("at most 17"));
    // A single digit may be zero; a longer number can't begin with it.
    let (first, count) = if length == 1 { (0, 10) } else { (smallest, 9 * smallest) };
    Ok(json!({ "id": first + entropy.below(count) }))
}

/// A password with so many characters.
pub(super) fn password(call: &Call, entropy: &mut impl Draw) -> Result<Value, CallError> {
    let length = call.number("length", 8..=1024, "a whole number from 8 to 1024")?;
    let mut alphabet = LETTERS_AND_DIGITS.to_vec();
    if call.truth("special")? {
        alphabet.extend_from_slice(SPECIAL);
    }
    let password: String = (0..length).map(|_| char::from(alphabet[entropy.place(alphabet.len())])).collect();
    Ok(json!({ "password": password }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use formwork_secret::SystemDraw;

    fn drawn(length: usize, special: bool) -> String {
        let uri = format!("libext:///random/password?length={length}&special={special}");
        let answer = password(&Call::parse(&uri).unwrap(), &mut SystemDraw).unwrap();
        answer["password"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_password_has_its_length_and_alphabet() {
        let plain = drawn(1024, false);
        assert_eq!(plain.len(), 1024);
        assert!(plain.bytes().all(|byte| LETTERS_AND_DIGITS.contains(&byte)));
        assert!(drawn(1024, true).bytes().any(|byte| SPECIAL.contains(&byte)));
    }

    #[test]
    fn two_passwords_differ() {
        assert_ne!(drawn(24, false), drawn(24, false));
    }

    #[test]
    fn an_id_has_its_length() {
        for length in 2..=18 {
            let call = Call::parse(&format!("libext:///random/id?length={length}")).unwrap();
            let drawn = id(&call, &mut SystemDraw).unwrap()["id"].as_u64().unwrap();
            assert_eq!(drawn.to_string().len(), length);
        }
    }
}
