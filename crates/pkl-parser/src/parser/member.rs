//! Members of modules and classes, and what stands before them.

use super::Parser;
use crate::ast::{
    Annotation, BodyId, ClassBody, ClassMember, DocComment, List, Method, MethodId, Modifier, ModifierKind,
    Name, Property, PropertyId, PropertyValue, TypeId, TypeParameter, Variance,
};
use crate::{DiagnosticCode, TokenKind};

pub(super) const DANGLING_DOC_COMMENT: &str = "Dangling documentation comment.\n\nDocumentation comments must be \
    attached to modules, classes, typealiases, methods, or properties.";

/// What stands before a declaration.
#[derive(Clone, Copy)]
pub(super) struct Preamble {
    pub(super) start: u32,
    pub(super) doc: Option<DocComment>,
    pub(super) annotations: List<Annotation>,
    pub(super) modifiers: List<Modifier>,
}

impl Preamble {
    pub(super) fn is_empty(&self) -> bool {
        self.doc.is_none() && self.annotations.is_empty() && self.modifiers.is_empty()
    }
}

impl Parser<'_> {
    pub(super) fn preamble(&mut self) -> Preamble {
        let start = self.start();
        let mut doc: Option<DocComment> = None;
        let mut annotations = Vec::new();
        while !self.panicking {
            match self.kind() {
                TokenKind::DocComment => {
                    let comment = self.doc_comment();
                    if doc.is_some() || !annotations.is_empty() {
                        self.report(DiagnosticCode::DanglingDocComment, comment.span, DANGLING_DOC_COMMENT);
                    } else {
                        doc = Some(comment);
                    }
                }
                TokenKind::At => annotations.push(self.annotation()),
                _ => break,
            }
        }
        let annotations = self.ast.list(annotations);
        Preamble { start, doc, annotations, modifiers: self.modifiers() }
    }

    /// Lines of a doc comment that follow one another without a blank line.
    fn doc_comment(&mut self) -> DocComment {
        let start = self.start();
        self.bump();
        while self.at(TokenKind::DocComment) && !self.token().before.has_blank_line() {
            self.bump();
        }
        DocComment { span: self.span_from(start) }
    }

    fn annotation(&mut self) -> Annotation {
        let start = self.bump().span.start;
        let ty = self.ty("a type");
        let body = (!self.panicking && self.at(TokenKind::LeftBrace)).then(|| self.body());
        Annotation { span: self.span_from(start), ty, body }
    }

    pub(super) fn modifiers(&mut self) -> List<Modifier> {
        let mut modifiers = Vec::new();
        while let Some(kind) = modifier_kind(self.kind()) {
            modifiers.push(Modifier { span: self.bump().span, kind });
        }
        self.ast.list(modifiers)
    }

    /// `{ … }` of a class.
    pub(super) fn class_body(&mut self) -> ClassBody {
        let start = self.bump().span.start;
        let mut members = Vec::new();
        while !self.at(TokenKind::RightBrace) {
            let from = self.index;
            members.extend(self.class_member());
            if self.panicking {
                self.recover_in_body(from);
                if self.panicking {
                    break;
                }
            }
        }
        self.eat(TokenKind::RightBrace);
        ClassBody { span: self.span_from(start), members: self.ast.list(members) }
    }

    fn class_member(&mut self) -> Option<ClassMember> {
        if self.at(TokenKind::End) {
            self.missing_brace();
            return None;
        }
        let preamble = self.preamble();
        if self.at(TokenKind::Function) {
            return self.method(preamble, None).map(ClassMember::Method);
        }
        self.property(preamble).map(ClassMember::Property)
    }

    pub(super) fn missing_brace(&mut self) {
        let span = self.here();
        self.fail(DiagnosticCode::UnexpectedEnd, span, "Missing `}` delimiter.");
    }

    /// A property of a module or class.
    pub(super) fn property(&mut self, preamble: Preamble) -> Option<PropertyId> {
        let name = self.name()?;
        let mut ty = self.eat(TokenKind::Colon).then(|| self.ty("a type"));
        let value = match self.kind() {
            _ if self.panicking => PropertyValue::None,
            TokenKind::Assign => {
                self.bump();
                PropertyValue::Expr(self.expr(None))
            }
            TokenKind::LeftBrace => {
                if ty.take().is_some() {
                    self.report(
                        DiagnosticCode::TypeWithBody,
                        self.token().span,
                        "Properties with type annotations cannot have object bodies.\n\nTo define both a type \
                         annotation and an object body, try using assignment instead.\nFor example: `obj: Bird \
                         = new { ... }`.",
                    );
                }
                PropertyValue::Bodies(self.bodies())
            }
            _ => {
                if ty.is_none() && self.is_lexed_wrongly() {
                    self.panicking = true;
                } else if ty.is_none() {
                    self.fail(
                        DiagnosticCode::UnexpectedToken,
                        name.span,
                        "Invalid property definition. Expected a type annotation, `=` or `{`.",
                    );
                }
                PropertyValue::None
            }
        };
        Some(self.add_property(preamble, name, ty, value))
    }

    pub(super) fn add_property(
        &mut self,
        preamble: Preamble,
        name: Name,
        ty: Option<TypeId>,
        value: PropertyValue,
    ) -> PropertyId {
        let Preamble { start, doc, annotations, modifiers } = preamble;
        let span = self.span_from(start);
        self.ast.add(Property { span, doc, annotations, modifiers, name, ty, value })
    }

    /// `{ … } { … }`; the caller has looked at the first brace.
    pub(super) fn bodies(&mut self) -> List<BodyId> {
        let mut bodies = Vec::new();
        while !self.panicking && self.at(TokenKind::LeftBrace) {
            bodies.push(self.body());
        }
        self.ast.list(bodies)
    }

    /// A method; the caller has looked at `function`. If no expression is where its body should begin,
    /// `expected` is named in the report.
    pub(super) fn method(&mut self, preamble: Preamble, expected: Option<&str>) -> Option<MethodId> {
        self.bump();
        let name = self.name()?;
        let type_params = self.type_parameters();
        let params = self.parameters_in_parens();
        let return_type = self.eat(TokenKind::Colon).then(|| self.ty("a type"));
        let body = self.eat(TokenKind::Assign).then(|| self.expr(expected));
        let Preamble { start, doc, annotations, modifiers } = preamble;
        let span = self.span_from(start);
        let method =
            Method { span, doc, annotations, modifiers, name, type_params, params, return_type, body };
        Some(self.ast.add(method))
    }

    /// `<in T, out U>`, or nothing.
    pub(super) fn type_parameters(&mut self) -> List<TypeParameter> {
        if !self.eat(TokenKind::Less) {
            return List::EMPTY;
        }
        let mut params = Vec::new();
        loop {
            let start = self.start();
            let variance = if self.eat(TokenKind::In) {
                Some(Variance::In)
            } else {
                self.eat(TokenKind::Out).then_some(Variance::Out)
            };
            if let Some(name) = self.name() {
                params.push(TypeParameter { span: self.span_from(start), variance, name });
            }
            if !self.eat(TokenKind::Comma) || self.at(TokenKind::Greater) {
                break;
            }
        }
        if !self.eat(TokenKind::Greater) {
            self.unexpected("`,` or `>`");
        }
        self.ast.list(params)
    }
}

pub(super) fn modifier_kind(token: TokenKind) -> Option<ModifierKind> {
    Some(match token {
        TokenKind::Abstract => ModifierKind::Abstract,
        TokenKind::Open => ModifierKind::Open,
        TokenKind::External => ModifierKind::External,
        TokenKind::Local => ModifierKind::Local,
        TokenKind::Hidden => ModifierKind::Hidden,
        TokenKind::Fixed => ModifierKind::Fixed,
        TokenKind::Const => ModifierKind::Const,
        _ => return None,
    })
}
