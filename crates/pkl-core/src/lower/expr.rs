//! Expressions.

use pkl_parser::ast::{self, ExprKind, MemberAccess, StringPartKind};
use pkl_parser::{Span, Symbol};
use std::sync::OnceLock;

use super::Lowerer;
use crate::ir::{
    Barrier, Collect, Expr, ExprIx, Found, FoundMethod, Inferred, Lambda, Lexical, NotConst, Part, ScopeKind,
};

impl Lowerer<'_> {
    /// Lowers an expression in whose place nothing says what `new { … }` amends.
    pub(super) fn expr(&mut self, id: ast::ExprId) -> ExprIx {
        self.expr_in(id, Inferred::Unknown)
    }

    /// Lowers an expression. What nests to the left is lowered in a loop, for it may be very deep.
    pub(super) fn expr_in(&mut self, id: ast::ExprId, inferred: Inferred) -> ExprIx {
        let mut spine = vec![id];
        let mut only_amends = true;
        while let Some(left) = self.cx.ast.left(spine[spine.len() - 1]) {
            only_amends &= matches!(self.cx.ast[spine[spine.len() - 1]].kind, ExprKind::Amend { .. });
            spine.push(left);
        }
        let innermost = spine.pop().expect("the spine begins with the expression itself");
        let context = if only_amends { inferred } else { Inferred::Unknown };
        let selected =
            spine.last().is_some_and(|&outer| matches!(self.cx.ast[outer].kind, ExprKind::Member { .. }));
        let mut lowered = match self.forbidden_word(innermost) {
            Some(word) if !selected => self.push(Expr::NotConst(word), self.cx.ast[innermost].span),
            _ => self.innermost(innermost, context),
        };
        while let Some(outer) = spine.pop() {
            lowered = self.around(outer, lowered);
        }
        lowered
    }

    fn args(&mut self, args: ast::List<ast::ExprId>) -> Box<[ExprIx]> {
        let nodes = &self.cx.ast[args];
        nodes.iter().map(|&arg| self.expr(arg)).collect()
    }

    /// An expression whose left part is lowered already.
    fn around(&mut self, id: ast::ExprId, left: ExprIx) -> ExprIx {
        let node = self.cx.ast[id];
        let expr = match node.kind {
            ExprKind::Member { receiver, access, name, args } => {
                let null_safe = access == MemberAccess::NullSafe;
                let (member, expr) = match args {
                    Some(args) => {
                        let args = self.args(args);
                        let call = Expr::CallMethod { receiver: left, name: name.symbol, args, null_safe };
                        (NotConst::Method(name.symbol), call)
                    }
                    None => {
                        let read = Expr::Property { receiver: left, name: name.symbol, null_safe };
                        (NotConst::Property(name.symbol), read)
                    }
                };
                if self.forbidden_word(receiver).is_some() {
                    self.const_member(left, member, expr, node.span)
                } else {
                    expr
                }
            }
            ExprKind::Subscript { index, .. } => Expr::Subscript { receiver: left, index: self.expr(index) },
            ExprKind::NonNull(_) => Expr::NonNull(left),
            ExprKind::Binary { op, right, .. } => Expr::Binary { op, left, right: self.expr(right) },
            ExprKind::Is { ty, .. } => Expr::Is { operand: left, ty: self.ty(ty) },
            ExprKind::As { ty, .. } => Expr::As { operand: left, ty: self.ty(ty) },
            ExprKind::Amend { body, .. } => Expr::Amend { receiver: left, body: self.lazy_body(body) },
            _ => unreachable!("only these kinds have a left part"),
        };
        self.push(expr, node.span)
    }

    fn innermost(&mut self, id: ast::ExprId, inferred: Inferred) -> ExprIx {
        let node = self.cx.ast[id];
        let expr = match node.kind {
            ExprKind::Error | ExprKind::Null => Expr::Null,
            ExprKind::Bool(value) => Expr::Bool(value),
            ExprKind::Int(value) => Expr::Int(value),
            ExprKind::Float(value) => Expr::Float(value),
            ExprKind::String(literal) => self.string(literal),
            ExprKind::This => match self.this_variable(node.span) {
                Some(variable) => return variable,
                None => Expr::This,
            },
            ExprKind::Outer => match self.scope.outer_level() {
                0 => Expr::ThisAt(0),
                level if level < self.scope.levels() => Expr::ThisAt(level),
                _ => Expr::Misplaced("outer"),
            },
            ExprKind::Module => Expr::ThisAt(self.scope.levels().saturating_sub(1)),
            ExprKind::Name(name) => self.name(name.symbol, node.span),
            ExprKind::Call { name, args } => self.call(name.symbol, args, node.span),
            ExprKind::SuperMember { name, args } => match args {
                Some(args) => {
                    let call = Expr::CallSuper { name: name.symbol, args: self.args(args) };
                    self.member_of_this(NotConst::Method(name.symbol), call, node.span)
                }
                None => {
                    let read = Expr::SuperProperty { name: name.symbol };
                    self.member_of_this(NotConst::Property(name.symbol), read, node.span)
                }
            },
            ExprKind::SuperSubscript(index) => Expr::SuperSubscript(self.expr(index)),
            ExprKind::Unary { op, operand } => Expr::Unary { op, operand: self.expr(operand) },
            ExprKind::If { condition, then, otherwise } => Expr::If {
                condition: self.expr_in(condition, inferred),
                then: self.expr_in(then, inferred),
                otherwise: self.expr_in(otherwise, inferred),
            },
            ExprKind::Let { variable, value, body } => self.let_in(variable, value, body, inferred),
            ExprKind::Function { params, body } => {
                let lambda = Box::new(Lambda {
                    module: self.cx.module,
                    span: node.span,
                    arity: params.len(),
                    params,
                    body,
                    scope: self.captured_scope().inside(ScopeKind::Function),
                    code: OnceLock::new(),
                });
                Expr::Lambda { lambda, visible: self.next }
            }
            ExprKind::Parenthesized(inner) => return self.expr_in(inner, inferred),
            ExprKind::New { ty, body } => {
                if let Some(ty) = ty {
                    let ty = self.ty(ty);
                    Expr::New { ty, body: Some(self.lazy_body(body)) }
                } else {
                    let span = Span::new(node.span.start, (node.span.start + 3).min(node.span.end));
                    let receiver = self.push(Expr::InferredParent(inferred), span);
                    Expr::Amend { receiver, body: self.lazy_body(body) }
                }
            }
            ExprKind::Throw(message) => Expr::Throw(self.expr(message)),
            ExprKind::Trace(value) => Expr::Trace(self.expr_in(value, inferred)),
            ExprKind::Import { glob, uri } => {
                Expr::Import { uri: self.constant(uri), glob, site: self.cx.numbers.site() }
            }
            ExprKind::Read { kind, uri } => Expr::Read { kind, uri: self.expr(uri) },
            ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::NonNull(_)
            | ExprKind::Binary { .. }
            | ExprKind::Is { .. }
            | ExprKind::As { .. }
            | ExprKind::Amend { .. } => unreachable!("the innermost expression has no left part"),
        };
        self.push(expr, node.span)
    }

    fn string(&mut self, literal: ast::StringId) -> Expr {
        if let Some(text) = self.cx.ast.constant(literal) {
            return Expr::String(text.into(), self.cx.numbers.site());
        }
        let ast = self.cx.ast;
        let parts = ast[ast[literal].parts]
            .iter()
            .map(|part| match part.kind {
                StringPartKind::Text(text) => Part::Text(ast.text(text).into()),
                StringPartKind::Interpolation(expr) => Part::Expr(self.expr(expr)),
            })
            .collect();
        Expr::Interpolated(parts)
    }

    fn let_in(
        &mut self,
        variable: ast::List<ast::Parameter>,
        value: ast::ExprId,
        body: ast::ExprId,
        inferred: Inferred,
    ) -> Expr {
        let parameter = self.cx.ast[variable][0];
        let ty = parameter.ty.map(|ty| self.ty(ty));
        let value = self.expr(value);
        self.scoped(|lowerer| {
            let slot = lowerer.declare(parameter.name.map(|name| name.symbol));
            lowerer.scope = lowerer.scope.inside(ScopeKind::Function);
            Expr::Let { slot, ty, value, body: lowerer.expr_in(body, inferred) }
        })
    }

    /// The variable that `this` is here, if it is one.
    fn this_variable(&mut self, span: Span) -> Option<ExprIx> {
        let found = self.scope.this_variable()?;
        let expr = match found {
            Found::Local(slot) => Expr::Local(slot),
            Found::Captured { depth, index } => Expr::Captured { depth, index },
            _ => unreachable!("a variable is local or captured"),
        };
        Some(self.push(expr, span))
    }

    fn name(&mut self, name: Symbol, span: Span) -> Expr {
        let mut sometimes = Vec::new();
        let found = self.scope.find(name, |level, key| sometimes.push(Lexical { level, key, name }));
        let mut expr = match found {
            Found::Local(slot) => Expr::Local(slot),
            Found::Captured { depth, index } => Expr::Captured { depth, index },
            Found::Property { level, key } => Expr::Lexical(Lexical { level, key, name }),
            Found::NotConst => Expr::NotConst(NotConst::Property(name)),
            Found::Nowhere if self.cx.base.is_some_and(|base| base.has_public(name)) => {
                Expr::Base { name, site: self.cx.numbers.site() }
            }
            Found::Nowhere => {
                let implicit = Expr::Implicit { name, this: self.this_variable(span) };
                self.member_of_this(NotConst::Property(name), implicit, span)
            }
        };
        for lexical in sometimes.into_iter().rev() {
            let otherwise = self.push(expr, span);
            expr = Expr::Sometimes { lexical, otherwise };
        }
        expr
    }

    /// `this`, `outer` or `module` where it may only be used for its const members.
    fn forbidden_word(&self, expr: ast::ExprId) -> Option<NotConst> {
        match self.cx.ast[expr].kind {
            ExprKind::This => self.scope.is_const().then_some(NotConst::This),
            ExprKind::Outer => self.scope.is_guarded(self.scope.outer_level()).then_some(NotConst::Outer),
            ExprKind::Module => {
                let barrier = match (self.scope.module_barrier()?, self.property) {
                    (Barrier::Const(_) | Barrier::Alias(_), Some(name)) => Barrier::Const(name),
                    (barrier, _) => barrier,
                };
                Some(NotConst::Module(barrier))
            }
            _ => None,
        }
    }

    /// What uses a member of `this`.
    fn member_of_this(&mut self, member: NotConst, expr: Expr, span: Span) -> Expr {
        if !self.scope.is_const() {
            return expr;
        }
        let this = self.push(Expr::This, span);
        self.const_member(this, member, expr, span)
    }

    fn const_member(&mut self, receiver: ExprIx, member: NotConst, expr: Expr, span: Span) -> Expr {
        Expr::ConstMember { receiver, member, then: self.push(expr, span) }
    }

    fn call(&mut self, name: Symbol, args: ast::List<ast::ExprId>, span: Span) -> Expr {
        let args = self.args(args);
        // The constructors are no methods: they take any number of arguments, and nothing shadows them.
        if let Some(kind) = self.collect(name) {
            return Expr::Collect { kind, args };
        }
        match self.scope.find_method(name) {
            FoundMethod::Class { level } => Expr::CallLexical { level, name, args },
            FoundMethod::Local { level, method } => Expr::CallLocal { level, method, args },
            FoundMethod::NotConst => Expr::NotConst(NotConst::Method(name)),
            FoundMethod::Nowhere => {
                if self.cx.base.is_some_and(|base| base.methods.contains_key(&name)) {
                    Expr::CallBase { name, args, site: self.cx.numbers.site() }
                } else {
                    let call = Expr::CallImplicit { name, args, this: self.this_variable(span) };
                    self.member_of_this(NotConst::Method(name), call, span)
                }
            }
        }
    }

    fn collect(&self, name: Symbol) -> Option<Collect> {
        let words = self.cx.words;
        [
            (words.list, Collect::List),
            (words.set, Collect::Set),
            (words.map, Collect::Map),
            (words.bytes, Collect::Bytes),
        ]
        .into_iter()
        .find_map(|(word, kind)| (word == name).then_some(kind))
    }
}
