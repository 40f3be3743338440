//! Modules, imports, classes and type aliases.

use super::{Annotation, Id, List, MethodId, Modifier, Name, PropertyId, StringId, TypeId};
use crate::Span;

/// The name of a class in its [`Ast`](super::Ast).
pub type ClassId = Id<Class>;

/// The name of a type alias in its [`Ast`](super::Ast).
pub type TypeAliasId = Id<TypeAlias>;

/// A module: a whole file.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Module {
    /// The whole text.
    pub span: Span,
    /// The module's own declaration; without `module`, `amends` and `extends` there is none.
    pub decl: Option<ModuleDecl>,
    /// The imports.
    pub imports: List<Import>,
    /// Classes, type aliases, properties and methods in source order.
    pub members: List<ModuleMember>,
}

/// `module a.b.c`, `amends "uri"`, `extends "uri"`, with what stands before them.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ModuleDecl {
    /// All of it, from the doc comment on.
    pub span: Span,
    /// The module's doc comment.
    pub doc: Option<DocComment>,
    /// The module's annotations.
    pub annotations: List<Annotation>,
    /// The module's modifiers.
    pub modifiers: List<Modifier>,
    /// The dotted name after `module`; empty without.
    pub name: List<Name>,
    /// What the module builds on.
    pub base: Option<ModuleBase>,
}

/// The module that a module builds on.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ModuleBase {
    /// Keyword and address.
    pub span: Span,
    /// How.
    pub kind: ModuleBaseKind,
    /// The address, a constant string.
    pub uri: StringId,
}

/// How a module builds on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ModuleBaseKind {
    /// `amends`
    Amends,
    /// `extends`
    Extends,
}

/// `import "uri" as alias`, `import* "pattern" as alias`
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Import {
    /// All of it.
    pub span: Span,
    /// Whether it is `import*`.
    pub glob: bool,
    /// The address, a constant string.
    pub uri: StringId,
    /// The name after `as`.
    pub alias: Option<Name>,
}

/// A member of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ModuleMember {
    /// A class.
    Class(ClassId),
    /// A type alias.
    TypeAlias(TypeAliasId),
    /// A property.
    Property(PropertyId),
    /// A method.
    Method(MethodId),
}

/// `class Name<T> extends Base { … }`
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Class {
    /// All of it, from the doc comment on.
    pub span: Span,
    /// The doc comment.
    pub doc: Option<DocComment>,
    /// The annotations.
    pub annotations: List<Annotation>,
    /// The modifiers.
    pub modifiers: List<Modifier>,
    /// The name.
    pub name: Name,
    /// `<in T, out U>`; empty without.
    pub type_params: List<TypeParameter>,
    /// The type after `extends`.
    pub superclass: Option<TypeId>,
    /// The members, if there is a body.
    pub body: Option<ClassBody>,
}

/// `{ … }` of a class.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClassBody {
    /// All of it, braces included.
    pub span: Span,
    /// The members in source order.
    pub members: List<ClassMember>,
}

/// A member of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ClassMember {
    /// A property.
    Property(PropertyId),
    /// A method.
    Method(MethodId),
}

/// `typealias Name<T> = Type`
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TypeAlias {
    /// All of it, from the doc comment on.
    pub span: Span,
    /// The doc comment.
    pub doc: Option<DocComment>,
    /// The annotations.
    pub annotations: List<Annotation>,
    /// The modifiers.
    pub modifiers: List<Modifier>,
    /// The name.
    pub name: Name,
    /// `<T, U>`; empty without.
    pub type_params: List<TypeParameter>,
    /// What it stands for.
    pub ty: TypeId,
}

/// A type parameter of a class, type alias or method.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TypeParameter {
    /// All of it.
    pub span: Span,
    /// `in` or `out`, if written.
    pub variance: Option<Variance>,
    /// The name.
    pub name: Name,
}

/// The variance of a type parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Variance {
    /// `in`
    In,
    /// `out`
    Out,
}

/// A doc comment: one or more lines that begin with `///`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DocComment {
    /// From the first `///` to the end of the last line.
    pub span: Span,
}

impl DocComment {
    /// The text without `///`, without one space after it, lines joined by `\n`.
    pub fn text(self, source: &str) -> String {
        let lines = self.span.text(source).lines().filter_map(|line| line.trim_start().strip_prefix("///"));
        let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        lines.join("\n")
    }
}
