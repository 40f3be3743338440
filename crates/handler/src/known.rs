//! What is known of declared properties before all of their references are.

use formwork_model::{Expr, ExprLeaf, Json, Path, Secret, Segment, Tree};

/// Properties of which some places may not be known yet. They may hold secrets in the clear, so
/// they can't be printed.
#[derive(Clone, Debug)]
pub struct Known {
    /// The properties; null at every place that is not known.
    value: Secret<Json>,
    /// The places that are not known.
    unknown: Vec<Path>,
}

impl Known {
    /// What is known of a declaration: its data and its secrets, not its references.
    pub fn of(declared: &Expr) -> Self {
        let mut unknown = Vec::new();
        let value = Secret::new(read(declared, &mut Path::root(), &mut unknown));
        Self { value, unknown }
    }

    /// Properties as they are sent, but for some places of which the handler keeps its own copy.
    pub(crate) fn but_for(sent: &Secret<Json>, kept: &[Path]) -> Self {
        let mut value = sent.clone().into_exposed();
        for path in kept {
            hold_open(&mut value, path);
        }
        Self { value: Secret::new(value), unknown: kept.to_vec() }
    }

    /// The properties, null at every place that is not known.
    pub(crate) fn value(&self) -> &Json {
        self.value.expose()
    }

    /// The places that are not known.
    pub(crate) fn unknown(&self) -> &[Path] {
        &self.unknown
    }

    /// The properties without the members that are not known, and which ones those are. A list of
    /// which an element is not known is left out as a whole: without it the others would stand
    /// elsewhere.
    pub fn without_unknown(self) -> (Secret<Json>, Vec<Path>) {
        let mut value = self.value.into_exposed();
        let mut left_out: Vec<Path> = self.unknown.iter().map(member_above).collect();
        left_out.dedup();
        for path in &left_out {
            remove(&mut value, path);
        }
        (Secret::new(value), left_out)
    }
}

fn read(declared: &Expr, path: &mut Path, unknown: &mut Vec<Path>) -> Json {
    match declared {
        Tree::Plain(value) => value.clone(),
        Tree::Leaf(ExprLeaf::Secret(secret)) => secret.expose().clone(),
        Tree::Leaf(ExprLeaf::Once(inner)) => read(inner, path, unknown),
        Tree::Leaf(ExprLeaf::Ref(_) | ExprLeaf::Template(_) | ExprLeaf::KeepPrevious) => {
            unknown.push(path.clone());
            Json::Null
        }
        Tree::Array(items) => {
            let read_item = |(index, item)| {
                path.push(Segment::Index(index));
                let item = read(item, path, unknown);
                path.pop();
                item
            };
            items.iter().enumerate().map(read_item).collect()
        }
        Tree::Object(members) => {
            let read_member = |(name, member): (&std::sync::Arc<str>, &Expr)| {
                path.push(Segment::Key(name.clone()));
                let member = read(member, path, unknown);
                path.pop();
                (name.to_string(), member)
            };
            Json::Object(members.iter().map(read_member).collect())
        }
    }
}

/// Puts a null where a member is kept, so that it does not count as missing.
fn hold_open(value: &mut Json, path: &Path) {
    let Some((Segment::Key(last), above)) = path.segments().split_last() else { return };
    let above: Path = above.iter().cloned().collect();
    if let Some(Json::Object(members)) = above.get_mut(value) {
        members.entry(last.to_string()).or_insert(Json::Null);
    }
}

/// The path of the innermost member that a place is, or is in.
fn member_above(path: &Path) -> Path {
    let is_key = |segment: &Segment| matches!(segment, Segment::Key(_));
    let length = path.segments().iter().rposition(is_key).map_or(0, |last| last + 1);
    path.segments()[..length].iter().cloned().collect()
}

fn remove(value: &mut Json, path: &Path) {
    let Some((Segment::Key(last), above)) = path.segments().split_last() else { return };
    let above: Path = above.iter().cloned().collect();
    if let Some(Json::Object(members)) = above.get_mut(value) {
        members.shift_remove(&**last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn unknown() -> Expr {
        Expr::Leaf(ExprLeaf::KeepPrevious)
    }

    fn object(members: Vec<(&str, Expr)>) -> Expr {
        Expr::object(members.into_iter().map(|(name, member)| (name.into(), member)).collect())
    }

    #[test]
    fn expressions_are_unknown_and_secrets_are_known() {
        let secret = Expr::Leaf(ExprLeaf::Secret(Secret::new(json!("pw"))));
        let tags = Expr::array(vec![json!("a").into(), unknown()]);
        let known = Known::of(&object(vec![("token", secret), ("tags", tags), ("n", json!(1).into())]));
        assert_eq!(*known.value(), json!({"token": "pw", "tags": ["a", null], "n": 1}));
        assert_eq!(known.unknown(), [Path::of(["tags"]).index(1)]);
        assert!(!format!("{known:?}").contains("pw"));
    }

    #[test]
    fn what_is_unknown_is_left_out_whole() {
        let tags = Expr::array(vec![json!("a").into(), unknown(), unknown()]);
        let inner = object(vec![("id", unknown()), ("kept", json!(2).into())]);
        let known = Known::of(&object(vec![("tags", tags), ("inner", inner)]));
        let (value, left_out) = known.without_unknown();
        assert_eq!(*value.expose(), json!({"inner": {"kept": 2}}));
        assert_eq!(left_out, [Path::of(["tags"]), Path::of(["inner", "id"])]);
    }

    #[test]
    fn a_kept_member_does_not_count_as_missing() {
        let sent = Secret::new(json!({"name": "a"}));
        let known = Known::but_for(&sent, &[Path::of(["token"])]);
        assert_eq!(*known.value(), json!({"name": "a", "token": null}));
    }
}
