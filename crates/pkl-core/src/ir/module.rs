//! Modules, classes, members and object bodies.

use pkl_parser::ast::{self, Ast};
use pkl_parser::{Span, Symbol};
use std::sync::{Arc, OnceLock};

use super::{Code, ExprIx, IrId, Names, Parameter, Scope, TyIx};
use crate::heap::PropertyKey;

/// The modifiers of a declaration.
pub(crate) type Modifiers = ast::ModifierSet;

/// How a module builds on another.
#[derive(Debug, Clone)]
pub(crate) struct ModuleLink {
    pub(crate) extends: bool,
    pub(crate) uri: Arc<str>,
    pub(crate) span: Span,
}

/// A module.
#[derive(Debug)]
pub(crate) struct ModuleIr {
    pub(crate) id: IrId,
    pub(crate) uri: Arc<str>,
    /// The declared name, else that of the URI.
    pub(crate) name: Arc<str>,
    pub(crate) source: Arc<str>,
    pub(crate) ast: Ast,
    pub(crate) root: ast::Module,
    pub(crate) link: Option<ModuleLink>,
    /// A `new` of which nothing tells what it amends: the module can't be loaded.
    pub(crate) orphan: Option<Span>,
    pub(crate) names: Arc<Names>,
    pub(crate) scope: Arc<Scope>,
    /// The module's own properties and methods.
    pub(crate) class: ClassIr,
    pub(crate) classes: Vec<ClassIr>,
    pub(crate) aliases: Vec<AliasIr>,
    pub(crate) imports: Vec<ImportIr>,
    /// The code of annotations, by place.
    pub(crate) annotations: elsa::sync::FrozenMap<u32, Box<Code>>,
    /// The types that classes extend, by place; lowered when reflection asks for them.
    pub(crate) supertypes: elsa::sync::FrozenMap<u32, Box<Code>>,
    /// If this stands for an expression of a host: its code.
    pub(crate) expression: OnceLock<Code>,
    /// Byte offsets of line starts, for messages.
    pub(crate) lines: OnceLock<Vec<u32>>,
}

/// `import "uri" as name`
#[derive(Debug)]
pub(crate) struct ImportIr {
    pub(crate) name: Symbol,
    pub(crate) uri: Arc<str>,
    pub(crate) glob: bool,
    pub(crate) span: Span,
}

/// A class, or the class of a module.
#[derive(Debug)]
pub(crate) struct ClassIr {
    pub(crate) name: Symbol,
    pub(crate) modifiers: Modifiers,
    pub(crate) span: Span,
    /// `None` for the class of a module.
    pub(crate) ast: Option<ast::ClassId>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) type_parameters: Box<[Symbol]>,
    pub(crate) superclass: Option<ast::TypeId>,
    pub(crate) members: OnceLock<ClassMembers>,
}

/// The members of a class, lowered when the class is first used.
#[derive(Debug)]
pub(crate) struct ClassMembers {
    pub(crate) properties: Vec<Member>,
    pub(crate) methods: Vec<Arc<Method>>,
    /// The scope of the members' code.
    pub(crate) scope: Arc<Scope>,
}

/// A type alias.
#[derive(Debug)]
pub(crate) struct AliasIr {
    pub(crate) name: Symbol,
    pub(crate) module: IrId,
    pub(crate) modifiers: Modifiers,
    pub(crate) span: Span,
    pub(crate) ast: ast::TypeAliasId,
    pub(crate) scope: Arc<Scope>,
    pub(crate) type_parameters: Box<[Symbol]>,
    pub(crate) ty: OnceLock<Code>,
}

/// Where a member's value comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemberSource {
    /// `= expr`
    Expr(ast::ExprId),
    /// `= expr` for all members that meet a condition.
    Matched(ast::ExprId),
    /// `{ … }`: amends the inherited value.
    Bodies(ast::List<ast::BodyId>),
    /// No value: the default of the declared type.
    Default,
    /// `external`: native code.
    External,
    /// A class of the module.
    Class(u32),
    /// A type alias of the module.
    Alias(u32),
    /// An import of the module.
    Import(u32),
    /// A value that was computed elsewhere; it is in the environment.
    Given,
    /// The module whose URI is in the environment.
    ModuleAt,
    /// The resource whose URI is in the environment.
    ResourceAt,
    /// The property of the same name of another object, which its environment holds.
    Forward,
}

/// The definition of a property, element or entry.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) module: IrId,
    pub(crate) key: Option<PropertyKey>,
    pub(crate) name: Option<Symbol>,
    pub(crate) modifiers: Modifiers,
    pub(crate) source: MemberSource,
    /// The declared type.
    pub(crate) ty: Option<ast::TypeId>,
    pub(crate) ast: Option<ast::PropertyId>,
    pub(crate) span: Span,
    pub(crate) name_span: Span,
    pub(crate) scope: Arc<Scope>,
    /// Boxed, as most members of a big package are never read.
    pub(crate) code: OnceLock<Box<Code>>,
    pub(crate) type_code: OnceLock<Option<Box<Code>>>,
}

impl Member {
    /// Whether its value is computed by code of its own.
    pub(crate) fn source_is_code(&self) -> bool {
        matches!(self.source, MemberSource::Expr(_) | MemberSource::Matched(_) | MemberSource::Bodies(_))
    }
}

/// How a method is implemented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MethodKind {
    Expr(ast::ExprId),
    External,
    Abstract,
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) module: IrId,
    pub(crate) name: Symbol,
    pub(crate) modifiers: Modifiers,
    pub(crate) kind: MethodKind,
    pub(crate) ast: ast::MethodId,
    pub(crate) span: Span,
    pub(crate) arity: usize,
    /// Whether it has annotations, and so may be deprecated.
    pub(crate) annotated: bool,
    pub(crate) scope: OnceLock<Arc<Scope>>,
    pub(crate) code: OnceLock<MethodCode>,
    /// For native methods, a place to remember the implementation.
    pub(crate) site: super::Site,
    /// The class it belongs to, for the name of a native.
    pub(crate) class_name: Option<Symbol>,
}

/// The code of a method.
#[derive(Debug)]
pub(crate) struct MethodCode {
    pub(crate) params: Box<[Parameter]>,
    pub(crate) result: Option<TyIx>,
    pub(crate) code: Code,
}

/// An object body that is lowered when it is first used.
#[derive(Debug)]
pub(crate) struct LazyBody {
    pub(crate) module: IrId,
    pub(crate) ast: ast::BodyId,
    /// The scope around the body.
    pub(crate) scope: Arc<Scope>,
    /// How many variables of the frame are visible.
    pub(crate) visible: u32,
    pub(crate) body: OnceLock<Body>,
    /// The body where its parameters are nothing.
    pub(crate) unapplied: OnceLock<Box<Body>>,
}

/// An object body.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) module: IrId,
    pub(crate) span: Span,
    pub(crate) params: Box<[Parameter]>,
    /// Keys, conditions and iterated values, which run where the body is written.
    pub(crate) code: Code,
    pub(crate) ops: Vec<Op>,
    pub(crate) members: Vec<Member>,
    /// The keys of all properties outside `when`, in order.
    pub(crate) keys: Vec<PropertyKey>,
    /// Whether all members are properties outside of generators.
    pub(crate) only_properties: bool,
    /// The first variable that `for` introduces.
    pub(crate) first_slot: u32,
    /// Whether members capture the frame's variables.
    pub(crate) captures: bool,
}

impl Body {
    /// Whether it has generators, spreads or predicates.
    pub(crate) fn generates(&self) -> bool {
        self.ops.iter().any(|op| {
            matches!(op, Op::When { .. } | Op::For { .. } | Op::Spread { .. } | Op::Predicate { .. })
        })
    }
}

/// What a body does to the object it makes, in order.
#[derive(Debug)]
pub(crate) enum Op {
    Property(u32),
    Element(u32),
    Entry {
        key: ExprIx,
        member: u32,
    },
    Predicate {
        slot: u32,
        condition: ExprIx,
        member: u32,
    },
    /// Its members are given by `member`, which has its place.
    Spread {
        value: ExprIx,
        nullable: bool,
        member: u32,
    },
    When {
        condition: ExprIx,
        then: Vec<Op>,
        otherwise: Vec<Op>,
    },
    For {
        key: Option<Variable>,
        value: Variable,
        iterable: ExprIx,
        body: Vec<Op>,
    },
}

/// A variable of a `for`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variable {
    pub(crate) slot: u32,
    pub(crate) ty: Option<TyIx>,
}
