//! Expressions that are no operation on others.

use super::Parser;
use crate::ast::{ExprId, ExprKind, List, Parameter, ReadKind};
use crate::{DiagnosticCode, TokenKind};

impl Parser<'_> {
    pub(super) fn primary_expr(&mut self, expected: Option<&str>) -> ExprId {
        use TokenKind as K;
        let start = self.start();
        let kind = match self.kind() {
            K::Identifier => {
                let name = self.identifier();
                match self.args_on_line() {
                    Some(args) => ExprKind::Call { name, args },
                    None => ExprKind::Name(name),
                }
            }
            K::StringStart => ExprKind::String(self.string()),
            K::Int => self.int(),
            K::Float => self.float(),
            K::Null => self.keyword(ExprKind::Null),
            K::True => self.keyword(ExprKind::Bool(true)),
            K::False => self.keyword(ExprKind::Bool(false)),
            K::This => self.keyword(ExprKind::This),
            K::Outer => self.keyword(ExprKind::Outer),
            K::Module => self.keyword(ExprKind::Module),
            K::Super => self.super_access(),
            K::LeftParen if self.function_follows() => self.function(),
            K::LeftParen => self.in_parens(ExprKind::Parenthesized),
            K::New => self.new_object(),
            K::If => self.if_expr(expected),
            K::Let => self.let_expr(expected),
            K::Throw => self.keyword_call(ExprKind::Throw),
            K::Trace => self.keyword_call(ExprKind::Trace),
            K::Read => self.keyword_call(|uri| ExprKind::Read { kind: ReadKind::Read, uri }),
            K::ReadNullable => self.keyword_call(|uri| ExprKind::Read { kind: ReadKind::Nullable, uri }),
            K::ReadGlob => self.keyword_call(|uri| ExprKind::Read { kind: ReadKind::Glob, uri }),
            K::Import => self.import_expr(false),
            K::ImportGlob => self.import_expr(true),
            _ => {
                self.no_expression(expected);
                return self.error_expr();
            }
        };
        self.add_expr(start, kind)
    }

    fn no_expression(&mut self, expected: Option<&str>) {
        if self.at(TokenKind::End) {
            return self.unexpected_end(self.here());
        }
        let text = match expected {
            Some(expected) => format!("Unexpected token `{}`. Expected {expected}.", self.shown()),
            None => format!("Unexpected token `{}`.", self.shown()),
        };
        self.fail_here(&text);
    }

    fn keyword(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    fn int(&mut self) -> ExprKind {
        let token = self.bump();
        let text = token.span.text(self.source);
        let value = int_magnitude(text).and_then(|magnitude| i64::try_from(magnitude).ok());
        if let Some(value) = value {
            return ExprKind::Int(value);
        }
        // A number without digits was reported by the lexer.
        let has_digits = !matches!(text.as_bytes(), [b'0', letter] if letter.is_ascii_alphabetic());
        if has_digits {
            let message = format!("Int literal `{text}` is too large.");
            self.report(DiagnosticCode::IntTooLarge, token.span, &message);
        }
        ExprKind::Error
    }

    fn float(&mut self) -> ExprKind {
        let text = self.bump().span.text(self.source);
        let value = if text.contains('_') { text.replace('_', "").parse() } else { text.parse() };
        // A number without digits was reported by the lexer.
        value.map_or(ExprKind::Error, ExprKind::Float)
    }

    fn super_access(&mut self) -> ExprKind {
        self.bump();
        if self.eat(TokenKind::Dot) {
            return match self.name() {
                Some(name) => ExprKind::SuperMember { name, args: self.args_on_line() },
                None => ExprKind::Error,
            };
        }
        self.expect(TokenKind::LeftBracket);
        ExprKind::SuperSubscript(self.subscript())
    }

    /// `(expr)`
    fn in_parens(&mut self, kind: impl FnOnce(ExprId) -> ExprKind) -> ExprKind {
        self.expect(TokenKind::LeftParen);
        let inner = self.expr(Some("`)`"));
        self.expect(TokenKind::RightParen);
        kind(inner)
    }

    /// `keyword(expr)`
    fn keyword_call(&mut self, kind: impl FnOnce(ExprId) -> ExprKind) -> ExprKind {
        self.bump();
        self.in_parens(kind)
    }

    fn import_expr(&mut self, glob: bool) -> ExprKind {
        self.bump();
        self.expect(TokenKind::LeftParen);
        let uri = self.string_constant();
        self.expect(TokenKind::RightParen);
        ExprKind::Import { glob, uri }
    }

    fn new_object(&mut self) -> ExprKind {
        self.bump();
        let ty = (!self.at(TokenKind::LeftBrace)).then(|| self.ty("a type or `{`"));
        ExprKind::New { ty, body: self.body() }
    }

    fn if_expr(&mut self, expected: Option<&str>) -> ExprKind {
        self.bump();
        self.expect(TokenKind::LeftParen);
        let condition = self.expr(Some("`)`"));
        self.expect(TokenKind::RightParen);
        let then = self.expr(Some("`else`"));
        self.expect(TokenKind::Else);
        let otherwise = self.expr(expected);
        ExprKind::If { condition, then, otherwise }
    }

    fn let_expr(&mut self, expected: Option<&str>) -> ExprKind {
        self.bump();
        self.expect(TokenKind::LeftParen);
        let variable = self.parameter();
        self.expect(TokenKind::Assign);
        let value = self.expr(Some("`)`"));
        self.expect(TokenKind::RightParen);
        let body = self.expr(expected);
        ExprKind::Let { variable: self.ast.list([variable]), value, body }
    }

    /// Whether the parenthesis that comes next opens a function's parameters.
    fn function_follows(&self) -> bool {
        match self.kind_at(1) {
            TokenKind::RightParen | TokenKind::Underscore => true,
            TokenKind::Identifier => match self.kind_at(2) {
                TokenKind::Comma | TokenKind::Colon => true,
                TokenKind::RightParen => self.kind_at(3) == TokenKind::Arrow,
                _ => false,
            },
            _ => false,
        }
    }

    fn function(&mut self) -> ExprKind {
        let params = self.parameters_in_parens();
        self.expect(TokenKind::Arrow);
        let body = self.expr(None);
        ExprKind::Function { params, body }
    }

    /// `(a, b: T)`
    pub(super) fn parameters_in_parens(&mut self) -> List<Parameter> {
        self.expect(TokenKind::LeftParen);
        let mut params = Vec::new();
        while !self.panicking && !self.at(TokenKind::RightParen) {
            params.push(self.parameter());
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if !self.eat(TokenKind::RightParen) {
            self.unexpected("`,` or `)`");
        }
        self.ast.list(params)
    }

    /// `name`, `name: T` or `_`
    pub(super) fn parameter(&mut self) -> Parameter {
        let start = self.start();
        let (mut name, mut ty) = (None, None);
        if !self.eat(TokenKind::Underscore) {
            name = self.name();
            if self.eat(TokenKind::Colon) {
                ty = Some(self.ty("a type"));
            }
        }
        Parameter { span: self.span_from(start), name, ty }
    }
}

/// The value of an integer literal; `None` without digits or beyond 64 bits.
pub(super) fn int_magnitude(text: &str) -> Option<u64> {
    let (digits, radix) = digits_and_radix(text);
    if digits.contains('_') {
        u64::from_str_radix(&digits.replace('_', ""), radix).ok()
    } else {
        u64::from_str_radix(digits, radix).ok()
    }
}

fn digits_and_radix(text: &str) -> (&str, u32) {
    match text.as_bytes() {
        [b'0', b'x', ..] => (&text[2..], 16),
        [b'0', b'b', ..] => (&text[2..], 2),
        [b'0', b'o', ..] => (&text[2..], 8),
        _ => (text, 10),
    }
}
