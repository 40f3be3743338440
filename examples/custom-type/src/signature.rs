//! Whether a request comes from whom it says: the check that every handler must make.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::fmt;

/// Why a request is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no signature of the form `t=<unix>,v1=<hex>`.
    Malformed,
    /// It was made too long ago, or is of the future.
    Stale,
    /// It was not made with the shared secret, or for another body.
    Wrong,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "missing or malformed signature",
            Self::Stale => "stale signature",
            Self::Wrong => "invalid signature",
        })
    }
}

/// Checks the `X-Soat-Signature` header over the raw bytes of a body. The comparison takes the
/// same time wherever the two differ.
///
/// # Errors
/// [`Refusal`]
pub fn verify(
    secret: &str,
    header: &str,
    body: &[u8],
    now_seconds: i64,
    max_age_seconds: i64,
) -> Result<(), Refusal> {
    let (at, signature) = parse(header).ok_or(Refusal::Malformed)?;
    if now_seconds.abs_diff(at) > max_age_seconds.unsigned_abs() {
        return Err(Refusal::Stale);
    }
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes a key of any length");
    mac.update(format!("{at}.").as_bytes());
    mac.update(body);
    mac.verify_slice(&signature).map_err(|_| Refusal::Wrong)
}

fn parse(header: &str) -> Option<(i64, Vec<u8>)> {
    let (at, signature) = header.strip_prefix("t=")?.split_once(",v1=")?;
    Some((at.parse().ok()?, unhex(signature)?))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    let digits = |at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `printf '%s' '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key`.
    const HEADER: &str = "t=1700000000,v1=a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03";
    const AT: i64 = 1_700_000_000;

    #[test]
    fn a_signature_holds_for_its_body_secret_and_time() {
        assert_eq!(verify("key", HEADER, br#"{"a":1}"#, AT + 299, 300), Ok(()));
        assert_eq!(verify("key", HEADER, br#"{"a":2}"#, AT, 300), Err(Refusal::Wrong));
        assert_eq!(verify("kez", HEADER, br#"{"a":1}"#, AT, 300), Err(Refusal::Wrong));
        assert_eq!(verify("key", HEADER, br#"{"a":1}"#, AT + 301, 300), Err(Refusal::Stale));
        assert_eq!(verify("key", HEADER, br#"{"a":1}"#, AT - 301, 300), Err(Refusal::Stale));
    }

    #[test]
    fn what_is_no_signature_is_not_believed() {
        let short = &HEADER[..HEADER.len() - 2];
        assert_eq!(verify("key", short, br#"{"a":1}"#, AT, 300), Err(Refusal::Wrong));
        for header in ["", "t=1", "v1=00", "t=x,v1=00", "t=1,v1=0", "t=1,v1=zz", "t=1,v1=é"] {
            assert_eq!(verify("key", header, b"", 1, 300), Err(Refusal::Malformed), "{header}");
        }
    }
}
