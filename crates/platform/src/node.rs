//! A look at a declared value in which an expression may stand anywhere, so that one check serves
//! templates and plain request bodies alike.

use formwork_model::{Expr, ExprLeaf, Json, Part};
use std::borrow::Cow;

/// Stands in a text where a reference or a secret will be written. No sender can mean it: it is
/// Unicode's own placeholder for something that is not text.
pub(crate) const GAP: char = '\u{FFFC}';

/// A value, or the expression that stands for it. Null counts as absent, as it does in a body.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a> {
    Plain(&'a Json),
    Tree(&'a Expr),
}

impl<'a> Node<'a> {
    pub(crate) fn of(expression: &'a Expr) -> Self {
        let mut tree = expression;
        loop {
            match tree {
                Expr::Plain(value) => return Self::Plain(value),
                // What is evaluated once is checked like what is evaluated each time.
                Expr::Leaf(ExprLeaf::Once(inner)) => tree = inner,
                other => return Self::Tree(other),
            }
        }
    }

    /// Whether the value is not known before the deploy.
    pub(crate) fn is_expression(self) -> bool {
        matches!(self, Self::Tree(Expr::Leaf(_)))
    }

    pub(crate) fn is_null(self) -> bool {
        matches!(self, Self::Plain(Json::Null))
    }

    /// The member, unless it is absent or null.
    pub(crate) fn member(self, key: &str) -> Option<Self> {
        self.raw_member(key).filter(|node| !node.is_null())
    }

    /// The member, even if it is null.
    pub(crate) fn raw_member(self, key: &str) -> Option<Self> {
        match self {
            Self::Plain(value) => value.as_object()?.get(key).map(Self::Plain),
            Self::Tree(Expr::Object(members)) => members.get(key).map(Self::of),
            Self::Tree(_) => None,
        }
    }

    pub(crate) fn is_object(self) -> bool {
        matches!(self, Self::Plain(Json::Object(_)) | Self::Tree(Expr::Object(_)))
    }

    pub(crate) fn is_array(self) -> bool {
        matches!(self, Self::Plain(Json::Array(_)) | Self::Tree(Expr::Array(_)))
    }

    /// The members of an object in order; none of anything else.
    pub(crate) fn members(self) -> Vec<(&'a str, Self)> {
        match self {
            Self::Plain(Json::Object(members)) => {
                members.iter().map(|(key, member)| (key.as_str(), Self::Plain(member))).collect()
            }
            Self::Tree(Expr::Object(members)) => {
                members.iter().map(|(key, member)| (&**key, Self::of(member))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The elements of an array; none of anything else.
    pub(crate) fn items(self) -> Vec<Self> {
        match self {
            Self::Plain(Json::Array(items)) => items.iter().map(Self::Plain).collect(),
            Self::Tree(Expr::Array(items)) => items.iter().map(Self::of).collect(),
            _ => Vec::new(),
        }
    }

    /// The text, if it is one and known.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Self::Plain(value) => value.as_str(),
            Self::Tree(_) => None,
        }
    }

    /// The value, if all of it is known.
    pub(crate) fn json(self) -> Option<&'a Json> {
        match self {
            Self::Plain(value) => Some(value),
            Self::Tree(_) => None,
        }
    }

    /// The text with a [`GAP`] for each part that is not known; `None` if it is no text, or wholly
    /// unknown.
    pub(crate) fn known_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Plain(value) => value.as_str().map(Cow::Borrowed),
            Self::Tree(Expr::Leaf(ExprLeaf::Template(parts))) => {
                let mut text = String::new();
                for part in parts {
                    match part {
                        Part::Text(literal) => text.push_str(literal),
                        Part::Ref(_) | Part::Secret(_) => text.push(GAP),
                    }
                }
                Some(Cow::Owned(text))
            }
            Self::Tree(_) => None,
        }
    }

    /// A text that is certainly not empty, or an expression that may become one.
    pub(crate) fn may_be_text(self) -> bool {
        self.is_expression() || self.text().is_some_and(|text| !text.is_empty())
    }

    /// A whole number of at least `least`, or an expression that may become one.
    pub(crate) fn may_be_integer(self, least: i64) -> bool {
        self.is_expression() || self.integer().is_some_and(|number| number >= least)
    }

    /// The whole number, if it is one and known.
    pub(crate) fn integer(self) -> Option<i64> {
        let number = self.json()?.as_number()?;
        if let Some(whole) = number.as_i64() {
            return Some(whole);
        }
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
        #[expect(clippy::cast_possible_truncation, reason = "whole and within the range of exact floats")]
        Some(float as i64)
    }
}
