//! Sealed values: what opens them, and all that must not.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use formwork_secret::{InstanceKey, OpenError, Sealed};

const PLAINTEXT: &[u8] = b"correct horse";
const RECORD: &[u8] = b"record 7";

/// Made outside this crate, from the XChaCha20-Poly1305 draft and the layout the crate documents:
/// key bytes 0 to 31, nonce bytes 100 to 123. It must open for ever.
const KNOWN: &str =
    "v1.0e0f6183faba9c1a.ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7bPb6jZDalwPmtvJeZU2WKfRDaOaIPFqwPqgfiEw";

fn key() -> InstanceKey {
    InstanceKey::from_bytes(std::array::from_fn(|at| u8::try_from(at).unwrap()))
}

fn open(text: &str, aad: &[u8]) -> Result<Vec<u8>, OpenError> {
    Ok(key().open(aad, &Sealed::parse(text)?)?.into_exposed())
}

#[test]
fn a_sealed_value_opens_again() {
    for plaintext in [PLAINTEXT, b"", &[0xff; 5000]] {
        let sealed = key().seal(RECORD, plaintext);
        assert_eq!(key().open(RECORD, &sealed).unwrap().expose(), plaintext);
    }
}

#[test]
fn the_known_sealed_value_opens() {
    assert_eq!(open(KNOWN, RECORD).unwrap(), PLAINTEXT);
}

#[test]
fn sealing_twice_gives_two_texts() {
    assert_ne!(key().seal(RECORD, PLAINTEXT), key().seal(RECORD, PLAINTEXT));
}

#[test]
fn other_associated_data_does_not_open() {
    for aad in [&b"record 8"[..], b"", b"record 7 ", b".record 7"] {
        assert_eq!(open(KNOWN, aad), Err(OpenError::Corrupt));
    }
}

#[test]
fn a_change_of_any_bit_of_the_text_does_not_open() {
    let sealed = key().seal(RECORD, PLAINTEXT);
    for at in 0..sealed.as_str().len() {
        // Seven bits: the eighth would leave ASCII, and so no text at all.
        for bit in 0..7 {
            let mut bytes = sealed.as_str().as_bytes().to_vec();
            bytes[at] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(open(&changed, RECORD).is_err(), "byte {at}, bit {bit}: {changed}");
        }
    }
}

#[test]
fn a_text_cut_or_lengthened_anywhere_does_not_open() {
    for length in 0..KNOWN.len() {
        assert!(open(&KNOWN[..length], RECORD).is_err(), "{length}");
    }
    for suffix in ["A", "AAAA", "=", "==", ".", "\n"] {
        assert!(open(&format!("{KNOWN}{suffix}"), RECORD).is_err(), "{suffix:?}");
    }
}

#[test]
fn a_value_sealed_under_another_key_names_both_keys() {
    let other = InstanceKey::from_bytes([7; 32]);
    let sealed = other.seal(RECORD, PLAINTEXT);
    assert_eq!(
        key().open(RECORD, &sealed).unwrap_err(),
        OpenError::OtherKey { expected: key().id(), found: other.id() },
    );
}

#[test]
fn a_value_that_lies_about_its_key_is_corrupt() {
    let other = InstanceKey::from_bytes([7; 32]);
    let sealed = other.seal(RECORD, PLAINTEXT);
    let relabelled = sealed.as_str().replace(&other.id().to_string(), &key().id().to_string());
    assert_eq!(open(&relabelled, RECORD), Err(OpenError::Corrupt));
}

#[test]
fn a_newer_form_is_told_from_damage() {
    assert_eq!(open(&KNOWN.replace("v1", "v2"), RECORD), Err(OpenError::Version { found: 2 }));
    assert_eq!(open("v17.whatever", RECORD), Err(OpenError::Version { found: 17 }));
    for text in ["", "v1", "v01.x.y", "v.x.y", "v99999.x", "hunter2.x", "w1.x.y"] {
        assert_eq!(open(text, RECORD), Err(OpenError::Corrupt), "{text}");
    }
}

#[test]
fn a_sealed_value_is_a_checked_string_in_json() {
    let sealed = Sealed::parse(KNOWN).unwrap();
    let text = serde_json::to_string(&sealed).unwrap();
    assert_eq!(text, format!("\"{KNOWN}\""));
    assert_eq!(serde_json::from_str::<Sealed>(&text).unwrap(), sealed);
    assert!(serde_json::from_str::<Sealed>(r#""correct horse""#).is_err());
}

#[test]
fn debug_shows_only_a_length() {
    let sealed = Sealed::parse(KNOWN).unwrap();
    assert_eq!(format!("{sealed:?}"), format!("Sealed({} bytes)", KNOWN.len()));
}

#[test]
fn neither_plaintext_nor_its_base64_is_in_the_text() {
    let sealed = key().seal(RECORD, PLAINTEXT);
    assert!(!sealed.as_str().contains("correct horse"));
    assert!(!sealed.as_str().contains("Y29ycmVjdCBob3JzZQ"));
}
