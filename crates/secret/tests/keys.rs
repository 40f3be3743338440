//! Instance keys, and the digests and tokens made under them.
//!
//! The known answers were computed outside this crate, with Python's `hmac`, from the labels and
//! layouts the crate documents. One that changes makes every stored digest and token worthless.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::collections::{BTreeSet, HashSet};

use formwork_secret::{Digest, HexError, InstanceKey, KeyError};

const KEY_HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn key() -> InstanceKey {
    InstanceKey::from_hex(KEY_HEX).unwrap()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn the_key_id_is_the_known_answer() {
    assert_eq!(key().id().to_string(), "0e0f6183faba9c1a");
}

#[test]
fn a_digest_is_the_known_answer() {
    assert_eq!(
        serde_json::to_string(&key().digest(br#""correct horse""#)).unwrap(),
        r#"{"key_id":"0e0f6183faba9c1a","mac":"bd3a27ed867c8974a424736ca8ce53079110fba7ce5d585e3aabf946439d4fbc"}"#,
    );
}

#[test]
fn a_token_is_the_known_answer() {
    assert_eq!(
        key().token(&[b"ab", b"c"]).to_vec(),
        bytes_of("c44c9e1ba29e99bcb5ac0cd746492b95f8815cf500edfa7b858461adf03eefac"),
    );
}

#[test]
fn a_key_survives_its_hexadecimal_spelling_in_either_case() {
    assert_eq!(key().to_hex().expose(), KEY_HEX);
    assert_eq!(InstanceKey::from_hex(&KEY_HEX.to_uppercase()).unwrap().id(), key().id());
    let generated = InstanceKey::generate();
    assert_eq!(InstanceKey::from_hex(generated.to_hex().expose()).unwrap().id(), generated.id());
}

#[test]
fn a_text_that_is_no_key_is_refused_without_being_quoted() {
    let short = InstanceKey::from_hex("c0ffee").unwrap_err();
    let KeyError::Malformed { source } = &short else { panic!("{short:?}") };
    assert_eq!(*source, HexError::Length { expected: 64, found: 6 });
    assert!(!format!("{short} {short:?} {source}").contains("c0ffee"));
    assert!(short.hint().is_some());

    let newline = InstanceKey::from_hex(&format!("{}\n", &KEY_HEX[1..])).unwrap_err();
    let KeyError::Malformed { source } = newline else { panic!("{newline:?}") };
    assert_eq!(source, HexError::Digit { position: 63 });
}

#[test]
fn generated_keys_differ() {
    assert_ne!(InstanceKey::generate().id(), InstanceKey::generate().id());
}

#[test]
fn debug_names_a_key_but_does_not_show_it() {
    let shown = format!("{:?} {:#?}", key(), key());
    assert!(shown.contains("0e0f6183faba9c1a"), "{shown}");
    assert!(!shown.contains("0001020304"), "{shown}");
    assert!(!shown.contains("0, 1, 2, 3"), "{shown}");
}

#[test]
fn the_key_id_is_no_part_of_the_key() {
    assert!(!KEY_HEX.contains(&key().id().to_string()));
}

#[test]
fn equal_values_have_equal_digests_and_others_do_not() {
    assert_eq!(key().digest(b"value"), key().digest(b"value"));
    assert_ne!(key().digest(b"value"), key().digest(b"valuf"));
    assert_ne!(key().digest(b""), key().digest(b"\0"));
}

#[test]
fn digests_under_two_keys_differ_and_say_so() {
    let (here, there) = (key().digest(b"value"), InstanceKey::from_bytes([7; 32]).digest(b"value"));
    assert_ne!(here, there);
    assert_ne!(here.key_id, there.key_id);
}

#[test]
fn digests_and_tokens_of_one_input_are_unrelated() {
    let layout = [&8_u64.to_be_bytes()[..], b"material"].concat();
    let digest = serde_json::to_value(key().digest(&layout)).unwrap();
    assert_ne!(bytes_of(digest["mac"].as_str().unwrap()), key().token(&[b"material"]));
}

#[test]
fn a_digest_survives_json() {
    let digest = key().digest(b"value");
    let text = serde_json::to_string(&digest).unwrap();
    assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), digest);
    assert!(serde_json::from_str::<Digest>(&text.replace("\"}", "0\"}")).is_err());
}

#[test]
fn digests_serve_as_keys_of_sets_and_maps() {
    let digests = [key().digest(b"a"), key().digest(b"b"), key().digest(b"a")];
    assert_eq!(HashSet::from(digests).len(), 2);
    assert_eq!(BTreeSet::from(digests).len(), 2);
}

#[test]
fn where_one_part_of_a_token_ends_matters() {
    let tokens = HashSet::from([
        key().token(&[b"ab", b"c"]),
        key().token(&[b"a", b"bc"]),
        key().token(&[b"abc"]),
        key().token(&[b"abc", b""]),
        key().token(&[b"", b"abc"]),
        key().token(&[b""]),
        key().token(&[]),
    ]);
    assert_eq!(tokens.len(), 7);
    assert_eq!(key().token(&[b"ab", b"c"]), key().token(&[b"ab", b"c"]));
    assert_ne!(key().token(&[b"ab"]), InstanceKey::from_bytes([7; 32]).token(&[b"ab"]));
}
