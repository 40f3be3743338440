//! Builds a value and its spans side by side, without recursion and within the limits. The JSON
//! and the YAML reader both write here, so that depth, size and duplicate keys have one rule.

use crate::Limits;
use formwork_model::{Children, Json, Members, Path, Segment, SourceNode, Span};
use serde_json::Map;
use serde_json::map::Entry;
use std::collections::HashMap;
use std::sync::Arc;

/// What is said of a text that holds U+0000, which not every store can keep.
pub(crate) const NUL: &str = "A text can't hold the character U+0000";

/// What went over a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TooLarge {
    /// Nested deeper than this.
    Depth(usize),
    /// More values than this.
    Nodes(usize),
}

impl TooLarge {
    pub(crate) fn message(self) -> String {
        match self {
            Self::Depth(most) => format!("The template is nested deeper than {most} levels"),
            Self::Nodes(most) => format!("The template has more than {most} values"),
        }
    }
}

/// A value that is complete, with its spans and its size.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) value: Json,
    pub(crate) node: SourceNode,
    /// How many values it is, itself included.
    pub(crate) nodes: usize,
    /// How many levels of arrays and objects it has.
    pub(crate) height: usize,
}

impl Built {
    pub(crate) fn scalar(value: Json, span: Span) -> Self {
        Self { value, node: SourceNode { span, ..SourceNode::default() }, nodes: 1, height: 0 }
    }
}

/// An array or object that is complete, and what is wrong with its members.
pub(crate) struct Closed {
    pub(crate) built: Built,
    pub(crate) problems: Vec<Problem>,
}

/// What is wrong with a member.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// Its key was there before.
    Duplicate { key: Arc<str>, first: Span, second: Span },
    /// It was to be merged and is no object.
    NotMergeable(Span),
}

/// The values under construction. Members wait in one list for all levels until their array or
/// object closes, which then is made at once and in its size.
#[derive(Default)]
pub(crate) struct Builder {
    frames: Vec<Frame>,
    pending: Vec<Pending>,
    keys: KeyCache,
    nodes: usize,
    limits: Limits,
}

/// An open array or object.
struct Frame {
    start: Span,
    is_object: bool,
    /// Where its members begin in the list of those pending.
    from: usize,
    /// The key of the next member.
    key: Option<Key>,
    nodes: usize,
    height: usize,
}

struct Pending {
    key: Option<Key>,
    value: Json,
    node: SourceNode,
}

struct Key {
    text: Arc<str>,
    span: Span,
    merge: bool,
}

impl Builder {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Whether no array or object is open.
    pub(crate) fn is_root(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether the innermost open thing is an object; `None` at the root.
    pub(crate) fn in_object(&self) -> Option<bool> {
        self.frames.last().map(|frame| frame.is_object)
    }

    /// Whether the next thing is a key.
    pub(crate) fn expects_key(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.is_object && frame.key.is_none())
    }

    /// Where the innermost open thing begins.
    pub(crate) fn open_span(&self) -> Span {
        self.frames.last().map(|frame| frame.start).unwrap_or_default()
    }

    pub(crate) fn open_object(&mut self, start: Span) -> Result<(), TooLarge> {
        self.open(start, true)
    }

    pub(crate) fn open_array(&mut self, start: Span) -> Result<(), TooLarge> {
        self.open(start, false)
    }

    fn open(&mut self, start: Span, is_object: bool) -> Result<(), TooLarge> {
        if self.frames.len() >= self.limits.max_depth {
            return Err(TooLarge::Depth(self.limits.max_depth));
        }
        let from = self.pending.len();
        self.frames.push(Frame { start, is_object, from, key: None, nodes: 1, height: 1 });
        self.count(1)
    }

    /// Checks a value's room before it is built or copied.
    pub(crate) fn count(&mut self, nodes: usize) -> Result<(), TooLarge> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.max_nodes {
            return Err(TooLarge::Nodes(self.limits.max_nodes));
        }
        Ok(())
    }

    /// Checks that a value of this height may be attached here.
    pub(crate) fn check_height(&self, height: usize) -> Result<(), TooLarge> {
        if self.frames.len() + height > self.limits.max_depth {
            return Err(TooLarge::Depth(self.limits.max_depth));
        }
        Ok(())
    }

    /// Sets the key of the next value of the innermost object. A `merge` key spreads its value.
    pub(crate) fn key(&mut self, text: &str, span: Span, merge: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.key = Some(Key { text: self.keys.get(text), span, merge });
        }
    }

    /// Puts a value into the innermost open thing.
    pub(crate) fn attach(&mut self, built: Built) {
        let Built { value, node, nodes, height } = built;
        let Some(frame) = self.frames.last_mut() else { return };
        frame.nodes += nodes;
        frame.height = frame.height.max(height + 1);
        self.pending.push(Pending { key: frame.key.take(), value, node });
    }

    /// Closes the innermost open thing. `end` is its last span, or `None` where it ends with its
    /// last value (a YAML block).
    pub(crate) fn close(&mut self, end: Option<Span>) -> Option<Closed> {
        let Frame { start, is_object, from, nodes, height, .. } = self.frames.pop()?;
        let last = self.pending.get(from..).and_then(<[_]>::last).map(|member| member.node.span);
        let end = end.or(last).unwrap_or(start).end.max(start.end);
        let span = Span { end, ..start };
        let count = self.pending.len() - from;
        let members = self.pending.drain(from..);
        let mut problems = Vec::new();
        let (value, children) = if is_object {
            let mut object = Object::with_capacity(count);
            members.for_each(|member| object.add(member, &mut problems));
            let (members, spans) = object.finish(&mut problems);
            (Json::Object(members), Children::Object(spans))
        } else {
            let (items, spans) = members.map(|member| (member.value, member.node)).unzip();
            (Json::Array(items), Children::Array(spans))
        };
        let node = SourceNode { span, key: None, children };
        Some(Closed { built: Built { value, node, nodes, height }, problems })
    }

    /// The keys and indices from the root to the value that comes next.
    pub(crate) fn path(&self) -> Path {
        let ends = self.frames.iter().skip(1).map(|frame| frame.from).chain([self.pending.len()]);
        self.frames
            .iter()
            .zip(ends)
            .filter_map(|(frame, end)| match &frame.key {
                Some(key) => Some(Segment::Key(key.text.clone())),
                None => (!frame.is_object).then_some(Segment::Index(end - frame.from)),
            })
            .collect()
    }
}

/// An object being made of its members. Its names are those of the value, so the spans beside it
/// need no search of their own.
struct Object {
    members: Map<String, Json>,
    /// Parallel to the members.
    spans: Vec<(Arc<str>, SourceNode)>,
    /// Where the members stand that came by a merge: an explicit one may override them.
    merged: HashMap<Arc<str>, usize>,
}

impl Object {
    fn with_capacity(count: usize) -> Self {
        Self { members: Map::with_capacity(count), spans: Vec::with_capacity(count), merged: HashMap::new() }
    }

    fn add(&mut self, member: Pending, problems: &mut Vec<Problem>) {
        let Pending { key: Some(Key { text, span, merge }), value, mut node } = member else { return };
        if merge {
            let whole = node.span;
            if self.merge(value, node).is_none() {
                problems.push(Problem::NotMergeable(whole));
            }
            return;
        }
        node.key = Some(span);
        match self.members.entry(&*text) {
            Entry::Vacant(free) => {
                free.insert(value);
                self.spans.push((text, node));
            }
            Entry::Occupied(mut taken) => match self.merged.remove(&text) {
                Some(at) => {
                    taken.insert(value);
                    self.spans[at].1 = node;
                }
                // The first is found once all are there.
                None => problems.push(Problem::Duplicate { key: text, first: span, second: span }),
            },
        }
    }

    /// Spreads the members of a merged object (or of each object of a list) where they are not
    /// there yet: an explicit member wins over a merged one, an earlier merge over a later one.
    /// `None` if there is something else among them.
    fn merge(&mut self, value: Json, node: SourceNode) -> Option<()> {
        match (value, node.children) {
            (Json::Object(values), Children::Object(nodes)) => {
                for ((_, value), (key, node)) in values.into_iter().zip(nodes) {
                    if let Entry::Vacant(free) = self.members.entry(&*key) {
                        free.insert(value);
                        self.merged.insert(key.clone(), self.spans.len());
                        self.spans.push((key, node));
                    }
                }
                Some(())
            }
            (Json::Array(values), Children::Array(nodes)) => {
                values.into_iter().zip(nodes).try_for_each(|(value, node)| {
                    if value.is_object() { self.merge(value, node) } else { None }
                })
            }
            _ => None,
        }
    }

    /// The object and its spans; says of each name that came twice where it was first.
    fn finish(self, problems: &mut [Problem]) -> (Map<String, Json>, Members) {
        let spans = Members::from(self.spans);
        for problem in problems {
            if let Problem::Duplicate { key, first, .. } = problem {
                *first = spans.get(key).and_then(|node| node.key).unwrap_or_default();
            }
        }
        (self.members, spans)
    }
}

/// Shares the text of keys that come again and again. Each text has one slot, in which another may
/// displace it: keys made to collide cost an allocation each and nothing more.
struct KeyCache {
    slots: Vec<Option<Arc<str>>>,
}

/// A power of two, so that a hash is cut to a slot by a mask.
const SLOTS: usize = 1024;

impl Default for KeyCache {
    fn default() -> Self {
        Self { slots: vec![None; SLOTS] }
    }
}

impl KeyCache {
    fn get(&mut self, text: &str) -> Arc<str> {
        let hash = text
            .bytes()
            .fold(text.len(), |hash, byte| hash.wrapping_mul(0x0100_0193).rotate_left(7) ^ usize::from(byte));
        let slot = &mut self.slots[(hash ^ (hash >> 17)) & (SLOTS - 1)];
        match slot {
            Some(known) if **known == *text => known.clone(),
            _ => slot.insert(text.into()).clone(),
        }
    }
}
