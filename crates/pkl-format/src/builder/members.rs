//! Members of modules and classes, and what they have in common with those of objects.

use pkl_parser::TokenKind;
use pkl_parser::ast::{
    Annotation, BodyId, ClassBody, ClassId, ClassMember, DocComment, ExprId, ExprKind, List, MethodId,
    Modifier, ModifierKind, Parameter, PropertyId, PropertyValue, TypeAliasId, TypeParameter,
};

use super::block::{Block, Spot};
use super::{Builder, is_comment};
use crate::layout::Piece;

impl<'s> Builder<'s> {
    /// Doc comment and annotations, each on lines of its own, without blank lines.
    pub(super) fn doc_and_annotations(&mut self, doc: Option<DocComment>, annotations: List<Annotation>) {
        if doc.is_some() {
            while self.peek() == TokenKind::DocComment {
                self.touch();
                self.doc_line();
                self.gap(Piece::HardLine);
            }
        }
        for annotation in &self.ast[annotations] {
            self.text();
            self.touch();
            self.ty(annotation.ty);
            if let Some(body) = annotation.body {
                self.gap(Piece::Space);
                self.body(body);
            }
            self.gap(Piece::HardLine);
        }
    }

    /// One line of a doc comment, with a space after `///`.
    fn doc_line(&mut self) {
        let text = self.text_of(self.token());
        let content = &text[3..];
        if content.is_empty() || content.starts_with(char::is_whitespace) {
            return self.text();
        }
        self.push(Piece::Text("/// "));
        self.push(Piece::Text(content));
        self.advance();
    }

    /// Modifiers in order, with a space after each. Comments between them come before them all.
    pub(super) fn modifiers(&mut self, modifiers: List<Modifier>) {
        let modifiers = &self.ast[modifiers];
        let Some(last) = modifiers.last() else { return };
        while self.token().span.start < last.span.end {
            let token = self.token();
            self.at += 1;
            if is_comment(token.kind) {
                self.comment(token);
                self.push(Piece::Space);
            }
        }
        let mut sorted: Vec<&Modifier> = modifiers.iter().collect();
        sorted.sort_by_key(|modifier| rank(modifier.kind));
        for (index, modifier) in sorted.iter().enumerate() {
            self.push(Piece::Text(modifier.kind.as_str()));
            if index + 1 < sorted.len() {
                self.push(Piece::Space);
            }
        }
        self.gap(Piece::Space);
    }

    pub(super) fn class(&mut self, class: ClassId) {
        let class = self.ast[class];
        self.doc_and_annotations(class.doc, class.annotations);
        self.modifiers(class.modifiers);
        self.text();
        self.then(Piece::Space);
        self.type_parameters(class.type_params);
        if let Some(superclass) = class.superclass {
            self.open();
            self.indent();
            self.then(Piece::Line);
            self.open();
            self.gap(Piece::Line);
            self.ty(superclass);
            self.close();
            self.dedent();
            self.close();
        }
        if let Some(body) = class.body {
            self.gap(Piece::Space);
            self.class_body(&body);
        }
    }

    fn class_body(&mut self, body: &ClassBody) {
        self.text();
        if body.members.is_empty() && !self.comments_follow() {
            return self.adjacent();
        }
        self.indent();
        let mut spot = Spot::First;
        for member in &self.ast[body.members] {
            self.block_gap(Block::Class, spot);
            match *member {
                ClassMember::Property(property) => self.property(property),
                ClassMember::Method(method) => self.method(method),
            }
            spot = Spot::Between;
        }
        self.block_gap(Block::Class, if spot == Spot::First { Spot::Only } else { Spot::Last });
        self.dedent();
        self.push(Piece::HardLine);
        self.text();
    }

    pub(super) fn type_alias(&mut self, alias: TypeAliasId) {
        let alias = self.ast[alias];
        self.doc_and_annotations(alias.doc, alias.annotations);
        self.modifiers(alias.modifiers);
        self.open();
        self.text();
        self.then(Piece::Space);
        self.type_parameters(alias.type_params);
        self.then(Piece::Space);
        self.indent();
        self.gap(Piece::Line);
        self.ty(alias.ty);
        self.dedent();
        self.close();
    }

    pub(super) fn property(&mut self, property: PropertyId) {
        let property = self.ast[property];
        self.doc_and_annotations(property.doc, property.annotations);
        self.modifiers(property.modifiers);
        self.text();
        if let Some(ty) = property.ty {
            self.adjacent();
            self.gap(Piece::Space);
            self.ty(ty);
        }
        match property.value {
            PropertyValue::None => {}
            PropertyValue::Expr(value) => self.assignment(value),
            PropertyValue::Bodies(bodies) => self.bodies(bodies),
        }
    }

    pub(super) fn method(&mut self, method: MethodId) {
        let method = self.ast[method];
        self.doc_and_annotations(method.doc, method.annotations);
        self.modifiers(method.modifiers);
        self.text();
        self.then(Piece::Space);
        self.type_parameters(method.type_params);
        self.touch();
        self.open();
        self.bracketed_in_group(&self.ast[method.params], Self::parameter);
        if let Some(return_type) = method.return_type {
            self.adjacent();
            self.gap(Piece::Space);
            self.ty(return_type);
        }
        self.close();
        if let Some(body) = method.body {
            self.assignment(body);
        }
    }

    /// ` = value`: what is an object or a function stays on the line, anything else may go to the next.
    pub(super) fn assignment(&mut self, value: ExprId) {
        if !self.stays_on_line(value) {
            return self.assignment_on_lines(value);
        }
        self.then(Piece::Space);
        self.gap(Piece::Space);
        self.expr(value);
    }

    /// ` = value`, which may go to the next line.
    pub(super) fn assignment_on_lines(&mut self, value: ExprId) {
        self.then(Piece::Space);
        self.open();
        self.indent();
        self.gap(Piece::Line);
        self.expr(value);
        self.dedent();
        self.close();
    }

    /// Whether an expression begins on the line of what it belongs to, however long it is.
    pub(super) fn stays_on_line(&self, expr: ExprId) -> bool {
        self.is_object(expr) || matches!(self.ast[expr].kind, ExprKind::Function { .. })
    }

    /// Whether the last of an expression is an object body, however deep in it: nothing else ends so.
    pub(super) fn ends_with_body(&self, expr: ExprId) -> bool {
        self.ast[expr].span.text(self.source).ends_with('}')
    }

    /// Whether an expression is an object with a body.
    pub(super) fn is_object(&self, expr: ExprId) -> bool {
        matches!(self.ast[expr].kind, ExprKind::New { .. } | ExprKind::Amend { .. })
    }

    pub(super) fn bodies(&mut self, bodies: List<BodyId>) {
        for body in &self.ast[bodies] {
            self.gap(Piece::Space);
            self.body(*body);
        }
    }

    /// `<in T, out U>`, or nothing.
    fn type_parameters(&mut self, params: List<TypeParameter>) {
        if params.is_empty() {
            return;
        }
        self.touch();
        self.bracketed(&self.ast[params], |builder, param| {
            builder.text();
            if param.variance.is_some() {
                builder.then(Piece::Space);
            }
        });
    }

    /// `(a, b: T)`; the gap before it is put out.
    pub(super) fn parameters(&mut self, params: List<Parameter>) {
        self.bracketed(&self.ast[params], Self::parameter);
    }

    pub(super) fn parameter(&mut self, parameter: &Parameter) {
        self.text();
        if let Some(ty) = parameter.ty {
            self.adjacent();
            self.gap(Piece::Space);
            self.ty(ty);
        }
    }

    /// Items between brackets, each on its own line if they don't fit on one, then with a comma after the
    /// last. The gap before the opening bracket is put out.
    pub(super) fn bracketed<T>(&mut self, items: &'s [T], item: impl Fn(&mut Self, &'s T)) {
        self.open();
        self.bracketed_in_group(items, item);
        self.close();
    }

    pub(super) fn bracketed_in_group<T>(&mut self, items: &'s [T], item: impl Fn(&mut Self, &'s T)) {
        self.text();
        if items.is_empty() {
            return self.adjacent();
        }
        self.indent();
        for (index, one) in items.iter().enumerate() {
            if index > 0 {
                self.adjacent();
            }
            self.gap(if index == 0 { Piece::SoftLine } else { Piece::Line });
            item(self, one);
        }
        self.skip(TokenKind::Comma);
        if !self.comments_follow() && !matches!(self.pieces.last(), Some(Piece::LineBeforeText)) {
            self.push(Piece::IfBroken(","));
        }
        self.close_indented();
    }

    /// The end of something indented, and its closing bracket.
    pub(super) fn close_indented(&mut self) {
        self.gap(Piece::SoftLine);
        self.dedent();
        self.text();
    }
}

/// The place of a modifier among others; those of one rank stay as written.
fn rank(kind: ModifierKind) -> u8 {
    match kind {
        ModifierKind::Abstract | ModifierKind::Open => 0,
        ModifierKind::External => 1,
        ModifierKind::Local | ModifierKind::Hidden => 2,
        ModifierKind::Const | ModifierKind::Fixed => 3,
    }
}
