//! How requests are signed (seed 4, "The handler protocol"): the scheme that webhooks use too.

use formwork_secret::{Secret, hex};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// The header with the signature.
pub const SIGNATURE_HEADER: &str = "x-soat-signature";
/// The header with what makes a repeated request the same request.
pub const IDEMPOTENCY_HEADER: &str = "x-soat-idempotency-key";

/// The value of [`SIGNATURE_HEADER`] for a body: `t=<unix>,v1=<hex hmac-sha256 of "{t}.{body}">`.
pub fn signature(secret: &Secret<String>, unix_seconds: i64, body: &[u8]) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()).expect("HMAC takes a key of any length");
    mac.update(unix_seconds.to_string().as_bytes());
    mac.update(b".");
    mac.update(body);
    let mac = mac.finalize().into_bytes();
    format!("t={unix_seconds},v1={}", hex(&mac))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `printf '%s' '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key` and the like.
    #[test]
    fn signatures_are_those_that_openssl_makes() {
        let sign = |secret: &str, at, body: &str| signature(&Secret::new(secret.into()), at, body.as_bytes());
        insta::assert_snapshot!(sign("key", 1_700_000_000, r#"{"a":1}"#), @"t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03");
        insta::assert_snapshot!(sign("whsec_ü", 0, ""), @"t=0,v1=b6b665c7dc11e31e2d7de2bd469a2e55c18f1feba3fdd830f567d23ea24f847c");
    }

    #[test]
    fn every_part_counts() {
        let key = Secret::new("key".to_owned());
        let other = Secret::new("kez".to_owned());
        let signed = signature(&key, 1, b"body");
        assert_ne!(signed, signature(&other, 1, b"body"));
        assert_ne!(signed, signature(&key, 2, b"body"));
        assert_ne!(signed, signature(&key, 1, b"bodz"));
    }
}
