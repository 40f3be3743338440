//! Expressions.

use pkl_parser::TokenKind;
use pkl_parser::ast::{
    BinaryOp, Expr, ExprId, ExprKind, List, Parameter, StringId, TYPE_TEST_PRECEDENCE, TypeId,
};

use super::{Builder, is_comment};
use crate::layout::Piece;

/// The right side of an operator in a chain of operators that bind equally.
enum Right {
    Expr(ExprId),
    Type(TypeId),
}

impl Builder<'_> {
    /// An expression; the gap before it is put out.
    pub(super) fn expr(&mut self, expr: ExprId) {
        let Expr { span, kind } = self.ast[expr];
        self.nested(span, |builder| builder.expr_of_kind(expr, &kind));
    }

    fn expr_of_kind(&mut self, id: ExprId, kind: &ExprKind) {
        match *kind {
            // There is none in a tree without diagnostics.
            ExprKind::Error => {}
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Float(_)
            | ExprKind::This
            | ExprKind::Outer
            | ExprKind::Module
            | ExprKind::Name(_) => self.text(),
            ExprKind::Int(_) => {
                // The smallest has its minus sign with it.
                let is_smallest = self.peek() == TokenKind::Minus;
                self.text();
                if is_smallest {
                    self.adjacent();
                }
            }
            ExprKind::String(string) => self.string(string),
            ExprKind::Call { name, args } => {
                self.text();
                self.touch();
                if self.is_map(name, args) {
                    self.map_args(args);
                } else {
                    self.args(args);
                }
            }
            ExprKind::Member { .. } => self.chain(id),
            ExprKind::SuperMember { args, .. } => {
                self.text();
                self.adjacent();
                self.adjacent();
                self.optional_args(args);
            }
            ExprKind::SuperSubscript(index) => {
                self.text();
                self.subscript(index);
            }
            ExprKind::Subscript { receiver, index } => {
                self.expr(receiver);
                self.subscript(index);
            }
            ExprKind::NonNull(operand) => {
                self.expr(operand);
                self.adjacent();
            }
            ExprKind::Unary { operand, .. } => self.unary(operand),
            ExprKind::Binary { .. } | ExprKind::Is { .. } | ExprKind::As { .. } => self.operators(id),
            ExprKind::If { .. } => self.conditional(id),
            ExprKind::Let { .. } => self.bindings(id),
            ExprKind::Function { params, body } => self.function(params, body),
            ExprKind::Parenthesized(inner) => self.in_parens(inner),
            ExprKind::New { ty, body } => {
                self.text();
                if let Some(ty) = ty {
                    self.gap(Piece::Space);
                    self.ty(ty);
                }
                self.gap(Piece::Space);
                self.body(body);
            }
            ExprKind::Amend { receiver, body } => {
                self.expr(receiver);
                self.gap(Piece::Space);
                self.body(body);
            }
            ExprKind::Throw(inner) | ExprKind::Trace(inner) | ExprKind::Read { uri: inner, .. } => {
                self.text();
                self.touch();
                self.in_parens(inner);
            }
            ExprKind::Import { uri, .. } => self.import_call(uri),
        }
    }

    fn subscript(&mut self, index: ExprId) {
        self.adjacent();
        self.touch();
        self.expr(index);
        self.adjacent();
    }

    fn unary(&mut self, operand: ExprId) {
        let is_not = self.peek() == TokenKind::Bang;
        self.text();
        // Two of these would be another operator.
        let separator = if is_not && self.peek() == TokenKind::Bang { Piece::Space } else { Piece::Nothing };
        self.gap(separator);
        self.expr(operand);
    }

    fn import_call(&mut self, uri: StringId) {
        self.text();
        self.adjacent();
        self.touch();
        self.string(uri);
        self.adjacent();
    }

    /// `(inner)`; the gap before it is put out.
    pub(super) fn in_parens(&mut self, inner: ExprId) {
        self.open();
        self.text();
        self.indent();
        self.gap(Piece::SoftLine);
        self.expr(inner);
        self.close_indented();
        self.close();
    }

    pub(super) fn optional_args(&mut self, args: Option<List<ExprId>>) {
        if let Some(args) = args {
            self.touch();
            self.args(args);
        }
    }

    /// `(args)`; the gap before it is put out. If only the last one is an object or a function, it stays on
    /// the line; otherwise each has its line if they don't fit on one.
    pub(super) fn args(&mut self, args: List<ExprId>) {
        let args = &self.ast[args];
        let Some((last, init)) = args.split_last() else {
            return self.bracketed(args, |_, _| {});
        };
        let last_alone = self.stays_on_line(*last) && !init.iter().any(|arg| self.stays_on_line(*arg));
        if last_alone {
            return self.args_with_last_on_line(init, *last);
        }
        self.open();
        if self.are_on_lines(args) {
            self.push(Piece::Break);
        }
        self.bracketed_in_group(args, |builder, arg| builder.expr(*arg));
        self.close();
    }

    /// Whether a line ended between two arguments.
    pub(super) fn are_on_lines(&self, args: &[ExprId]) -> bool {
        args.windows(2).any(|pair| {
            let (left, right) = (self.ast[pair[0]].span, self.ast[pair[1]].span);
            self.newline_between(left.end, right.start)
        })
    }

    fn args_with_last_on_line(&mut self, init: &[ExprId], last: ExprId) {
        self.open();
        self.text();
        if !init.is_empty() {
            self.open();
            for (index, arg) in init.iter().enumerate() {
                if index == 0 {
                    self.touch();
                } else {
                    self.gap(Piece::Line);
                }
                self.expr(*arg);
                self.adjacent();
            }
            self.close();
        }
        self.gap(if init.is_empty() { Piece::Nothing } else { Piece::Space });
        self.expr(last);
        self.skip(TokenKind::Comma);
        self.gap(if self.ends_with_body(last) { Piece::Nothing } else { Piece::SoftLine });
        self.close();
        self.text();
    }

    fn function(&mut self, params: List<Parameter>, body: ExprId) {
        self.parameters(params);
        self.then(Piece::Space);
        if self.stays_on_line(body) {
            self.gap(Piece::Space);
            return self.expr(body);
        }
        self.open();
        self.indent();
        self.gap(Piece::Line);
        self.expr(body);
        self.dedent();
        self.close();
    }

    /// `if … else if … else …`, all on one line or each part on its own.
    fn conditional(&mut self, expr: ExprId) {
        self.open();
        if self.is_on_lines(self.ast[expr].span) {
            self.push(Piece::Break);
        }
        let mut next = Some(expr);
        while let Some(expr) = next.take() {
            let ExprKind::If { condition, then, otherwise } = self.ast[expr].kind else { break };
            self.text();
            self.gap(Piece::Space);
            self.in_parens(condition);
            self.indent();
            self.gap(Piece::Line);
            self.expr(then);
            self.before_else();
            if matches!(self.ast[otherwise].kind, ExprKind::If { .. }) {
                self.gap(Piece::Space);
                next = Some(otherwise);
            } else {
                self.indent();
                self.gap(Piece::Line);
                self.expr(otherwise);
                self.dedent();
            }
        }
        self.close();
    }

    /// Comments and `else`. The comments stand in line with what they follow, and blank lines before them stay;
    /// one before `else` stays only behind a comment that goes on to the end of its line.
    fn before_else(&mut self) {
        let end = self.next_significant();
        let mut newlines = 0;
        let mut ends_line = false;
        while self.at < end {
            let token = self.token();
            self.at += 1;
            newlines += u32::from(token.kind == TokenKind::Newline);
            if !is_comment(token.kind) {
                continue;
            }
            if newlines == 0 {
                self.push(Piece::Space);
                self.comment(token);
            } else {
                self.push(if newlines > 1 { Piece::BlankLine } else { Piece::Line });
                self.own_line_comment(token);
            }
            ends_line = token.kind == TokenKind::LineComment;
            newlines = 0;
        }
        self.dedent();
        self.push(if ends_line && newlines > 1 { Piece::BlankLine } else { Piece::Line });
        self.text();
    }

    /// `let (…) let (…) …`, all on one line or each on its own.
    fn bindings(&mut self, expr: ExprId) {
        self.open();
        if self.is_on_lines(self.ast[expr].span) {
            self.push(Piece::Break);
        }
        let mut next = Some(expr);
        while let Some(expr) = next.take() {
            let ExprKind::Let { variable, value, body } = self.ast[expr].kind else { break };
            self.text();
            self.gap(Piece::Space);
            self.binding(variable, value);
            if matches!(self.ast[body].kind, ExprKind::Let { .. }) {
                self.gap(Piece::Line);
                next = Some(body);
            } else {
                self.indent();
                self.gap(Piece::Line);
                self.expr(body);
                self.dedent();
            }
        }
        self.close();
    }

    fn binding(&mut self, variable: List<Parameter>, value: ExprId) {
        self.open();
        self.text();
        self.indent();
        for variable in &self.ast[variable] {
            self.gap(Piece::SoftLine);
            self.parameter(variable);
        }
        self.assignment(value);
        self.close_indented();
        self.close();
    }

    /// A chain of operators that bind equally: each on its own line if they don't fit on one.
    fn operators(&mut self, expr: ExprId) {
        let precedence = self.precedence(expr);
        let (first, rights) = self.operands(expr, precedence);
        let must_break = self.operators_must_break(first, &rights, precedence);
        // A single operator doesn't mind on how many lines stands what it follows.
        if rights.len() == 1 {
            self.expr(first);
            self.open();
        } else {
            self.open();
            self.expr(first);
        }
        if must_break {
            self.push(Piece::Break);
        }
        self.indent();
        for right in &rights {
            // A line can't begin with a minus sign: that would be an element of its own.
            let is_minus = self.peek() == TokenKind::Minus;
            self.then(if is_minus { Piece::Space } else { Piece::Line });
            self.gap(if is_minus { Piece::Line } else { Piece::Space });
            match *right {
                Right::Expr(operand) => self.expr(operand),
                Right::Type(ty) => self.ty(ty),
            }
        }
        self.dedent();
        self.close();
    }

    /// The precedence of an operator expression.
    fn precedence(&self, expr: ExprId) -> Option<u8> {
        match self.ast[expr].kind {
            ExprKind::Binary { op, .. } => Some(op.precedence()),
            ExprKind::Is { .. } | ExprKind::As { .. } => Some(TYPE_TEST_PRECEDENCE),
            _ => None,
        }
    }

    /// The first operand and the right sides of a chain. Powers nest to the right, all else to the left.
    fn operands(&self, expr: ExprId, precedence: Option<u8>) -> (ExprId, Vec<Right>) {
        let mut rights = Vec::new();
        let mut at = expr;
        if precedence == Some(BinaryOp::Power.precedence()) {
            let mut first = expr;
            while let ExprKind::Binary { op: BinaryOp::Power, left, right, .. } = self.ast[at].kind {
                if at == expr {
                    first = left;
                } else {
                    rights.push(Right::Expr(left));
                }
                at = right;
            }
            rights.push(Right::Expr(at));
            return (first, rights);
        }
        while self.precedence(at) == precedence {
            at = match self.ast[at].kind {
                ExprKind::Binary { left, right, .. } => {
                    rights.push(Right::Expr(right));
                    left
                }
                ExprKind::Is { operand, ty } | ExprKind::As { operand, ty } => {
                    rights.push(Right::Type(ty));
                    operand
                }
                _ => break,
            };
        }
        rights.reverse();
        (at, rights)
    }

    /// Whether the outermost operator was written with a line end beside it.
    fn operators_must_break(&self, first: ExprId, rights: &[Right], precedence: Option<u8>) -> bool {
        let span = |right: &Right| match *right {
            Right::Expr(expr) => self.ast[expr].span,
            Right::Type(ty) => self.ast[ty].span,
        };
        let outermost_first = precedence == Some(BinaryOp::Power.precedence())
            || precedence == Some(BinaryOp::Coalesce.precedence());
        let (left, right) = match rights {
            [.., before, last] if !outermost_first => (span(before), span(last)),
            [right, ..] => (self.ast[first].span, span(right)),
            [] => return false,
        };
        self.newline_between(left.end, right.start)
    }
}
