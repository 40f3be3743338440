//! Builds a value and its spans side by side, without recursion and within the limits. The JSON
//! and the YAML reader both write here, so that depth, size and duplicate keys have one rule.

use crate::Limits;
use formwork_model::{Children, Json, SourceNode, Span};
use indexmap::IndexMap;
use indexmap::map::Entry;
use serde_json::Map;
use std::collections::HashSet;
use std::sync::Arc;

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

/// What became of a value that was attached.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attached {
    /// It has its place.
    Fine,
    /// Its key was there before.
    Duplicate { key: Arc<str>, first: Span, second: Span },
    /// It was to be merged and is no object.
    NotMergeable,
}

#[derive(Default)]
pub(crate) struct Builder {
    stack: Vec<Frame>,
    keys: HashSet<Arc<str>>,
    nodes: usize,
    limits: Limits,
}

struct Frame {
    start: Span,
    nodes: usize,
    height: usize,
    content: Content,
}

enum Content {
    Array {
        items: Vec<Json>,
        spans: Vec<SourceNode>,
    },
    Object {
        members: Map<String, Json>,
        spans: IndexMap<Arc<str>, SourceNode>,
        key: Option<Key>,
        /// Keys that came by a merge: an explicit one may override them.
        merged: HashSet<Arc<str>>,
    },
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
        self.stack.is_empty()
    }

    /// Whether the innermost open thing is an object; `None` at the root.
    pub(crate) fn in_object(&self) -> Option<bool> {
        self.stack.last().map(|frame| matches!(frame.content, Content::Object { .. }))
    }

    /// Whether the next thing is a key.
    pub(crate) fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { content: Content::Object { key: None, .. }, .. }))
    }

    /// Where the innermost open thing begins.
    pub(crate) fn open_span(&self) -> Span {
        self.stack.last().map(|frame| frame.start).unwrap_or_default()
    }

    pub(crate) fn open_object(&mut self, start: Span) -> Result<(), TooLarge> {
        self.open(
            start,
            Content::Object {
                members: Map::new(),
                spans: IndexMap::new(),
                key: None,
                merged: HashSet::new(),
            },
        )
    }

    pub(crate) fn open_array(&mut self, start: Span) -> Result<(), TooLarge> {
        self.open(start, Content::Array { items: Vec::new(), spans: Vec::new() })
    }

    fn open(&mut self, start: Span, content: Content) -> Result<(), TooLarge> {
        if self.stack.len() >= self.limits.max_depth {
            return Err(TooLarge::Depth(self.limits.max_depth));
        }
        self.stack.push(Frame { start, nodes: 1, height: 1, content });
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
        if self.stack.len() + height > self.limits.max_depth {
            return Err(TooLarge::Depth(self.limits.max_depth));
        }
        Ok(())
    }

    /// Sets the key of the next value of the innermost object. A `merge` key spreads its value.
    pub(crate) fn key(&mut self, text: &str, span: Span, merge: bool) {
        let text = self.intern(text);
        if let Some(Frame { content: Content::Object { key, .. }, .. }) = self.stack.last_mut() {
            *key = Some(Key { text, span, merge });
        }
    }

    fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.keys.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.keys.insert(new.clone());
        new
    }

    /// Closes the innermost open thing. `end` is its last span, or `None` where it ends with its
    /// last value (a YAML block).
    pub(crate) fn close(&mut self, end: Option<Span>) -> Option<Built> {
        let Frame { start, nodes, height, content } = self.stack.pop()?;
        let (value, children, last) = match content {
            Content::Array { items, spans } => {
                let last = spans.last().map(|node| node.span);
                (Json::Array(items), Children::Array(spans), last)
            }
            Content::Object { members, spans, .. } => {
                let last = spans.last().map(|(_, node)| node.span);
                (Json::Object(members), Children::Object(spans), last)
            }
        };
        let end = end.or(last).unwrap_or(start).end.max(start.end);
        let node = SourceNode { span: Span { end, ..start }, key: None, children };
        Some(Built { value, node, nodes, height })
    }

    /// Puts a value into the innermost open thing.
    pub(crate) fn attach(&mut self, built: Built) -> Attached {
        let Built { value, mut node, nodes, height } = built;
        let Some(frame) = self.stack.last_mut() else { return Attached::Fine };
        frame.nodes += nodes;
        frame.height = frame.height.max(height + 1);
        match &mut frame.content {
            Content::Array { items, spans } => {
                items.push(value);
                spans.push(node);
                Attached::Fine
            }
            Content::Object { members, spans, key, merged } => {
                let Some(Key { text, span, merge }) = key.take() else { return Attached::Fine };
                if merge {
                    return merge_into(members, spans, merged, value, node);
                }
                node.key = Some(span);
                match spans.entry(text) {
                    Entry::Vacant(free) => {
                        members.insert(free.key().as_ref().to_owned(), value);
                        free.insert(node);
                        Attached::Fine
                    }
                    Entry::Occupied(mut taken) => {
                        if !merged.remove(taken.key()) {
                            let first = taken.get().key.unwrap_or_default();
                            return Attached::Duplicate { key: taken.key().clone(), first, second: span };
                        }
                        members.insert(taken.key().as_ref().to_owned(), value);
                        taken.insert(node);
                        Attached::Fine
                    }
                }
            }
        }
    }

    /// The keys and indices from the root to the value that comes next.
    pub(crate) fn path(&self) -> formwork_model::Path {
        self.stack
            .iter()
            .filter_map(|frame| match &frame.content {
                Content::Array { items, .. } => Some(formwork_model::Segment::Index(items.len())),
                Content::Object { key, .. } => {
                    key.as_ref().map(|key| formwork_model::Segment::Key(key.text.clone()))
                }
            })
            .collect()
    }
}

/// Spreads the members of a merged object (or of each object of a list) where they are not
/// there yet: an explicit member wins over a merged one, an earlier merge over a later one.
fn merge_into(
    members: &mut Map<String, Json>,
    spans: &mut IndexMap<Arc<str>, SourceNode>,
    merged: &mut HashSet<Arc<str>>,
    value: Json,
    node: SourceNode,
) -> Attached {
    match (value, node.children) {
        (Json::Object(values), Children::Object(nodes)) => {
            for ((_, value), (key, node)) in values.into_iter().zip(nodes) {
                if let Entry::Vacant(free) = spans.entry(key) {
                    members.insert(free.key().as_ref().to_owned(), value);
                    merged.insert(free.key().clone());
                    free.insert(node);
                }
            }
            Attached::Fine
        }
        (Json::Array(values), Children::Array(nodes)) => {
            for (value, node) in values.into_iter().zip(nodes) {
                if !value.is_object() {
                    return Attached::NotMergeable;
                }
                merge_into(members, spans, merged, value, node);
            }
            Attached::Fine
        }
        _ => Attached::NotMergeable,
    }
}
