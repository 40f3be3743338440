//! What may be defined once only.

use rustc_hash::FxHashSet;

use super::Checker;
use crate::ast::{
    Ast, Body, BodyId, ClassMember, ExprId, ExprKind, Import, List, Module, ModuleMember, Name, ObjectMember,
    ObjectMemberKind, Parameter, StringPart, StringPartKind, TypeParameter, UnaryOp,
};
use crate::{DiagnosticCode, Span, Symbol};

/// A key of an entry that is known without evaluation.
#[derive(Debug, PartialEq, Eq, Hash)]
enum ConstantKey<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(u64),
    String(&'a str),
}

impl Checker<'_> {
    /// Imports, classes, type aliases and properties share their names; methods have theirs.
    pub(super) fn module_names(&mut self, module: &Module) {
        let ast = self.ast;
        let (mut values, mut methods) = (FxHashSet::default(), FxHashSet::default());
        for import in &ast[module.imports] {
            let Some((symbol, span)) = self.imported_name(import) else { continue };
            self.define(&mut values, symbol, span);
        }
        for member in &ast[module.members] {
            match *member {
                ModuleMember::Class(class) => self.define_name(&mut values, ast[class].name),
                ModuleMember::TypeAlias(alias) => self.define_name(&mut values, ast[alias].name),
                ModuleMember::Property(property) => self.define_name(&mut values, ast[property].name),
                ModuleMember::Method(method) => self.define_name(&mut methods, ast[method].name),
            }
        }
    }

    fn imported_name(&self, import: &Import) -> Option<(Symbol, Span)> {
        if let Some(alias) = import.alias {
            return Some((alias.symbol, alias.span));
        }
        let name = import_name(self.ast.constant(import.uri)?);
        Some((self.interner.intern(name), import.span))
    }

    pub(super) fn class_names(&mut self, members: List<ClassMember>) {
        let ast = self.ast;
        let (mut properties, mut methods) = (FxHashSet::default(), FxHashSet::default());
        for member in &ast[members] {
            match *member {
                ClassMember::Property(property) => self.define_name(&mut properties, ast[property].name),
                ClassMember::Method(method) => self.define_name(&mut methods, ast[method].name),
            }
        }
    }

    /// Properties, locals, methods and the constant keys of entries have each their names. What follows a
    /// generator, and keys beside one or beside keys that aren't constant, are looked at when the object is made.
    pub(super) fn object_names(&mut self, body: &Body) {
        let ast = self.ast;
        let (mut properties, mut locals) = (FxHashSet::default(), FxHashSet::default());
        let (mut methods, mut keys) = (FxHashSet::default(), FxHashSet::default());
        let keys_are_known = ast[body.members].iter().all(|member| match member.kind {
            ObjectMemberKind::Entry { key, .. } => constant_key(ast, key).is_some(),
            ObjectMemberKind::Predicate { .. } => false,
            _ => !is_generator(member),
        });
        for member in ast[body.members].iter().take_while(|member| !is_generator(member)) {
            match member.kind {
                ObjectMemberKind::Property(property) => {
                    let property = ast[property];
                    let is_local = ast.modifier_set(property.modifiers).is_local();
                    self.define_name(if is_local { &mut locals } else { &mut properties }, property.name);
                }
                ObjectMemberKind::Method(method) => self.define_name(&mut methods, ast[method].name),
                ObjectMemberKind::Entry { key, .. } if keys_are_known => {
                    let Some(constant) = constant_key(ast, key) else { continue };
                    let shown = self.shown_key(&constant, key);
                    if !keys.insert(constant) {
                        self.duplicate(ast[key].span, &shown);
                    }
                }
                _ => {}
            }
        }
    }

    /// The variables of a `for` generator.
    pub(super) fn variable_names(&mut self, variables: List<Parameter>) {
        let mut names = FxHashSet::default();
        for variable in &self.ast[variables] {
            if let Some(name) = variable.name {
                self.define_name(&mut names, name);
            }
        }
    }

    fn shown_key(&self, constant: &ConstantKey<'_>, key: ExprId) -> String {
        match constant {
            ConstantKey::Int(value) => value.to_string(),
            ConstantKey::String(text) => format!("{text:?}"),
            _ => self.ast[key].span.text(self.source).to_owned(),
        }
    }

    pub(super) fn type_parameter_names(&mut self, params: List<TypeParameter>) {
        let mut names = FxHashSet::default();
        for param in &self.ast[params] {
            if !names.insert(param.name.symbol) {
                let text = format!("Duplicate type parameter `{}`.", self.interner.text(param.name.symbol));
                self.report(DiagnosticCode::DuplicateDefinition, param.span, &text);
            }
        }
    }

    fn define_name(&mut self, names: &mut FxHashSet<Symbol>, name: Name) {
        self.define(names, name.symbol, name.span);
    }

    fn define(&mut self, names: &mut FxHashSet<Symbol>, symbol: Symbol, span: Span) {
        if !names.insert(symbol) {
            let shown = self.interner.text(symbol);
            self.duplicate(span, &shown);
        }
    }

    fn duplicate(&mut self, span: Span, shown: &str) {
        let text = format!("Duplicate definition of member `{shown}`.");
        self.report(DiagnosticCode::DuplicateDefinition, span, &text);
    }
}

/// Whether how many members it makes is decided when the object is made.
fn is_generator(member: &ObjectMember) -> bool {
    matches!(
        member.kind,
        ObjectMemberKind::Spread { .. } | ObjectMemberKind::When { .. } | ObjectMemberKind::For { .. }
    )
}

/// The positions among all bodies of those of `when` and `for`, whose members may be made often or never.
pub(super) fn generated_bodies(ast: &Ast) -> FxHashSet<usize> {
    let members = ast.bodies().iter().flat_map(|body| &ast[body.members]);
    let bodies = members.flat_map(|member| match member.kind {
        ObjectMemberKind::When { then, otherwise, .. } => [Some(then), otherwise],
        ObjectMemberKind::For { body, .. } => [Some(body), None],
        _ => [None, None],
    });
    bodies.flatten().map(BodyId::index).collect()
}

fn constant_key(ast: &Ast, mut key: ExprId) -> Option<ConstantKey<'_>> {
    while let ExprKind::Parenthesized(inner) = ast[key].kind {
        key = inner;
    }
    match ast[key].kind {
        ExprKind::Null => Some(ConstantKey::Null),
        ExprKind::Bool(value) => Some(ConstantKey::Bool(value)),
        ExprKind::Int(value) => Some(ConstantKey::Int(value)),
        ExprKind::Float(value) => Some(ConstantKey::Float(value.to_bits())),
        ExprKind::String(string) => match &ast[ast[string].parts] {
            [] => Some(ConstantKey::String("")),
            [StringPart { kind: StringPartKind::Text(text), .. }] => {
                Some(ConstantKey::String(ast.text(*text)))
            }
            _ => None,
        },
        ExprKind::Unary { op: UnaryOp::Negate, operand } => match ast[operand].kind {
            ExprKind::Int(value) => Some(ConstantKey::Int(value.wrapping_neg())),
            ExprKind::Float(value) => Some(ConstantKey::Float((-value).to_bits())),
            _ => None,
        },
        _ => None,
    }
}

/// The name that an import without alias gives to the module at an address: the last part of its path,
/// without the ending.
pub fn import_name(uri: &str) -> &str {
    if let Some(name) = uri.strip_prefix("pkl:") {
        return name.rsplit('.').next().unwrap_or(name);
    }
    let is_web = uri.starts_with("https:") || uri.starts_with("http:");
    let path = match uri.split_once('#') {
        Some((_, fragment)) if !is_web => fragment,
        Some((before, _)) => before,
        None => uri,
    };
    let path = path.split('?').next().unwrap_or(path);
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::import_name;

    #[test]
    fn an_import_is_named_by_the_last_part_of_its_path() {
        for (uri, name) in [
            ("pkl:math", "math"),
            ("pkl:x.y", "y"),
            ("bird.pkl", "bird"),
            ("../birds/great.auk.pkl", "great.auk"),
            ("birds/dodo", "dodo"),
            ("birds/*.pkl", "*"),
            ("https://example.com/a/b.pkl?c=d.e/f", "b"),
            ("https://example.com/a/b.pkl#/c.pkl", "b"),
            ("package://example.com/birds@1.0.0#/a/dodo.pkl", "dodo"),
            ("@birds/dodo.pkl", "dodo"),
            ("zoo:animal", "zoo:animal"),
            (".pkl", ""),
            ("a/", ""),
        ] {
            assert_eq!(import_name(uri), name, "{uri}");
        }
    }
}
