//! Types.

use pkl_parser::TokenKind;
use pkl_parser::ast::{List, Type, TypeId, TypeKind};

use super::Builder;
use crate::layout::Piece;

impl Builder<'_> {
    /// A type; the gap before it is put out.
    pub(super) fn ty(&mut self, ty: TypeId) {
        let Type { span, kind } = self.ast[ty];
        self.nested(span, |builder| builder.type_of_kind(&kind));
    }

    fn type_of_kind(&mut self, kind: &TypeKind) {
        match *kind {
            // There is none in a tree without diagnostics.
            TypeKind::Error => {}
            TypeKind::Unknown | TypeKind::Nothing | TypeKind::Module => self.text(),
            TypeKind::StringLiteral(string) => self.string(string),
            TypeKind::Declared { name, args } => {
                self.open();
                self.dotted_name(name, Piece::SoftLine);
                self.close();
                if !args.is_empty() {
                    self.touch();
                    self.bracketed(&self.ast[args], |builder, arg| builder.ty(*arg));
                }
            }
            TypeKind::Nullable(inner) => {
                self.ty(inner);
                self.adjacent();
            }
            TypeKind::Constrained { base, constraints } => {
                self.ty(base);
                self.touch();
                self.bracketed(&self.ast[constraints], |builder, constraint| builder.expr(*constraint));
            }
            TypeKind::Union { members, .. } => self.union(members),
            TypeKind::Function { params, result } => {
                self.open();
                self.bracketed(&self.ast[params], |builder, param| builder.ty(*param));
                self.then(Piece::Space);
                self.indent();
                self.gap(Piece::Line);
                self.ty(result);
                self.dedent();
                self.close();
            }
            TypeKind::Parenthesized(inner) => {
                self.open();
                self.text();
                self.indent();
                self.gap(Piece::SoftLine);
                self.ty(inner);
                self.close_indented();
                self.close();
            }
        }
    }

    fn union(&mut self, members: List<TypeId>) {
        self.open();
        for (index, member) in self.ast[members].iter().enumerate() {
            if index > 0 {
                self.then(Piece::Line);
                self.gap(Piece::Space);
            }
            if self.peek() == TokenKind::Star {
                self.text();
                self.touch();
            }
            self.ty(*member);
            if index == 0 {
                self.indent();
            }
        }
        self.dedent();
        self.close();
    }
}
