//! Functions of the host, which a program calls by reading `libext:///<library>/<function>?<arguments>`.
//!
//! The answer is JSON: `{"Body": {…}}`, or `{"Error": "…"}` for what the caller can mend.

mod call;
mod crypto;
mod password_hash;
mod random;

use formwork_model::Secret;
use pkl_core::EvaluatorBuilder;
use pkl_core::host::{ReadError, Resource, ResourceReader};
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use call::Call;
use formwork_secret::SystemDraw;

/// The scheme of the functions.
pub const SCHEME: &str = "libext";

/// Why a function has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum CallError {
    #[error("there is no function `{function}` in the library `{library}`")]
    Unknown { library: String, function: String },
    #[error("the argument `{0}` is missing")]
    Missing(&'static str),
    #[error("the argument `{name}` must be {wanted}, not `{given}`")]
    Argument { name: &'static str, wanted: &'static str, given: String },
    #[error("{0}")]
    Failed(String),
}

/// Lets programs call the functions. No call's answer is kept: each is made anew.
pub fn add_to(builder: EvaluatorBuilder) -> EvaluatorBuilder {
    builder.volatile_resource_reader(LibraryReader::default())
}

/// The same, noting what was drawn.
pub fn add_noting(builder: EvaluatorBuilder, drawn: &Drawn) -> EvaluatorBuilder {
    builder.volatile_resource_reader(LibraryReader { drawn: Some(drawn.clone()) })
}

/// The values that functions drew by chance, which are others at the next evaluation.
#[derive(Clone, Default)]
pub struct Drawn(Arc<Mutex<Vec<Secret<String>>>>);

/// A shorter value stands in other texts by chance too.
const TELLING: usize = 6;
/// The most values that are noted.
const MOST: usize = 10_000;

impl Drawn {
    fn note(&self, answer: &Value) {
        match answer {
            Value::Object(members) => members.values().for_each(|member| self.note(member)),
            Value::String(text) if text.len() >= TELLING => {
                let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                if drawn.len() < MOST {
                    drawn.push(Secret::new(text.clone()));
                }
            }
            _ => {}
        }
    }

    /// Whether nothing was drawn.
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether a text has a drawn value in it.
    pub fn is_in(&self, text: &str) -> bool {
        let drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.iter().any(|value| text.contains(value.expose().as_str()))
    }
}

impl fmt::Debug for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drawn").finish_non_exhaustive()
    }
}

/// Answers calls as resources.
#[derive(Clone, Debug, Default)]
pub struct LibraryReader {
    drawn: Option<Drawn>,
}

impl ResourceReader for LibraryReader {
    fn scheme(&self) -> &str {
        SCHEME
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        let call = Call::parse(uri).ok_or_else(|| {
            ReadError::InvalidUri("Expected `libext:///<library>/<function>?<arguments>`.".to_owned())
        })?;
        let answer = match run(&call) {
            Ok(body) => {
                self.drawn.iter().for_each(|drawn| drawn.note(&body));
                json!({ "Body": body })
            }
            Err(error) => json!({ "Error": error.to_string() }),
        };
        Ok(Some(Resource::Bytes(answer.to_string().into_bytes().into())))
    }
}

fn run(call: &Call) -> Result<Value, CallError> {
    match (call.library.as_str(), call.function.as_str()) {
        ("random", "id") => random::id(call, &mut SystemDraw),
        ("random", "password") => random::password(call, &mut SystemDraw),
        ("bcrypt", "hash") => password_hash::hash(call),
        ("crypto", "keyPair") => crypto::key_pair(call),
        _ => Err(CallError::Unknown { library: call.library.clone(), function: call.function.clone() }),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn answer(uri: &str) -> Value {
        let Some(Resource::Bytes(bytes)) = LibraryReader::default().read(uri).unwrap() else {
            panic!("no bytes")
        };
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn a_call_answers_with_a_body() {
        let id = answer("libext:///random/id?length=18")["Body"]["id"].as_i64().unwrap();
        assert!((100_000_000_000_000_000..=999_999_999_999_999_999).contains(&id));
    }

    #[test]
    fn what_the_caller_can_mend_is_an_answer() {
        assert_eq!(
            answer("libext:///random/id?length=19"),
            json!({ "Error": "the argument `length` must be a whole number from 1 to 18, not `19`" })
        );
        assert_eq!(
            answer("libext:///random/no"),
            json!({ "Error": "there is no function `no` in the library `random`" })
        );
    }

    #[test]
    fn what_is_no_call_is_refused() {
        assert!(matches!(LibraryReader::default().read("libext:random"), Err(ReadError::InvalidUri(_))));
    }
}
