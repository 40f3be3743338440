//! Expressions: operators and what follows an operand.

use super::Parser;
use super::operator::{Infix, infix};
use crate::ast::{BinaryOp, ExprId, ExprKind, List, MemberAccess, UnaryOp};
use crate::{DiagnosticCode, TokenKind};

impl Parser<'_> {
    /// An expression. If none begins here, `expected` is named in the report.
    pub(super) fn expr(&mut self, expected: Option<&str>) -> ExprId {
        if self.panicking {
            return self.error_expr();
        }
        match self.nested(|parser| parser.infix_expr(0, expected)) {
            Some(expr) => expr,
            None => self.error_expr(),
        }
    }

    /// Operands joined by operators that bind at least as strongly as `weakest`.
    fn infix_expr(&mut self, weakest: u8, expected: Option<&str>) -> ExprId {
        let start = self.start();
        let mut left = self.prefix_expr(expected);
        while !self.panicking {
            let token = self.token();
            let Some((infix, strength)) = infix(token.kind) else { break };
            // A minus sign on a new line begins an element.
            if strength < weakest || (token.kind == TokenKind::Minus && token.before.has_newline()) {
                break;
            }
            self.bump();
            let kind = match infix {
                Infix::Is => ExprKind::Is { operand: left, ty: self.ty("a type") },
                Infix::As => ExprKind::As { operand: left, ty: self.ty("a type") },
                Infix::Binary(op) => {
                    let right = self.right_operand(op, strength, expected);
                    ExprKind::Binary { op, op_span: token.span, left, right }
                }
            };
            left = self.add_expr(start, kind);
        }
        left
    }

    fn right_operand(&mut self, op: BinaryOp, strength: u8, expected: Option<&str>) -> ExprId {
        if op != BinaryOp::Power {
            return self.infix_expr(strength + 1, expected);
        }
        match self.nested(|parser| parser.infix_expr(strength, expected)) {
            Some(expr) => expr,
            None => self.error_expr(),
        }
    }

    /// An operand with the operators before it, of which there may be any number.
    fn prefix_expr(&mut self, expected: Option<&str>) -> ExprId {
        let first = self.index;
        while matches!(self.kind(), TokenKind::Minus | TokenKind::Bang) {
            self.bump();
        }
        let smallest = if self.index > first { self.smallest_int() } else { None };
        let (mut operand, operators) = if let Some(literal) = smallest {
            (literal, first..self.index - 2)
        } else {
            let operators = first..self.index;
            (self.postfix_expr(expected), operators)
        };
        for index in operators.rev() {
            let token = self.tokens[index];
            let op = if token.kind == TokenKind::Minus { UnaryOp::Negate } else { UnaryOp::Not };
            operand = self.add_expr(token.span.start, ExprKind::Unary { op, operand });
        }
        operand
    }

    /// `-9223372036854775808`, whose minus sign was consumed: its digits alone are out of range.
    fn smallest_int(&mut self) -> Option<ExprId> {
        let minus = self.tokens[self.index - 1];
        let has_suffix = match self.kind_at(1) {
            TokenKind::Dot | TokenKind::QuestionDot | TokenKind::BangBang => true,
            TokenKind::LeftBracket => !self.tokens[self.index + 1].before.has_newline(),
            _ => false,
        };
        if minus.kind != TokenKind::Minus || !self.at(TokenKind::Int) || has_suffix {
            return None;
        }
        let magnitude = super::primary::int_magnitude(self.shown())?;
        if magnitude != i64::MIN.unsigned_abs() {
            return None;
        }
        self.bump();
        Some(self.add_expr(minus.span.start, ExprKind::Int(i64::MIN)))
    }

    /// An operand with member accesses, calls, subscripts, `!!` and amending bodies after it.
    fn postfix_expr(&mut self, expected: Option<&str>) -> ExprId {
        let start = self.start();
        let mut expr = self.primary_expr(expected);
        while !self.panicking {
            let kind = match self.kind() {
                TokenKind::Dot => self.member_access(expr, MemberAccess::Plain),
                TokenKind::QuestionDot => self.member_access(expr, MemberAccess::NullSafe),
                TokenKind::LeftBracket if self.at_on_line(TokenKind::LeftBracket) => {
                    self.bump();
                    let index = self.subscript();
                    ExprKind::Subscript { receiver: expr, index }
                }
                TokenKind::BangBang => {
                    self.bump();
                    ExprKind::NonNull(expr)
                }
                TokenKind::LeftBrace => {
                    self.check_amendable(expr);
                    ExprKind::Amend { receiver: expr, body: self.body() }
                }
                _ => break,
            };
            expr = self.add_expr(start, kind);
        }
        expr
    }

    fn member_access(&mut self, receiver: ExprId, access: MemberAccess) -> ExprKind {
        self.bump();
        match self.name() {
            Some(name) => ExprKind::Member { receiver, access, name, args: self.args_on_line() },
            None => ExprKind::Error,
        }
    }

    /// `index]`, after the opening bracket.
    pub(super) fn subscript(&mut self) -> ExprId {
        let index = self.expr(Some("`]`"));
        self.expect(TokenKind::RightBracket);
        index
    }

    /// `(args)` if it begins on this line.
    pub(super) fn args_on_line(&mut self) -> Option<List<ExprId>> {
        self.at_on_line(TokenKind::LeftParen).then(|| {
            self.bump();
            self.args()
        })
    }

    /// `args)`, after the opening parenthesis.
    fn args(&mut self) -> List<ExprId> {
        let mut args = Vec::new();
        while !self.panicking && !self.at(TokenKind::RightParen) {
            args.push(self.expr(None));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if !self.eat(TokenKind::RightParen) {
            self.unexpected("`,` or `)`");
        }
        self.ast.list(args)
    }

    /// Reports an expression that can't have an amending body without parentheses.
    fn check_amendable(&mut self, expr: ExprId) {
        let expr = self.ast[expr];
        let amendable =
            matches!(expr.kind, ExprKind::Parenthesized(_) | ExprKind::New { .. } | ExprKind::Amend { .. });
        if !amendable {
            let text = format!(
                "Unexpected token: `{{`.\n\nIf you meant to write an amends expression, wrap the parent in \
                 parentheses. Try: `({}) {{ ... }}`",
                expr.span.text(self.source)
            );
            self.report(DiagnosticCode::UnexpectedToken, self.token().span, &text);
        }
    }
}
