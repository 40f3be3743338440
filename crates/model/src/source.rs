//! Where values came from: spans beside values, unbroken from the parser to every message.

use crate::{Members, Path, Segment};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A range of bytes in a source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// Index into [`SourceMap::files`].
    pub file: u16,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

/// A source file with its text, so that messages can show the line.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name as the user wrote it.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// The byte at which each line starts.
    line_starts: Arc<[u32]>,
    /// How many characters begin before each block of the text: a column is found in no more than a
    /// block's time, however long its line is.
    characters: Arc<[u32]>,
}

/// How many bytes a block of [`SourceFile::characters`] has.
const BLOCK: usize = 1024;

impl SourceFile {
    /// A file from its name and text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| clamp(at + 1)));
        let line_starts = starts.collect();
        let blocks = text.as_bytes().chunks(BLOCK);
        let counts = blocks.scan(0, |before, block| {
            *before += characters_in(block);
            Some(clamp(*before))
        });
        let characters = std::iter::once(0).chain(counts).collect();
        Self { name: name.into(), text, line_starts, characters }
    }

    /// Line and column (both from 1; the column counts characters) of a byte.
    pub fn line_column(&self, byte: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|start| *start <= byte).max(1);
        let start = self.line_starts[line - 1];
        let before = self.characters_before(byte).saturating_sub(self.characters_before(start));
        (clamp(line), clamp(before + 1))
    }

    /// How many characters begin before a byte.
    fn characters_before(&self, byte: u32) -> usize {
        let byte = (byte as usize).min(self.text.len());
        let block = byte / BLOCK;
        self.characters[block] as usize + characters_in(&self.text.as_bytes()[block * BLOCK..byte])
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: u32) -> &str {
        let Some(start) = self.line_starts.get((line.max(1) - 1) as usize) else { return "" };
        self.text.get(*start as usize..).unwrap_or_default().lines().next().unwrap_or_default()
    }
}

/// How many characters begin in some bytes of UTF-8.
fn characters_in(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| usize::from(byte & 0b1100_0000 != 0b1000_0000)).sum()
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The spans of one value and of all that is in it.
#[derive(Clone, Debug, Default)]
pub struct SourceNode {
    /// The value itself.
    pub span: Span,
    /// Its name, where it is a member.
    pub key: Option<Span>,
    /// What is in it.
    pub children: Children,
}

/// The spans below a [`SourceNode`].
#[derive(Clone, Debug, Default)]
pub enum Children {
    /// A scalar has none.
    #[default]
    None,
    /// The members of an object.
    Object(Members),
    /// The elements of an array.
    Array(Vec<SourceNode>),
}

impl SourceNode {
    /// The node of a member or element.
    pub fn child(&self, segment: &Segment) -> Option<&Self> {
        match (&self.children, segment) {
            (Children::Object(members), Segment::Key(key)) => members.get(key),
            (Children::Array(items), Segment::Index(index)) => items.get(*index),
            _ => None,
        }
    }
}

/// The spans of a whole document.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    /// The files that spans point into.
    pub files: Vec<SourceFile>,
    /// The spans of the document's value.
    pub root: SourceNode,
}

impl SourceMap {
    /// The place of the value at a path, or of its nearest ancestor that has one.
    pub fn place(&self, path: &Path) -> Option<Place> {
        self.resolve(self.nearest(path).span)
    }

    /// The place of the member name at a path; of its value where the name has no place.
    pub fn key_place(&self, path: &Path) -> Option<Place> {
        let node = self.nearest(path);
        self.resolve(node.key.unwrap_or(node.span))
    }

    /// The node of the value at a path, or of its nearest ancestor that has one; `None` for the whole document.
    pub fn node(&self, path: &Path) -> Option<&SourceNode> {
        let mut nodes = path.segments().iter();
        let first = self.root.child(nodes.next()?)?;
        Some(
            nodes
                .try_fold(first, |node, segment| node.child(segment).ok_or(node))
                .unwrap_or_else(|last| last),
        )
    }

    fn nearest(&self, path: &Path) -> &SourceNode {
        let mut node = &self.root;
        for segment in path.segments() {
            match node.child(segment) {
                Some(child) => node = child,
                None => break,
            }
        }
        node
    }

    /// A span as a place a person can go to.
    pub fn resolve(&self, span: Span) -> Option<Place> {
        let file = self.files.get(usize::from(span.file))?;
        let (line, column) = file.line_column(span.start);
        let (end_line, end_column) = file.line_column(span.end.max(span.start));
        Some(Place { file: file.name.clone(), line, column, end_line, end_column })
    }

    /// The file of a place.
    pub fn file(&self, place: &Place) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.name == place.file)
    }
}

/// A place in a file, self-contained: a plan keeps it after the source is gone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file's name as the user wrote it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the end.
    pub end_column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_becomes_line_and_column() {
        let file = SourceFile::new("t.yaml", "a: é1\nbc: 2\n");
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line_column(5), (1, 5));
        assert_eq!(file.line_column(7), (2, 1));
        assert_eq!(file.line_column(99), (3, 1));
        assert_eq!(file.line(2), "bc: 2");
        assert_eq!(file.line(9), "");
    }

    #[test]
    fn a_column_counts_characters_across_blocks() {
        let text = "aé€𝄞".repeat(BLOCK) + "\n" + &"é".repeat(3 * BLOCK);
        let file = SourceFile::new("t.yaml", text.as_str());
        for (at, (byte, _)) in text.char_indices().enumerate().step_by(7) {
            let (line, start) = if at <= 4 * BLOCK { (1, 0) } else { (2, 4 * BLOCK + 1) };
            assert_eq!(file.line_column(clamp(byte)), (line, clamp(at - start + 1)), "byte {byte}");
        }
        assert_eq!(file.line_column(clamp(text.len())), (2, clamp(3 * BLOCK + 1)));
    }
}
