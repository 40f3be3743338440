//! Mirrors of classes and type aliases.

use pkl_parser::Symbol;
use pkl_parser::ast::ModifierKind;
use rustc_hash::FxHashSet;

use super::super::Table;
use super::types::{self, Context};
use super::{Generic, Mirror, by_name, member, mirror, module_ir, shown};
use crate::error::Result;
use crate::value::{ClassId, Value};
use crate::vm::Vm;

pub(in super::super) static METHODS: Table = &[("pkl.reflect#Class.isSubclassOf", is_subclass_of)];

pub(in super::super) static PROPERTIES: Table = &[
    ("pkl.reflect#TypeDeclaration.enclosingDeclaration", enclosing_declaration),
    ("pkl.reflect#Class.reflectee", reflectee),
    ("pkl.reflect#Class.typeParameters", type_parameters),
    ("pkl.reflect#Class.superclass", superclass),
    ("pkl.reflect#Class.supertype", supertype),
    ("pkl.reflect#Class.properties", properties),
    ("pkl.reflect#Class.allProperties", all_properties),
    ("pkl.reflect#Class.methods", methods),
    ("pkl.reflect#Class.allMethods", all_methods),
    ("pkl.reflect#TypeAlias.reflectee", reflectee),
    ("pkl.reflect#TypeAlias.typeParameters", type_parameters),
    ("pkl.reflect#TypeAlias.referent", referent),
];

fn class_of(vm: &Vm<'_>, this: Value) -> ClassId {
    match shown(vm, this) {
        Mirror::Class(class) => class,
        other => panic!("a mirror of a class shows a class, not {other:?}"),
    }
}

fn is_subclass_of(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    Ok(Value::Bool(vm.is_subclass(class_of(vm, this), class_of(vm, args[0]))))
}

fn enclosing_declaration(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let module = match shown(vm, this) {
        Mirror::Class(class) => vm.class(class).module,
        Mirror::Alias(alias) => vm.heap.alias(alias).module,
        other => panic!("a type declaration is a class or alias, not {other:?}"),
    };
    let object = vm.module_object(module)?;
    mirror(vm, Mirror::Module(object))
}

fn reflectee(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(match shown(vm, this) {
        Mirror::Class(class) => Value::Class(class),
        Mirror::Alias(alias) => Value::TypeAlias(alias),
        other => panic!("a type declaration is a class or alias, not {other:?}"),
    })
}

fn type_parameters(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let (owner, count) = match shown(vm, this) {
        Mirror::Class(class) => (Generic::Class(class), vm.class(class).ir.type_parameters.len()),
        Mirror::Alias(alias) => (Generic::Alias(alias), vm.heap.alias(alias).ir.type_parameters.len()),
        other => panic!("a type declaration is a class or alias, not {other:?}"),
    };
    types::parameters(vm, owner, count)
}

fn superclass(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match vm.class(class_of(vm, this)).superclass {
        Some(superclass) => mirror(vm, Mirror::Class(superclass)),
        None => Ok(Value::NULL),
    }
}

fn supertype(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let class = class_of(vm, this);
    let record = vm.class(class);
    let Some(superclass) = record.superclass else { return Ok(Value::NULL) };
    match record.ir.superclass {
        Some(ty) => {
            let module = module_ir(vm, class);
            let scope = &vm.store.class_members(module, record.ir).scope;
            let code = vm.store.supertype_code(module, ty, scope);
            types::of_code(vm, code, Context::Class(class))
        }
        None => types::of_class(vm, superclass),
    }
}

fn properties(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let class = class_of(vm, this);
    let names = member::property_names(vm, class);
    by_name(vm, names.into_iter().map(|name| (name, Mirror::Property { class, seen_from: class, name })))
}

/// Each property is shown as its nearest declaration with a type.
fn all_properties(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let seen_from = class_of(vm, this);
    let names = names_from_the_top(vm, seen_from, member::property_names);
    let mirrors: Vec<_> = names
        .into_iter()
        .map(|name| {
            let property = vm.class(seen_from).properties[&name];
            let class = property.typed.map_or(property.class, |(_, class)| class);
            (name, Mirror::Property { class, seen_from, name })
        })
        .collect();
    by_name(vm, mirrors)
}

fn method_names(vm: &Vm<'_>, class: ClassId) -> Vec<Symbol> {
    let declared = &vm.store.class_members(module_ir(vm, class), vm.class(class).ir).methods;
    let visible = declared.iter().filter(|method| !method.modifiers.contains(ModifierKind::Local));
    visible.map(|method| method.name).collect()
}

fn methods(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let class = class_of(vm, this);
    let names = method_names(vm, class);
    by_name(vm, names.into_iter().map(|name| (name, Mirror::Method { class, name })))
}

fn all_methods(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let class = class_of(vm, this);
    let names = names_from_the_top(vm, class, method_names);
    let mirrors: Vec<_> = names
        .into_iter()
        .map(|name| (name, Mirror::Method { class: vm.class(class).methods[&name].class, name }))
        .collect();
    by_name(vm, mirrors)
}

/// The names of members of a class and those above it, in the order in which they appear from the top.
fn names_from_the_top(
    vm: &Vm<'_>,
    class: ClassId,
    own: impl Fn(&Vm<'_>, ClassId) -> Vec<Symbol>,
) -> Vec<Symbol> {
    let mut seen = FxHashSet::default();
    let all = vm.class(class).display.iter().flat_map(|&class| own(vm, class));
    all.filter(|name| seen.insert(*name)).collect()
}

fn referent(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::Alias(alias) = shown(vm, this) else { panic!("a mirror of an alias shows an alias") };
    let code = vm.store.alias_type(vm.heap.alias(alias).ir);
    types::of_code(vm, code, Context::Alias(alias))
}

/// The default value of a property in the class that declares it, null if there is none.
pub(super) fn default_value(vm: &mut Vm<'_>, class: ClassId, name: Symbol) -> Result<Value> {
    let property = member::property(vm, class, name);
    vm.default_of_property(class, property)
}
