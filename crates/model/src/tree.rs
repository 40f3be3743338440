//! A value with special leaves: the shape that all phases of a value share.

use crate::{Json, Path, Segment};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What can stand in a [`Tree`] beside plain data.
pub trait Leaf: Clone {}

/// JSON in which some places hold a leaf `L` instead of data.
///
/// A subtree without leaves is one [`Tree::Plain`], so that large literal values cost nothing and
/// "is all of this known?" is one match. Build arrays and objects through [`Tree::array`] and
/// [`Tree::object`], which keep that promise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Tree<L> {
    /// Data, all of it known.
    #[serde(rename = "p")]
    Plain(Json),
    /// A special leaf.
    #[serde(rename = "l")]
    Leaf(L),
    /// An array with at least one leaf below it.
    #[serde(rename = "a")]
    Array(Vec<Tree<L>>),
    /// An object with at least one leaf below it.
    #[serde(rename = "o")]
    Object(IndexMap<Arc<str>, Tree<L>>),
}

impl<L> Default for Tree<L> {
    fn default() -> Self {
        Self::Plain(Json::Null)
    }
}

impl<L> From<Json> for Tree<L> {
    fn from(value: Json) -> Self {
        Self::Plain(value)
    }
}

impl<L> Tree<L> {
    /// An array; plain if all its elements are.
    pub fn array(items: Vec<Self>) -> Self {
        if items.iter().all(|item| matches!(item, Self::Plain(_))) {
            return Self::Plain(items.into_iter().filter_map(Self::into_plain).collect());
        }
        Self::Array(items)
    }

    /// An object; plain if all its members are.
    pub fn object(members: IndexMap<Arc<str>, Self>) -> Self {
        if members.values().all(|member| matches!(member, Self::Plain(_))) {
            let plain =
                members.into_iter().filter_map(|(key, member)| Some((key.to_string(), member.into_plain()?)));
            return Self::Plain(Json::Object(plain.collect()));
        }
        Self::Object(members)
    }

    /// An object without members.
    pub fn empty_object() -> Self {
        Self::Plain(Json::Object(serde_json::Map::new()))
    }

    /// The data, if no leaf is in it.
    pub fn as_plain(&self) -> Option<&Json> {
        match self {
            Self::Plain(value) => Some(value),
            _ => None,
        }
    }

    /// The data, if no leaf is in it.
    pub fn into_plain(self) -> Option<Json> {
        match self {
            Self::Plain(value) => Some(value),
            _ => None,
        }
    }

    /// Visits every leaf with its path, depth first, in order.
    pub fn for_each_leaf(&self, visit: &mut impl FnMut(&Path, &L)) {
        self.walk(&mut Path::root(), visit);
    }

    fn walk(&self, path: &mut Path, visit: &mut impl FnMut(&Path, &L)) {
        match self {
            Self::Plain(_) => {}
            Self::Leaf(leaf) => visit(path, leaf),
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    path.push(Segment::Index(index));
                    item.walk(path, visit);
                    path.pop();
                }
            }
            Self::Object(members) => {
                for (key, member) in members {
                    path.push(Segment::Key(key.clone()));
                    member.walk(path, visit);
                    path.pop();
                }
            }
        }
    }
}

impl<L> Tree<L> {
    /// Puts a leaf in place of the plain data at a path. Where there is none, or a leaf is there or
    /// above already, nothing changes.
    pub fn replace_plain(&mut self, path: &Path, leaf: impl FnOnce(Json) -> L) {
        let mut tree = self;
        for segment in path.segments() {
            tree.open();
            let child = match (tree, segment) {
                (Self::Object(members), Segment::Key(key)) => members.get_mut(key),
                (Self::Array(items), Segment::Index(index)) => items.get_mut(*index),
                _ => None,
            };
            match child {
                Some(child) => tree = child,
                None => return,
            }
        }
        if let Self::Plain(value) = tree {
            let value = std::mem::take(value);
            *tree = Self::Leaf(leaf(value));
        }
    }

    /// Plain data as a node whose children can be replaced.
    fn open(&mut self) {
        match self {
            Self::Plain(Json::Object(members)) => {
                let members = std::mem::take(members).into_iter();
                *self = Self::Object(members.map(|(key, value)| (key.into(), Self::Plain(value))).collect());
            }
            Self::Plain(Json::Array(items)) => {
                *self = Self::Array(std::mem::take(items).into_iter().map(Self::Plain).collect());
            }
            _ => {}
        }
    }
}

impl<L: Clone> Tree<L> {
    /// The subtree at a member or element, cut out of plain data where needed.
    pub fn child(&self, segment: &Segment) -> Option<Self> {
        match (self, segment) {
            (Self::Plain(value), Segment::Key(key)) => {
                value.as_object()?.get(&**key).cloned().map(Self::Plain)
            }
            (Self::Plain(value), Segment::Index(index)) => {
                value.as_array()?.get(*index).cloned().map(Self::Plain)
            }
            (Self::Object(members), Segment::Key(key)) => members.get(key).cloned(),
            (Self::Array(items), Segment::Index(index)) => items.get(*index).cloned(),
            _ => None,
        }
    }

    /// The subtree at a path.
    pub fn at(&self, path: &Path) -> Option<Self> {
        path.segments().iter().try_fold(self.clone(), |tree, segment| tree.child(segment))
    }

    /// The member names and subtrees of an object; `None` if this is no object.
    pub fn members(&self) -> Option<Vec<(Arc<str>, Self)>> {
        match self {
            Self::Plain(Json::Object(members)) => Some(
                members
                    .iter()
                    .map(|(key, value)| (key.as_str().into(), Self::Plain(value.clone())))
                    .collect(),
            ),
            Self::Object(members) => {
                Some(members.iter().map(|(key, member)| (key.clone(), member.clone())).collect())
            }
            _ => None,
        }
    }

    /// Turns each leaf into a subtree of another phase, or drops its member (an array element
    /// that is dropped leaves no gap). The first error ends the walk.
    pub fn try_map<M, E>(
        &self,
        map: &mut impl FnMut(&Path, &L) -> Result<Option<Tree<M>>, E>,
    ) -> Result<Option<Tree<M>>, E> {
        self.map_at(&mut Path::root(), map)
    }

    fn map_at<M, E>(
        &self,
        path: &mut Path,
        map: &mut impl FnMut(&Path, &L) -> Result<Option<Tree<M>>, E>,
    ) -> Result<Option<Tree<M>>, E> {
        match self {
            Self::Plain(value) => Ok(Some(Tree::Plain(value.clone()))),
            Self::Leaf(leaf) => map(path, leaf),
            Self::Array(items) => {
                let mut mapped = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    path.push(Segment::Index(index));
                    let item = item.map_at(path, map);
                    path.pop();
                    mapped.extend(item?);
                }
                Ok(Some(Tree::array(mapped)))
            }
            Self::Object(members) => {
                let mut mapped = IndexMap::with_capacity(members.len());
                for (key, member) in members {
                    path.push(Segment::Key(key.clone()));
                    let member = member.map_at(path, map);
                    path.pop();
                    if let Some(member) = member? {
                        mapped.insert(key.clone(), member);
                    }
                }
                Ok(Some(Tree::object(mapped)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    type T = Tree<u8>;

    #[test]
    fn a_subtree_without_leaves_is_plain() {
        let tree = T::object([("a".into(), T::array(vec![json!(1).into()]))].into_iter().collect());
        assert_eq!(tree, T::Plain(json!({"a": [1]})));
    }

    #[test]
    fn plain_data_at_a_path_becomes_a_leaf() {
        let mut tree = T::Plain(json!({"a": [1, {"b": 2}], "c": 3}));
        let path = Path::of(["a"]).index(1).key("b");
        let mut seen = None;
        tree.replace_plain(&path, |value| {
            seen = Some(value);
            7
        });
        assert_eq!(seen, Some(json!(2)));
        let mut leaves = Vec::new();
        tree.for_each_leaf(&mut |path, leaf| leaves.push((path.to_string(), *leaf)));
        assert_eq!(leaves, [("a[1].b".to_owned(), 7)]);
        assert_eq!(tree.at(&Path::of(["c"])), Some(T::Plain(json!(3))));
        tree.replace_plain(&path.key("deeper"), |_| unreachable!("a leaf is there already"));
        tree.replace_plain(&Path::of(["nothing"]), |_| unreachable!("there is no data"));
    }

    #[test]
    fn leaves_are_found_mapped_and_dropped() {
        let tree = T::object(
            [("a".into(), T::array(vec![json!(1).into(), T::Leaf(7)])), ("b".into(), T::Leaf(9))]
                .into_iter()
                .collect(),
        );
        let mut seen = Vec::new();
        tree.for_each_leaf(&mut |path, leaf| seen.push((path.to_string(), *leaf)));
        assert_eq!(seen, [("a[1]".to_owned(), 7), ("b".to_owned(), 9)]);
        let mapped: Result<Option<T>, ()> =
            tree.try_map(&mut |_, leaf| Ok((*leaf == 9).then(|| json!("nine").into())));
        assert_eq!(mapped, Ok(Some(T::Plain(json!({"a": [1], "b": "nine"})))));
    }
}
