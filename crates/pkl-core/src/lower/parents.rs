//! `new { … }` must stand where something tells what it amends: as the value of a member, or as the result of a
//! method. Elsewhere it is an error of the whole module, whether it is evaluated or not.

use pkl_parser::Span;
use pkl_parser::ast::{
    self, Ast, ClassMember, ExprKind, MemberValue, ModuleMember, ObjectMemberKind, PropertyValue,
};
use rustc_hash::FxHashSet;

/// How long the keyword is.
const NEW_LENGTH: u32 = 3;

/// The first `new` of a module whose parent nothing tells.
pub(super) fn orphan(ast: &Ast, root: ast::Module) -> Option<Span> {
    let untyped = |expr: &&ast::Expr| matches!(expr.kind, ExprKind::New { ty: None, .. });
    // The nodes of a chain `new { … } { … }` begin at the same place.
    let mut orphans: FxHashSet<u32> =
        ast.exprs().iter().filter(untyped).map(|expr| expr.span.start).collect();
    if orphans.is_empty() {
        return None;
    }
    let told = placed_values(ast);
    for expr in told {
        adopt(ast, expr, &mut orphans);
    }
    let first = orphans.into_iter().min_by_key(|&start| (rank(ast, root, start), start))?;
    Some(Span::new(first, first + NEW_LENGTH))
}

/// The expressions that are values of members or results of methods.
fn placed_values(ast: &Ast) -> Vec<ast::ExprId> {
    let mut values: Vec<ast::ExprId> = ast.methods().iter().filter_map(|method| method.body).collect();
    values.extend(ast.properties().iter().filter_map(|property| match property.value {
        PropertyValue::Expr(value) => Some(value),
        PropertyValue::None | PropertyValue::Bodies(_) => None,
    }));
    let members = ast.bodies().iter().flat_map(|body| &ast[body.members]);
    values.extend(members.filter_map(|member| match member.kind {
        ObjectMemberKind::Element(value)
        | ObjectMemberKind::Entry { value: MemberValue::Expr(value), .. } => Some(value),
        _ => None,
    }));
    values
}

/// Takes out each `new` that is the value of an expression in a place that tells its parent.
fn adopt(ast: &Ast, expr: ast::ExprId, orphans: &mut FxHashSet<u32>) {
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match ast[expr].kind {
            ExprKind::New { ty: None, .. } => {
                orphans.remove(&ast[expr].span.start);
            }
            ExprKind::Let { body, .. } => pending.push(body),
            ExprKind::If { condition, then, otherwise } => pending.extend([condition, then, otherwise]),
            ExprKind::Trace(value) => pending.push(value),
            _ => {}
        }
    }
}

/// What is looked at first: classes before aliases, before properties, before methods.
fn rank(ast: &Ast, root: ast::Module, start: u32) -> (u8, u32, u8) {
    let holds = |span: Span| (span.start..span.end).contains(&start);
    for member in &ast[root.members] {
        match *member {
            ModuleMember::Class(id) if holds(ast[id].span) => {
                let members = ast[id].body.map(|body| &ast[body.members]).unwrap_or_default();
                let in_method = members
                    .iter()
                    .any(|member| matches!(*member, ClassMember::Method(id) if holds(ast[id].span)));
                return (0, ast[id].span.start, in_method.into());
            }
            ModuleMember::TypeAlias(id) if holds(ast[id].span) => return (1, 0, 0),
            ModuleMember::Method(id) if holds(ast[id].span) => return (3, 0, 0),
            _ => {}
        }
    }
    (2, 0, 0)
}
