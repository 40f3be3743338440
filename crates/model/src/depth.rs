//! How deep values may be nested: one bound for all that comes in, and one, made from it, for what is kept.
//!
//! **Architecture invariant:** whatever is accepted can be kept and read again. A journal that could not
//! be read would leave an operation that nobody can finish.

use crate::Json;
use serde::de::DeserializeOwned;

/// The most arrays and objects within each other of whatever comes in: requests, templates, and what
/// providers answer.
pub const INPUT_DEPTH: usize = 100;

/// What records put around the values they hold, at the most.
const AROUND: usize = 32;

/// The most arrays and objects within each other of a record. A [`Tree`](crate::Tree) is kept as two objects where
/// the value has one, down to a leaf.
pub const STORED_DEPTH: usize = 2 * INPUT_DEPTH + AROUND;

/// Why a text that was kept can't be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is nested deeper than anything that is kept.
    #[error("nested deeper than {STORED_DEPTH} levels")]
    TooDeep,
    /// It is no JSON, or not of what was wanted.
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// How many arrays and objects are within each other; 0 of a scalar.
pub fn depth(value: &Json) -> usize {
    // A stack of our own, since a provider decides how deep its answers are.
    let (mut deepest, mut pending) = (0, vec![(value, 1)]);
    while let Some((value, level)) = pending.pop() {
        match value {
            Json::Array(items) => pending.extend(items.iter().map(|item| (item, level + 1))),
            Json::Object(members) => pending.extend(members.values().map(|member| (member, level + 1))),
            _ => continue,
        }
        deepest = deepest.max(level);
    }
    deepest
}

/// Whether a JSON text is nested at most as deep as what is kept may be.
pub fn is_storable(text: &str) -> bool {
    let brackets = text.bytes().map(|byte| usize::from(byte == b'[' || byte == b'{')).sum::<usize>();
    // Nearly all texts have too few brackets to be too deep, and that is told quickly.
    brackets <= STORED_DEPTH || depth_of_text(text) <= STORED_DEPTH
}

/// Reads a text that [`is_storable`].
///
/// # Errors
/// [`Unreadable`].
pub fn read_stored<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    if !is_storable(text) {
        return Err(Unreadable::TooDeep);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // The parser would stop before `STORED_DEPTH`, which was checked.
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

fn depth_of_text(text: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ref, Stored, StoredLeaf};
    use serde_json::json;

    fn nested(levels: usize) -> Json {
        (0..levels).fold(json!(1), |inner, _| json!({ "n": inner }))
    }

    #[test]
    fn depth_counts_arrays_and_objects() {
        assert_eq!((depth(&json!(1)), depth(&json!({})), depth(&json!([1, { "a": [] }]))), (0, 1, 3));
        assert_eq!(depth(&nested(1000)), 1000);
        assert_eq!(depth_of_text(r#"{"a":"[[\"[{","b":[1,{"c":2}]}"#), 3);
        assert_eq!(depth_of_text("1"), 0);
    }

    #[test]
    fn a_value_of_the_greatest_depth_can_be_kept_with_a_leaf_at_its_bottom() {
        let leaf = StoredLeaf::Resolved { reference: Ref::native_id("A"), sent: json!("a_1") };
        let deepest = (0..INPUT_DEPTH)
            .fold(Stored::Leaf(leaf), |inner, _| Stored::object([("n".into(), inner)].into_iter().collect()));
        let text = serde_json::to_string(&deepest).expect("JSON");
        assert_eq!(read_stored::<Stored>(&text).expect("readable"), deepest);
        assert!(depth_of_text(&text) + AROUND / 2 <= STORED_DEPTH, "{}", depth_of_text(&text));
    }

    #[test]
    fn what_is_deeper_than_anything_kept_is_refused_before_it_is_parsed() {
        let bottom = nested(STORED_DEPTH).to_string();
        assert_eq!(read_stored::<Json>(&bottom).expect("readable"), nested(STORED_DEPTH));
        for deeper in [nested(STORED_DEPTH + 1).to_string(), "[".repeat(1_000_000)] {
            assert!(matches!(read_stored::<Json>(&deeper), Err(Unreadable::TooDeep)));
        }
        let wide = json!(vec![json!({}); 2 * STORED_DEPTH]).to_string();
        assert!(read_stored::<Json>(&wide).is_ok());
        assert!(matches!(read_stored::<Json>("[1] 2"), Err(Unreadable::Malformed(_))));
    }
}
