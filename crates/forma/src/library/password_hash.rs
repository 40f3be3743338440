//! Hashes of passwords.

use serde_json::{Value, json};

use super::CallError;
use super::call::Call;

/// How much work a hash is: 2 to the power of this many rounds.
const COST: u32 = 10;

/// A bcrypt hash with a random salt.
pub(super) fn hash(call: &Call) -> Result<Value, CallError> {
    let password = call.text("password")?;
    // bcrypt would leave out the rest without a word.
    if password.len() > 71 {
        return Err(CallError::Failed("bcrypt takes passwords of at most 71 bytes".to_owned()));
    }
    let hash = bcrypt::hash(password, COST).map_err(|error| CallError::Failed(error.to_string()))?;
    Ok(json!({ "hash": hash }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_hash_is_that_of_the_password() {
        let call = Call::parse("libext:///bcrypt/hash?password=opensesame").unwrap();
        let (first, second) = (hash(&call).unwrap(), hash(&call).unwrap());
        assert_ne!(first, second);
        assert!(bcrypt::verify("opensesame", first["hash"].as_str().unwrap()).unwrap());
        assert!(!bcrypt::verify("other", first["hash"].as_str().unwrap()).unwrap());
    }

    #[test]
    fn a_password_that_would_be_cut_off_is_refused() {
        let uri = format!("libext:///bcrypt/hash?password={}", "a".repeat(72));
        assert!(matches!(hash(&Call::parse(&uri).unwrap()), Err(CallError::Failed(_))));
    }
}
