//! Modules and classes.

use pkl_parser::ast::{self, ModifierKind, ModuleBaseKind, ModuleMember};
use pkl_parser::{Interner, Parsed, Symbol};
use std::sync::{Arc, OnceLock};

use super::body::method;
use super::{Context, Numbers, Words};
use crate::heap::PropertyKey;
use crate::ir::{
    AliasIr, Barrier, ClassIr, ClassMembers, ImportIr, IrId, Member, MemberSource, MethodRef, Modifiers,
    ModuleIr, ModuleLink, Name, Names, Scope, ScopeKind,
};

/// Lowers the outline of a module: its names. Classes and bodies follow when they are used.
pub(crate) fn lower_module(
    id: IrId,
    uri: &str,
    source: Arc<str>,
    parsed: Parsed<ast::Module>,
    interner: &Interner,
    numbers: &Numbers,
    words: &Words,
) -> ModuleIr {
    let Parsed { ast, root, .. } = parsed;
    let cx = Context { module: id, ast: &ast, interner, numbers, base: None, words };
    let name = module_name(cx, root, uri);
    let simple_name = interner.intern(name.rsplit('.').next().unwrap_or_default());
    let modifiers = root.decl.map(|decl| ast.modifier_set(decl.modifiers)).unwrap_or_default();
    let link = root.decl.and_then(|decl| decl.base).map(|base| ModuleLink {
        extends: base.kind == ModuleBaseKind::Extends,
        uri: ast.constant(base.uri).unwrap_or_default().into(),
        span: base.span,
    });
    let imports = imports(cx, root);
    let names = Arc::new(module_names(cx, root, &imports));
    let scope = Scope::root(ScopeKind::Object(Arc::clone(&names)));
    let class_scope = scope.inside(ScopeKind::Barrier(Barrier::Class));
    let mut classes = Vec::new();
    let mut aliases = Vec::new();
    for member in &ast[root.members] {
        match *member {
            ModuleMember::Class(id) => classes.push(class(cx, id, &class_scope)),
            ModuleMember::TypeAlias(id) => aliases.push(alias(cx, id, &scope)),
            _ => {}
        }
    }
    let class = ClassIr {
        name: simple_name,
        modifiers,
        span: root.decl.map_or(root.span, |decl| decl.span),
        ast: None,
        scope: Arc::clone(&scope),
        type_parameters: Box::default(),
        superclass: None,
        members: OnceLock::new(),
    };
    let orphan = super::parents::orphan(&ast, root);
    ModuleIr {
        id,
        uri: uri.into(),
        name,
        link,
        orphan,
        names,
        scope,
        class,
        classes,
        aliases,
        imports,
        annotations: elsa::sync::FrozenMap::new(),
        supertypes: elsa::sync::FrozenMap::new(),
        expression: OnceLock::new(),
        lines: OnceLock::new(),
        source,
        ast,
        root,
    }
}

fn module_name(cx: Context<'_>, root: ast::Module, uri: &str) -> Arc<str> {
    let declared = root.decl.map(|decl| &cx.ast[decl.name]).unwrap_or_default();
    if declared.is_empty() {
        return import_name(uri).into();
    }
    let parts: Vec<Arc<str>> = declared.iter().map(|part| cx.interner.text(part.symbol)).collect();
    parts.join(".").into()
}

/// The name that a module is known by if nothing else says so: the last part of its URI.
pub(crate) fn import_name(uri: &str) -> &str {
    let path = uri.split_once(':').map_or(uri, |(_, path)| path);
    let last = path.rsplit('/').next().unwrap_or(path);
    last.strip_suffix(".pkl").unwrap_or(last)
}

fn imports(cx: Context<'_>, root: ast::Module) -> Vec<ImportIr> {
    let import = |node: &ast::Import| {
        let uri: Arc<str> = cx.ast.constant(node.uri).unwrap_or_default().into();
        // What a scheme without paths says is a name too.
        let implied = pkl_parser::import_name(&uri).rsplit(':').next().unwrap_or_default();
        let name = node.alias.map_or_else(|| cx.interner.intern(implied), |alias| alias.symbol);
        ImportIr { name, uri, glob: node.glob, span: node.span }
    };
    cx.ast[root.imports].iter().map(import).collect()
}

fn module_names(cx: Context<'_>, root: ast::Module, imports: &[ImportIr]) -> Names {
    let mut names = Names::default();
    names.properties.reserve(imports.len() + root.members.len());
    let local = || PropertyKey::Local(cx.numbers.local());
    for import in imports {
        names.properties.insert(import.name, Name::new(local(), true));
    }
    let mut declare = |name: Symbol, modifiers: Modifiers, constant: bool| {
        let key = if modifiers.contains(ModifierKind::Local) { local() } else { PropertyKey::Named(name) };
        names.properties.insert(name, Name::new(key, constant));
    };
    for member in &cx.ast[root.members] {
        match *member {
            ModuleMember::Class(id) => {
                declare(cx.ast[id].name.symbol, cx.ast.modifier_set(cx.ast[id].modifiers), true);
            }
            ModuleMember::TypeAlias(id) => {
                declare(cx.ast[id].name.symbol, cx.ast.modifier_set(cx.ast[id].modifiers), true);
            }
            ModuleMember::Property(id) => {
                let modifiers = cx.ast.modifier_set(cx.ast[id].modifiers);
                declare(cx.ast[id].name.symbol, modifiers, modifiers.contains(ModifierKind::Const));
            }
            ModuleMember::Method(_) => {}
        }
    }
    for member in &cx.ast[root.members] {
        if let ModuleMember::Method(id) = *member {
            add_method_name(cx, id, None, &mut names);
        }
    }
    names
}

fn add_method_name(cx: Context<'_>, id: ast::MethodId, class_name: Option<Symbol>, names: &mut Names) {
    let declared = &cx.ast[id];
    let modifiers = cx.ast.modifier_set(declared.modifiers);
    let local = modifiers.contains(ModifierKind::Local).then(|| method(cx, id, modifiers, class_name));
    let constant = modifiers.contains(ModifierKind::Const);
    names.methods.insert(declared.name.symbol, MethodRef { local, constant });
}

fn class(cx: Context<'_>, id: ast::ClassId, scope: &Arc<Scope>) -> ClassIr {
    let node = &cx.ast[id];
    ClassIr {
        name: node.name.symbol,
        modifiers: cx.ast.modifier_set(node.modifiers),
        span: node.span,
        ast: Some(id),
        scope: Arc::clone(scope),
        type_parameters: cx.ast[node.type_params].iter().map(|parameter| parameter.name.symbol).collect(),
        superclass: node.superclass,
        members: OnceLock::new(),
    }
}

fn alias(cx: Context<'_>, id: ast::TypeAliasId, scope: &Arc<Scope>) -> AliasIr {
    let node = &cx.ast[id];
    let type_parameters: Box<[Symbol]> =
        cx.ast[node.type_params].iter().map(|parameter| parameter.name.symbol).collect();
    let scope = scope.inside(ScopeKind::Barrier(Barrier::Alias(node.name.symbol)));
    let scope = if type_parameters.is_empty() {
        scope
    } else {
        scope.inside(ScopeKind::TypeParameters { names: type_parameters.clone(), alias: true })
    };
    AliasIr {
        name: node.name.symbol,
        module: cx.module,
        modifiers: cx.ast.modifier_set(node.modifiers),
        span: node.span,
        ast: id,
        scope,
        type_parameters,
        ty: OnceLock::new(),
    }
}

/// Lowers the members of a class of `module`, or of the module's own class.
pub(crate) fn lower_class(cx: Context<'_>, module: &ModuleIr, class: &ClassIr) -> ClassMembers {
    match class.ast {
        Some(id) => lower_declared_class(cx, class, id),
        None => lower_module_class(cx, module),
    }
}

fn lower_declared_class(cx: Context<'_>, class: &ClassIr, id: ast::ClassId) -> ClassMembers {
    let members = cx.ast[id].body.map(|body| &cx.ast[body.members]).unwrap_or_default();
    let mut names = Names::default();
    for member in members {
        match *member {
            ast::ClassMember::Property(id) => {
                let node = &cx.ast[id];
                let modifiers = cx.ast.modifier_set(node.modifiers);
                let name = node.name.symbol;
                let key = if modifiers.contains(ModifierKind::Local) {
                    PropertyKey::Local(cx.numbers.local())
                } else {
                    PropertyKey::Named(name)
                };
                names.properties.insert(name, Name::new(key, modifiers.contains(ModifierKind::Const)));
            }
            ast::ClassMember::Method(id) => add_method_name(cx, id, Some(class.name), &mut names),
        }
    }
    let names = Arc::new(names);
    let outer = if class.type_parameters.is_empty() {
        Arc::clone(&class.scope)
    } else {
        class.scope.inside(ScopeKind::TypeParameters { names: class.type_parameters.clone(), alias: false })
    };
    let scope = outer.inside(ScopeKind::Object(Arc::clone(&names)));
    let properties = members
        .iter()
        .filter_map(|member| match *member {
            ast::ClassMember::Property(id) => Some(property(cx, id, &names, &scope)),
            ast::ClassMember::Method(_) => None,
        })
        .collect();
    let methods = members.iter().filter_map(|member| match *member {
        ast::ClassMember::Method(id) => Some(id),
        ast::ClassMember::Property(_) => None,
    });
    let methods = methods.map(|id| class_method(cx, id, Some(class.name), &names, &scope)).collect();
    ClassMembers { properties, methods, scope }
}

fn class_method(
    cx: Context<'_>,
    id: ast::MethodId,
    class_name: Option<Symbol>,
    names: &Names,
    scope: &Arc<Scope>,
) -> Arc<crate::ir::Method> {
    let declared = &cx.ast[id];
    let local = names.methods.get(&declared.name.symbol).and_then(|found| found.local.clone());
    let method = local.unwrap_or_else(|| method(cx, id, cx.ast.modifier_set(declared.modifiers), class_name));
    // Two declarations of one name share a scope; the second one wins, as for any duplicate.
    let _already_set = method.scope.set(Arc::clone(scope));
    method
}

fn property(cx: Context<'_>, id: ast::PropertyId, names: &Names, scope: &Arc<Scope>) -> Member {
    let node = &cx.ast[id];
    let modifiers = cx.ast.modifier_set(node.modifiers);
    let source = match node.value {
        ast::PropertyValue::Expr(expr) => MemberSource::Expr(expr),
        ast::PropertyValue::Bodies(bodies) => MemberSource::Bodies(bodies),
        ast::PropertyValue::None if modifiers.contains(ModifierKind::External) => MemberSource::External,
        ast::PropertyValue::None => MemberSource::Default,
    };
    Member {
        module: cx.module,
        key: names.properties.get(&node.name.symbol).map(|name| name.key),
        name: Some(node.name.symbol),
        modifiers,
        source,
        ty: node.ty,
        ast: Some(id),
        span: node.span,
        name_span: node.name.span,
        scope: Arc::clone(scope),
        code: OnceLock::new(),
        type_code: OnceLock::new(),
    }
}

fn lower_module_class(cx: Context<'_>, module: &ModuleIr) -> ClassMembers {
    let names = &module.names;
    let scope = &module.scope;
    let made = |name: Symbol, source: MemberSource, modifiers: Modifiers, span, name_span| Member {
        module: cx.module,
        key: names.properties.get(&name).map(|found| found.key),
        name: Some(name),
        modifiers,
        source,
        ty: None,
        ast: None,
        span,
        name_span,
        scope: Arc::clone(scope),
        code: OnceLock::new(),
        type_code: OnceLock::new(),
    };
    let import_modifiers = Modifiers::EMPTY.with(ModifierKind::Local).with(ModifierKind::Const);
    let mut properties: Vec<Member> = module
        .imports
        .iter()
        .zip(0..)
        .map(|(import, position)| {
            made(import.name, MemberSource::Import(position), import_modifiers, import.span, import.span)
        })
        .collect();
    let mut methods = Vec::new();
    let (mut class, mut alias) = (0, 0);
    for member in &cx.ast[module.root.members] {
        match *member {
            ModuleMember::Class(id) => {
                let node = &cx.ast[id];
                let modifiers = cx.ast.modifier_set(node.modifiers).with(ModifierKind::Hidden);
                properties.push(made(
                    node.name.symbol,
                    MemberSource::Class(class),
                    modifiers,
                    node.span,
                    node.name.span,
                ));
                class += 1;
            }
            ModuleMember::TypeAlias(id) => {
                let node = &cx.ast[id];
                let modifiers = cx.ast.modifier_set(node.modifiers).with(ModifierKind::Hidden);
                properties.push(made(
                    node.name.symbol,
                    MemberSource::Alias(alias),
                    modifiers,
                    node.span,
                    node.name.span,
                ));
                alias += 1;
            }
            ModuleMember::Property(id) => properties.push(property(cx, id, names, scope)),
            ModuleMember::Method(id) => methods.push(class_method(cx, id, None, names, scope)),
        }
    }
    ClassMembers { properties, methods, scope: Arc::clone(scope) }
}
