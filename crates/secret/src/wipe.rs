//! Overwriting a value in memory before it is let go.

use serde_json::Value;
use zeroize::Zeroize;

/// A value that can overwrite what it holds, leaving itself empty.
///
/// Only what the value holds now can be wiped: a buffer it outgrew earlier, or a copy made of it,
/// is beyond its reach.
pub trait Wipe {
    /// Overwrites the contents and leaves an empty value of the same kind.
    fn wipe(&mut self);
}

impl Wipe for String {
    fn wipe(&mut self) {
        self.zeroize();
    }
}

impl Wipe for Vec<u8> {
    fn wipe(&mut self) {
        self.zeroize();
    }
}

/// Strings and object keys are overwritten at any depth, containers cleared, numbers and booleans
/// set to `0` and `false`.
impl Wipe for Value {
    fn wipe(&mut self) {
        match self {
            Self::Null => {}
            Self::Bool(flag) => flag.zeroize(),
            Self::Number(number) => {
                *number = 0.into();
                std::hint::black_box(number);
            }
            Self::String(text) => text.zeroize(),
            Self::Array(items) => {
                items.iter_mut().for_each(Wipe::wipe);
                items.clear();
            }
            Self::Object(members) => {
                members.values_mut().for_each(Wipe::wipe);
                // Keys cannot be changed in place, so the map is taken apart to reach them.
                for (mut key, _) in std::mem::take(members) {
                    key.zeroize();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_wiped_string_is_empty() {
        let mut text = String::from("correct horse");
        text.wipe();
        assert_eq!(text, "");
    }

    #[test]
    fn a_wiped_byte_string_is_empty() {
        let mut bytes = b"correct horse".to_vec();
        bytes.wipe();
        assert!(bytes.is_empty());
    }

    #[test]
    fn every_kind_of_json_is_emptied() {
        for (mut value, emptied) in [
            (json!(null), json!(null)),
            (json!(true), json!(false)),
            (json!(8_675_309), json!(0)),
            (json!("correct horse"), json!("")),
            (json!(["a", ["b", {"c": "d"}]]), json!([])),
            (json!({"a": {"b": ["c"]}, "d": "e"}), json!({})),
        ] {
            value.wipe();
            assert_eq!(value, emptied);
        }
    }
}
