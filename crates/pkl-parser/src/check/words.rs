//! `module`, `this` and `outer` by themselves where only const members may be used. What is read from them is looked
//! at when it is read.

use rustc_hash::FxHashSet;
use std::cmp::Reverse;

use super::{Checker, scope};
use crate::ast::{
    Ast, ClassMember, ExprKind, Method, ModifierKind, Module, ModuleMember, Name, ObjectMemberKind, Property,
    TypeKind,
};
use crate::{DiagnosticCode, Span};

/// A part of the text that decides what words in it mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Region {
    /// A property, by whose name it is called, or a member without name.
    Member(Option<Name>),
    /// A const member, or an alias; whether it is one of a class or module.
    Const {
        name: Name,
        declared: bool,
    },
    Class,
    Annotation,
    /// A body that makes an object.
    Body,
    /// A function or the body of a `let`, in which `outer` is the innermost object.
    Function,
    /// Constraints, in which `this` is the value.
    Constraint,
    /// What is evaluated with a body: no part of a const member.
    Header,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Module,
    This,
    Outer,
}

impl Checker<'_> {
    /// Looks at the words of a module.
    pub(super) fn words(&mut self, module: &Module) {
        let mut words = words(self.ast);
        if words.is_empty() {
            return;
        }
        words.sort_by_key(|(span, _)| span.start);
        let mut regions = regions(self.ast, module);
        regions.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
        let mut regions = regions.into_iter().peekable();
        let mut around: Vec<(Span, Region)> = Vec::new();
        for (place, word) in words {
            while let Some(region) = regions.next_if(|(span, _)| span.start <= place.start) {
                leave(&mut around, region.0.start);
                around.push(region);
            }
            leave(&mut around, place.start);
            let inside_out = || around.iter().rev().map(|(_, region)| *region);
            let text = match word {
                Word::Module => self.of_module(inside_out()),
                Word::This => is_const_this(inside_out())
                    .then(|| "Cannot reference `this` from here because it is not `const`.".to_owned()),
                Word::Outer => is_const_outer(inside_out())
                    .then(|| "Cannot reference `outer` from here because it's not `const`.".to_owned()),
            };
            if let Some(text) = text {
                self.report(DiagnosticCode::NotAllowedHere, place, &text);
            }
        }
    }

    fn of_module(&self, inside_out: impl Iterator<Item = Region>) -> Option<String> {
        let (mut member, mut constant) = (None, None);
        for region in inside_out {
            match region {
                Region::Class => return Some("Cannot reference `module` within a class body.".to_owned()),
                Region::Annotation => {
                    return Some("Cannot reference `module` within an annotation body.".to_owned());
                }
                Region::Member(name) => member = member.or(Some(name)),
                Region::Const { name, .. } => constant = constant.or(Some(name)),
                _ => {}
            }
        }
        let name = member.flatten().or(constant).filter(|_| constant.is_some())?;
        let name = self.interner.text(name.symbol);
        Some(format!("Cannot reference `module` from const property `{name}`."))
    }
}

/// Takes off the regions that end before a place; they lie in each other.
fn leave(around: &mut Vec<(Span, Region)>, place: u32) {
    while around.last().is_some_and(|(span, _)| span.end <= place) {
        around.pop();
    }
}

/// Whether the innermost object is a class or module of which a const member is evaluated.
fn is_const_this(inside_out: impl Iterator<Item = Region>) -> bool {
    for region in inside_out {
        match region {
            Region::Const { declared: true, .. } => return true,
            Region::Body | Region::Function | Region::Constraint | Region::Header => return false,
            _ => {}
        }
    }
    false
}

/// Whether the second object is a class or module of which a const member is evaluated.
fn is_const_outer(inside_out: impl Iterator<Item = Region>) -> bool {
    let mut in_body = false;
    for region in inside_out {
        match region {
            Region::Const { declared: true, .. } => return in_body,
            Region::Body if in_body => return false,
            Region::Body => in_body = true,
            Region::Function if !in_body => return false,
            Region::Header => return false,
            _ => {}
        }
    }
    false
}

/// The words that stand by themselves.
fn words(ast: &Ast) -> Vec<(Span, Word)> {
    let word = |kind: &ExprKind| match kind {
        ExprKind::Module => Some(Word::Module),
        ExprKind::This => Some(Word::This),
        ExprKind::Outer => Some(Word::Outer),
        _ => None,
    };
    let receivers = ast.exprs().iter().filter_map(|expr| match expr.kind {
        ExprKind::Member { receiver, .. } if word(&ast[receiver].kind).is_some() => {
            Some(ast[receiver].span.start)
        }
        _ => None,
    });
    let receivers: FxHashSet<u32> = receivers.collect();
    let alone = |span: &Span| !receivers.contains(&span.start);
    let words = ast.exprs().iter().filter_map(|expr| Some((expr.span, word(&expr.kind)?)));
    words.filter(|(span, _)| alone(span)).collect()
}

fn regions(ast: &Ast, module: &Module) -> Vec<(Span, Region)> {
    let mut regions = Vec::new();
    let declared = declared_names(ast, module);
    for property in ast.properties() {
        let span = Span::new(property.name.span.start, property.span.end);
        regions.push((span, Region::Member(Some(property.name))));
        if ast.modifier_set(property.modifiers).contains(ModifierKind::Const) {
            let declared = declared.contains(&property.name.span.start);
            regions.push((span, Region::Const { name: property.name, declared }));
        }
    }
    for method in ast.methods() {
        if ast.modifier_set(method.modifiers).contains(ModifierKind::Const) {
            let declared = declared.contains(&method.name.span.start);
            let span = Span::new(method.name.span.start, method.span.end);
            regions.push((span, Region::Const { name: method.name, declared }));
        }
    }
    for alias in ast.type_aliases() {
        regions.push((ast[alias.ty].span, Region::Const { name: alias.name, declared: true }));
    }
    let classes = ast.classes().iter().filter_map(|class| class.body);
    regions.extend(classes.map(|body| (body.span, Region::Class)));
    regions.extend(ast.annotations().iter().map(|annotation| (annotation.span, Region::Annotation)));
    for expr in ast.exprs() {
        match expr.kind {
            ExprKind::Function { .. } => regions.push((expr.span, Region::Function)),
            ExprKind::Let { body, .. } => regions.push((ast[body].span, Region::Function)),
            _ => {}
        }
    }
    for ty in ast.types() {
        if let TypeKind::Constrained { base, .. } = ty.kind {
            regions.push((Span::new(ast[base].span.end, ty.span.end), Region::Constraint));
        }
    }
    bodies(ast, &mut regions);
    regions
}

fn bodies(ast: &Ast, regions: &mut Vec<(Span, Region)>) {
    let generated = scope::generated_bodies(ast);
    for (index, body) in ast.bodies().iter().enumerate() {
        if !generated.contains(&index) {
            regions.push((body.span, Region::Body));
        }
        for member in &ast[body.members] {
            let header = match member.kind {
                ObjectMemberKind::Element(_) => {
                    regions.push((member.span, Region::Member(None)));
                    continue;
                }
                ObjectMemberKind::Entry { key, .. } => {
                    regions.push((member.span, Region::Member(None)));
                    ast[key].span
                }
                ObjectMemberKind::Predicate { condition, .. } => {
                    regions.push((member.span, Region::Member(None)));
                    ast[condition].span
                }
                ObjectMemberKind::Spread { value, .. } => ast[value].span,
                ObjectMemberKind::When { condition, .. } => ast[condition].span,
                ObjectMemberKind::For { .. } => member.span,
                ObjectMemberKind::Property(_) | ObjectMemberKind::Method(_) => continue,
            };
            regions.push((header, Region::Header));
        }
    }
}

/// Where the names of the members of classes and of the module begin.
fn declared_names(ast: &Ast, module: &Module) -> FxHashSet<u32> {
    let property = |property: &Property| property.name.span.start;
    let method = |method: &Method| method.name.span.start;
    let of_module = ast[module.members].iter().filter_map(|member| match *member {
        ModuleMember::Property(id) => Some(property(&ast[id])),
        ModuleMember::Method(id) => Some(method(&ast[id])),
        _ => None,
    });
    let bodies = ast.classes().iter().filter_map(|class| class.body);
    let of_classes = bodies.flat_map(|body| &ast[body.members]).map(|member| match *member {
        ClassMember::Property(id) => property(&ast[id]),
        ClassMember::Method(id) => method(&ast[id]),
    });
    of_module.chain(of_classes).collect()
}
