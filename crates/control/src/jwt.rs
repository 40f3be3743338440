//! JSON Web Tokens of exactly one kind: signed with HMAC-SHA-256, with the claims below. What says
//! of itself that it is anything else is no token of ours.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use formwork_model::{ActorId, Timestamp};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// What a login's token says (`formations-behaviour.md` §6.1).
///
/// A token with a claim that a login does not have is no login: whoever signs others with the same
/// key confines them by such claims (`prj`, to one project), which must not be passed over.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claims {
    /// The user.
    pub(crate) sub: ActorId,
    /// The user's role when they logged in, for people; what counts is the user's record.
    pub(crate) role: crate::Role,
    /// When it was made, in seconds.
    pub(crate) iat: i64,
    /// From when on it is no longer valid, in seconds.
    pub(crate) exp: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    alg: String,
    typ: String,
}

/// Whether a bearer has the form of a token; those of ours without it have no dots.
pub(crate) fn looks_like_one(bearer: &str) -> bool {
    bearer.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// The token with these claims.
pub(crate) fn sign(key: &[u8], claims: &Claims) -> String {
    let header = Header { alg: "HS256".to_owned(), typ: "JWT".to_owned() };
    let signed = format!("{}.{}", part(&header), part(claims));
    let signature = BASE64.encode(mac(key, &signed).finalize().into_bytes());
    format!("{signed}.{signature}")
}

/// The claims of a token, if it is signed under this key and valid at this moment.
pub(crate) fn verify(key: &[u8], token: &str, now: Timestamp) -> Option<Claims> {
    let (signed, signature) = token.rsplit_once('.')?;
    // In constant time, and before anything else is believed.
    mac(key, signed).verify_slice(&BASE64.decode(signature).ok()?).ok()?;
    let (header, claims) = signed.split_once('.')?;
    let header: Header = read(header)?;
    let claims: Claims = read(claims)?;
    let now = now.0.div_euclid(1_000);
    let is_valid =
        header.alg == "HS256" && header.typ == "JWT" && claims.iat <= now + LEEWAY && now < claims.exp;
    is_valid.then_some(claims)
}

/// How far the clocks of two processes may be apart, in seconds.
const LEEWAY: i64 = 60;

fn mac(key: &[u8], signed: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(signed.as_bytes());
    mac
}

fn part(value: &impl Serialize) -> String {
    // A header and claims are texts and numbers, which always serialise.
    BASE64.encode(serde_json::to_vec(value).unwrap_or_default())
}

fn read<T: serde::de::DeserializeOwned>(part: &str) -> Option<T> {
    serde_json::from_slice(&BASE64.decode(part).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEY: &[u8] = &[7; 32];
    const NOW: Timestamp = Timestamp(1_750_000_000_000);

    fn claims() -> Claims {
        Claims { sub: "user_1".into(), role: crate::Role::User, iat: 1_750_000_000, exp: 1_750_000_600 }
    }

    fn signed(header: &serde_json::Value, claims: &serde_json::Value) -> String {
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = BASE64.encode(mac(KEY, &signed).finalize().into_bytes());
        format!("{signed}.{signature}")
    }

    #[test]
    fn a_token_is_what_it_was_signed_as_until_it_ends() {
        let token = sign(KEY, &claims());
        assert!(looks_like_one(&token));
        assert_eq!(verify(KEY, &token, NOW), Some(claims()));
        assert_eq!(verify(KEY, &token, NOW.plus(599_999)), Some(claims()));
        assert_eq!(verify(KEY, &token, NOW.plus(600_000)), None);
        assert_eq!(verify(KEY, &token, Timestamp(NOW.0 - 120_000)), None, "made in the future");
    }

    #[test]
    fn another_key_or_a_changed_part_makes_it_void() {
        let token = sign(KEY, &claims());
        assert_eq!(verify(&[8; 32], &token, NOW), None);
        let parts: Vec<&str> = token.split('.').collect();
        let forged = part(&Claims { role: crate::Role::Admin, ..claims() });
        for void in [
            format!("{}.{forged}.{}", parts[0], parts[2]),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{}.{}.{}", parts[0], parts[1], &parts[2][1..]),
            format!("{token}="),
            "..".to_owned(),
            String::new(),
        ] {
            assert_eq!(verify(KEY, &void, NOW), None, "{void}");
        }
    }

    #[test]
    fn no_other_algorithm_is_taken_even_with_a_good_signature() {
        let good = serde_json::to_value(claims()).expect("claims");
        assert!(verify(KEY, &signed(&json!({ "alg": "HS256", "typ": "JWT" }), &good), NOW).is_some());
        for header in [
            json!({ "alg": "none", "typ": "JWT" }),
            json!({ "alg": "hs256", "typ": "JWT" }),
            json!({ "alg": "HS512", "typ": "JWT" }),
            json!({ "alg": "HS256" }),
            json!({ "alg": "HS256", "typ": "JWT", "crit": ["exp"] }),
        ] {
            assert_eq!(verify(KEY, &signed(&header, &good), NOW), None, "{header}");
        }
        let mut confined = good.clone();
        confined["prj"] = json!("proj_1");
        assert_eq!(verify(KEY, &signed(&json!({ "alg": "HS256", "typ": "JWT" }), &confined), NOW), None);
        let mut endless = good;
        endless.as_object_mut().expect("an object").remove("exp");
        assert_eq!(verify(KEY, &signed(&json!({ "alg": "HS256", "typ": "JWT" }), &endless), NOW), None);
    }
}
