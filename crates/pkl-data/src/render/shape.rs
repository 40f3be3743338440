//! What formats without Pkl's distinctions see of a value: a sequence, members with keys, or a scalar.

use super::walk::{Step, Walk};
use crate::error::RenderError;
use crate::tree::{Member, Tree};

/// A value as such a format sees it.
pub(super) enum Shape<'a> {
    /// A `RenderDirective`: text that is written as it is.
    Directive(&'a str),
    /// Elements.
    Sequence(Vec<&'a Tree>),
    /// Properties and entries.
    Members(Vec<(Key<'a>, &'a Tree)>),
    /// Anything else.
    Scalar,
}

/// The key of a member.
#[derive(Clone, Copy)]
pub(super) enum Key<'a> {
    Property(&'a str),
    Entry(&'a Tree),
}

impl<'a> Key<'a> {
    pub(super) fn step(self) -> Step<'a> {
        match self {
            Self::Property(name) => Step::Property(name),
            Self::Entry(key) => Step::Entry(key),
        }
    }

    /// The key's text, if it is one, and whether it is written as it is.
    pub(super) fn text(self) -> Option<KeyText<'a>> {
        match self {
            Self::Property(name) => Some(KeyText::Text(name)),
            Self::Entry(Tree::String(text)) => Some(KeyText::Text(text)),
            Self::Entry(key) => key.render_directive().map(KeyText::Directive),
        }
    }
}

/// The text of a key.
pub(super) enum KeyText<'a> {
    /// To be escaped as the format needs it.
    Text(&'a str),
    /// To be written as it is.
    Directive(&'a str),
}

/// The shape of a value.
///
/// # Errors
/// If it is a `Dynamic` with elements and other members.
pub(super) fn of<'a>(walk: &Walk<'a>, value: &'a Tree) -> Result<Shape<'a>, RenderError> {
    Ok(match value {
        Tree::List(items) | Tree::Set(items) | Tree::Listing(items) => {
            Shape::Sequence(items.iter().collect())
        }
        Tree::Map(entries) | Tree::Mapping(entries) => {
            Shape::Members(entries.iter().map(|(key, value)| (Key::Entry(key), value)).collect())
        }
        Tree::Typed(typed) => match value.render_directive() {
            Some(text) => Shape::Directive(text),
            None => Shape::Members(
                typed.properties.iter().map(|(name, value)| (Key::Property(name), value)).collect(),
            ),
        },
        Tree::Dynamic(members) => dynamic(walk, value, members)?,
        _ => Shape::Scalar,
    })
}

fn dynamic<'a>(walk: &Walk<'a>, value: &'a Tree, members: &'a [Member]) -> Result<Shape<'a>, RenderError> {
    let elements = members.iter().filter(|member| matches!(member, Member::Element(_))).count();
    if elements == 0 {
        return Ok(Shape::Members(members.iter().filter_map(keyed).collect()));
    }
    if elements < members.len() {
        return Err(walk.mixed(value));
    }
    Ok(Shape::Sequence(members.iter().map(Member::value).collect()))
}

/// The key and value of a member that has a key.
pub(super) fn keyed(member: &Member) -> Option<(Key<'_>, &Tree)> {
    match member {
        Member::Property(name, value) => Some((Key::Property(name), value)),
        Member::Entry(key, value) => Some((Key::Entry(key), value)),
        Member::Element(_) => None,
    }
}
