//! Random values, as trees and as the Pkl source that makes them.

use std::fmt::Write as _;

use pkl_data::tree::{ClassName, IntSeq, Member, Tree, Typed};
use pkl_data::units::{DataSize, DataSizeUnit, Duration, DurationUnit, Unit as _};

use super::{Random, float_literal, literal};

/// Declares what the sources use.
pub(crate) const PREAMBLE: &str = "\
open class P { a: Any = null; `b c`: Any = null; hidden h: Any = 1 }
class Q extends P { z: Any = null }
typealias A = Int
local forcing = new PcfRenderer {
  converters { [Class] = (_) -> 0; [TypeAlias] = (_) -> 0; [Function1] = (_) -> 0; [RenderDirective] = (it) -> it.bytes }
}
";

/// The name of the module that [`PREAMBLE`] is part of.
pub(crate) const MODULE: &str = "oracle";

const STRINGS: &[&str] = &[
    "",
    "a",
    "a b",
    " a",
    "a ",
    "a\nb",
    "a\n",
    "\n",
    "\n\n",
    "a\n\nb",
    "  a\n b",
    "a\tb",
    "\ta\nb",
    "a\r\nb",
    "\r",
    "'",
    "\"",
    "\"\"\"",
    "\\",
    "a\\nb",
    "a\"#b",
    "it's",
    "'\"",
    "# a",
    "a #b",
    "a#b",
    "- a",
    "-",
    "a: b",
    "a:",
    ":a",
    "a:b",
    "!x",
    "&x",
    "*x",
    "?",
    "? a",
    "@x",
    "`x",
    "%x",
    "|",
    ">",
    "[a",
    "{a",
    "]",
    "}",
    ",",
    "a,b",
    "true",
    "True",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "null",
    "~",
    "Null",
    "NULL",
    "1",
    "-1",
    "+1",
    "1.0",
    "1e3",
    "0x1F",
    "0o7",
    "017",
    "0b1",
    "1_000",
    "1:30",
    ".inf",
    "-.INF",
    ".nan",
    "NaN",
    "Infinity",
    "2001-01-01",
    "=",
    "<<",
    "---",
    "...",
    "é",
    "日本",
    "😀",
    "\u{0}",
    "\u{1}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "\u{fffe}",
    "a=b",
    "a.b",
    "<&>",
    "]]>",
    "--",
    "k",
    "local",
    "class",
    "|||",
    "a\n'b\"",
    "${x}",
    "\\(x)",
    "{}",
    "[]",
    "a\u{b}b\n",
    "long text that goes on for a while so that something would have to be folded if anything ever were folded at all",
];

/// What may be generated.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// How deep values nest.
    pub(crate) depth: usize,
    /// Whether to use what most formats refuse: units, pairs, classes, mixed members, odd keys.
    pub(crate) odd: bool,
}

pub(crate) fn string(random: &mut Random) -> String {
    if random.below(5) == 0 {
        (0..=random.below(3)).map(|_| *random.pick(STRINGS)).collect()
    } else {
        (*random.pick(STRINGS)).to_owned()
    }
}

pub(crate) fn value(random: &mut Random, shape: Shape) -> Tree {
    let inner = Shape { depth: shape.depth.saturating_sub(1), ..shape };
    if shape.depth == 0 || random.below(3) == 0 {
        return scalar(random, shape.odd);
    }
    let length = random.below(4);
    match random.below(if shape.odd { 9 } else { 7 }) {
        0 => Tree::List((0..length).map(|_| value(random, inner)).collect()),
        1 => Tree::Listing((0..length).map(|_| value(random, inner)).collect()),
        2 => Tree::Map(entries(random, inner, length)),
        3 => Tree::Mapping(entries(random, inner, length)),
        4 => Tree::Dynamic(properties(random, inner, length)),
        5 => Tree::Dynamic((0..length).map(|_| Member::Element(value(random, inner))).collect()),
        6 => typed(random, inner),
        7 => Tree::Set(unique((0..length).map(|_| value(random, inner)).collect())),
        _ => mixed(random, inner, length),
    }
}

fn scalar(random: &mut Random, odd: bool) -> Tree {
    match random.below(if odd { 16 } else { 10 }) {
        0 => Tree::Null,
        1 => Tree::Bool(random.below(2) == 0),
        2 => Tree::Int((random.next() >> random.below(64)).cast_signed()),
        3 => Tree::Float(random.double()),
        4..=9 => Tree::from(string(random).as_str()),
        10 => Tree::Duration(Duration::new(random.double(), *random.pick(DurationUnit::ALL))),
        11 => Tree::DataSize(DataSize::new(random.double(), *random.pick(DataSizeUnit::ALL))),
        12 => Tree::Bytes((0..random.below(5)).map(|_| random.next().to_le_bytes()[0]).collect()),
        13 => Tree::Pair(Box::new((scalar(random, false), scalar(random, false)))),
        14 => Tree::Regex((*random.pick(&["a", "a\\\\d", "\\\"", "a\nb", "[\\\"]#\t"])).into()),
        _ => match random.below(6) {
            0 => Tree::IntSeq(IntSeq {
                start: 1,
                end: 9,
                step: 1 + i64::try_from(random.below(3)).expect("fits"),
            }),
            1 => Tree::Class(ClassName::new(MODULE, "P")),
            2 => Tree::TypeAlias(ClassName::new(MODULE, "A")),
            3 => Tree::Function { parameters: 1 },
            4 => Tree::Class(ClassName::new("pkl.base", "String")),
            _ => {
                let texts = ["raw", "<raw/>", "a\nb", ""];
                directive(texts[random.below(texts.len())])
            }
        },
    }
}

pub(crate) fn directive(text: &str) -> Tree {
    let properties = vec![
        ("text".into(), Tree::from(text)),
        ("bytes".into(), Tree::Bytes(text.as_bytes().iter().copied().collect())),
    ];
    Tree::Typed(Box::new(Typed { class: ClassName::new("pkl.base", "RenderDirective"), properties }))
}

fn key(random: &mut Random, odd: bool) -> Tree {
    if odd && random.below(6) == 0 {
        match scalar(random, true) {
            Tree::Float(value) if value.is_nan() => Tree::Null,
            other => other,
        }
    } else {
        Tree::from(string(random).as_str())
    }
}

fn entries(random: &mut Random, inner: Shape, length: usize) -> Vec<(Tree, Tree)> {
    let keys = unique((0..length).map(|_| key(random, inner.odd)).collect());
    keys.into_iter().map(|key| (key, value(random, inner))).collect()
}

fn properties(random: &mut Random, inner: Shape, length: usize) -> Vec<Member> {
    let names = unique(
        (0..length)
            .map(|_| Tree::from(string(random).replace(['`', '\n', '\r', '\0'], "x").as_str()))
            .collect(),
    );
    let names = names
        .into_iter()
        .filter(|name| !matches!(name, Tree::String(text) if text.is_empty() || &**text == "default"));
    names
        .map(|name| match name {
            Tree::String(name) => Member::Property(name, value(random, inner)),
            _ => unreachable!("names are strings"),
        })
        .collect()
}

fn mixed(random: &mut Random, inner: Shape, length: usize) -> Tree {
    let count = random.below(2);
    let mut members = properties(random, inner, count);
    let keys = unique((0..length).map(|_| Tree::from(string(random).as_str())).collect());
    members.extend(keys.into_iter().map(|key| Member::Entry(key, value(random, inner))));
    if random.below(2) == 0 {
        members.extend((0..length).map(|_| Member::Element(value(random, inner))));
    }
    Tree::Dynamic(members)
}

fn typed(random: &mut Random, inner: Shape) -> Tree {
    let is_sub = random.below(2) == 0;
    let mut properties = vec![("a".into(), value(random, inner)), ("b c".into(), value(random, inner))];
    if is_sub {
        properties.push(("z".into(), value(random, inner)));
    }
    Tree::Typed(Box::new(Typed { class: ClassName::new(MODULE, if is_sub { "Q" } else { "P" }), properties }))
}

fn unique(values: Vec<Tree>) -> Vec<Tree> {
    let mut kept: Vec<Tree> = Vec::new();
    for value in values {
        let text = pkl_data::display::one_line(&value);
        let same_amount = kept.iter().any(|other| match (&value, other) {
            (Tree::Duration(a), Tree::Duration(b)) => a == b,
            (Tree::DataSize(a), Tree::DataSize(b)) => a == b,
            _ => false,
        });
        if !same_amount && kept.iter().all(|other| pkl_data::display::one_line(other) != text) {
            kept.push(value);
        }
    }
    kept
}

/// The source of an expression with this value.
pub(crate) fn source(value: &Tree) -> String {
    let list = |name: &str, items: Vec<String>| format!("{name}({})", items.join(", "));
    match value {
        Tree::Null => "null".into(),
        Tree::Bool(value) => value.to_string(),
        Tree::Int(i64::MIN) => "(-9223372036854775807 - 1)".into(),
        Tree::Int(value) => format!("({value})"),
        Tree::Float(value) => float_literal(*value),
        Tree::String(text) => literal(text),
        Tree::Bytes(bytes) => list("Bytes", bytes.iter().map(ToString::to_string).collect()),
        Tree::Duration(value) => {
            format!("{}.toDuration(\"{}\")", float_literal(value.value), value.unit.as_str())
        }
        Tree::DataSize(value) => {
            format!("{}.toDataSize(\"{}\")", float_literal(value.value), value.unit.as_str())
        }
        Tree::Pair(pair) => format!("Pair({}, {})", source(&pair.0), source(&pair.1)),
        Tree::IntSeq(seq) => format!("IntSeq({}, {}).step({})", seq.start, seq.end, seq.step),
        Tree::Regex(pattern) => format!("Regex({})", literal(pattern)),
        Tree::List(items) => list("List", items.iter().map(source).collect()),
        Tree::Set(items) => list("Set", items.iter().map(source).collect()),
        Tree::Map(entries) => list("Map", entries.iter().flat_map(|(k, v)| [source(k), source(v)]).collect()),
        Tree::Listing(items) => {
            format!("new Listing {{ {} }}", items.iter().map(source).collect::<Vec<_>>().join("; "))
        }
        Tree::Mapping(entries) => {
            let mut text = "new Mapping { ".to_owned();
            for (key, value) in entries {
                let _ = write!(text, "[{}] = {}; ", source(key), source(value));
            }
            text + "}"
        }
        Tree::Dynamic(members) => {
            let mut text = "new Dynamic { ".to_owned();
            for member in members {
                let _ = match member {
                    Member::Property(name, value) => write!(text, "`{name}` = {}; ", source(value)),
                    Member::Entry(key, value) => write!(text, "[{}] = {}; ", source(key), source(value)),
                    Member::Element(value) => write!(text, "{}; ", source(value)),
                };
            }
            text + "}"
        }
        Tree::Typed(typed) if value.render_directive().is_some() => {
            format!(
                "new RenderDirective {{ text = {} }}",
                typed.property("text").map(source).unwrap_or_default()
            )
        }
        Tree::Typed(typed) => {
            let module = if &*typed.class.module == MODULE { "" } else { "xml." };
            let mut text = format!("new {module}{} {{ ", typed.class.name);
            for (name, value) in &typed.properties {
                let _ = write!(text, "`{name}` = {}; ", source(value));
            }
            text + "}"
        }
        Tree::Class(name) | Tree::TypeAlias(name) => name.name.to_string(),
        Tree::Function { .. } => "(x) -> x".into(),
        Tree::Error(_) => "throw(\"\")".into(),
    }
}
