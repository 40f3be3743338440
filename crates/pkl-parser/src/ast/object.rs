//! Object bodies and their members.

use super::{ExprId, Id, List, MethodId, Parameter, PropertyId};
use crate::Span;

/// The name of an object body in its [`Ast`](super::Ast).
pub type BodyId = Id<Body>;

/// `{ members }` or `{ params -> members }`
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Body {
    /// All of it, braces included.
    pub span: Span,
    /// The parameters before `->`; empty without.
    pub params: List<Parameter>,
    /// The members in source order.
    pub members: List<ObjectMember>,
}

/// A member of an object body.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ObjectMember {
    /// All of it.
    pub span: Span,
    /// What it is.
    pub kind: ObjectMemberKind,
}

/// The kinds of members of an object body.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ObjectMemberKind {
    /// `expr`
    Element(ExprId),
    /// `name = expr`, `name: T = expr`, `name { … }`, each with modifiers. Also `default = …`.
    Property(PropertyId),
    /// `local function name(…) = expr`
    Method(MethodId),
    /// `[key] = expr`, `[key] { … }`
    Entry {
        /// The key.
        key: ExprId,
        /// The value.
        value: MemberValue,
    },
    /// `[[condition]] = expr`, `[[condition]] { … }`
    Predicate {
        /// Which members are meant; `this` is the member.
        condition: ExprId,
        /// The value.
        value: MemberValue,
    },
    /// `...expr`, `...?expr`
    Spread {
        /// What is spread.
        value: ExprId,
        /// Whether it is `...?`, which allows null.
        nullable: bool,
    },
    /// `when (condition) { … } else { … }`
    When {
        /// The condition.
        condition: ExprId,
        /// The members if it holds. Never with parameters.
        then: BodyId,
        /// The members if it doesn't. Never with parameters.
        otherwise: Option<BodyId>,
    },
    /// `for (value in iterable) { … }`, `for (key, value in iterable) { … }`
    For {
        /// One variable, the value, or two, the key and the value.
        variables: List<Parameter>,
        /// What is iterated.
        iterable: ExprId,
        /// The members for each. Never with parameters.
        body: BodyId,
    },
}

/// What an entry is set to.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MemberValue {
    /// `= expr`
    Expr(ExprId),
    /// `{ … } { … }`: amends the inherited value, body after body; at least one.
    Bodies(List<BodyId>),
}
