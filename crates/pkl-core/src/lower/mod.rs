//! From syntax to IR. Names are resolved to scopes; what can't be resolved becomes an error when it is
//! evaluated, as the language wants it.

mod body;
mod expr;
mod module;
mod parents;
mod types;

pub(crate) use body::{Arguments, lower_body};
pub(crate) use module::{lower_class, lower_module};

use pkl_parser::ast::{self, Ast};
use pkl_parser::{Interner, Span, Symbol};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::ir::{
    Barrier, Code, Expr, ExprIx, Inferred, IrId, Lambda, LazyBody, Member, MemberSource, Method, MethodCode,
    MethodKind, ModuleIr, Names, Parameter, Scope, ScopeKind, Site, Ty, TyIx,
};

/// Numbers that are unique in a store.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    sites: AtomicU32,
    locals: AtomicU32,
}

impl Numbers {
    pub(crate) fn site(&self) -> Site {
        Site(self.sites.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn local(&self) -> u32 {
        self.locals.fetch_add(1, Ordering::Relaxed)
    }
}

/// What lowering needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) module: IrId,
    pub(crate) ast: &'a Ast,
    pub(crate) interner: &'a Interner,
    pub(crate) numbers: &'a Numbers,
    /// The names of the base module, unless it is the base module that is lowered.
    pub(crate) base: Option<&'a Names>,
    pub(crate) words: &'a Words,
}

/// Names that the language itself gives a meaning.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) list: Symbol,
    pub(crate) set: Symbol,
    pub(crate) map: Symbol,
    pub(crate) bytes: Symbol,
    pub(crate) default: Symbol,
}

impl Words {
    pub(crate) fn new(interner: &Interner) -> Self {
        Self {
            list: interner.intern("List"),
            set: interner.intern("Set"),
            map: interner.intern("Map"),
            bytes: interner.intern("Bytes"),
            default: interner.intern("default"),
        }
    }
}

/// Makes one piece of code.
struct Lowerer<'a> {
    cx: Context<'a>,
    code: Code,
    scope: Arc<Scope>,
    /// The next free variable.
    next: u32,
    /// The name of the property whose code it is.
    property: Option<Symbol>,
}

impl<'a> Lowerer<'a> {
    fn new(cx: Context<'a>, scope: Arc<Scope>, first_slot: u32) -> Self {
        let code = Code {
            module: cx.module,
            exprs: Vec::new(),
            spans: Vec::new(),
            types: Vec::new(),
            type_spans: Vec::new(),
            root: 0,
            ty: None,
            frame_size: first_slot,
        };
        Self { cx, code, scope, next: first_slot, property: None }
    }

    fn push(&mut self, expr: Expr, span: Span) -> ExprIx {
        push_first_alone(&mut self.code.exprs, expr);
        push_first_alone(&mut self.code.spans, span);
        u32::try_from(self.code.exprs.len() - 1)
            .expect("a bounded source has fewer nodes than u32 has numbers")
    }

    fn push_type(&mut self, ty: Ty, span: Span) -> TyIx {
        push_first_alone(&mut self.code.types, ty);
        push_first_alone(&mut self.code.type_spans, span);
        u32::try_from(self.code.types.len() - 1)
            .expect("a bounded source has fewer nodes than u32 has numbers")
    }

    /// Takes a variable, visible from here on.
    fn declare(&mut self, name: Option<Symbol>) -> u32 {
        let slot = self.take_slot();
        self.scope = self.scope.inside(ScopeKind::Variable { name, slot });
        slot
    }

    fn take_slot(&mut self) -> u32 {
        let slot = self.next;
        self.next += 1;
        self.code.frame_size = self.code.frame_size.max(self.next);
        slot
    }

    /// Runs `lower` with the scope and variables of now, and forgets what it declared.
    fn scoped<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let (scope, next) = (Arc::clone(&self.scope), self.next);
        let result = lower(self);
        self.scope = scope;
        self.next = next;
        result
    }

    fn parameters(&mut self, list: ast::List<ast::Parameter>) -> Box<[Parameter]> {
        let parameters = &self.cx.ast[list];
        // The types can't name the parameters, yet their constraints must not use their places.
        let first = self.next;
        for _ in parameters {
            self.take_slot();
        }
        let lowered: Vec<Parameter> = parameters
            .iter()
            .map(|parameter| Parameter {
                name: parameter.name.map(|name| name.symbol),
                ty: parameter.ty.map(|ty| self.ty(ty)),
            })
            .collect();
        self.next = first;
        for parameter in &lowered {
            self.declare(parameter.name);
        }
        lowered.into()
    }

    /// What a body or lambda that is written here sees of the variables around it.
    fn captured_scope(&self) -> Arc<Scope> {
        captured(&self.scope, self.next, 0)
    }

    fn lazy_body(&self, body: ast::BodyId) -> Box<LazyBody> {
        Box::new(LazyBody {
            module: self.cx.module,
            ast: body,
            scope: Arc::clone(&self.scope),
            visible: self.next,
            body: std::sync::OnceLock::new(),
            unapplied: std::sync::OnceLock::new(),
        })
    }

    fn finish(mut self, root: ExprIx) -> Code {
        self.code.root = root;
        self.code
    }
}

/// Adds an item, the first without room for more: most pieces of code are a constant or a type's name.
fn push_first_alone<T>(items: &mut Vec<T>, item: T) {
    if items.is_empty() {
        items.reserve_exact(1);
    }
    items.push(item);
}

fn captured(scope: &Arc<Scope>, visible: u32, base: u32) -> Arc<Scope> {
    if visible == base { Arc::clone(scope) } else { scope.inside(ScopeKind::Captured { base }) }
}

/// The scope of a member's code and declared type.
fn member_scope(member: &Member) -> Arc<Scope> {
    match member.name {
        Some(name) if member.modifiers.contains(ast::ModifierKind::Const) => {
            member.scope.inside(ScopeKind::Barrier(Barrier::Const(name)))
        }
        _ => Arc::clone(&member.scope),
    }
}

/// The code of a member's value.
pub(crate) fn lower_member(cx: Context<'_>, member: &Member) -> Code {
    let mut lowerer = Lowerer::new(cx, member_scope(member), 0);
    lowerer.property = member.name;
    let root = match member.source {
        MemberSource::Expr(expr) => lowerer.expr_in(expr, Inferred::Member),
        MemberSource::Matched(expr) => lowerer.expr(expr),
        MemberSource::Bodies(bodies) => {
            // `default { … }` amends a function, and its keys, conditions and iterated values belong to that.
            if member.name == Some(cx.words.default) && lowerer.scope.is_body() {
                lowerer.scope = lowerer.scope.inside(ScopeKind::Function);
            }
            let mut value = lowerer.push(Expr::Inherited, member.name_span);
            for &body in &cx.ast[bodies] {
                let lazy = lowerer.lazy_body(body);
                value = lowerer.push(Expr::Amend { receiver: value, body: lazy }, member.name_span);
            }
            value
        }
        _ => lowerer.push(Expr::TypeDefault, member.name_span),
    };
    lowerer.finish(root)
}

/// The code of a member's declared type.
pub(crate) fn lower_member_type(cx: Context<'_>, member: &Member) -> Option<Code> {
    Some(lower_type(cx, &member_scope(member), member.ty?))
}

/// The code of a type that stands alone.
pub(crate) fn lower_type(cx: Context<'_>, scope: &Arc<Scope>, ty: ast::TypeId) -> Code {
    let mut lowerer = Lowerer::new(cx, Arc::clone(scope), 0);
    let ty = lowerer.ty(ty);
    lowerer.code.ty = Some(ty);
    let root = lowerer.push(Expr::Null, Span::default());
    lowerer.finish(root)
}

/// The code of an expression that stands alone.
pub(crate) fn lower_expression(cx: Context<'_>, scope: &Arc<Scope>, expr: ast::ExprId) -> Code {
    let mut lowerer = Lowerer::new(cx, Arc::clone(scope), 0);
    let root = lowerer.expr_in(expr, Inferred::Unknown);
    lowerer.finish(root)
}

/// The code of an annotation: the object it stands for.
pub(crate) fn lower_annotation(cx: Context<'_>, scope: &Arc<Scope>, annotation: &ast::Annotation) -> Code {
    let scope = scope.inside(ScopeKind::Barrier(Barrier::Annotation));
    let mut lowerer = Lowerer::new(cx, scope, 0);
    let ty = lowerer.ty(annotation.ty);
    let root = match annotation.body {
        Some(body) => {
            let body = lowerer.lazy_body(body);
            lowerer.push(Expr::New { ty, body: Some(body) }, annotation.span)
        }
        None => lowerer.push(Expr::New { ty, body: None }, annotation.span),
    };
    lowerer.finish(root)
}

/// The code of a method.
pub(crate) fn lower_method(cx: Context<'_>, method: &Method) -> MethodCode {
    let declared = &cx.ast[method.ast];
    let mut scope = Arc::clone(method.scope.get().expect("a method's scope is set with its class"));
    if method.modifiers.contains(ast::ModifierKind::Const) {
        scope = scope.inside(ScopeKind::Barrier(Barrier::Const(method.name)));
    }
    if !declared.type_params.is_empty() {
        let names = cx.ast[declared.type_params].iter().map(|parameter| parameter.name.symbol).collect();
        scope = scope.inside(ScopeKind::TypeParameters { names, alias: false });
    }
    let mut lowerer = Lowerer::new(cx, scope, 0);
    let params = lowerer.parameters(declared.params);
    let result = declared.return_type.map(|ty| lowerer.ty(ty));
    let root = match method.kind {
        MethodKind::Expr(body) => {
            let inferred = result.map_or(Inferred::Unknown, Inferred::Type);
            lowerer.expr_in(body, inferred)
        }
        MethodKind::External | MethodKind::Abstract => lowerer.push(Expr::Null, method.span),
    };
    MethodCode { params, result, code: lowerer.finish(root) }
}

/// The parameters and code of a function literal.
pub(crate) fn lower_lambda(cx: Context<'_>, lambda: &Lambda) -> (Box<[Parameter]>, Code) {
    let mut lowerer = Lowerer::new(cx, Arc::clone(&lambda.scope), 0);
    let params = lowerer.parameters(lambda.params);
    let root = lowerer.expr_in(lambda.body, Inferred::Unknown);
    (params, lowerer.finish(root))
}

/// The context in which parts of a module are lowered.
pub(crate) fn context<'a>(
    module: &'a ModuleIr,
    interner: &'a Interner,
    numbers: &'a Numbers,
    words: &'a Words,
    base: Option<&'a Names>,
) -> Context<'a> {
    Context { module: module.id, ast: &module.ast, interner, numbers, base, words }
}

/// A definition without code.
pub(crate) fn given_member(module: &ModuleIr, source: MemberSource) -> Member {
    Member {
        module: module.id,
        key: None,
        name: None,
        modifiers: crate::ir::Modifiers::EMPTY,
        source,
        ty: None,
        ast: None,
        span: Span::default(),
        name_span: Span::default(),
        scope: Arc::clone(&module.scope),
        code: std::sync::OnceLock::new(),
        type_code: std::sync::OnceLock::new(),
    }
}
