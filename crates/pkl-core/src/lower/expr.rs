//! Expressions.

use pkl_parser::ast::{self, ExprKind, MemberAccess, StringPartKind};
use pkl_parser::{Span, Symbol};
use std::sync::OnceLock;

use super::Lowerer;
use crate::ir::{Collect, Expr, ExprIx, Found, FoundMethod, Inferred, Lambda, Lexical, Part, ScopeKind};

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
        let mut lowered = self.innermost(innermost, context);
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
                match args {
                    Some(args) => {
                        let args = self.args(args);
                        Expr::CallMethod { receiver: left, name: name.symbol, args, null_safe }
                    }
                    None if self.guarded(receiver, name.symbol) => {
                        Expr::NotConst { name: name.symbol, method: false }
                    }
                    None => Expr::Property { receiver: left, name: name.symbol, null_safe },
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
                Some(args) => Expr::CallSuper { name: name.symbol, args: self.args(args) },
                None => Expr::SuperProperty { name: name.symbol },
            },
            ExprKind::SuperSubscript(index) => Expr::SuperSubscript(self.expr(index)),
            ExprKind::Unary { op, operand } => Expr::Unary { op, operand: self.expr(operand) },
            ExprKind::If { condition, then, otherwise } => Expr::If {
                condition: self.expr(condition),
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
            ExprKind::Trace(value) => Expr::Trace(self.expr(value)),
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
            Found::NotConst => Expr::NotConst { name, method: false },
            Found::Nowhere if self.cx.base.is_some_and(|base| base.has_public(name)) => {
                Expr::Base { name, site: self.cx.numbers.site() }
            }
            Found::Nowhere => Expr::Implicit { name, this: self.this_variable(span) },
        };
        for lexical in sometimes.into_iter().rev() {
            let otherwise = self.push(expr, span);
            expr = Expr::Sometimes { lexical, otherwise };
        }
        expr
    }

    /// `this.name` and `module.name` where only const members may be used.
    fn guarded(&self, receiver: ast::ExprId, name: Symbol) -> bool {
        match self.cx.ast[receiver].kind {
            ExprKind::This => self.scope.hides(name, false),
            ExprKind::Module => self.scope.hides(name, true),
            _ => false,
        }
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
            FoundMethod::NotConst => Expr::NotConst { name, method: true },
            FoundMethod::Nowhere => {
                if self.cx.base.is_some_and(|base| base.methods.contains_key(&name)) {
                    Expr::CallBase { name, args, site: self.cx.numbers.site() }
                } else {
                    Expr::CallImplicit { name, args, this: self.this_variable(span) }
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
