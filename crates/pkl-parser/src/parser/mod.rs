//! From text to tree.

use crate::ast::{Ast, Expr, ExprId, ExprKind, List, Module, Type, TypeId, TypeKind};
use crate::{Diagnostic, DiagnosticCode, Interner, Parsed, Span};

/// Reads a module. Names go into `interner`.
///
/// Never fails: what is wrong is in [`Parsed::diagnostics`], all of it in one run.
pub fn parse_module(source: &str, _interner: &Interner) -> Parsed<Module> {
    let span = whole(source);
    let root = Module { span, decl: None, imports: List::EMPTY, members: List::EMPTY };
    Parsed { ast: Ast::default(), root, diagnostics: vec![unreadable(span)] }
}

/// Reads a single expression, as for `pkl eval -x`.
pub fn parse_expression(source: &str, _interner: &Interner) -> Parsed<ExprId> {
    let span = whole(source);
    let mut ast = Ast::default();
    let root = ast.add(Expr { span, kind: ExprKind::Error });
    Parsed { ast, root, diagnostics: vec![unreadable(span)] }
}

/// Reads a single type.
pub fn parse_type(source: &str, _interner: &Interner) -> Parsed<TypeId> {
    let span = whole(source);
    let mut ast = Ast::default();
    let root = ast.add(Type { span, kind: TypeKind::Error });
    Parsed { ast, root, diagnostics: vec![unreadable(span)] }
}

fn whole(source: &str) -> Span {
    Span::new(0, u32::try_from(source.len()).unwrap_or(u32::MAX))
}

fn unreadable(span: Span) -> Diagnostic {
    Diagnostic {
        code: DiagnosticCode::UnexpectedToken,
        message: "This text can't be read.".to_owned(),
        span,
        hint: None,
    }
}
