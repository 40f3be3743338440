//! What a module is lowered to: immutable, shared between evaluations, made piece by piece when first needed.
//!
//! Nothing here refers to values of an evaluation. What an evaluation learns about a place in a program
//! (the class a name stands for, the value of a literal) it keeps in a table of its own, indexed by [`Site`].

mod expr;
mod module;
mod scope;

pub(crate) use expr::{
    BinaryOp, Code, Collect, Expr, ExprIx, Inferred, Lambda, Lexical, NotConst, Parameter, Part, ReadKind,
    Ty, TyIx, UnaryOp,
};
pub(crate) use module::{
    AliasIr, Body, ClassIr, ClassMembers, ImportIr, LazyBody, Member, MemberSource, Method, MethodCode,
    MethodKind, Modifiers, ModuleIr, ModuleLink, Op, Variable,
};
pub(crate) use scope::{
    Barrier, Found, FoundMethod, MethodRef, Name, Names, Scope, ScopeKind, TypeParameter,
};

/// A place in a program that an evaluation may remember something about. Unique in a store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Site(pub(crate) u32);

/// The number of a module in its store.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct IrId(pub(crate) u32);
