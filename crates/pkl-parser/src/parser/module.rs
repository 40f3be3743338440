//! Modules, imports, classes and type aliases.

use super::Parser;
use super::member::{DANGLING_DOC_COMMENT, Preamble};
use crate::ast::{
    Class, ClassId, Import, List, Module, ModuleBase, ModuleBaseKind, ModuleDecl, ModuleMember, TypeAlias,
    TypeAliasId,
};
use crate::{DiagnosticCode, Span, TokenKind};

impl Parser<'_> {
    pub(super) fn module(&mut self) -> Module {
        let from = self.index;
        let preamble = self.preamble();
        let begins_decl = matches!(self.kind(), TokenKind::Module | TokenKind::Amends | TokenKind::Extends);
        let (decl, mut preamble) = if begins_decl && !self.panicking {
            (Some(self.module_decl(preamble)), None)
        } else {
            (None, Some(preamble).filter(|preamble| !preamble.is_empty()))
        };
        if self.panicking {
            self.recover_in_module(from);
            preamble = None;
        }
        let imports = self.imports(&mut preamble);
        let members = self.module_members(preamble);
        let span = Span::new(0, self.token().span.end);
        Module { span, decl, imports, members }
    }

    fn module_decl(&mut self, preamble: Preamble) -> ModuleDecl {
        let name = if self.eat(TokenKind::Module) { self.qualified_name() } else { List::EMPTY };
        let start = self.start();
        let kind = match self.kind() {
            TokenKind::Amends => Some(ModuleBaseKind::Amends),
            TokenKind::Extends => Some(ModuleBaseKind::Extends),
            _ => None,
        };
        let base = kind.filter(|_| !self.panicking).map(|kind| {
            self.bump();
            let uri = self.string_constant();
            ModuleBase { span: self.span_from(start), kind, uri }
        });
        let Preamble { start, doc, annotations, modifiers } = preamble;
        ModuleDecl { span: self.span_from(start), doc, annotations, modifiers, name, base }
    }

    /// The imports, in front of which `preamble` may stand wrongly.
    fn imports(&mut self, preamble: &mut Option<Preamble>) -> List<Import> {
        let mut imports = Vec::new();
        while !self.panicking && matches!(self.kind(), TokenKind::Import | TokenKind::ImportGlob) {
            let from = self.index;
            if preamble.take().is_some() {
                self.report(
                    DiagnosticCode::NotAllowedHere,
                    self.token().span,
                    "Imports cannot have doc comments, annotations or modifiers.",
                );
            }
            imports.push(self.import());
            if self.panicking {
                self.recover_in_module(from);
            }
        }
        self.ast.list(imports)
    }

    fn import(&mut self) -> Import {
        let start = self.start();
        let glob = self.bump().kind == TokenKind::ImportGlob;
        let uri = self.string_constant();
        let alias = if self.eat(TokenKind::As) { self.name() } else { None };
        Import { span: self.span_from(start), glob, uri, alias }
    }

    /// The members up to the end of the text; `preamble` was read already.
    fn module_members(&mut self, mut preamble: Option<Preamble>) -> List<ModuleMember> {
        let mut members = Vec::new();
        while preamble.is_some() || !self.at(TokenKind::End) {
            let from = self.index;
            let preamble = preamble.take().unwrap_or_else(|| self.preamble());
            members.extend(self.module_member(preamble));
            if self.panicking {
                self.recover_in_module(from);
            }
        }
        self.ast.list(members)
    }

    fn module_member(&mut self, preamble: Preamble) -> Option<ModuleMember> {
        if self.panicking {
            return None;
        }
        match self.kind() {
            TokenKind::Identifier => self.property(preamble).map(ModuleMember::Property),
            TokenKind::Function => self.method(preamble, None).map(ModuleMember::Method),
            TokenKind::Class => self.class(preamble).map(ModuleMember::Class),
            TokenKind::TypeAlias => self.type_alias(preamble).map(ModuleMember::TypeAlias),
            kind => {
                self.no_member(kind, &preamble);
                None
            }
        }
    }

    fn no_member(&mut self, kind: TokenKind, preamble: &Preamble) {
        let span = self.token().span;
        match kind {
            TokenKind::End => self.unexpected_end(span),
            TokenKind::Import | TokenKind::ImportGlob if !preamble.is_empty() => self.fail(
                DiagnosticCode::NotAllowedHere,
                span,
                "Imports cannot have doc comments, annotations or modifiers.",
            ),
            TokenKind::DocComment => {
                self.fail(DiagnosticCode::DanglingDocComment, span, DANGLING_DOC_COMMENT);
            }
            _ if self.at_keyword() => self.keyword_as_name(),
            _ => {
                self.fail_here(
                    "Invalid token at position. Expected a class, typealias, method, or property.",
                );
            }
        }
    }

    fn class(&mut self, preamble: Preamble) -> Option<ClassId> {
        self.bump();
        let name = self.name()?;
        let type_params = self.type_parameters();
        let superclass = self.eat(TokenKind::Extends).then(|| self.ty("a type"));
        let body = (!self.panicking && self.at(TokenKind::LeftBrace)).then(|| self.class_body());
        let Preamble { start, doc, annotations, modifiers } = preamble;
        let span = self.span_from(start);
        let class = Class { span, doc, annotations, modifiers, name, type_params, superclass, body };
        Some(self.ast.add(class))
    }

    fn type_alias(&mut self, preamble: Preamble) -> Option<TypeAliasId> {
        self.bump();
        let name = self.name()?;
        let type_params = self.type_parameters();
        self.expect(TokenKind::Assign);
        let ty = self.ty("a type");
        let Preamble { start, doc, annotations, modifiers } = preamble;
        let span = self.span_from(start);
        Some(self.ast.add(TypeAlias { span, doc, annotations, modifiers, name, type_params, ty }))
    }
}
