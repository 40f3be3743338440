//! Types.

use super::Parser;
use crate::ast::{List, Name, TypeId, TypeKind};
use crate::{DiagnosticCode, TokenKind};

impl Parser<'_> {
    /// A type, perhaps a union. If none begins here, `expected` is named in the report.
    pub(super) fn ty(&mut self, expected: &str) -> TypeId {
        if self.panicking {
            return self.error_type();
        }
        match self.nested(|parser| parser.union_type(expected)) {
            Some(ty) => ty,
            None => self.error_type(),
        }
    }

    fn union_type(&mut self, expected: &str) -> TypeId {
        let start = self.start();
        let mut default = None;
        let mut members = Vec::new();
        loop {
            if self.at(TokenKind::Star) {
                self.default_mark(&mut default, members.len());
            }
            let member = self.suffixed_type(expected);
            if members.is_empty() && !self.at(TokenKind::Bar) {
                if default.is_some() {
                    self.report(
                        DiagnosticCode::DefaultOutsideUnion,
                        self.span_from(start),
                        "Only type unions can have a default marker (*).",
                    );
                }
                return member;
            }
            members.push(member);
            if !self.eat(TokenKind::Bar) {
                break;
            }
        }
        let members = self.ast.list(members);
        self.add_type(start, TypeKind::Union { members, default })
    }

    fn default_mark(&mut self, default: &mut Option<u32>, member: usize) {
        let mark = self.bump();
        if default.is_some() {
            self.report(
                DiagnosticCode::TwoDefaults,
                mark.span,
                "A type union cannot have more than one default type.",
            );
        }
        *default = default.or(u32::try_from(member).ok());
    }

    /// A type with any number of `?` and constraints after it.
    fn suffixed_type(&mut self, expected: &str) -> TypeId {
        let start = self.start();
        let (mut ty, takes_suffix) = self.plain_type(expected);
        while takes_suffix && !self.panicking {
            let kind = match self.kind() {
                TokenKind::Question => {
                    self.bump();
                    TypeKind::Nullable(ty)
                }
                TokenKind::LeftParen if self.at_on_line(TokenKind::LeftParen) => self.constraints(ty),
                _ => break,
            };
            ty = self.add_type(start, kind);
        }
        ty
    }

    /// `(e, f)` after a type.
    fn constraints(&mut self, base: TypeId) -> TypeKind {
        self.bump();
        let mut constraints = Vec::new();
        loop {
            constraints.push(self.expr(Some("`)`")));
            if !self.eat(TokenKind::Comma) || self.at(TokenKind::RightParen) {
                break;
            }
        }
        if !self.eat(TokenKind::RightParen) {
            self.unexpected("`,` or `)`");
        }
        TypeKind::Constrained { base, constraints: self.ast.list(constraints) }
    }

    /// A type without suffix, and whether it can have one.
    fn plain_type(&mut self, expected: &str) -> (TypeId, bool) {
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::UnknownType => self.type_keyword(TypeKind::Unknown),
            TokenKind::Nothing => self.type_keyword(TypeKind::Nothing),
            TokenKind::Module => self.type_keyword(TypeKind::Module),
            TokenKind::Identifier => {
                TypeKind::Declared { name: self.qualified_name(), args: self.type_args() }
            }
            TokenKind::StringStart if self.at_single_line_string() => {
                TypeKind::StringLiteral(self.string_constant())
            }
            TokenKind::LeftParen => self.type_in_parens(),
            _ => {
                let text = format!("Unexpected token `{}`. Expected {expected}.", self.shown());
                self.fail_here(&text);
                return (self.error_type(), false);
            }
        };
        (self.add_type(start, kind), !matches!(kind, TypeKind::Function { .. }))
    }

    fn type_keyword(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    /// `a.b.c`
    pub(super) fn qualified_name(&mut self) -> List<Name> {
        let mut names = Vec::new();
        names.extend(self.name());
        while self.eat(TokenKind::Dot) {
            names.extend(self.name());
        }
        self.ast.list(names)
    }

    /// `<T, U>`, or nothing.
    fn type_args(&mut self) -> List<TypeId> {
        if !self.eat(TokenKind::Less) {
            return List::EMPTY;
        }
        let mut args = Vec::new();
        loop {
            args.push(self.ty("a type"));
            if !self.eat(TokenKind::Comma) || self.at(TokenKind::Greater) {
                break;
            }
        }
        if !self.eat(TokenKind::Greater) {
            self.unexpected("`,` or `>`");
        }
        self.ast.list(args)
    }

    /// `(T)` or `(T, U) -> V`
    fn type_in_parens(&mut self) -> TypeKind {
        self.bump();
        let mut types = Vec::new();
        let is_empty = self.at(TokenKind::RightParen) && self.kind_at(1) == TokenKind::Arrow;
        let mut expected = if self.at(TokenKind::RightParen) { "a type" } else { "a type or `)`" };
        let mut has_comma = false;
        while !is_empty && !self.panicking {
            types.push(self.ty(expected));
            expected = "a type or `)`";
            let comma = self.eat(TokenKind::Comma);
            has_comma |= comma;
            if !comma || self.at(TokenKind::RightParen) {
                break;
            }
        }
        if !self.eat(TokenKind::RightParen) {
            self.unexpected("`,` or `)`");
        }
        match types[..] {
            [inner] if !has_comma && !self.at(TokenKind::Arrow) => TypeKind::Parenthesized(inner),
            _ => {
                let params = self.ast.list(types);
                self.expect(TokenKind::Arrow);
                TypeKind::Function { params, result: self.ty("a type") }
            }
        }
    }
}
