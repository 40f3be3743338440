//! The syntax tree: what was written, node by node, with a span on each.
//!
//! All nodes of one text live in one [`Ast`]. A node is named by an [`Id`] and a run of items by a
//! [`List`]; both are small, `Copy`, and looked up by indexing: `ast[id]`, `&ast[list]`. Nothing in the
//! tree owns another node, so a tree of any depth is dropped and cloned without recursion, and side
//! tables can be vectors indexed by [`Id::index`].
//!
//! How deep a tree can be: brackets, and everything else that nests to the right, at most
//! [`MAX_DEPTH`](crate::MAX_DEPTH) levels. What nests to the left is not bounded: `a + b + …`, `a.b.c…`,
//! `a()()…`, `new {…} {…}…`, `T???`. Walk such a spine with a loop ([`Ast::left`]), not by recursion.
//!
//! A tree is whole even if the text has syntax errors: where something was missing stands
//! [`ExprKind::Error`] or [`TypeKind::Error`], and then there is at least one diagnostic. A tree without
//! diagnostics has neither.
//!
//! With the feature `serde` a tree can be written down and read again. Its names are numbers, so it means
//! something only together with the names of the [`Interner`](crate::Interner) that it was read with.

mod arena;
mod expr;
mod member;
mod module;
mod object;
mod string;
mod types;

use std::ops::Index;

pub use arena::{Id, List};
pub use expr::{BinaryOp, Expr, ExprId, ExprKind, MemberAccess, ReadKind, TYPE_TEST_PRECEDENCE, UnaryOp};
pub use member::{
    Annotation, Method, MethodId, Modifier, ModifierKind, ModifierSet, Name, Parameter, Property, PropertyId,
    PropertyValue,
};
pub use module::{
    Class, ClassBody, ClassId, ClassMember, DocComment, Import, Module, ModuleBase, ModuleBaseKind,
    ModuleDecl, ModuleMember, TypeAlias, TypeAliasId, TypeParameter, Variance,
};
pub use object::{Body, BodyId, MemberValue, ObjectMember, ObjectMemberKind};
pub use string::{StringDelimiter, StringId, StringLiteral, StringPart, StringPartKind, Text};
pub use types::{Type, TypeId, TypeKind};

/// The nodes of one text.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ast {
    text: String,
    exprs: Vec<Expr>,
    types: Vec<Type>,
    strings: Vec<StringLiteral>,
    bodies: Vec<Body>,
    properties: Vec<Property>,
    methods: Vec<Method>,
    classes: Vec<Class>,
    type_aliases: Vec<TypeAlias>,
    pools: Pools,
}

/// Runs of items, one vector for each type of item.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Pools {
    exprs: Vec<ExprId>,
    types: Vec<TypeId>,
    bodies: Vec<BodyId>,
    names: Vec<Name>,
    parameters: Vec<Parameter>,
    modifiers: Vec<Modifier>,
    annotations: Vec<Annotation>,
    object_members: Vec<ObjectMember>,
    class_members: Vec<ClassMember>,
    module_members: Vec<ModuleMember>,
    imports: Vec<Import>,
    type_parameters: Vec<TypeParameter>,
    string_parts: Vec<StringPart>,
}

/// A type of node that is named by an [`Id`].
pub(crate) trait Node: Sized {
    fn arena(ast: &mut Ast) -> &mut Vec<Self>;
}

/// A type of item that stands in a [`List`].
pub(crate) trait Item: Sized {
    fn pool(ast: &mut Ast) -> &mut Vec<Self>;
}

macro_rules! nodes {
    ($($node:ty => $arena:ident),* $(,)?) => {$(
        impl Node for $node {
            fn arena(ast: &mut Ast) -> &mut Vec<Self> {
                &mut ast.$arena
            }
        }

        impl Index<Id<$node>> for Ast {
            type Output = $node;

            fn index(&self, id: Id<$node>) -> &$node {
                &self.$arena[id.index()]
            }
        }
    )*};
}

macro_rules! items {
    ($($item:ty => $pool:ident),* $(,)?) => {$(
        impl Item for $item {
            fn pool(ast: &mut Ast) -> &mut Vec<Self> {
                &mut ast.pools.$pool
            }
        }

        impl Index<List<$item>> for Ast {
            type Output = [$item];

            fn index(&self, list: List<$item>) -> &[$item] {
                &self.pools.$pool[list.range()]
            }
        }
    )*};
}

nodes! {
    Expr => exprs,
    Type => types,
    StringLiteral => strings,
    Body => bodies,
    Property => properties,
    Method => methods,
    Class => classes,
    TypeAlias => type_aliases,
}

items! {
    ExprId => exprs,
    TypeId => types,
    BodyId => bodies,
    Name => names,
    Parameter => parameters,
    Modifier => modifiers,
    Annotation => annotations,
    ObjectMember => object_members,
    ClassMember => class_members,
    ModuleMember => module_members,
    Import => imports,
    TypeParameter => type_parameters,
    StringPart => string_parts,
}

impl Ast {
    /// The number of expressions; every [`ExprId::index`](Id::index) is below it.
    pub fn expr_count(&self) -> usize {
        self.exprs.len()
    }

    /// The number of type nodes; every [`TypeId::index`](Id::index) is below it.
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    /// The number of object bodies; every [`BodyId::index`](Id::index) is below it.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// All expressions, in the order in which they were read.
    pub fn exprs(&self) -> &[Expr] {
        &self.exprs
    }

    /// All properties, in the order in which they were read.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// All classes, in the order in which they were read.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// All type aliases, in the order in which they were read.
    pub fn type_aliases(&self) -> &[TypeAlias] {
        &self.type_aliases
    }

    /// All types, in the order in which they were read.
    pub fn types(&self) -> &[Type] {
        &self.types
    }

    /// All annotations, in the order in which they were read.
    pub fn annotations(&self) -> &[Annotation] {
        &self.pools.annotations
    }

    /// All methods, in the order in which they were read.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// All object bodies, in the order in which they were read.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The decoded text of a part of a string literal.
    pub fn text(&self, text: Text) -> &str {
        &self.text[text.range()]
    }

    /// The whole decoded text of a literal without interpolations; `None` if it has one.
    pub fn constant(&self, literal: StringId) -> Option<&str> {
        match &self[self[literal].parts] {
            [] => Some(""),
            [StringPart { kind: StringPartKind::Text(text), .. }] => Some(self.text(*text)),
            _ => None,
        }
    }

    /// The modifiers of a list as a set.
    pub fn modifier_set(&self, modifiers: List<Modifier>) -> ModifierSet {
        self[modifiers].iter().map(|modifier| modifier.kind).collect()
    }

    /// The expression that `expr` begins with and nests to the left: the left operand, the receiver, the
    /// tested or amended expression. Following it from any expression ends after as many steps as the
    /// chain is long.
    pub fn left(&self, expr: ExprId) -> Option<ExprId> {
        self[expr].kind.left()
    }

    /// An empty tree with room for what a text of so many tokens usually has.
    pub(crate) fn with_room_for(tokens: usize) -> Self {
        let mut ast = Self::default();
        ast.exprs.reserve(tokens / 6);
        ast.types.reserve(tokens / 6);
        ast.properties.reserve(tokens / 24);
        ast.methods.reserve(tokens / 32);
        ast.pools.names.reserve(tokens / 8);
        ast.pools.parameters.reserve(tokens / 24);
        ast.pools.types.reserve(tokens / 32);
        ast.pools.exprs.reserve(tokens / 16);
        ast.pools.modifiers.reserve(tokens / 24);
        ast.pools.class_members.reserve(tokens / 32);
        ast
    }

    pub(crate) fn add<T: Node>(&mut self, node: T) -> Id<T> {
        arena::push(T::arena(self), node)
    }

    pub(crate) fn list<T: Item>(&mut self, items: impl IntoIterator<Item = T>) -> List<T> {
        arena::extend(T::pool(self), items)
    }

    pub(crate) fn add_text(&mut self, text: &str) -> Text {
        let start = self.text.len();
        self.text.push_str(text);
        Text::new(start, text.len())
    }
}
