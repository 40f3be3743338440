//! The change of an update as RFC 6902, for providers that take patches.

use formwork_model::{FieldHint, Json, NestedHints, Path, Schema, Segment, Stored, same};
use formwork_planner::is_same;
use serde_json::json;

/// What a patch is made from, besides what is there and what should be.
pub(crate) struct Patcher<'a> {
    /// What the type says of its properties.
    pub(crate) schema: &'a Schema,
    /// What was sent last: only that is taken away again.
    pub(crate) sent: &'a Stored,
    /// What should be there with all its secrets.
    pub(crate) filled: &'a Json,
    /// Where the provider keeps its own copy.
    pub(crate) kept: &'a [Path],
}

/// What is said of a value, and of the keys within it.
type Said<'a> = (Option<&'a FieldHint>, Option<&'a NestedHints>);

impl<'a> Patcher<'a> {
    /// The operations that turn what is there into what is sent now, in the order of the declaration, after those that
    /// take something away. Objects are compared member by member, anything else as a whole and as the hints say;
    /// unchanged secrets compare by digest. What cannot change in place is not mentioned, what must come with every
    /// update always is.
    pub(crate) fn document(&self, prior: &Stored, desired: &Stored) -> Json {
        let mut operations = Vec::new();
        let said = |name: &str| -> Said<'a> {
            let property = self.schema.property(name);
            property.map_or((None, None), |it| (Some(&it.hint), it.within.as_deref()))
        };
        self.members(&mut Path::root(), &said, prior, desired, &mut operations);
        Json::Array(operations)
    }

    /// Compares two objects, with what is said of each key; false if they aren't two.
    fn members(
        &self,
        path: &mut Path,
        said: &dyn Fn(&str) -> Said<'a>,
        prior: &Stored,
        desired: &Stored,
        operations: &mut Vec<Json>,
    ) -> bool {
        let (Some(before), Some(after)) = (prior.members(), desired.members()) else { return false };
        for (name, _) in
            before.iter().filter(|(name, _)| desired.child(&Segment::Key(name.clone())).is_none())
        {
            path.push(Segment::Key(name.clone()));
            let stays = said(name).0.is_some_and(|hint| hint.has_provider_default || hint.create_only);
            if !stays && !self.kept.contains(path) && self.sent.at(path).is_some() {
                operations.push(json!({ "op": "remove", "path": path.pointer() }));
            }
            path.pop();
        }
        for (name, desired) in &after {
            path.push(Segment::Key(name.clone()));
            let prior = prior.child(&Segment::Key(name.clone()));
            self.member(path, said(name), prior.as_ref(), desired, operations);
            path.pop();
        }
        true
    }

    fn member(
        &self,
        path: &mut Path,
        (hint, within): Said<'a>,
        prior: Option<&Stored>,
        desired: &Stored,
        operations: &mut Vec<Json>,
    ) {
        if hint.is_some_and(|hint| hint.create_only) || self.kept.contains(path) {
            return;
        }
        let always = hint.is_some_and(|hint| hint.required_on_update);
        let Some(prior) = prior else { return operations.extend(self.operation("add", path)) };
        let unchanged = match hint.zip(within) {
            Some((hint, within)) => is_same(hint, within, desired, prior),
            None => same(&prior.comparable(), &desired.comparable()),
        };
        let always_within = within.is_some_and(|within| within.has(&|hint| hint.required_on_update));
        if unchanged && !always_within {
            return operations.extend(always.then(|| self.operation("add", path)).flatten());
        }
        let said = |name: &str| -> Said<'a> {
            let key = within.map(|within| within.key(name));
            key.map_or((None, None), |key| (Some(&key.hint), Some(&key.within)))
        };
        let goes_within = !always && !is_atomic(hint);
        if !(goes_within && self.members(path, &said, prior, desired, operations)) && (always || !unchanged) {
            operations.extend(self.operation(if unchanged { "add" } else { "replace" }, path));
        }
    }

    fn operation(&self, op: &str, path: &Path) -> Option<Json> {
        let value = path.get(self.filled)?;
        Some(json!({ "op": op, "path": path.pointer(), "value": value }))
    }
}

fn is_atomic(hint: Option<&FieldHint>) -> bool {
    hint.is_some_and(|hint| hint.update_method == formwork_model::UpdateMethod::Atomic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::{
        IndexBy, InstanceKey, Kind, NestedKey, PropertySchema, StoredLeaf, UpdateMethod, digest_of,
    };

    fn hint(set: impl FnOnce(&mut FieldHint)) -> FieldHint {
        let mut hint = NestedKey::plain().hint.clone();
        set(&mut hint);
        hint
    }

    /// `spec` and `rules` say what is within them; all other properties are plain.
    fn schema() -> Schema {
        let mut within = NestedHints::default();
        within.insert(["fixed"], hint(|hint| hint.create_only = true));
        within.insert(["mode"], hint(|hint| hint.has_provider_default = true));
        within.insert(["always"], hint(|hint| hint.required_on_update = true));
        within.insert(["whole"], hint(|hint| hint.update_method = UpdateMethod::Atomic));
        let plain = || PropertySchema::new(Kind::Any, "A value.");
        let by_id = UpdateMethod::EntitySet(IndexBy(Path::of(["id"])));
        let properties = [
            ("spec", PropertySchema { within: Some(Box::new(within)), ..plain() }),
            (
                "rules",
                PropertySchema {
                    hint: hint(|hint| hint.update_method = by_id),
                    within: Some(Box::default()),
                    ..plain()
                },
            ),
            ("fixed", plain().create_only()),
            ("mode", plain().default("auto")),
            ("always", PropertySchema { hint: hint(|hint| hint.required_on_update = true), ..plain() }),
        ];
        Schema {
            type_name: "thing".into(),
            doc: "".into(),
            properties: properties.into_iter().map(|(name, property)| (name.into(), property)).collect(),
        }
    }

    fn patch(prior: &Stored, sent: &Stored, desired: &Stored, filled: &Json, kept: &[Path]) -> Json {
        Patcher { schema: &schema(), sent, filled, kept }.document(prior, desired)
    }

    fn plain_patch(prior: Json, desired: Json) -> Json {
        let (prior, sent) = (Stored::Plain(prior), Stored::Plain(desired));
        let Stored::Plain(filled) = &sent else { unreachable!("it was just made") };
        patch(&prior, &prior, &sent, filled, &[])
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
            patch(&prior, &prior, &desired, &filled, &[Path::of(["kept"])]),
            json!([{"op": "replace", "path": "/changed", "value": "d"}])
        );
    }

    #[test]
    fn what_must_come_with_every_update_does_at_any_depth() {
        let value = || json!({"always": "a", "spec": {"always": [1], "x": 1}, "y": 1});
        let resent = json!([
            {"op": "add", "path": "/always", "value": "a"},
            {"op": "add", "path": "/spec/always", "value": [1]},
        ]);
        assert_eq!(plain_patch(value(), value()), resent);
        let changed = json!({"always": "b", "spec": {"always": [1], "x": 1}});
        assert_eq!(
            plain_patch(value(), changed),
            json!([
                {"op": "remove", "path": "/y"},
                {"op": "replace", "path": "/always", "value": "b"},
                {"op": "add", "path": "/spec/always", "value": [1]},
            ])
        );
    }

    #[test]
    fn what_cannot_change_in_place_is_not_mentioned() {
        let prior = json!({"fixed": 1, "spec": {"fixed": 1, "x": 1}});
        assert_eq!(
            plain_patch(prior, json!({"fixed": 2, "spec": {"fixed": 2, "x": 2}})),
            json!([{"op": "replace", "path": "/spec/x", "value": 2}])
        );
    }

    #[test]
    fn only_what_was_sent_is_taken_away_and_nothing_that_the_provider_chooses() {
        let prior = Stored::Plain(json!({
            "arn": "a", "mode": "m", "gone": 1, "spec": {"arn": "b", "mode": "m", "gone": 1, "x": 1},
        }));
        let sent = Stored::Plain(json!({"mode": "m", "gone": 1, "spec": {"mode": "m", "gone": 1, "x": 1}}));
        let desired = json!({"spec": {"x": 1}});
        assert_eq!(
            patch(&prior, &sent, &Stored::Plain(desired.clone()), &desired, &[]),
            json!([{"op": "remove", "path": "/gone"}, {"op": "remove", "path": "/spec/gone"}])
        );
    }

    #[test]
    fn collections_compare_as_their_hints_say() {
        let prior =
            json!({"spec": {"tags": [1, 2], "whole": {"a": 1, "b": 1}}, "rules": [{"id": 1}, {"id": 2}]});
        let same =
            json!({"spec": {"tags": [2, 1], "whole": {"b": 1, "a": 1}}, "rules": [{"id": 2}, {"id": 1}]});
        assert_eq!(plain_patch(prior.clone(), same), json!([]));
        let other =
            json!({"spec": {"tags": [2], "whole": {"b": 2, "a": 1}}, "rules": [{"id": 2, "x": null}]});
        assert_eq!(
            plain_patch(prior, other),
            json!([
                {"op": "replace", "path": "/spec/tags", "value": [2]},
                {"op": "replace", "path": "/spec/whole", "value": {"b": 2, "a": 1}},
                {"op": "replace", "path": "/rules", "value": [{"id": 2, "x": null}]},
            ])
        );
    }

    /// Defect 25 of the reference: null loses its operation's `value`, and operations have no order.
    #[test]
    fn defect_25_null_is_a_value_and_operations_have_an_order() {
        let prior = json!({"b": 1, "a": [null], "c": {"z": 1, "y": 1}});
        let desired = json!({"c": {"y": 2, "z": null}, "a": [null], "b": null, "n": null});
        assert_eq!(
            plain_patch(prior, desired),
            json!([
                {"op": "replace", "path": "/c/y", "value": 2},
                {"op": "replace", "path": "/c/z", "value": null},
                {"op": "replace", "path": "/b", "value": null},
                {"op": "add", "path": "/n", "value": null},
            ])
        );
    }
}
