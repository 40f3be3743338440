//! Syntax trees of earlier evaluations: one text holds those of many modules, each by what its source hashes
//! to.
//!
//! ```text
//! check sum of the head │ head: what wrote it, names, entries │ trees, one after the other
//! ```
//!
//! A tree names names by numbers. Those of the text are interned first of all, in its order, so that its trees
//! are read as they are. A tree is used only where a module's very source hashes to its key; what is damaged,
//! or was written by another program, is as good as absent.

use pkl_parser::ast::{self, Ast};
use pkl_parser::{Interner, Parsed};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::ops::Range;

use crate::stdlib;

/// What a module's source hashes to.
pub(crate) type SourceHash = [u8; 32];

/// The most bytes that are written.
const LARGEST: usize = 64 << 20;

/// How often a text is continued before one begins anew: names that no tree uses any more stay until then.
const GENERATIONS: u32 = 50;

/// What is kept and was not used is left out from here on.
const ROOM_FOR_UNUSED: usize = 16 << 20;

#[derive(Serialize, Deserialize)]
struct Head<'a> {
    /// The form of trees: that of the library's, which the build has written.
    form: u64,
    generation: u32,
    #[serde(borrow)]
    names: Vec<&'a str>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Entry {
    source: SourceHash,
    length: u32,
    sum: u32,
}

/// The trees of a text.
#[derive(Debug, Default)]
pub(crate) struct Trees {
    text: Vec<u8>,
    places: FxHashMap<SourceHash, Place>,
    generation: u32,
}

#[derive(Debug)]
struct Place {
    range: Range<usize>,
    sum: u32,
}

/// What the source of a module hashes to.
pub(crate) fn hash(source: &str) -> SourceHash {
    Sha256::digest(source).into()
}

impl Trees {
    /// The trees of a text. `interner` has the library's names and no others.
    pub(crate) fn read(text: Vec<u8>, interner: &Interner) -> Self {
        Self::parse(&text, interner).map_or_else(Self::default, |(places, generation)| Self {
            text,
            places,
            generation,
        })
    }

    fn parse(text: &[u8], interner: &Interner) -> Option<(FxHashMap<SourceHash, Place>, u32)> {
        let (sum, rest) = text.split_first_chunk()?;
        let (head, trees) = postcard::take_from_bytes::<Head<'_>>(rest).ok()?;
        let written = &rest[..rest.len() - trees.len()];
        let is_sound = u32::from_le_bytes(*sum) == crc32fast::hash(written);
        if !is_sound || head.form != stdlib::FORM || head.generation >= GENERATIONS {
            return None;
        }
        let mut places = FxHashMap::default();
        let mut start = text.len() - trees.len();
        for entry in &head.entries {
            let range = start..start + entry.length as usize;
            start = range.end;
            places.insert(entry.source, Place { range, sum: entry.sum });
        }
        for name in head.names {
            interner.intern(name);
        }
        Some((places, head.generation))
    }

    /// The bytes of a tree, if they are sound.
    fn bytes(&self, source: &SourceHash) -> Option<&[u8]> {
        let place = self.places.get(source)?;
        let bytes = self.text.get(place.range.clone())?;
        (crc32fast::hash(bytes) == place.sum).then_some(bytes)
    }

    /// The tree of a source.
    pub(crate) fn find(&self, source: &SourceHash) -> Option<Parsed<ast::Module>> {
        let (ast, root) = postcard::from_bytes(self.bytes(source)?).ok()?;
        Some(Parsed { ast, root, diagnostics: Vec::new() })
    }

    /// The text for the next evaluation: the trees of these modules, and those of before as far as there is
    /// room. `None` if it would be too long.
    pub(crate) fn continued<'a>(
        &self,
        modules: impl Iterator<Item = (SourceHash, &'a Ast, &'a ast::Module)>,
        interner: &Interner,
    ) -> Option<Vec<u8>> {
        let (mut entries, mut trees) = (Vec::new(), Vec::new());
        let mut add = |source: SourceHash, bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).ok()?;
            entries.push(Entry { source, length, sum: crc32fast::hash(bytes) });
            trees.extend_from_slice(bytes);
            (trees.len() <= LARGEST).then_some(trees.len())
        };
        let mut used = rustc_hash::FxHashSet::default();
        let mut size = 0;
        for (source, ast, root) in modules {
            if used.insert(source) {
                size = match self.bytes(&source) {
                    Some(bytes) => add(source, bytes)?,
                    None => add(source, &postcard::to_stdvec(&(ast, root)).ok()?)?,
                };
            }
        }
        let mut unused: Vec<&SourceHash> =
            self.places.keys().filter(|source| !used.contains(*source)).collect();
        unused.sort_unstable();
        for source in unused {
            if let (true, Some(bytes)) = (size < ROOM_FOR_UNUSED, self.bytes(source)) {
                size = add(*source, bytes)?;
            }
        }
        let names = interner.names();
        let names = names.iter().skip(stdlib::fixed_names().len()).map(|name| &**name).collect();
        let head = Head { form: stdlib::FORM, generation: self.generation + 1, names, entries };
        let head = postcard::to_stdvec(&head).ok()?;
        Some([&crc32fast::hash(&head).to_le_bytes()[..], &head, &trees].concat())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use pkl_parser::{dump_module, parse_module};

    const SOURCES: [&str; 2] =
        ["bird = new Dynamic { wings = 2 }", "/// Song.\nclass Song { notes: List<Note> }"];

    fn interner() -> Interner {
        Interner::starting_with(stdlib::fixed_names())
    }

    /// A text with the trees of `sources`, after `before`.
    fn text_of(sources: &[&str], before: Vec<u8>) -> Vec<u8> {
        let interner = interner();
        let trees = Trees::read(before, &interner);
        let parsed: Vec<_> =
            sources.iter().map(|source| (hash(source), parse_module(source, &interner))).collect();
        let modules = parsed.iter().map(|(source, parsed)| (*source, &parsed.ast, &parsed.root));
        trees.continued(modules, &interner).unwrap()
    }

    #[test]
    fn what_is_read_is_what_was_parsed() {
        let interner = interner();
        let trees = Trees::read(text_of(&SOURCES, Vec::new()), &interner);
        for source in SOURCES {
            let (kept, parsed) = (trees.find(&hash(source)).unwrap(), parse_module(source, &interner));
            assert_eq!(dump_module(source, &kept, &interner), dump_module(source, &parsed, &interner));
        }
        assert!(trees.find(&hash("bird = 1")).is_none(), "another source");
    }

    #[test]
    fn what_is_not_used_is_kept_too() {
        let both = text_of(&SOURCES[1..], text_of(&SOURCES[..1], Vec::new()));
        let trees = Trees::read(both, &interner());
        assert!(SOURCES.iter().all(|source| trees.find(&hash(source)).is_some()));
        assert_eq!(trees.generation, 2);
    }

    #[test]
    fn what_is_damaged_is_as_good_as_absent() {
        let sound = text_of(&SOURCES, Vec::new());
        for position in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[position] ^= 0x10;
            let trees = Trees::read(damaged, &interner());
            let found = SOURCES.iter().filter(|source| trees.find(&hash(source)).is_some()).count();
            assert!(found < 2, "{position}");
        }
        for length in 0..sound.len() {
            let trees = Trees::read(sound[..length].to_vec(), &interner());
            assert!(trees.find(&hash(SOURCES[1])).is_none(), "{length}");
        }
    }

    #[test]
    fn a_text_is_begun_anew_now_and_then() {
        let mut text = Vec::new();
        for _ in 0..GENERATIONS {
            text = text_of(&SOURCES[..1], text);
        }
        assert_eq!(Trees::read(text_of(&[], text), &interner()).generation, 1);
    }
}
