//! The spans of an object's members, in little room: a template has very many small objects.

use crate::SourceNode;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock};

/// Objects with more members than this are searched by an index.
const FEW: usize = 8;

/// The spans of an object's members, each under another name, in their order.
#[expect(clippy::box_collection, reason = "nearly no object has an index, so it must take no room")]
#[derive(Clone, Debug, Default)]
pub struct Members {
    entries: Vec<(Arc<str>, SourceNode)>,
    /// Where each name is; only for an object with many members.
    index: Option<Box<HashMap<Arc<str>, u32, Keyed>>>,
}

/// The hasher of [`Members`]: keyed once per process, since the keys are the user's and must not be
/// made to collide, and much faster than the standard one. It takes no room in the map.
#[derive(Clone, Copy, Debug, Default)]
struct Keyed;

impl BuildHasher for Keyed {
    type Hasher = ahash::AHasher;

    fn build_hasher(&self) -> ahash::AHasher {
        static KEYS: LazyLock<ahash::RandomState> = LazyLock::new(ahash::RandomState::new);
        KEYS.build_hasher()
    }
}

impl Members {
    /// The member of this name.
    pub fn get(&self, name: &str) -> Option<&SourceNode> {
        self.get_key_value(name).map(|(_, node)| node)
    }

    /// The member of this name, with its name as it is kept here, to be shared.
    pub fn get_key_value(&self, name: &str) -> Option<(&Arc<str>, &SourceNode)> {
        let at = match &self.index {
            Some(index) => *index.get(name)? as usize,
            None => self.entries.iter().position(|(known, _)| **known == *name)?,
        };
        self.get_index(at)
    }

    /// The member at a position.
    pub fn get_index(&self, at: usize) -> Option<(&Arc<str>, &SourceNode)> {
        self.entries.get(at).map(|(name, node)| (name, node))
    }

    /// The first member.
    pub fn first(&self) -> Option<(&Arc<str>, &SourceNode)> {
        self.get_index(0)
    }

    /// The members without their names, in order.
    pub fn values(&self) -> impl Iterator<Item = &SourceNode> {
        self.entries.iter().map(|(_, node)| node)
    }

    /// The members in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Arc<str>, SourceNode)> {
        self.entries.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl From<Vec<(Arc<str>, SourceNode)>> for Members {
    /// Of members of one name, the first is found by it.
    fn from(entries: Vec<(Arc<str>, SourceNode)>) -> Self {
        if entries.len() <= FEW {
            return Self { entries, index: None };
        }
        let mut index = HashMap::with_capacity_and_hasher(entries.len(), Keyed);
        for (at, (name, _)) in entries.iter().enumerate() {
            // A text of 4 GiB is refused, so there are fewer.
            index.entry(name.clone()).or_insert(u32::try_from(at).unwrap_or(u32::MAX));
        }
        Self { entries, index: Some(Box::new(index)) }
    }
}

impl FromIterator<(Arc<str>, SourceNode)> for Members {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, SourceNode)>>(members: I) -> Self {
        members.into_iter().collect::<Vec<_>>().into()
    }
}

impl<'a> IntoIterator for &'a Members {
    type Item = &'a (Arc<str>, SourceNode);
    type IntoIter = std::slice::Iter<'a, (Arc<str>, SourceNode)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Members {
    type Item = (Arc<str>, SourceNode);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(count: u32) -> Members {
        let node =
            |at| SourceNode { span: crate::Span { file: 0, start: at, end: at }, ..SourceNode::default() };
        (0..count).map(|at| (Arc::from(format!("m{at}")), node(at))).collect()
    }

    #[test]
    fn members_are_found_by_name_and_place_whether_few_or_many() {
        for count in [0, 1, 8, 9, 1000] {
            let members = members(count);
            for at in 0..count {
                let by_name = members.get(&format!("m{at}")).map(|node| node.span.start);
                let by_place = members.get_index(at as usize).map(|(_, node)| node.span.start);
                assert_eq!((by_name, by_place), (Some(at), Some(at)));
            }
            assert!(members.get("other").is_none());
            assert_eq!(members.values().count(), count as usize);
        }
    }
}
