//! The change of an update as RFC 6902, for providers that take patches.

use formwork_model::{Json, Path, Segment, Stored, same};
use indexmap::IndexMap;
use serde_json::json;
use std::sync::Arc;

/// The operations that turn what was sent before into what is sent now. Objects are compared
/// member by member, anything else as a whole; unchanged secrets compare by digest and are not
/// mentioned. `kept` are places where the provider keeps its own copy.
pub(crate) fn patch_document(prior: &Stored, desired: &Stored, filled: &Json, kept: &[Path]) -> Json {
    let mut operations = Vec::new();
    compare(&mut Path::root(), prior, desired, filled, kept, &mut operations);
    Json::Array(operations)
}

fn compare(
    path: &mut Path,
    prior: &Stored,
    desired: &Stored,
    filled: &Json,
    kept: &[Path],
    operations: &mut Vec<Json>,
) {
    if kept.contains(path) || same(&prior.comparable(), &desired.comparable()) {
        return;
    }
    let (Some(before), Some(after)) = (prior.members(), desired.members()) else {
        operations.extend(operation("replace", path, filled));
        return;
    };
    let after: IndexMap<Arc<str>, Stored> = after.into_iter().collect();
    let before: IndexMap<Arc<str>, Stored> = before.into_iter().collect();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        path.push(Segment::Key(name.clone()));
        if !kept.contains(path) {
            operations.push(json!({ "op": "remove", "path": path.pointer() }));
        }
        path.pop();
    }
    for (name, desired) in &after {
        path.push(Segment::Key(name.clone()));
        match before.get(name) {
            Some(prior) => compare(path, prior, desired, filled, kept, operations),
            None if kept.contains(path) => {}
            None => operations.extend(operation("add", path, filled)),
        }
        path.pop();
    }
}

fn operation(op: &str, path: &Path, filled: &Json) -> Option<Json> {
    path.get(filled).map(|value| json!({ "op": op, "path": path.pointer(), "value": value }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::{InstanceKey, StoredLeaf, digest_of};

    fn plain_patch(prior: Json, desired: Json) -> Json {
        let filled = desired.clone();
        patch_document(&Stored::Plain(prior), &Stored::Plain(desired), &filled, &[])
    }

    fn secret(value: &str) -> Stored {
        Stored::Leaf(StoredLeaf::Digest(digest_of(&InstanceKey::from_bytes([7; 32]), &json!(value))))
    }

    fn object(members: Vec<(&str, Stored)>) -> Stored {
        Stored::object(members.into_iter().map(|(name, member)| (name.into(), member)).collect())
    }

    #[test]
    fn equal_values_need_no_operation() {
        assert_eq!(
            plain_patch(json!({"a": 1, "b": {"c": [1]}}), json!({"b": {"c": [1]}, "a": 1.0})),
            json!([])
        );
    }

    #[test]
    fn members_are_removed_changed_and_added_and_arrays_replaced() {
        let patch = plain_patch(
            json!({"gone": 1, "tags": [1, 2], "nested": {"x": 1, "y": 2}, "kind": {"was": "object"}}),
            json!({"tags": [2], "nested": {"x": 1, "y": 3, "a/b~c": true}, "kind": "text"}),
        );
        assert_eq!(
            patch,
            json!([
                {"op": "remove", "path": "/gone"},
                {"op": "replace", "path": "/tags", "value": [2]},
                {"op": "replace", "path": "/nested/y", "value": 3},
                {"op": "add", "path": "/nested/a~1b~0c", "value": true},
                {"op": "replace", "path": "/kind", "value": "text"},
            ])
        );
    }

    #[test]
    fn a_secret_is_mentioned_only_if_it_changed() {
        let prior = object(vec![("same", secret("a")), ("changed", secret("b")), ("kept", secret("c"))]);
        let desired = object(vec![("same", secret("a")), ("changed", secret("d"))]);
        let filled = json!({"same": "a", "changed": "d"});
        assert_eq!(
            patch_document(&prior, &desired, &filled, &[Path::of(["kept"])]),
            json!([{"op": "replace", "path": "/changed", "value": "d"}])
        );
    }
}
