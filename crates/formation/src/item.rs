//! A value of the template together with its place.

use formwork_model::{Children, Json, Segment, SourceNode, Span};
use std::sync::Arc;

/// A value of the template and where it stands in the text.
#[derive(Clone, Copy)]
pub(crate) struct Item<'a> {
    pub(crate) value: &'a Json,
    pub(crate) node: Option<&'a SourceNode>,
}

impl<'a> Item<'a> {
    /// The members of an object; `None` if this is none.
    pub(crate) fn members(self) -> Option<impl Iterator<Item = (Name<'a>, Item<'a>)>> {
        let Item { value, node } = self;
        Some(value.as_object()?.iter().enumerate().map(move |(index, (key, value))| {
            let (name, node) = member_node(node, index, key);
            (name, Item { value, node })
        }))
    }

    /// The member of this name.
    pub(crate) fn get(self, key: &str) -> Option<Item<'a>> {
        let value = self.value.as_object()?.get(key)?;
        Some(Item { value, node: self.node.and_then(|node| named(node, key)).map(|(_, node)| node) })
    }

    /// The element at an index, whose value is at hand.
    pub(crate) fn element(self, index: usize, value: &'a Json) -> Item<'a> {
        Item { value, node: self.node.and_then(|node| node.child(&Segment::Index(index))) }
    }

    pub(crate) fn span(self) -> Span {
        self.node.map(|node| node.span).unwrap_or_default()
    }

    /// The span of its name, where it has one.
    pub(crate) fn key_span(self) -> Span {
        self.node.map(|node| node.key.unwrap_or(node.span)).unwrap_or_default()
    }
}

/// The name of a member: as the spans hold it where they do, so that it can be shared.
#[derive(Clone, Copy)]
pub(crate) enum Name<'a> {
    Shared(&'a Arc<str>),
    Text(&'a str),
}

impl Name<'_> {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Shared(name) => name,
            Self::Text(name) => name,
        }
    }

    pub(crate) fn to_arc(self) -> Arc<str> {
        match self {
            Self::Shared(name) => name.clone(),
            Self::Text(name) => name.into(),
        }
    }
}

/// The name and span node of the member at a position. Spans are built beside the value, in its
/// order; a lookup is only for those that were not.
pub(crate) fn member_node<'a>(
    node: Option<&'a SourceNode>,
    index: usize,
    key: &'a str,
) -> (Name<'a>, Option<&'a SourceNode>) {
    let at = |node: &'a SourceNode| match &node.children {
        Children::Object(nodes) => {
            nodes.get_index(index).filter(|(name, _)| ***name == *key).or_else(|| named(node, key))
        }
        _ => None,
    };
    match node.and_then(at) {
        Some((name, node)) => (Name::Shared(name), Some(node)),
        None => (Name::Text(key), None),
    }
}

fn named<'a>(node: &'a SourceNode, key: &str) -> Option<(&'a Arc<str>, &'a SourceNode)> {
    match &node.children {
        Children::Object(nodes) => nodes.get_key_value(key),
        _ => None,
    }
}
