//! Types.

use super::{ExprId, Id, List, Name, StringId};
use crate::Span;

/// The name of a type node in its [`Ast`](super::Ast).
pub type TypeId = Id<Type>;

/// A type as written.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Type {
    /// All of it.
    pub span: Span,
    /// What it is.
    pub kind: TypeKind,
}

/// The kinds of types.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TypeKind {
    /// A place where a type was expected; there is a diagnostic for it.
    Error,
    /// `unknown`
    Unknown,
    /// `nothing`
    Nothing,
    /// `module`
    Module,
    /// `"text"`: a constant string.
    StringLiteral(StringId),
    /// `a.b.Name<T, U>`
    Declared {
        /// The dotted name, at least one part.
        name: List<Name>,
        /// The type arguments; empty without `<…>`.
        args: List<TypeId>,
    },
    /// `T?`
    Nullable(TypeId),
    /// `T|*U|V`: at least two members, in source order, none itself a union without parentheses.
    Union {
        /// The alternatives.
        members: List<TypeId>,
        /// The position in `members` of the one marked with `*`. Its span does not hold the mark.
        default: Option<u32>,
    },
    /// `T(e, f)`
    Constrained {
        /// The type that is constrained.
        base: TypeId,
        /// The constraints, all of which must hold; at least one.
        constraints: List<ExprId>,
    },
    /// `(T, U) -> V`
    Function {
        /// The types of the parameters.
        params: List<TypeId>,
        /// The type of the result.
        result: TypeId,
    },
    /// `(T)`
    Parenthesized(TypeId),
}
