//! Expressions.

use super::{BodyId, Id, List, Name, Parameter, StringId, TypeId};
use crate::Span;

/// The name of an expression in its [`Ast`](super::Ast).
pub type ExprId = Id<Expr>;

/// An expression.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Expr {
    /// All of it, brackets included.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ExprKind {
    /// A place where an expression was expected; there is a diagnostic for it.
    Error,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer. `-9223372036854775808` is one literal, since its digits alone are out of range; any
    /// other minus sign is an operator.
    Int(i64),
    /// A floating-point number, never negative.
    Float(f64),
    /// A string.
    String(StringId),
    /// `this`
    This,
    /// `outer`
    Outer,
    /// `module`
    Module,
    /// `name`: a property, a local, a parameter, a class, an import…
    Name(Name),
    /// `name(args)`
    Call {
        /// What is called.
        name: Name,
        /// The arguments.
        args: List<ExprId>,
    },
    /// `receiver.name`, `receiver?.name`, `receiver.name(args)`, `receiver?.name(args)`
    Member {
        /// What stands before the dot.
        receiver: ExprId,
        /// `?.` or `.`
        access: MemberAccess,
        /// The property's or method's name.
        name: Name,
        /// The arguments of a call; `None` without parentheses.
        args: Option<List<ExprId>>,
    },
    /// `super.name`, `super.name(args)`
    SuperMember {
        /// The property's or method's name.
        name: Name,
        /// The arguments of a call; `None` without parentheses.
        args: Option<List<ExprId>>,
    },
    /// `super[index]`
    SuperSubscript(ExprId),
    /// `receiver[index]`
    Subscript {
        /// What is looked into.
        receiver: ExprId,
        /// The key or position.
        index: ExprId,
    },
    /// `operand!!`
    NonNull(ExprId),
    /// `-operand`, `!operand`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// What it applies to.
        operand: ExprId,
    },
    /// `left op right`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Where the operator stands.
        op_span: Span,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `operand is type`
    Is {
        /// What is tested.
        operand: ExprId,
        /// The type.
        ty: TypeId,
    },
    /// `operand as type`
    As {
        /// What is checked.
        operand: ExprId,
        /// The type.
        ty: TypeId,
    },
    /// `if (condition) then else otherwise`
    If {
        /// The condition.
        condition: ExprId,
        /// The value if it holds.
        then: ExprId,
        /// The value if it doesn't.
        otherwise: ExprId,
    },
    /// `let (name: T = value) body`
    Let {
        /// The variable: a list of exactly one.
        variable: List<Parameter>,
        /// Its value.
        value: ExprId,
        /// Where it can be seen.
        body: ExprId,
    },
    /// `(a, b: T) -> body`
    Function {
        /// The parameters.
        params: List<Parameter>,
        /// The result.
        body: ExprId,
    },
    /// `(inner)`
    Parenthesized(ExprId),
    /// `new T { … }`, `new { … }`
    New {
        /// The type, if written.
        ty: Option<TypeId>,
        /// The members. Further bodies amend this expression.
        body: BodyId,
    },
    /// `receiver { … }`, where the receiver is `(…)`, `new …`, or itself an amendment.
    Amend {
        /// What is amended.
        receiver: ExprId,
        /// The amending members.
        body: BodyId,
    },
    /// `throw(message)`
    Throw(ExprId),
    /// `trace(value)`
    Trace(ExprId),
    /// `import("uri")`, `import*("pattern")`
    Import {
        /// Whether it is `import*`.
        glob: bool,
        /// The address, a constant string.
        uri: StringId,
    },
    /// `read(uri)`, `read?(uri)`, `read*(uri)`
    Read {
        /// Which of the three.
        kind: ReadKind,
        /// The address.
        uri: ExprId,
    },
}

/// How a member is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MemberAccess {
    /// `.`
    Plain,
    /// `?.`: null if the receiver is null.
    NullSafe,
}

/// Which kind of read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ReadKind {
    /// `read`: an error if there is no such resource.
    Read,
    /// `read?`: null if there is no such resource.
    Nullable,
    /// `read*`: all resources of a pattern.
    Glob,
}

/// Operators before their operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
}

impl UnaryOp {
    /// The operator as written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Negate => "-",
            Self::Not => "!",
        }
    }
}

/// How strongly `is` and `as` bind, see [`BinaryOp::precedence`].
pub const TYPE_TEST_PRECEDENCE: u8 = 6;

/// Operators between two expressions. `is` and `as` are expressions of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BinaryOp {
    /// `**`
    Power,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `~/`
    IntDivide,
    /// `%`
    Remainder,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessOrEqual,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|>`
    Pipe,
    /// `??`
    Coalesce,
}

impl BinaryOp {
    /// The operator as written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Power => "**",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::IntDivide => "~/",
            Self::Remainder => "%",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Less => "<",
            Self::Greater => ">",
            Self::LessOrEqual => "<=",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::And => "&&",
            Self::Or => "||",
            Self::Pipe => "|>",
            Self::Coalesce => "??",
        }
    }

    /// How strongly it binds: a higher number binds first. See also [`TYPE_TEST_PRECEDENCE`].
    pub const fn precedence(self) -> u8 {
        match self {
            Self::Coalesce => 1,
            Self::Pipe => 2,
            Self::Or => 3,
            Self::And => 4,
            Self::Equal | Self::NotEqual => 5,
            Self::Less | Self::Greater | Self::LessOrEqual | Self::GreaterOrEqual => 7,
            Self::Add | Self::Subtract => 8,
            Self::Multiply | Self::Divide | Self::IntDivide | Self::Remainder => 9,
            Self::Power => 10,
        }
    }
}

impl ExprKind {
    /// The expression it begins with and nests to the left, see [`Ast::left`](super::Ast::left).
    pub(super) fn left(&self) -> Option<ExprId> {
        match *self {
            Self::Member { receiver: left, .. }
            | Self::Subscript { receiver: left, .. }
            | Self::NonNull(left)
            | Self::Binary { left, .. }
            | Self::Is { operand: left, .. }
            | Self::As { operand: left, .. }
            | Self::Amend { receiver: left, .. } => Some(left),
            _ => None,
        }
    }
}
