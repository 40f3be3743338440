//! Redaction of secrets in every spelling they are known to turn up in.

use std::borrow::Cow;

use base64::{Engine, prelude::*};
use formwork_secret::{Redactor, Secret};
use serde_json::json;

/// Has something for every spelling to change.
const AWKWARD: &str = "pä\"ss\\wörd\n/+?~>😀 end";

fn redactor(secrets: &[&str]) -> Redactor {
    let mut redactor = Redactor::new();
    for secret in secrets {
        redactor.add(&Secret::new((*secret).to_owned()));
    }
    redactor
}

fn assert_redacted(secret: &str, spelled: &str) {
    assert_eq!(
        redactor(&[secret]).redact(&format!("ü<{spelled}>ü {spelled}")),
        "ü<(secret)>ü (secret)",
        "{spelled}"
    );
}

#[test]
fn a_secret_is_replaced_as_it_is() {
    assert_redacted("correct horse", "correct horse");
    assert_redacted(AWKWARD, AWKWARD);
}

#[test]
fn a_text_without_secrets_is_borrowed() {
    let redactor = redactor(&["correct horse"]);
    assert!(matches!(redactor.redact("correct house"), Cow::Borrowed("correct house")));
    assert!(matches!(redactor.redact(""), Cow::Borrowed("")));
    assert!(matches!(Redactor::new().redact("correct horse"), Cow::Borrowed("correct horse")));
}

#[test]
fn json_escapes_are_seen_through() {
    let once = serde_json::to_string(AWKWARD).unwrap();
    let once = &once[1..once.len() - 1];
    assert_redacted(AWKWARD, once);
    let twice = serde_json::to_string(once).unwrap();
    assert_redacted(AWKWARD, &twice[1..twice.len() - 1]);
}

#[test]
fn json_escapes_of_other_writers_are_seen_through() {
    assert_redacted(AWKWARD, r#"p\u00e4\"ss\\w\u00F6rd\n\/+?~>\ud83d\ude00 end"#);
    assert_redacted(AWKWARD, r"\u0070ä\u0022ss\u005cwörd\u000a/+?~\u003e😀 end");
    assert_redacted("\u{8}\u{c}\r\t\u{1}<>&", r"\b\f\r\t\u0001\u003c\u003e\u0026");
}

#[test]
fn debug_output_is_seen_through() {
    let shown = format!("{:?}", "it's\0\u{7f}\"x\"");
    assert_redacted("it's\0\u{7f}\"x\"", &shown[1..shown.len() - 1]);
}

#[test]
fn percent_encoding_is_seen_through_whatever_it_encodes() {
    assert_redacted(AWKWARD, "p%C3%A4%22ss%5Cw%C3%B6rd%0A%2F%2B%3F~%3E%F0%9F%98%80%20end");
    assert_redacted(AWKWARD, "p%c3%a4%22ss%5cw%c3%b6rd%0a/%2b?%7e%3e%f0%9f%98%80+end");
    assert_redacted("50%25 off", "50%2525%20off");
    assert_redacted("50%25 off", "50%25 off");
    assert_redacted("secret", "%73%65%63%72%65%74");
}

#[test]
fn base64_of_the_secret_is_replaced_in_all_alphabets() {
    for secret in ["secret", "secret1", "secret12", "???>>>~~~", AWKWARD] {
        for spelled in [
            BASE64_STANDARD.encode(secret),
            BASE64_STANDARD_NO_PAD.encode(secret),
            BASE64_URL_SAFE.encode(secret),
            BASE64_URL_SAFE_NO_PAD.encode(secret),
        ] {
            assert_redacted(secret, &spelled);
        }
    }
}

#[test]
fn base64_of_a_text_around_the_secret_loses_it() {
    let redactor = redactor(&["correct horse"]);
    for user in ["", "a", "ab", "abc", "admin"] {
        for after in ["", "x", "xy", "xyz"] {
            let header = BASE64_STANDARD.encode(format!("{user}:correct horse{after}"));
            let redacted = redactor.redact(&header).into_owned();
            let (before, rest) = redacted.split_once("(secret)").unwrap();
            // What is left must be what surrounds the secret, and one character of it at most.
            assert!(before.len() <= (user.len() + 1) * 8 / 6 + 1, "{redacted}");
            assert!(rest.len() <= (after.len() * 8).div_ceil(6) + 1 + 2, "{redacted}");
        }
    }
}

#[test]
fn short_values_are_not_searched_for() {
    let redactor = redactor(&["", "a", "short"]);
    assert!(redactor.is_empty());
    assert_eq!(redactor.redact("a short text"), "a short text");
}

#[test]
fn six_bytes_are_enough() {
    assert!(!redactor(&["sixsix"]).is_empty());
    assert_redacted("sixsix", "sixsix");
    assert_redacted("äöü", "äöü");
}

#[test]
fn white_space_around_a_secret_need_not_be_there() {
    let redactor = redactor(&["correct horse\n"]);
    assert_eq!(redactor.redact("a correct horse."), "a (secret).");
    assert_eq!(redactor.redact("a correct horse\n."), "a (secret).");
}

#[test]
fn of_two_secrets_that_begin_alike_the_longer_goes() {
    for secrets in [["secret", "secret-longer"], ["secret-longer", "secret"]] {
        assert_eq!(redactor(&secrets).redact("secret-longer secret"), "(secret) (secret)");
    }
}

#[test]
fn of_two_secrets_that_overlap_no_rest_stays() {
    assert_eq!(redactor(&["abcdefgh", "efghijkl"]).redact("-abcdefghijkl-"), "-(secret)-");
    assert_eq!(redactor(&["abcdefghijkl", "cdefgh"]).redact("-abcdefghijkl-"), "-(secret)-");
}

#[test]
fn occurrences_side_by_side_are_replaced_each() {
    assert_eq!(redactor(&["secret"]).redact("secretsecret"), "(secret)(secret)");
}

#[test]
fn every_string_in_json_is_searched_for_and_nothing_else() {
    let mut redactor = Redactor::new();
    redactor.add_json(&json!({
        "password": "correct horse",
        "nested": [{"token": "battery staple"}, 12_345_678, true, null, "tiny"],
    }));
    assert_eq!(
        redactor.redact("password correct horse, nested battery staple, 12345678, tiny"),
        "password (secret), nested (secret), 12345678, tiny",
    );
}

#[test]
fn a_secret_added_twice_is_searched_for_once() {
    assert_eq!(format!("{:?}", redactor(&["correct horse", "correct horse"])), "Redactor(1 values)");
}

#[test]
fn broken_escapes_at_the_end_of_a_text_are_no_trouble() {
    let redactor = redactor(&["%correct", "\\correct", "ucorrect"]);
    for text in ["\\", "%", "%c", "\\u", "\\ud83", "\\ud83d", "\\ud83d\\u", "%é", "\\é"] {
        assert_eq!(redactor.redact(text), text);
    }
}
