//! A value of any phase, borrowed: comparing clones nothing.

use formwork_model::{Digest, Json, Leaf, PlannedLeaf, StoredLeaf, Tree};
use indexmap::IndexMap;
use std::sync::Arc;

/// What a leaf is when values are compared.
pub(crate) trait Facet: Leaf {
    /// How it compares.
    fn facet(&self) -> LeafView<'_>;
}

/// A leaf as it compares.
pub(crate) enum LeafView<'a> {
    Json(&'a Json),
    Digest(Digest),
    Unknown,
}

impl Facet for PlannedLeaf {
    fn facet(&self) -> LeafView<'_> {
        match self {
            Self::Unknown { .. } => LeafView::Unknown,
            Self::Secret(digest) | Self::Kept(digest) => LeafView::Digest(*digest),
        }
    }
}

impl Facet for StoredLeaf {
    fn facet(&self) -> LeafView<'_> {
        match self {
            // A reference is unchanged if it resolves to what was sent.
            Self::Resolved { sent, .. } => LeafView::Json(sent),
            Self::Sealed { digest, .. } | Self::Digest(digest) => LeafView::Digest(*digest),
        }
    }
}

/// A borrowed value.
pub(crate) enum View<'a, L> {
    /// Data.
    Json(&'a Json),
    /// A secret, known by its digest.
    Digest(Digest),
    /// Not known before the plan runs.
    Unknown,
    /// An array with a leaf somewhere below it.
    Array(&'a [Tree<L>]),
    /// An object with a leaf somewhere below it.
    Object(&'a IndexMap<Arc<str>, Tree<L>>),
}

impl<L> Clone for View<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for View<'_, L> {}

impl<'a, L: Facet> View<'a, L> {
    /// The view of a tree.
    pub(crate) fn of(tree: &'a Tree<L>) -> Self {
        match tree {
            Tree::Plain(value) => Self::Json(value),
            Tree::Array(items) => Self::Array(items),
            Tree::Object(members) => Self::Object(members),
            Tree::Leaf(leaf) => match leaf.facet() {
                LeafView::Json(value) => Self::Json(value),
                LeafView::Digest(digest) => Self::Digest(digest),
                LeafView::Unknown => Self::Unknown,
            },
        }
    }

    /// The member of this name.
    pub(crate) fn member(self, name: &str) -> Option<Self> {
        match self {
            Self::Json(Json::Object(members)) => members.get(name).map(Self::Json),
            Self::Object(members) => members.get(name).map(Self::of),
            _ => None,
        }
    }

    /// The member of this name, which probably stands at this place: two versions of one object
    /// mostly agree in the order of their members, and a look there is cheaper than a search.
    pub(crate) fn member_near(self, name: &str, place: usize) -> Option<Self> {
        if let Self::Object(members) = self
            && let Some((found, value)) = members.get_index(place)
            && **found == *name
        {
            return Some(Self::of(value));
        }
        self.member(name)
    }

    /// The members of an object, in order; none of anything else.
    pub(crate) fn members(self) -> Members<'a, L> {
        match self {
            Self::Json(Json::Object(members)) => Members::Json(members.iter()),
            Self::Object(members) => Members::Tree(members.iter()),
            _ => Members::None,
        }
    }

    /// How many members an object has.
    pub(crate) fn member_count(self) -> Option<usize> {
        match self {
            Self::Json(Json::Object(members)) => Some(members.len()),
            Self::Object(members) => Some(members.len()),
            _ => None,
        }
    }

    /// How many elements an array has.
    pub(crate) fn item_count(self) -> Option<usize> {
        match self {
            Self::Json(Json::Array(items)) => Some(items.len()),
            Self::Array(items) => Some(items.len()),
            _ => None,
        }
    }

    /// The elements of an array, in order; none of anything else.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        (0..self.item_count().unwrap_or_default()).filter_map(move |index| match self {
            Self::Json(Json::Array(items)) => items.get(index).map(Self::Json),
            Self::Array(items) => items.get(index).map(Self::of),
            _ => None,
        })
    }

    /// Whether a secret is in it.
    pub(crate) fn has_secret(self) -> bool {
        match self {
            Self::Digest(_) => true,
            Self::Json(_) | Self::Unknown => false,
            Self::Array(_) => self.items().any(Self::has_secret),
            Self::Object(_) => self.members().any(|(_, member)| member.has_secret()),
        }
    }

    /// Whether there is nothing in it but secrets.
    pub(crate) fn is_hidden(self) -> bool {
        match self {
            Self::Digest(_) => true,
            Self::Json(_) | Self::Unknown => false,
            Self::Array(_) => self.items().all(Self::is_hidden),
            Self::Object(_) => self.members().all(|(_, member)| member.is_hidden()),
        }
    }

    /// The value as data, secrets as an object that data cannot be mistaken for; `None` if any of
    /// it is unknown. For grouping elements of a set; it clones.
    pub(crate) fn comparable(self) -> Option<Json> {
        match self {
            Self::Json(value) => Some(value.clone()),
            Self::Digest(digest) => {
                Some(serde_json::json!({ "\u{0}digest": serde_json::to_value(digest).unwrap_or_default() }))
            }
            Self::Unknown => None,
            Self::Array(_) => self.items().map(Self::comparable).collect(),
            Self::Object(_) => self
                .members()
                .map(|(name, member)| Some((name.to_owned(), member.comparable()?)))
                .collect::<Option<_>>()
                .map(Json::Object),
        }
    }
}

/// The members of a borrowed object.
pub(crate) enum Members<'a, L> {
    Json(serde_json::map::Iter<'a>),
    Tree(indexmap::map::Iter<'a, Arc<str>, Tree<L>>),
    None,
}

impl<'a, L: Facet> Iterator for Members<'a, L> {
    type Item = (&'a str, View<'a, L>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Json(members) => members.next().map(|(name, value)| (name.as_str(), View::Json(value))),
            Self::Tree(members) => members.next().map(|(name, tree)| (&**name, View::of(tree))),
            Self::None => None,
        }
    }
}
