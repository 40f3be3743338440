//! The places of a forma's values, beside its JSON.
//!
//! All nodes stand in one flat list, each before what is in it: seven numbers, then its members, each after its name.
//! A list that is nested like the values would be too deep for readers of JSON.

use formwork_model::{Children, Json, Members, SourceFile, SourceMap, SourceNode, Span};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How deep values may be nested.
const DEEPEST: usize = 256;

/// The places of a forma's values.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct Places {
    files: Vec<File>,
    nodes: Vec<Item>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct File {
    name: Arc<str>,
    text: Arc<str>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Item {
    Number(u32),
    Name(Arc<str>),
}

/// Why a list is none of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the places of the forma are not well formed")]
pub struct Malformed;

/// No name.
const NONE: u32 = u32::MAX;

impl Places {
    /// The places of a source map.
    pub fn of(map: &SourceMap) -> Self {
        let files = map.files.iter().map(|file| File { name: file.name.clone(), text: file.text.clone() });
        let mut places = Self { files: files.collect(), nodes: Vec::new() };
        places.push(&map.root);
        places
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn push(&mut self, node: &SourceNode) {
        let (key_start, key_end) = node.key.map_or((NONE, NONE), |key| (key.start, key.end));
        let (kind, count) = match &node.children {
            Children::None => (0, 0),
            Children::Object(members) => (1, members.len()),
            Children::Array(items) => (2, items.len()),
        };
        let span = node.span;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let numbers = [u32::from(span.file), span.start, span.end, key_start, key_end, kind, count];
        self.nodes.extend(numbers.map(Item::Number));
        match &node.children {
            Children::None => {}
            Children::Object(members) => {
                for (name, member) in members {
                    self.nodes.push(Item::Name(Arc::clone(name)));
                    self.push(member);
                }
            }
            Children::Array(items) => items.iter().for_each(|item| self.push(item)),
        }
    }

    /// The source map.
    ///
    /// # Errors
    /// If the list is not one that [`of`](Self::of) makes.
    pub fn into_map(self) -> Result<SourceMap, Malformed> {
        let mut items = self.nodes.into_iter();
        let root = node(&mut items, 0)?;
        if items.next().is_some() {
            return Err(Malformed);
        }
        let files = self.files.into_iter().map(|file| SourceFile::new(file.name, file.text));
        Ok(SourceMap { files: files.collect(), root })
    }
}

fn node(items: &mut std::vec::IntoIter<Item>, depth: usize) -> Result<SourceNode, Malformed> {
    if depth > DEEPEST {
        return Err(Malformed);
    }
    let mut number = || match items.next() {
        Some(Item::Number(number)) => Ok(number),
        _ => Err(Malformed),
    };
    let [file, start, end, key_start, key_end, kind, count] =
        [number()?, number()?, number()?, number()?, number()?, number()?, number()?];
    let file = u16::try_from(file).map_err(|_| Malformed)?;
    let key = (key_start != NONE).then_some(Span { file, start: key_start, end: key_end });
    // Each member takes some items, so a count of more is a lie.
    let count = usize::try_from(count).ok().filter(|count| *count <= items.len()).ok_or(Malformed)?;
    let children = match kind {
        0 => Children::None,
        1 => {
            let mut members = Vec::with_capacity(count);
            for _ in 0..count {
                let Some(Item::Name(name)) = items.next() else { return Err(Malformed) };
                members.push((name, node(items, depth + 1)?));
            }
            Children::Object(Members::from(members))
        }
        2 => Children::Array((0..count).map(|_| node(items, depth + 1)).collect::<Result<_, _>>()?),
        _ => return Err(Malformed),
    };
    Ok(SourceNode { span: Span { file, start, end }, key, children })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use formwork_model::Path;

    fn map() -> SourceMap {
        let leaf =
            |start| SourceNode { span: Span { file: 0, start, end: start + 1 }, ..SourceNode::default() };
        let named = SourceNode { key: Some(Span { file: 0, start: 4, end: 5 }), ..leaf(6) };
        let items = SourceNode { children: Children::Array(vec![leaf(2), named]), ..leaf(1) };
        let members = vec![(Arc::from("a"), items), (Arc::from("b"), leaf(3))];
        SourceMap {
            files: vec![SourceFile::new("main.pkl", "0123456789")],
            root: SourceNode { children: Children::Object(Members::from(members)), ..SourceNode::default() },
        }
    }

    #[test]
    fn places_come_back_as_they_were() {
        let json = Places::of(&map()).to_json().to_string();
        let back = serde_json::from_str::<Places>(&json).unwrap().into_map().unwrap();
        for path in [Path::of(["a"]), Path::of(["a"]).index(0), Path::of(["a"]).index(1), Path::of(["b"])] {
            assert_eq!(back.place(&path), map().place(&path), "{path}");
            assert_eq!(back.key_place(&path), map().key_place(&path), "{path}");
        }
    }

    #[test]
    fn what_is_no_list_of_places_is_refused() {
        for nodes in [
            "[]",
            "[0,0,0]",
            "[0,0,0,0,0,2,9]",
            "[0,0,0,0,0,9,0]",
            "[0,0,0,0,0,0,0,1]",
            "[70000,0,0,0,0,0,0]",
        ] {
            let places: Places =
                serde_json::from_str(&format!("{{\"Files\":[],\"Nodes\":{nodes}}}")).unwrap();
            assert_eq!(places.into_map().err(), Some(Malformed), "{nodes}");
        }
    }
}
