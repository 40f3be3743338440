//! Key pairs.

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use rsa::pkcs1::{EncodeRsaPrivateKey, EncodeRsaPublicKey};
use rsa::pkcs8::{EncodePrivateKey, EncodePublicKey, LineEnding};
use rsa::{PrivateKey, PublicKey};
use serde_json::{Value, json};

use super::CallError;
use super::call::Call;

const DEFAULT_BITS: usize = 2048;

/// A new private key with its public one, both as PEM.
pub(super) fn key_pair(call: &Call) -> Result<Value, CallError> {
    let (private, public) = match call.text("encoding")? {
        "pkcs1" => {
            let private = rsa_key(call)?;
            let public = PublicKey::from(&private);
            (pem(private.to_pkcs1_pem(LineEnding::LF))?, failed(public.to_pkcs1_pem(LineEnding::LF))?)
        }
        "pkcs8" => {
            let private = rsa_key(call)?;
            let public = PublicKey::from(&private);
            (pem(private.to_pkcs8_pem(LineEnding::LF))?, failed(public.to_public_key_pem(LineEnding::LF))?)
        }
        "sec1" => elliptic_key(call.find("params").unwrap_or("256"))?,
        other => {
            return Err(CallError::Argument {
                name: "encoding",
                wanted: "`pkcs1`, `pkcs8` or `sec1`",
                given: other.to_owned(),
            });
        }
    };
    Ok(json!({ "private": private, "public": public }))
}

fn rsa_key(call: &Call) -> Result<PrivateKey, CallError> {
    let bits = match call.find("bits") {
        Some(_) => call.number("bits", 2048..=8192, "a whole number from 2048 to 8192")?,
        None => DEFAULT_BITS,
    };
    failed(PrivateKey::new(&mut UnwrapErr(SysRng), bits))
}

macro_rules! elliptic {
    ($curve:ident) => {{
        use $curve::elliptic_curve::Generate;
        let private = $curve::SecretKey::generate_from_rng(&mut UnwrapErr(SysRng));
        let public = private.public_key();
        (pem(private.to_sec1_pem(LineEnding::LF))?, failed(public.to_public_key_pem(LineEnding::LF))?)
    }};
}

fn elliptic_key(curve: &str) -> Result<(String, String), CallError> {
    Ok(match curve {
        "256" => elliptic!(p256),
        "384" => elliptic!(p384),
        "521" => elliptic!(p521),
        other => {
            return Err(CallError::Argument {
                name: "params",
                wanted: "`256`, `384` or `521`",
                given: other.to_owned(),
            });
        }
    })
}

/// The text of a private key, whose buffer is wiped when it is dropped.
fn pem<T: std::ops::Deref<Target = String>, E: std::fmt::Display>(
    encoded: Result<T, E>,
) -> Result<String, CallError> {
    failed(encoded).map(|text| text.clone())
}

fn failed<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, CallError> {
    result.map_err(|error| CallError::Failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use rsa::pkcs1::{DecodeRsaPrivateKey, DecodeRsaPublicKey};
    use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey};

    fn drawn(arguments: &str) -> (String, String) {
        let call = Call::parse(&format!("libext:///crypto/keyPair?{arguments}")).unwrap();
        let pair = key_pair(&call).unwrap();
        let text = |name: &str| pair[name].as_str().unwrap().to_owned();
        (text("private"), text("public"))
    }

    #[test]
    fn rsa_keys_belong_together() {
        let (private, public) = drawn("encoding=pkcs1");
        let private = PrivateKey::from_pkcs1_pem(&private).unwrap();
        assert_eq!(PublicKey::from_pkcs1_pem(&public).unwrap(), PublicKey::from(&private));
        let (private, public) = drawn("encoding=pkcs8&bits=2048");
        let private = PrivateKey::from_pkcs8_pem(&private).unwrap();
        assert_eq!(PublicKey::from_public_key_pem(&public).unwrap(), PublicKey::from(&private));
    }

    #[test]
    fn elliptic_keys_belong_together() {
        let (private, public) = drawn("encoding=sec1");
        let private = p256::SecretKey::from_sec1_pem(&private).unwrap();
        assert_eq!(p256::PublicKey::from_public_key_pem(&public).unwrap(), private.public_key());
        let (private, public) = drawn("encoding=sec1&params=384");
        let private = p384::SecretKey::from_sec1_pem(&private).unwrap();
        assert_eq!(p384::PublicKey::from_public_key_pem(&public).unwrap(), private.public_key());
        let (private, public) = drawn("encoding=sec1&params=521");
        let private = p521::SecretKey::from_sec1_pem(&private).unwrap();
        assert_eq!(p521::PublicKey::from_public_key_pem(&public).unwrap(), private.public_key());
    }

    #[test]
    fn short_keys_and_unknown_encodings_are_refused() {
        for arguments in ["encoding=pkcs1&bits=1024", "encoding=pkcs7", "encoding=sec1&params=255"] {
            let call = Call::parse(&format!("libext:///crypto/keyPair?{arguments}")).unwrap();
            assert!(matches!(key_pair(&call), Err(CallError::Argument { .. })), "{arguments}");
        }
    }
}
