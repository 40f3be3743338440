//! YAML: events of `saphyr-parser`, composed into trees the way the official evaluator reads them.

use std::collections::{HashMap, HashSet};
use std::fmt;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, Tag};

use crate::bytes::from_base64;
use crate::display::one_line;
use crate::tree::{MAX_DEPTH, Member, Tree};

mod resolve;

pub use crate::render::yaml::Mode;

/// How YAML is read.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// `mode`: how plain scalars are understood.
    pub mode: Mode,
    /// `useMapping`.
    pub use_mapping: bool,
    /// `maxCollectionAliases`: how many references to collections a document may have.
    pub max_collection_aliases: usize,
    /// How many values all documents may have together, those that references repeat included.
    pub max_values: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { mode: Mode::Compat, use_mapping: false, max_collection_aliases: 50, max_values: 10_000_000 }
    }
}

/// What is wrong with a YAML text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// What is wrong.
    pub description: String,
    /// Line and column, counted from one; for limits there is none.
    pub place: Option<(usize, usize)>,
    /// Whether a limit was exceeded.
    pub is_limit: bool,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)?;
        match self.place {
            Some((line, column)) => write!(f, "\n in input_string, line {line}, column {column}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for YamlError {}

type Result<T, E = YamlError> = std::result::Result<T, E>;

/// Reads a single document; an empty text is `null`.
///
/// # Errors
/// If the text isn't YAML, holds several documents, or exceeds a limit.
pub fn parse(text: &str, options: &Options) -> Result<Tree> {
    let mut documents = parse_all(text, options)?;
    match documents.len() {
        0 => Ok(Tree::Null),
        1 => Ok(documents.remove(0)),
        _ => Err(error("expected a single document in the stream, but found another document", None)),
    }
}

/// Reads all documents.
///
/// # Errors
/// If the text isn't YAML or exceeds a limit.
pub fn parse_all(text: &str, options: &Options) -> Result<Vec<Tree>> {
    check_printable(text)?;
    let mut composer = Composer {
        text,
        events: Parser::new_from_str(text),
        options,
        values: 0,
        anchors: HashMap::new(),
        collection_aliases: 0,
    };
    let mut documents = Vec::new();
    loop {
        match composer.next()? {
            (Event::StreamEnd, _) => return Ok(documents),
            (Event::DocumentStart(_), _) => {
                composer.anchors.clear();
                composer.collection_aliases = 0;
                let event = composer.next()?;
                documents.push(composer.node(event)?);
            }
            _ => {}
        }
    }
}

fn error(description: impl Into<String>, place: Option<Marker>) -> YamlError {
    let place = place.map(|marker| (marker.line(), marker.col() + 1));
    YamlError { description: description.into(), place, is_limit: false }
}

fn limit(description: String) -> YamlError {
    YamlError { description, place: None, is_limit: true }
}

struct Composer<'t> {
    text: &'t str,
    events: Parser<'t, StrInput<'t>>,
    options: &'t Options,
    values: usize,
    /// Values by anchor, with how many values each holds.
    anchors: HashMap<usize, (Tree, usize)>,
    collection_aliases: usize,
}

type Item<'t> = (Event<'t>, Span);

impl<'t> Composer<'t> {
    fn next(&mut self) -> Result<Item<'t>> {
        match self.events.next() {
            Some(Ok(item)) => Ok(item),
            Some(Err(scan)) => Err(error(scan.info(), Some(*scan.marker()))),
            None => Err(error("unexpected end of the stream", None)),
        }
    }

    fn count(&mut self, values: usize) -> Result<()> {
        self.values = self.values.saturating_add(values);
        if self.values > self.options.max_values {
            return Err(limit(format!("The document has more than {} values.", self.options.max_values)));
        }
        Ok(())
    }

    /// The value that begins with an event. Open collections are on a stack of our own.
    fn node(&mut self, first: Item<'t>) -> Result<Tree> {
        let mut open: Vec<Open> = Vec::new();
        let mut item = first;
        loop {
            let (event, span) = item;
            let wants_key = open.last().is_some_and(Open::wants_key);
            if wants_key && is_omitted(&event) && self.is_bare_colon(span.start) {
                return Err(error("expected <block end>, but found ':'", Some(span.start)));
            }
            let done = match event {
                Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                    Some(collection) => self.closed(collection),
                    None => Tree::Null,
                },
                event => match self.begun(event, span, open.len())? {
                    Begun::Value(value) => value,
                    Begun::Collection(collection) => {
                        open.push(collection);
                        item = self.next()?;
                        continue;
                    }
                },
            };
            match open.last_mut() {
                Some(collection) => collection.add(done, span.start)?,
                None => return Ok(done),
            }
            item = self.next()?;
        }
    }

    /// Whether a colon stands at a place without a `?` before it: a key that is left out.
    fn is_bare_colon(&self, place: Marker) -> bool {
        let before: String = self.text.chars().take(place.index()).collect();
        self.text[before.len()..].starts_with(':') && !before.trim_end().ends_with('?')
    }

    /// What an event begins: a value that is all there, or a collection.
    fn begun(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Begun> {
        if depth > MAX_DEPTH {
            return Err(error("nested too deeply", Some(span.start)));
        }
        let before = self.values;
        self.count(1)?;
        Ok(match event {
            Event::Alias(id) => Begun::Value(self.alias(id, span)?),
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref(), self.options.mode)
                    .map_err(|description| error(description, Some(span.start)))?;
                self.keep(anchor, &value, before);
                Begun::Value(value)
            }
            Event::SequenceStart(anchor, tag) => {
                check_tag(tag.as_deref(), "seq", span)?;
                Begun::Collection(Open { anchor, before, contents: Contents::Sequence(Vec::new()) })
            }
            Event::MappingStart(anchor, tag) => {
                let is_set = tag.as_deref().is_some_and(|tag| core_name(tag) == Some("set"));
                if !is_set {
                    check_tag(tag.as_deref(), "map", span)?;
                }
                Begun::Collection(Open { anchor, before, contents: Contents::Mapping(Mapping::new(is_set)) })
            }
            _ => Begun::Value(Tree::Null),
        })
    }

    fn closed(&mut self, collection: Open) -> Tree {
        let value = match collection.contents {
            Contents::Sequence(elements) => Tree::Listing(elements),
            Contents::Mapping(mapping) => mapping.into_tree(self.options.use_mapping),
        };
        self.keep(collection.anchor, &value, collection.before);
        value
    }

    /// Keeps a value for references to it.
    fn keep(&mut self, anchor: usize, value: &Tree, before: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, (value.clone(), self.values - before));
        }
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<Tree> {
        let Some((value, values)) = self.anchors.get(&id).cloned() else {
            return Err(error("found a reference to a collection inside of itself", Some(span.start)));
        };
        if !matches!(value, Tree::Listing(_) | Tree::Dynamic(_) | Tree::Mapping(_)) {
            return Ok(value);
        }
        self.collection_aliases += 1;
        let allowed = self.options.max_collection_aliases;
        if self.collection_aliases > allowed {
            return Err(limit(format!(
                "The number of aliases for collection nodes exceeds the allowed maximum of {allowed}."
            )));
        }
        self.count(values)?;
        Ok(value)
    }
}

/// Whether nothing at all stands for a value.
fn is_omitted(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(text, ScalarStyle::Plain, 0, None) if text.is_empty() || text == "~")
}

enum Begun {
    Value(Tree),
    Collection(Open),
}

/// A collection whose end hasn't come yet.
struct Open {
    anchor: usize,
    /// How many values there were before it.
    before: usize,
    contents: Contents,
}

enum Contents {
    Sequence(Vec<Tree>),
    Mapping(Mapping),
}

impl Open {
    fn wants_key(&self) -> bool {
        matches!(&self.contents, Contents::Mapping(mapping) if mapping.key.is_none())
    }

    fn add(&mut self, value: Tree, place: Marker) -> Result<()> {
        match &mut self.contents {
            Contents::Sequence(elements) => {
                elements.push(value);
                Ok(())
            }
            Contents::Mapping(mapping) => mapping.add(value, place),
        }
    }
}

/// The entries of a mapping so far.
struct Mapping {
    is_set: bool,
    entries: Vec<(Tree, Tree)>,
    /// A key whose value hasn't come yet.
    key: Option<Tree>,
    /// The keys, as text.
    seen: HashSet<String>,
}

impl Mapping {
    fn new(is_set: bool) -> Self {
        Self { is_set, entries: Vec::new(), key: None, seen: HashSet::new() }
    }

    fn add(&mut self, value: Tree, place: Marker) -> Result<()> {
        if let Some(key) = self.key.take() {
            self.entries.push((key, value));
            return Ok(());
        }
        let shown = one_line(&value);
        if self.seen.contains(&shown) {
            return Err(error(format!("found duplicate key {shown}"), Some(place)));
        }
        self.seen.insert(shown);
        self.key = Some(value);
        Ok(())
    }

    /// Keys that are no strings become entries. A set is a listing of its keys.
    fn into_tree(self, use_mapping: bool) -> Tree {
        if self.is_set {
            return Tree::Listing(self.entries.into_iter().map(|(key, _)| key).collect());
        }
        if use_mapping {
            return Tree::Mapping(self.entries);
        }
        let members = self.entries.into_iter().map(|(key, value)| match key {
            Tree::String(name) => Member::Property(name, value),
            key => Member::Entry(key, value),
        });
        Tree::Dynamic(members.collect())
    }
}

/// Refuses characters that YAML doesn't allow.
fn check_printable(text: &str) -> Result<()> {
    let is_printable = |character: char| {
        matches!(
            character,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..=char::MAX
        )
    };
    match text.chars().find(|&character| !is_printable(character)) {
        Some(character) => {
            let code = u32::from(character);
            Err(error(
                format!("unacceptable code point 0x{code:X}: special characters are not allowed"),
                None,
            ))
        }
        None => Ok(()),
    }
}

/// The name of a tag of YAML's own.
fn core_name(tag: &Tag) -> Option<&str> {
    (tag.handle == "tag:yaml.org,2002:" || tag.handle == "!!").then_some(tag.suffix.as_str())
}

fn is_non_specific(tag: &Tag) -> bool {
    tag.handle.is_empty() && tag.suffix == "!" || tag.handle == "!" && tag.suffix.is_empty()
}

fn unknown_tag(tag: &Tag) -> String {
    format!("could not determine a constructor for the tag {}{}", tag.handle, tag.suffix)
}

fn check_tag(tag: Option<&Tag>, expected: &str, span: Span) -> Result<()> {
    match tag {
        Some(tag) if core_name(tag) != Some(expected) && !is_non_specific(tag) => {
            Err(error(unknown_tag(tag), Some(span.start)))
        }
        _ => Ok(()),
    }
}

/// A scalar by its tag, or if it has none and is plain by its text.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, mode: Mode) -> Result<Tree, String> {
    let string = || Ok(Tree::string(text));
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain { resolve::plain(text, mode) } else { string() };
    };
    if is_non_specific(tag) {
        return string();
    }
    let unreadable = |what: &str| Err(format!("cannot read `{text}` as {what}"));
    match core_name(tag) {
        Some("str") => string(),
        Some("null") => Ok(Tree::Null),
        Some("bool") => match resolve::plain(text, mode) {
            Ok(value @ Tree::Bool(_)) => Ok(value),
            _ => unreadable("a boolean"),
        },
        Some("int") => match resolve::plain(text, mode) {
            Ok(value @ Tree::Int(_)) => Ok(value),
            _ => unreadable("an integer"),
        },
        Some("float") => match resolve::plain(text, mode)? {
            value @ Tree::Float(_) => Ok(value),
            Tree::Int(value) => Ok(Tree::Float(crate::Number::Int(value).to_f64())),
            _ => unreadable("a number"),
        },
        Some("binary") => {
            let compact: String = text.split_ascii_whitespace().collect();
            match from_base64(&compact) {
                Ok(bytes) => Ok(Tree::Bytes(bytes.into())),
                Err(_) => unreadable("base 64"),
            }
        }
        _ => Err(unknown_tag(tag)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match parse(text, &Options::default()) {
            Ok(tree) => one_line(&tree),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn documents_are_composed() {
        for (text, value) in [
            ("", "null"),
            (
                "a: 1\nb: [1, 2.5, x, null, true, {}]",
                r#"new Dynamic { a = 1; b { 1; 2.5; "x"; null; true; new Dynamic {} } }"#,
            ),
            ("a: &x [1]\nb: *x", "new Dynamic { a { 1 }; b { 1 } }"),
            ("1: 2\na: 3", "new Dynamic { [1] = 2; a = 3 }"),
            ("? [a]\n: 1", r#"new Dynamic { [new Listing { "a" }] = 1 }"#),
            ("e: !!set {a, b}", r#"new Dynamic { e { "a"; "b" } }"#),
            (
                "a: !!str 1\nb: !!int '1'\nc: !!float 1\nd: !!binary YWI=",
                r#"new Dynamic { a = "1"; b = 1; c = 1.0; d = Bytes(97, 98) }"#,
            ),
            ("a: |\n  x\n  y\n", r#"new Dynamic { a = "x\ny\n" }"#),
        ] {
            assert_eq!(read(text), value, "{text}");
        }
    }

    #[test]
    fn errors_have_a_place() {
        for text in ["a: [", "a: *x", "a: !foo 1", "a: 1\na: 2", "x: &a\n  y: *a", "--- a\n--- b", "@"] {
            assert!(parse(text, &Options::default()).is_err(), "{text}");
        }
        assert_eq!(
            read("a: !foo 1"),
            "could not determine a constructor for the tag !foo\n in input_string, line 1, column 4"
        );
    }

    #[test]
    fn documents_that_grow_are_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for level in 1..10 {
            let references = vec![format!("*a{}", level - 1); 9].join(", ");
            text = format!("{text}a{level}: &a{level} [{references}]\n");
        }
        let error = parse(&text, &Options::default()).expect_err("too many references");
        assert!(error.is_limit);
        let options =
            Options { max_collection_aliases: usize::MAX, max_values: 100_000, ..Options::default() };
        assert!(parse(&text, &options).expect_err("too many values").is_limit);
        assert!(parse(&"[".repeat(100_000), &Options::default()).is_err());
        assert!(parse(&"- ".repeat(100_000), &Options::default()).is_err());
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "[a-c&*!?:\\[\\]{},|> \\n\"'#0-9.-]{0,40}") {
            let _ = parse_all(&text, &Options::default());
        }
    }
}
