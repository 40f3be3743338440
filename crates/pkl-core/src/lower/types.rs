//! Types.

use pkl_parser::ast::{self, TypeKind};
use std::sync::Arc;

use super::Lowerer;
use crate::ir::{ScopeKind, Ty, TyIx, TypeParameter};

impl Lowerer<'_> {
    /// Lowers a type.
    pub(super) fn ty(&mut self, id: ast::TypeId) -> TyIx {
        let node = self.cx.ast[id];
        let ty = match node.kind {
            TypeKind::Error | TypeKind::Unknown => Ty::Unknown,
            TypeKind::Nothing => Ty::Nothing,
            TypeKind::Module => Ty::Module(self.scope.levels().saturating_sub(1)),
            TypeKind::StringLiteral(literal) => Ty::StringLiteral(self.constant(literal)),
            TypeKind::Declared { name, args } => self.named(name, args),
            TypeKind::Nullable(inner) => Ty::Nullable(self.ty(inner)),
            TypeKind::Union { members, default } => self.union(members, default),
            TypeKind::Constrained { base, constraints } => {
                let base = self.ty(base);
                self.scoped(|lowerer| {
                    let slot = lowerer.take_slot();
                    lowerer.scope = lowerer.scope.inside(ScopeKind::This { slot });
                    let constraints = lowerer.cx.ast[constraints]
                        .iter()
                        .map(|&constraint| lowerer.expr(constraint))
                        .collect();
                    Ty::Constrained { base, slot, constraints }
                })
            }
            TypeKind::Function { params, result } => {
                let params = self.cx.ast[params].iter().map(|&param| self.ty(param)).collect();
                Ty::Function { params, result: self.ty(result) }
            }
            TypeKind::Parenthesized(inner) => return self.ty(inner),
        };
        self.push_type(ty, node.span)
    }

    fn named(&mut self, name: ast::List<ast::Name>, args: ast::List<ast::TypeId>) -> Ty {
        let path: Box<[_]> = self.cx.ast[name].iter().map(|part| part.symbol).collect();
        if let [single] = path[..]
            && let Some(parameter) = self.scope.type_parameter(single)
        {
            return match parameter {
                TypeParameter::OfAlias(position) => Ty::AliasParameter(position),
                TypeParameter::Free => Ty::Variable(single),
            };
        }
        let args = self.cx.ast[args].iter().map(|&arg| self.ty(arg)).collect();
        Ty::Named { path, args, site: self.cx.numbers.site() }
    }

    fn union(&mut self, members: ast::List<ast::TypeId>, default: Option<u32>) -> Ty {
        let nodes = &self.cx.ast[members];
        let members: Box<[TyIx]> = nodes.iter().map(|&member| self.ty(member)).collect();
        let literals = members
            .iter()
            .map(|&member| match &self.code.types[member as usize] {
                Ty::StringLiteral(text) => Some(Arc::clone(text)),
                _ => None,
            })
            .collect::<Option<rustc_hash::FxHashSet<_>>>()
            .map(Box::new);
        Ty::Union { members, default, literals }
    }

    /// The text of a literal without interpolations.
    pub(super) fn constant(&self, literal: ast::StringId) -> Arc<str> {
        self.cx.ast.constant(literal).unwrap_or_default().into()
    }
}
