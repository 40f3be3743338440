//! Expressions and types. Those of one piece of code live in one arena and name each other by position,
//! so that dropping them needs no recursion.

use pkl_parser::{Span, Symbol, ast};
use std::sync::{Arc, OnceLock};

pub(crate) use ast::{BinaryOp, ReadKind, UnaryOp};

use super::{Barrier, IrId, LazyBody, Method, Scope, Site};
use crate::heap::PropertyKey;

/// The position of an expression in its code.
pub(crate) type ExprIx = u32;
/// The position of a type in its code.
pub(crate) type TyIx = u32;

/// A piece of code that runs in one frame.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) module: IrId,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) spans: Vec<Span>,
    pub(crate) types: Vec<Ty>,
    pub(crate) type_spans: Vec<Span>,
    /// Where evaluation begins.
    pub(crate) root: ExprIx,
    /// The type that the whole code is about, if it is one.
    pub(crate) ty: Option<TyIx>,
    /// How many variables its frame holds.
    pub(crate) frame_size: u32,
}

/// A kind of collection with a constructor of any number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collect {
    List,
    Set,
    Map,
    Bytes,
}

/// Where a lexically visible property is found: so many objects outward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexical {
    pub(crate) level: u32,
    pub(crate) key: PropertyKey,
    pub(crate) name: Symbol,
}

/// A part of an interpolated string.
#[derive(Debug)]
pub(crate) enum Part {
    Text(Arc<str>),
    Expr(ExprIx),
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Arc<str>, Site),
    Interpolated(Box<[Part]>),
    /// A variable of this frame.
    Local(u32),
    /// A captured variable.
    Captured {
        depth: u32,
        index: u32,
    },
    /// `this`
    This,
    /// The receiver so many objects outward: `outer` is one, `module` the outermost.
    ThisAt(u32),
    /// A property of a lexically enclosing object.
    Lexical(Lexical),
    /// A property that the enclosing object has or not, depending on a generator.
    Sometimes {
        lexical: Lexical,
        otherwise: ExprIx,
    },
    /// A name that is in no scope: a property of `this`. The variable is set where `this` is one.
    Implicit {
        name: Symbol,
        this: Option<ExprIx>,
    },
    /// A property of the base module.
    Base {
        name: Symbol,
        site: Site,
    },
    Property {
        receiver: ExprIx,
        name: Symbol,
        null_safe: bool,
    },
    SuperProperty {
        name: Symbol,
    },
    SuperSubscript(ExprIx),
    /// The inherited value of the member being evaluated, or its default.
    Inherited,
    /// The value that `new { … }` amends where it stands.
    InferredParent(Inferred),
    /// A call of a method of a lexically enclosing object.
    CallLexical {
        level: u32,
        name: Symbol,
        args: Box<[ExprIx]>,
    },
    /// A call of a local method.
    CallLocal {
        level: u32,
        method: Arc<Method>,
        args: Box<[ExprIx]>,
    },
    /// A call of a method of the base module.
    CallBase {
        name: Symbol,
        args: Box<[ExprIx]>,
        site: Site,
    },
    /// A call of a method of `this`.
    CallImplicit {
        name: Symbol,
        args: Box<[ExprIx]>,
        this: Option<ExprIx>,
    },
    CallMethod {
        receiver: ExprIx,
        name: Symbol,
        args: Box<[ExprIx]>,
        null_safe: bool,
    },
    CallSuper {
        name: Symbol,
        args: Box<[ExprIx]>,
    },
    Collect {
        kind: Collect,
        args: Box<[ExprIx]>,
    },
    Subscript {
        receiver: ExprIx,
        index: ExprIx,
    },
    NonNull(ExprIx),
    Unary {
        op: UnaryOp,
        operand: ExprIx,
    },
    Binary {
        op: BinaryOp,
        left: ExprIx,
        right: ExprIx,
    },
    Is {
        operand: ExprIx,
        ty: TyIx,
    },
    As {
        operand: ExprIx,
        ty: TyIx,
    },
    If {
        condition: ExprIx,
        then: ExprIx,
        otherwise: ExprIx,
    },
    Let {
        slot: u32,
        ty: Option<TyIx>,
        value: ExprIx,
        body: ExprIx,
    },
    Lambda {
        lambda: Box<Lambda>,
        visible: u32,
    },
    /// `new T { … }`
    New {
        ty: TyIx,
        body: Option<Box<LazyBody>>,
    },
    Amend {
        receiver: ExprIx,
        body: Box<LazyBody>,
    },
    Throw(ExprIx),
    Trace(ExprIx),
    Import {
        uri: Arc<str>,
        glob: bool,
        site: Site,
    },
    Read {
        kind: ReadKind,
        uri: ExprIx,
    },
    /// The default value of the declared type of the property being evaluated.
    TypeDefault,
    /// What must be const and isn't.
    NotConst(NotConst),
    /// Another expression, which uses a member of a receiver that must be const.
    ConstMember {
        receiver: ExprIx,
        member: NotConst,
        then: ExprIx,
    },
    /// `outer` or `super` where there is none.
    Misplaced(&'static str),
}

/// What may not be used where only const members may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotConst {
    Property(Symbol),
    Method(Symbol),
    This,
    Outer,
    Module(Barrier),
}

/// What `new { … }` without a type amends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inferred {
    /// The default value of the property being defined.
    Member,
    /// The default of a type: of a local property, a method's result, a variable.
    Type(TyIx),
    /// Nothing says what.
    Unknown,
}

/// A parameter of a method, function or body, or a variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: Option<Symbol>,
    pub(crate) ty: Option<TyIx>,
}

/// `(params) -> body`
#[derive(Debug)]
pub(crate) struct Lambda {
    pub(crate) module: IrId,
    pub(crate) span: Span,
    pub(crate) arity: usize,
    pub(crate) params: ast::List<ast::Parameter>,
    pub(crate) body: ast::ExprId,
    pub(crate) scope: Arc<Scope>,
    pub(crate) code: OnceLock<(Box<[Parameter]>, Code)>,
}

/// A type.
#[derive(Debug)]
pub(crate) enum Ty {
    Unknown,
    Nothing,
    /// The class of the module, so many objects outward.
    Module(u32),
    StringLiteral(Arc<str>),
    /// A class or alias by name, with type arguments.
    Named {
        path: Box<[Symbol]>,
        args: Box<[TyIx]>,
        site: Site,
    },
    /// A type parameter of the enclosing alias.
    AliasParameter(u32),
    /// A type parameter of a class or method: anything.
    Variable(Symbol),
    Nullable(TyIx),
    Union {
        members: Box<[TyIx]>,
        default: Option<u32>,
        literals: Option<Box<rustc_hash::FxHashSet<Arc<str>>>>,
    },
    Constrained {
        base: TyIx,
        slot: u32,
        constraints: Box<[ExprIx]>,
    },
    Function {
        params: Box<[TyIx]>,
        result: TyIx,
    },
}
