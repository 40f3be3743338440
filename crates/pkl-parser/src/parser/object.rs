//! Object bodies and their members.

use super::Parser;
use super::member::{Preamble, modifier_kind};
use crate::ast::{
    Body, BodyId, ExprId, List, MemberValue, MethodId, Name, ObjectMember, ObjectMemberKind, Parameter,
    PropertyValue,
};
use crate::{DiagnosticCode, TokenKind};

impl Parser<'_> {
    /// `{ … }`, or a report that it was expected.
    pub(super) fn body(&mut self) -> BodyId {
        let start = self.start();
        self.expect(TokenKind::LeftBrace);
        let (params, members) = self.nested(Self::params_and_members).unwrap_or((List::EMPTY, List::EMPTY));
        self.eat(TokenKind::RightBrace);
        let span = self.span_from(start);
        self.ast.add(Body { span, params, members })
    }

    fn params_and_members(&mut self) -> (List<Parameter>, List<ObjectMember>) {
        let mut members = Vec::new();
        let from = self.index;
        let params = match self.body_parameters() {
            Start::Parameters(params) => params,
            Start::TypedProperty(name, ty) => {
                let kind = self.typed_property(name, ty);
                let span = self.span_from(name.span.start);
                members.push(ObjectMember { span, kind });
                self.after_member(from);
                List::EMPTY
            }
            Start::Member => List::EMPTY,
        };
        while !self.panicking && !self.at(TokenKind::RightBrace) {
            let from = self.index;
            let start = self.start();
            if let Some(kind) = self.object_member() {
                members.push(ObjectMember { span: self.span_from(start), kind });
            }
            self.after_member(from);
        }
        (params, self.ast.list(members))
    }

    /// After a member that began at `from`: goes on behind an error.
    fn after_member(&mut self, from: usize) {
        if self.panicking {
            self.recover_in_body(from);
        }
    }

    /// What a body begins with: parameters and `->`, or a member. `name: T` may begin either.
    fn body_parameters(&mut self) -> Start {
        let begins_parameters = match self.kind() {
            TokenKind::Underscore => true,
            TokenKind::Identifier => {
                matches!(self.kind_at(1), TokenKind::Comma | TokenKind::Arrow | TokenKind::Colon)
            }
            _ => false,
        };
        if self.panicking || !begins_parameters {
            return Start::Member;
        }
        let mut params = vec![self.parameter()];
        let goes_on = matches!(self.kind(), TokenKind::Comma | TokenKind::Arrow);
        if let [Parameter { name: Some(name), ty: Some(ty), .. }] = params[..]
            && !goes_on
        {
            return Start::TypedProperty(name, ty);
        }
        while self.eat(TokenKind::Comma) && !self.at(TokenKind::Arrow) {
            params.push(self.parameter());
        }
        if !self.eat(TokenKind::Arrow) {
            self.unexpected("`,` or `->`");
        }
        Start::Parameters(self.ast.list(params))
    }

    fn object_member(&mut self) -> Option<ObjectMemberKind> {
        use TokenKind as K;
        match self.kind() {
            K::Identifier => match self.kind_at(1) {
                K::Assign | K::LeftBrace | K::Colon => self.object_property(),
                _ => Some(ObjectMemberKind::Element(self.element())),
            },
            K::LeftBracket => Some(self.entry()),
            K::LeftBrackets => Some(self.predicate()),
            K::Spread => Some(self.spread(false)),
            K::SpreadNullable => Some(self.spread(true)),
            K::When => Some(self.when()),
            K::For => Some(self.for_each()),
            K::Function => self.object_property(),
            kind if modifier_kind(kind).is_some() => self.object_property(),
            _ if self.ends_without_brace() => {
                self.missing_brace();
                None
            }
            _ => Some(ObjectMemberKind::Element(self.element())),
        }
    }

    /// Whether the text goes on with what can't be in an object body, so that a brace is missing.
    fn ends_without_brace(&self) -> bool {
        matches!(self.kind(), TokenKind::End | TokenKind::Class | TokenKind::TypeAlias)
    }

    fn element(&mut self) -> ExprId {
        self.expr(Some("`}`"))
    }

    /// A property or method with its modifiers.
    fn object_property(&mut self) -> Option<ObjectMemberKind> {
        let start = self.start();
        let modifiers = self.modifiers();
        let preamble = Preamble { start, doc: None, annotations: List::EMPTY, modifiers };
        if self.at(TokenKind::Function) {
            return self.object_method(preamble).map(ObjectMemberKind::Method);
        }
        let name = self.name()?;
        let ty = self.eat(TokenKind::Colon).then(|| self.ty("a type"));
        if ty.is_some() && !self.at(TokenKind::Assign) {
            self.unexpected("`=`");
        }
        let value = match self.member_value() {
            MemberValue::Expr(value) => PropertyValue::Expr(value),
            MemberValue::Bodies(bodies) => PropertyValue::Bodies(bodies),
        };
        Some(ObjectMemberKind::Property(self.add_property(preamble, name, ty, value)))
    }

    /// `= expr` of a property whose name and type were read.
    fn typed_property(&mut self, name: Name, ty: crate::ast::TypeId) -> ObjectMemberKind {
        self.expect(TokenKind::Assign);
        let value = PropertyValue::Expr(self.element());
        let start = name.span.start;
        let preamble = Preamble { start, doc: None, annotations: List::EMPTY, modifiers: List::EMPTY };
        ObjectMemberKind::Property(self.add_property(preamble, name, Some(ty), value))
    }

    fn object_method(&mut self, preamble: Preamble) -> Option<MethodId> {
        let method = self.method(preamble, Some("`}`"))?;
        if self.ast[method].body.is_none() {
            self.unexpected("`=`");
        }
        Some(method)
    }

    /// `= expr` or bodies.
    fn member_value(&mut self) -> MemberValue {
        if self.eat(TokenKind::Assign) {
            return MemberValue::Expr(self.element());
        }
        if self.panicking || !self.at(TokenKind::LeftBrace) {
            self.unexpected("`{` or `=`");
            return MemberValue::Expr(self.error_expr());
        }
        MemberValue::Bodies(self.bodies())
    }

    fn entry(&mut self) -> ObjectMemberKind {
        self.bump();
        let key = self.subscript();
        ObjectMemberKind::Entry { key, value: self.member_value() }
    }

    fn predicate(&mut self) -> ObjectMemberKind {
        self.bump();
        let condition = self.expr(Some("`]]`"));
        self.expect_two_brackets();
        ObjectMemberKind::Predicate { condition, value: self.member_value() }
    }

    /// `]]`, which are two tokens without anything between.
    fn expect_two_brackets(&mut self) {
        let first = self.token();
        if !self.eat(TokenKind::RightBracket) {
            return self.unexpected("`]]`");
        }
        let second = self.token();
        if !second.before.is_none() && second.kind == TokenKind::RightBracket {
            let span = first.span.to(second.span);
            let text = format!("Unexpected token `{}`. Expected `]]`.", span.text(self.source));
            return self.fail(DiagnosticCode::UnexpectedToken, span, &text);
        }
        if !self.eat(TokenKind::RightBracket) {
            self.unexpected("`]]`");
        }
    }

    fn spread(&mut self, nullable: bool) -> ObjectMemberKind {
        self.bump();
        ObjectMemberKind::Spread { value: self.element(), nullable }
    }

    fn when(&mut self) -> ObjectMemberKind {
        self.bump();
        self.expect(TokenKind::LeftParen);
        let condition = self.expr(Some("`)`"));
        self.expect(TokenKind::RightParen);
        let then = self.generator_body();
        let otherwise = self.eat(TokenKind::Else).then(|| self.generator_body());
        ObjectMemberKind::When { condition, then, otherwise }
    }

    fn for_each(&mut self) -> ObjectMemberKind {
        self.bump();
        self.expect(TokenKind::LeftParen);
        let mut variables = vec![self.parameter()];
        if self.eat(TokenKind::Comma) {
            variables.push(self.parameter());
        }
        self.expect(TokenKind::In);
        let iterable = self.expr(Some("`)`"));
        self.expect(TokenKind::RightParen);
        let body = self.generator_body();
        ObjectMemberKind::For { variables: self.ast.list(variables), iterable, body }
    }

    /// A body without parameters.
    fn generator_body(&mut self) -> BodyId {
        let body = self.body();
        if let Some(parameter) = self.ast[self.ast[body].params].first() {
            let span = parameter.span;
            let text = "The body of a `for` or `when` generator cannot have parameters.";
            self.report(DiagnosticCode::NotAllowedHere, span, text);
        }
        body
    }
}

/// What an object body begins with.
enum Start {
    Parameters(List<Parameter>),
    TypedProperty(Name, crate::ast::TypeId),
    Member,
}
