//! JSON as the common ground of both front ends: equality, canonical form, hashing.

use sha2::{Digest as _, Sha256};

/// A JSON value. Integers keep 64-bit exactness; object keys keep their order.
pub type Json = serde_json::Value;

/// Whether two values are the same: structural, key order aside, `1` equal to `1.0`, array order
/// significant, `null` distinct from absent (seed 4, "Plan Diff": a declared property is compared
/// structurally).
pub fn same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Number(a), Json::Number(b)) => same_number(a, b),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

fn same_number(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    if let (Some(a), Some(b)) = (integer(a), integer(b)) {
        return a == b;
    }
    a.as_f64() == b.as_f64() && integer(a).is_none() == integer(b).is_none()
}

/// The number as an integer, if it is a whole one that an integer holds exactly.
fn integer(number: &serde_json::Number) -> Option<i128> {
    if let Some(value) = number.as_i64() {
        return Some(i128::from(value));
    }
    if let Some(value) = number.as_u64() {
        return Some(i128::from(value));
    }
    let float = number.as_f64()?;
    // Every whole f64 below 2^96 converts exactly; larger ones stay floats.
    #[expect(clippy::cast_possible_truncation, reason = "guarded by the range check")]
    (float.fract() == 0.0 && float.abs() < 7.9e28).then_some(float as i128)
}

/// The canonical text of a value: keys sorted, no spaces, whole numbers without a fraction. Two
/// values have the same canonical text exactly if they are [`same`].
pub fn canonical(value: &Json) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

/// [`canonical`] as bytes, for hashing and keyed digests.
pub fn canonical_bytes(value: &Json) -> Vec<u8> {
    canonical(value).into_bytes()
}

fn write_canonical(value: &Json, out: &mut String) {
    match value {
        Json::Number(number) => match integer(number) {
            Some(whole) => out.push_str(&whole.to_string()),
            None => out.push_str(&number.to_string()),
        },
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Json::String(key.clone()).to_string());
                out.push(':');
                write_canonical(member, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// The SHA-256 of some bytes as 64 hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = Sha256::digest(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_compare_by_value_and_keep_64_bits() {
        assert!(same(&json!(1), &json!(1.0)));
        assert!(!same(&json!(1), &json!(1.5)));
        assert!(!same(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(same(&json!(u64::MAX), &json!(u64::MAX)));
        assert!(!same(&json!(i64::MAX), &json!(u64::MAX)));
        assert!(same(&json!(0.1), &json!(0.1)));
        assert!(same(&json!(-0.0), &json!(0)));
    }

    #[test]
    fn structure_compares_without_key_order_but_with_array_order() {
        assert!(same(&json!({"a": 1, "b": [1, {"c": null}]}), &json!({"b": [1.0, {"c": null}], "a": 1})));
        assert!(!same(&json!([1, 2]), &json!([2, 1])));
        assert!(!same(&json!({"a": null}), &json!({})));
    }

    #[test]
    fn canonical_text_agrees_with_sameness() {
        let values = [
            json!(1),
            json!(1.0),
            json!(-0.0),
            json!(0),
            json!(1e21),
            json!(1.5),
            json!("1"),
            json!(null),
            json!({"b": 1, "a": 2}),
            json!({"a": 2, "b": 1.0}),
            json!([1]),
            json!({"a": "é\n"}),
            json!(9_007_199_254_740_993_u64),
            json!(9_007_199_254_740_992.0),
            json!(1e300),
        ];
        for a in &values {
            for b in &values {
                assert_eq!(same(a, b), canonical(a) == canonical(b), "{a} / {b}");
            }
        }
    }
}
