//! Properties, methods and what stands around their names.

use super::{BodyId, DocComment, ExprId, Id, List, TypeId, TypeParameter};
use crate::{Span, Symbol};

/// The name of a property in its [`Ast`](super::Ast).
pub type PropertyId = Id<Property>;

/// The name of a method in its [`Ast`](super::Ast).
pub type MethodId = Id<Method>;

/// A name as written. Back-quotes are in the span, not in the symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Name {
    /// The name.
    pub symbol: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// A parameter of a function, method or object body, or a variable of `let` and `for`.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameter {
    /// Name and type.
    pub span: Span,
    /// The name; `None` for `_`.
    pub name: Option<Name>,
    /// The type, if written.
    pub ty: Option<TypeId>,
}

/// A property of a module, a class or an object body.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Property {
    /// All of it, from the doc comment on.
    pub span: Span,
    /// The doc comment. Never in an object body.
    pub doc: Option<DocComment>,
    /// The annotations. None in an object body.
    pub annotations: List<Annotation>,
    /// The modifiers.
    pub modifiers: List<Modifier>,
    /// The name.
    pub name: Name,
    /// The type, if written. Never together with [`PropertyValue::Bodies`].
    pub ty: Option<TypeId>,
    /// The value.
    pub value: PropertyValue,
}

/// What a property is set to.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PropertyValue {
    /// Nothing: `name: T`. Then there is a type, and the property is not in an object body.
    None,
    /// `= expr`
    Expr(ExprId),
    /// `name { … } { … }`: amends the inherited value, body after body; at least one.
    Bodies(List<BodyId>),
}

/// `function name<T>(params): R = body` of a module, a class or an object body.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Method {
    /// All of it, from the doc comment on.
    pub span: Span,
    /// The doc comment. Never in an object body.
    pub doc: Option<DocComment>,
    /// The annotations. None in an object body.
    pub annotations: List<Annotation>,
    /// The modifiers.
    pub modifiers: List<Modifier>,
    /// The name.
    pub name: Name,
    /// `<T, U>`; empty without.
    pub type_params: List<TypeParameter>,
    /// The parameters.
    pub params: List<Parameter>,
    /// The type of the result, if written.
    pub return_type: Option<TypeId>,
    /// The result; `None` for an abstract or external method.
    pub body: Option<ExprId>,
}

/// `@Type` or `@Type { … }`
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Annotation {
    /// All of it.
    pub span: Span,
    /// The annotation's class.
    pub ty: TypeId,
    /// The members, if there is a body.
    pub body: Option<BodyId>,
}

/// A modifier as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Modifier {
    /// Where it stands.
    pub span: Span,
    /// Which one.
    pub kind: ModifierKind,
}

/// The modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ModifierKind {
    /// `abstract`
    Abstract,
    /// `open`
    Open,
    /// `external`
    External,
    /// `local`
    Local,
    /// `hidden`
    Hidden,
    /// `fixed`
    Fixed,
    /// `const`
    Const,
}

impl ModifierKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Abstract, Self::Open, Self::External, Self::Local, Self::Hidden, Self::Fixed, Self::Const];

    /// The keyword.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Abstract => "abstract",
            Self::Open => "open",
            Self::External => "external",
            Self::Local => "local",
            Self::Hidden => "hidden",
            Self::Fixed => "fixed",
            Self::Const => "const",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ModifierSet(u8);

impl ModifierSet {
    /// No modifier.
    pub const EMPTY: Self = Self(0);

    /// The set and `kind`.
    #[must_use]
    pub const fn with(self, kind: ModifierKind) -> Self {
        Self(self.0 | kind.bit())
    }

    /// Whether `kind` is one of them.
    pub const fn contains(self, kind: ModifierKind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The modifiers in the order of [`ModifierKind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = ModifierKind> {
        ModifierKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<ModifierKind> for ModifierSet {
    fn from_iter<I: IntoIterator<Item = ModifierKind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::EMPTY, Self::with)
    }
}
