//! Object bodies.

use pkl_parser::Symbol;
use pkl_parser::ast::{self, MemberValue, ModifierKind, ObjectMemberKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

use super::{Context, Lowerer, captured};
use crate::heap::PropertyKey;
use crate::ir::{
    Body, LazyBody, Member, MemberSource, Method, MethodKind, MethodRef, Modifiers, Name, Names, Op, Scope,
    ScopeKind, Variable,
};

/// Whether a body gets the arguments that its parameters stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// It amends what a function returns, and gets those of the function.
    Given,
    /// It amends an object: its parameters are nothing.
    Missing,
}

/// Lowers an object body.
pub(crate) fn lower_body(cx: Context<'_>, lazy: &LazyBody, arguments: Arguments) -> Body {
    let node = cx.ast[lazy.ast];
    let mut names = NameCollector {
        cx,
        names: Names { of_body: true, ..Names::default() },
        methods: Vec::new(),
        locals: FxHashMap::default(),
        local_keys: FxHashMap::default(),
    };
    names.collect(node.members, true);
    let NameCollector { names, methods, local_keys, .. } = names;
    let names = Arc::new(names);
    let mut lowerer = Lowerer::new(cx, Arc::clone(&lazy.scope), lazy.visible);
    let params = match arguments {
        Arguments::Given => lowerer.parameters(node.params),
        Arguments::Missing => Box::default(),
    };
    let first_slot = lowerer.next;
    let outside = captured(&lowerer.scope, first_slot, 0);
    let object_scope = outside.inside(ScopeKind::Object(Arc::clone(&names)));
    for method in methods {
        method.scope.set(Arc::clone(&object_scope)).expect("a method belongs to one body");
    }
    let in_const = lazy.scope.is_in_const();
    if in_const {
        lowerer.scope = lowerer.scope.inside(ScopeKind::Header);
    }
    let mut builder = BodyBuilder {
        lowerer,
        names,
        local_keys,
        members: Vec::with_capacity(node.members.len()),
        keys: Vec::new(),
        seen_keys: FxHashSet::default(),
        only_properties: true,
        first_slot,
        object_scope,
        in_const,
    };
    let ops = builder.ops(node.members, None);
    let BodyBuilder { lowerer, members, keys, only_properties, .. } = builder;
    let code = lowerer.finish(0);
    Body {
        module: cx.module,
        span: node.span,
        params,
        code,
        ops,
        members,
        keys,
        only_properties,
        first_slot,
        captures: first_slot > 0,
    }
}

struct NameCollector<'a> {
    cx: Context<'a>,
    names: Names,
    methods: Vec<Arc<Method>>,
    /// The keys of locals: those of one name have one, for at most one of them is ever defined.
    locals: FxHashMap<Symbol, PropertyKey>,
    local_keys: FxHashMap<ast::PropertyId, PropertyKey>,
}

impl NameCollector<'_> {
    fn collect(&mut self, members: ast::List<ast::ObjectMember>, unconditional: bool) {
        for member in &self.cx.ast[members] {
            match member.kind {
                ObjectMemberKind::Property(id) => self.property(id, unconditional),
                ObjectMemberKind::Method(id) => {
                    let declared = &self.cx.ast[id];
                    let modifiers = self.cx.ast.modifier_set(declared.modifiers);
                    let method = method(self.cx, id, modifiers, None);
                    let constant = modifiers.contains(ModifierKind::Const);
                    self.names.methods.insert(
                        declared.name.symbol,
                        MethodRef { local: Some(Arc::clone(&method)), constant },
                    );
                    self.methods.push(method);
                }
                ObjectMemberKind::When { then, otherwise, .. } => {
                    self.collect(self.cx.ast[then].members, false);
                    if let Some(otherwise) = otherwise {
                        self.collect(self.cx.ast[otherwise].members, false);
                    }
                }
                ObjectMemberKind::For { body, .. } => self.collect(self.cx.ast[body].members, false),
                _ => {}
            }
        }
    }

    fn property(&mut self, id: ast::PropertyId, unconditional: bool) {
        let property = &self.cx.ast[id];
        let name = property.name.symbol;
        let modifiers = self.cx.ast.modifier_set(property.modifiers);
        let is_local = modifiers.contains(ModifierKind::Local);
        let key = if is_local {
            let key = *self.locals.entry(name).or_insert_with(|| PropertyKey::Local(self.cx.numbers.local()));
            self.local_keys.insert(id, key);
            key
        } else {
            PropertyKey::Named(name)
        };
        let constant = modifiers.contains(ModifierKind::Const);
        let declared = Name { sometimes: !unconditional, ..Name::new(key, constant) };
        self.names.properties.entry(name).and_modify(|known| known.meet(declared)).or_insert(declared);
    }
}

impl Name {
    /// Joins two declarations of one name in one body. A local comes before a property.
    fn meet(&mut self, other: Self) {
        match (self.key, other.key) {
            (PropertyKey::Local(_), PropertyKey::Named(_)) => {
                self.hides =
                    Some((other.key, other.sometimes && self.hides.is_none_or(|(_, sometimes)| sometimes)));
            }
            (PropertyKey::Named(_), PropertyKey::Local(_)) => {
                *self = Self { hides: Some((self.key, self.sometimes)), ..other };
            }
            _ => self.sometimes &= other.sometimes,
        }
    }
}

/// A method whose scope is not known yet.
pub(super) fn method(
    cx: Context<'_>,
    id: ast::MethodId,
    modifiers: Modifiers,
    class_name: Option<Symbol>,
) -> Arc<Method> {
    let declared = &cx.ast[id];
    let kind = match declared.body {
        Some(body) => MethodKind::Expr(body),
        None if modifiers.contains(ModifierKind::External) => MethodKind::External,
        None => MethodKind::Abstract,
    };
    Arc::new(Method {
        module: cx.module,
        name: declared.name.symbol,
        modifiers,
        kind,
        ast: id,
        span: declared.span,
        arity: declared.params.len(),
        annotated: !declared.annotations.is_empty(),
        scope: OnceLock::new(),
        code: OnceLock::new(),
        site: cx.numbers.site(),
        class_name,
    })
}

struct BodyBuilder<'a> {
    lowerer: Lowerer<'a>,
    names: Arc<Names>,
    local_keys: FxHashMap<ast::PropertyId, PropertyKey>,
    members: Vec<Member>,
    keys: Vec<PropertyKey>,
    seen_keys: FxHashSet<PropertyKey>,
    only_properties: bool,
    first_slot: u32,
    object_scope: Arc<Scope>,
    /// Whether the body is written in a const member.
    in_const: bool,
}

impl BodyBuilder<'_> {
    /// `iteration` is the scope of members inside a `for`.
    fn ops(&mut self, members: ast::List<ast::ObjectMember>, iteration: Option<&Arc<Scope>>) -> Vec<Op> {
        let ast = self.lowerer.cx.ast;
        let mut ops = Vec::with_capacity(members.len());
        ops.extend(ast[members].iter().filter_map(|member| self.op(member, iteration)));
        ops
    }

    fn op(&mut self, node: &ast::ObjectMember, iteration: Option<&Arc<Scope>>) -> Option<Op> {
        let scope = Arc::clone(iteration.unwrap_or(&self.object_scope));
        if !matches!(node.kind, ObjectMemberKind::Property(_) | ObjectMemberKind::Method(_)) {
            self.only_properties = false;
        }
        Some(match node.kind {
            ObjectMemberKind::Method(_) => return None,
            ObjectMemberKind::Element(expr) => {
                Op::Element(self.member(MemberSource::Expr(expr), node.span, scope))
            }
            ObjectMemberKind::Property(id) => Op::Property(self.property(id, scope)),
            ObjectMemberKind::Entry { key, value } => {
                let span = self.lowerer.cx.ast[key].span;
                let key = self.lowerer.expr(key);
                Op::Entry { key, member: self.member(source(value), span, scope) }
            }
            ObjectMemberKind::Predicate { condition, value } => {
                let span = self.lowerer.cx.ast[condition].span;
                let (slot, condition) = self.lowerer.scoped(|lowerer| {
                    let slot = lowerer.take_slot();
                    lowerer.scope = lowerer.scope.inside(ScopeKind::This { slot });
                    (slot, lowerer.expr(condition))
                });
                let source = match source(value) {
                    MemberSource::Expr(expr) => MemberSource::Matched(expr),
                    other => other,
                };
                Op::Predicate { slot, condition, member: self.member(source, span, scope) }
            }
            ObjectMemberKind::Spread { value, nullable } => {
                let value = self.lowerer.expr(value);
                Op::Spread { value, nullable, member: self.member(MemberSource::Given, node.span, scope) }
            }
            ObjectMemberKind::When { condition, then, otherwise } => {
                let condition = self.lowerer.expr(condition);
                let ast = self.lowerer.cx.ast;
                let then = self.ops(ast[then].members, iteration);
                let otherwise =
                    otherwise.map(|body| self.ops(ast[body].members, iteration)).unwrap_or_default();
                Op::When { condition, then, otherwise }
            }
            ObjectMemberKind::For { variables, iterable, body } => {
                self.for_op(variables, iterable, body, iteration)
            }
        })
    }

    fn for_op(
        &mut self,
        variables: ast::List<ast::Parameter>,
        iterable: ast::ExprId,
        body: ast::BodyId,
        iteration: Option<&Arc<Scope>>,
    ) -> Op {
        let ast = self.lowerer.cx.ast;
        let iterable = self.lowerer.expr(iterable);
        let (scope, next) = (Arc::clone(&self.lowerer.scope), self.lowerer.next);
        // The members' scope: the variables of all enclosing `for`, captured, around them the object.
        let mut around = match iteration.map(|scope| (&scope.kind, &scope.parent)) {
            Some((ScopeKind::Captured { .. }, Some(inner))) => Arc::clone(inner),
            _ if self.in_const => self.object_scope.inside(ScopeKind::Header),
            _ => Arc::clone(&self.object_scope),
        };
        let mut declared = Vec::new();
        for parameter in &ast[variables] {
            let ty = parameter.ty.map(|ty| self.lowerer.ty(ty));
            let name = parameter.name.map(|name| name.symbol);
            let slot = self.lowerer.declare(name);
            around = around.inside(ScopeKind::Variable { name, slot });
            declared.push(Variable { slot, ty });
        }
        let members_scope = around.inside(ScopeKind::Captured { base: self.first_slot });
        let body = self.ops(ast[body].members, Some(&members_scope));
        self.lowerer.scope = scope;
        self.lowerer.next = next;
        let value = declared.pop().expect("a `for` has at least one variable");
        Op::For { key: declared.pop(), value, iterable, body }
    }

    fn property(&mut self, id: ast::PropertyId, scope: Arc<Scope>) -> u32 {
        let cx = self.lowerer.cx;
        let node = &cx.ast[id];
        let key = self.local_keys.get(&id).copied().unwrap_or(PropertyKey::Named(node.name.symbol));
        let source = match node.value {
            ast::PropertyValue::None => MemberSource::Default,
            ast::PropertyValue::Expr(expr) => MemberSource::Expr(expr),
            ast::PropertyValue::Bodies(bodies) => MemberSource::Bodies(bodies),
        };
        if self.seen_keys.insert(key) {
            self.keys.push(key);
        }
        debug_assert!(self.names.properties.contains_key(&node.name.symbol));
        self.add(Member {
            module: cx.module,
            key: Some(key),
            name: Some(node.name.symbol),
            modifiers: cx.ast.modifier_set(node.modifiers),
            source,
            ty: node.ty,
            ast: Some(id),
            span: node.span,
            name_span: node.name.span,
            scope,
            code: OnceLock::new(),
            type_code: OnceLock::new(),
        })
    }

    fn member(&mut self, source: MemberSource, span: pkl_parser::Span, scope: Arc<Scope>) -> u32 {
        self.add(Member {
            module: self.lowerer.cx.module,
            key: None,
            name: None,
            modifiers: Modifiers::EMPTY,
            source,
            ty: None,
            ast: None,
            span,
            name_span: span,
            scope,
            code: OnceLock::new(),
            type_code: OnceLock::new(),
        })
    }

    fn add(&mut self, member: Member) -> u32 {
        self.members.push(member);
        u32::try_from(self.members.len() - 1)
            .expect("a bounded source has fewer members than u32 has numbers")
    }
}

fn source(value: MemberValue) -> MemberSource {
    match value {
        MemberValue::Expr(expr) => MemberSource::Expr(expr),
        MemberValue::Bodies(bodies) => MemberSource::Bodies(bodies),
    }
}
