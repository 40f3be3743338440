//! Paths into values: one type, three spellings.

use crate::Json;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// One step of a [`Path`]. On the wire a key is a string and an index a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segment {
    /// A member of an object.
    Key(Arc<str>),
    /// An element of an array.
    Index(usize),
}

impl Segment {
    /// The place in an array that it names: a key that is a number is one too, since dotted paths
    /// (`items.0.uri`) can't tell the two apart.
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::Index(index) => Some(*index),
            Self::Key(key) => key.parse().ok(),
        }
    }
}

/// Where in a value: from its root, member by member. Displays dotted, as messages show it
/// (`resources.Bot.tags[0]`); serialises as the list of its segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The path of the value itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path of keys only.
    pub fn of<const N: usize>(keys: [&str; N]) -> Self {
        Self(keys.into_iter().map(|key| Segment::Key(key.into())).collect())
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether this is the path of the value itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// This path, one member deeper.
    #[must_use]
    pub fn key(&self, key: impl Into<Arc<str>>) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Key(key.into()));
        path
    }

    /// This path, one element deeper.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Index(index));
        path
    }

    /// Goes one step deeper in place; [`pop`](Self::pop) comes back.
    pub fn push(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    /// Comes back one step.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// This path followed by another.
    #[must_use]
    pub fn join(&self, rest: &Self) -> Self {
        Self(self.0.iter().chain(&rest.0).cloned().collect())
    }

    /// Whether `other` lies at or below this path.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The value at this path.
    pub fn get<'a>(&self, value: &'a Json) -> Option<&'a Json> {
        self.0.iter().try_fold(value, |value, segment| match (value, segment) {
            (Json::Object(members), Segment::Key(key)) => members.get(&**key),
            (Json::Array(items), segment) => items.get(segment.position()?),
            _ => None,
        })
    }

    /// The value at this path, to be changed.
    pub fn get_mut<'a>(&self, value: &'a mut Json) -> Option<&'a mut Json> {
        self.0.iter().try_fold(value, |value, segment| match segment {
            Segment::Key(key) => value.as_object_mut()?.get_mut(&**key),
            Segment::Index(index) => value.as_array_mut()?.get_mut(*index),
        })
    }

    /// The JSON pointer (RFC 6901) of this path.
    pub fn pointer(&self) -> String {
        let mut text = String::new();
        for segment in &self.0 {
            text.push('/');
            match segment {
                Segment::Key(key) => text.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Segment::Index(index) => text.push_str(&index.to_string()),
            }
        }
        text
    }
}

impl FromIterator<Segment> for Path {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        Self(segments.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if position == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_a_number_names_an_element_of_an_array() {
        let value = serde_json::json!({ "items": [{ "uri": "a" }], "ports": { "0": "b" } });
        let get = |path: Path| path.get(&value).and_then(Json::as_str);
        assert_eq!(get(Path::of(["items", "0", "uri"])), Some("a"));
        assert_eq!(get(Path::of(["ports", "0"])), Some("b"));
        assert_eq!(get(Path::of(["items", "x", "uri"])), None);
        assert_eq!(get(Path::of(["ports"]).index(0)), None);
    }

    #[test]
    fn the_three_spellings_agree() {
        let path = Path::of(["resources", "a/b~c"]).key("tags").index(0);
        assert_eq!(path.to_string(), "resources.a/b~c.tags[0]");
        assert_eq!(path.pointer(), "/resources/a~1b~0c/tags/0");
        let text = serde_json::to_string(&path).expect("a path serialises");
        assert_eq!(text, r#"["resources","a/b~c","tags",0]"#);
        assert_eq!(serde_json::from_str::<Path>(&text).expect("and comes back"), path);
    }
}
