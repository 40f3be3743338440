//! Mirrors of properties, methods and parameters.

use pkl_parser::Symbol;
use pkl_parser::ast::Variance;

use super::super::Table;
use super::class::default_value;
use super::declaration::{Declared, all_modifiers, modifier_names};
use super::types::{self, Context};
use super::{Generic, Mirror, by_name, list, module_ir, shown};
use crate::error::Result;
use crate::heap::PropertyKey;
use crate::ir::{Member, MemberSource, Method};
use crate::value::{ClassId, Value};
use crate::vm::Vm;

pub(in super::super) static PROPERTIES: Table = &[
    ("pkl.reflect#Property.type", property_type),
    ("pkl.reflect#Property.defaultValue", property_default),
    ("pkl.reflect#Property.allModifiers", property_all_modifiers),
    ("pkl.reflect#Property.allAnnotations", property_all_annotations),
    ("pkl.reflect#Method.typeParameters", method_type_parameters),
    ("pkl.reflect#Method.parameters", method_parameters),
    ("pkl.reflect#Method.returnType", method_return_type),
    ("pkl.reflect#MethodParameter.name", parameter_name),
    ("pkl.reflect#MethodParameter.type", parameter_type),
    ("pkl.reflect#TypeParameter.name", type_parameter_name),
    ("pkl.reflect#TypeParameter.variance", type_parameter_variance),
];

/// The name of a member that reflection shows as a property.
fn shown_name(member: &Member) -> Option<Symbol> {
    match (member.key, member.source) {
        (_, MemberSource::Class(_) | MemberSource::Alias(_) | MemberSource::Import(_)) => None,
        (Some(PropertyKey::Named(name)), _) => Some(name),
        _ => None,
    }
}

fn declared<'ir>(vm: &Vm<'ir>, class: ClassId) -> &'ir [Member] {
    &vm.store.class_members(module_ir(vm, class), vm.class(class).ir).properties
}

/// The names of the properties that a class itself declares.
pub(super) fn property_names(vm: &Vm<'_>, class: ClassId) -> Vec<Symbol> {
    declared(vm, class).iter().filter_map(shown_name).collect()
}

/// A property that a class itself declares.
pub(super) fn property<'ir>(vm: &Vm<'ir>, class: ClassId, name: Symbol) -> &'ir Member {
    let found = declared(vm, class).iter().find(|member| shown_name(member) == Some(name));
    found.expect("a mirror of a property shows a declared one")
}

/// The declarations of a property in a class and those above it, the lowest first.
pub(super) fn declarations<'ir>(vm: &Vm<'ir>, class: ClassId, name: Symbol) -> Vec<&'ir Member> {
    let classes = vm.class(class).display.iter().rev();
    let found = classes
        .filter_map(|&class| declared(vm, class).iter().find(|member| shown_name(member) == Some(name)));
    found.collect()
}

/// A method that a class itself declares.
pub(super) fn method<'ir>(vm: &Vm<'ir>, class: ClassId, name: Symbol) -> &'ir Method {
    let declared = &vm.store.class_members(module_ir(vm, class), vm.class(class).ir).methods;
    declared.iter().find(|method| method.name == name).expect("a mirror of a method shows a declared one")
}

fn property_type(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::Property { class, name, .. } = shown(vm, this) else { unreachable_mirror("property") };
    match vm.store.member_type(property(vm, class, name)) {
        Some(code) => types::of_code(vm, code, Context::Class(class)),
        None => types::singleton(vm, "UnknownType"),
    }
}

fn property_default(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::Property { class, name, .. } = shown(vm, this) else { unreachable_mirror("property") };
    default_value(vm, class, name)
}

fn property_all_modifiers(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::Property { seen_from, name, .. } = shown(vm, this) else { unreachable_mirror("property") };
    let modifiers = all_modifiers(vm, seen_from, name);
    modifier_names(vm, modifiers, false)
}

fn property_all_annotations(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::Property { seen_from, name, .. } = shown(vm, this) else { unreachable_mirror("property") };
    let mut all = Vec::new();
    for member in declarations(vm, seen_from, name) {
        all.extend(Declared::of_property(vm, member).annotation_objects(vm)?);
    }
    Ok(list(vm, all))
}

fn unreachable_mirror(of: &str) -> ! {
    panic!("a mirror of a {of} shows a {of}")
}

fn method_of(vm: &Vm<'_>, this: Value) -> (ClassId, Symbol) {
    match shown(vm, this) {
        Mirror::Method { class, name } => (class, name),
        _ => unreachable_mirror("method"),
    }
}

fn method_type_parameters(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let (class, name) = method_of(vm, this);
    let count = type_parameter_nodes(vm, Generic::Method { class, name }).len();
    types::parameters(vm, Generic::Method { class, name }, count)
}

/// The names of a method's parameters.
fn parameter_names(vm: &Vm<'_>, class: ClassId, name: Symbol) -> Vec<Option<Symbol>> {
    let method = method(vm, class, name);
    let ast = &vm.store.module(method.module).ast;
    ast[ast[method.ast].params].iter().map(|parameter| parameter.name.map(|name| name.symbol)).collect()
}

fn method_parameters(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let (class, method) = method_of(vm, this);
    let underscore = vm.store.symbol("_");
    let names = parameter_names(vm, class, method);
    let mirrors: Vec<_> = names
        .into_iter()
        .zip(0..)
        .map(|(name, position)| (name.unwrap_or(underscore), Mirror::Parameter { class, method, position }))
        .collect();
    by_name(vm, mirrors)
}

fn method_return_type(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let (class, name) = method_of(vm, this);
    let lowered = vm.store.method_code(method(vm, class, name));
    types::of_part(vm, &lowered.code, lowered.result, Context::Method { class, name })
}

fn parameter_name(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::Parameter { class, method, position } = shown(vm, this) else {
        unreachable_mirror("parameter")
    };
    let name = parameter_names(vm, class, method)[position as usize];
    let name = name.map_or_else(|| "_".into(), |name| vm.text_of(name));
    Ok(vm.heap.string(name))
}

fn parameter_type(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::Parameter { class, method: name, position } = shown(vm, this) else {
        unreachable_mirror("parameter")
    };
    let lowered = vm.store.method_code(method(vm, class, name));
    let ty = lowered.params[position as usize].ty;
    types::of_part(vm, &lowered.code, ty, Context::Method { class, name })
}

/// The type parameters of something as they are declared.
pub(super) fn type_parameter_nodes<'ir>(
    vm: &Vm<'ir>,
    owner: Generic,
) -> &'ir [pkl_parser::ast::TypeParameter] {
    match owner {
        Generic::Class(class) => match vm.class(class).ir.ast {
            Some(node) => {
                let ast = &module_ir(vm, class).ast;
                &ast[ast[node].type_params]
            }
            None => &[],
        },
        Generic::Alias(alias) => {
            let record = vm.heap.alias(alias);
            let ast = &vm.module(record.module).ir.ast;
            &ast[ast[record.ir.ast].type_params]
        }
        Generic::Method { class, name } => {
            let method = method(vm, class, name);
            let ast = &vm.store.module(method.module).ast;
            &ast[ast[method.ast].type_params]
        }
    }
}

fn type_parameter_name(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::TypeParameter { owner, position } = shown(vm, this) else {
        unreachable_mirror("type parameter")
    };
    let name = type_parameter_nodes(vm, owner)[position as usize].name.symbol;
    let name = vm.text_of(name);
    Ok(vm.heap.string(name))
}

fn type_parameter_variance(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let Mirror::TypeParameter { owner, position } = shown(vm, this) else {
        unreachable_mirror("type parameter")
    };
    Ok(match type_parameter_nodes(vm, owner)[position as usize].variance {
        Some(Variance::In) => vm.heap.string("in"),
        Some(Variance::Out) => vm.heap.string("out"),
        None => Value::NULL,
    })
}
