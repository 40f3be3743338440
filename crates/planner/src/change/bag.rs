//! The declared properties of one resource, as far as they are known: borrowed wherever nothing had
//! to be worked out.

use super::view::View;
use formwork_model::{Json, Planned, PlannedLeaf, Ref};
use indexmap::IndexMap;
use std::borrow::Cow;

/// One declared property.
#[derive(Clone, Debug)]
pub(crate) enum Member<'a> {
    /// A literal, as declared.
    Json(&'a Json),
    /// A value that had to be worked out.
    Planned(Cow<'a, Planned>),
}

/// The declared properties in the order of their declaration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bag<'a>(pub(crate) Vec<(Cow<'a, str>, Member<'a>)>);

impl Member<'_> {
    pub(crate) fn view(&self) -> View<'_, PlannedLeaf> {
        match self {
            Self::Json(value) => View::Json(value),
            Self::Planned(value) => View::of(value),
        }
    }

    pub(crate) fn to_planned(&self) -> Planned {
        match self {
            Self::Json(value) => Planned::Plain((*value).clone()),
            Self::Planned(value) => value.clone().into_owned(),
        }
    }

    /// Whether the provider's own copy is kept, so that nothing is sent.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self, Self::Planned(value) if matches!(**value, Planned::Leaf(PlannedLeaf::Kept(_))))
    }

    /// Adds the references that this value waits for.
    pub(crate) fn collect_waits(&self, into: &mut Vec<Ref>) {
        let Self::Planned(value) = self else { return };
        value.for_each_leaf(&mut |_, leaf| {
            if let PlannedLeaf::Unknown { from, .. } = leaf {
                for reference in from {
                    if !into.contains(reference) {
                        into.push(reference.clone());
                    }
                }
            }
        });
    }
}

impl<'a> Bag<'a> {
    /// The members of a whole value; none if it is no object.
    pub(crate) fn of(properties: &'a Planned) -> Self {
        match properties {
            Planned::Plain(Json::Object(members)) => {
                Self(members.iter().map(|(name, value)| (name.into(), Member::Json(value))).collect())
            }
            Planned::Object(members) => Self(
                members
                    .iter()
                    .map(|(name, value)| ((&**name).into(), Member::Planned(Cow::Borrowed(value))))
                    .collect(),
            ),
            _ => Self::default(),
        }
    }

    /// The properties as one value of their own.
    pub(crate) fn to_planned(&self) -> Planned {
        let members: IndexMap<_, _> =
            self.0.iter().map(|(name, member)| ((&**name).into(), member.to_planned())).collect();
        Planned::object(members)
    }
}
