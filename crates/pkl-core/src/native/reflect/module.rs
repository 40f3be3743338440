//! The functions of the module, and mirrors of modules.

use super::super::{Table, args};
use super::{Mirror, by_name, mirror, shown, types};
use crate::error::{ErrorCode, Raised, Result};
use crate::ir::ModuleIr;
use crate::value::{ModuleId, ObjectId, Value};
use crate::vm::Vm;
use pkl_parser::ast::ModifierKind;

pub(in super::super) static METHODS: Table = &[
    ("pkl.reflect#Module", of_module),
    ("pkl.reflect#moduleOf", module_of),
    ("pkl.reflect#Class", |vm, _, args| mirror(vm, Mirror::Class(args::class(args[0])))),
    ("pkl.reflect#TypeAlias", of_alias),
    ("pkl.reflect#DeclaredType", types::declared),
    ("pkl.reflect#FunctionType", types::function),
    ("pkl.reflect#StringLiteralType", types::string_literal),
    ("pkl.reflect#UnionType", types::union),
    ("pkl.reflect#TypeVariable", types::variable),
];

pub(in super::super) static PROPERTIES: Table = &[
    ("pkl.reflect#moduleType", |vm, _, _| types::singleton(vm, "ModuleType")),
    ("pkl.reflect#unknownType", |vm, _, _| types::singleton(vm, "UnknownType")),
    ("pkl.reflect#nothingType", |vm, _, _| types::singleton(vm, "NothingType")),
    ("pkl.reflect#Module.reflectee", reflectee),
    ("pkl.reflect#Module.uri", uri),
    ("pkl.reflect#Module.moduleClass", module_class),
    ("pkl.reflect#Module.supermodule", supermodule),
    ("pkl.reflect#Module.isAmend", is_amend),
    ("pkl.reflect#Module.imports", imports),
    ("pkl.reflect#Module.classes", classes),
    ("pkl.reflect#Module.typeAliases", type_aliases),
];

fn of_module(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let object = args::object(args[0]);
    if !vm.heap.object(object).is_module() {
        let message = "Expected a module as argument, but got an object that amends a module.";
        return Err(Raised::new(ErrorCode::InvalidArgument, message));
    }
    mirror(vm, Mirror::Module(object))
}

fn module_of(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let mut object = args::object(args[0]);
    while !vm.heap.object(object).is_module() {
        // An instance of a module's class that amends no module is shown as the module itself.
        object = match vm.heap.object(object).parent {
            Some(parent) if !vm.heap.object(parent).is_prototype() => parent,
            _ => vm.module_object(vm.class(vm.heap.object(object).class).module)?,
        };
    }
    mirror(vm, Mirror::Module(object))
}

fn of_alias(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let Value::TypeAlias(alias) = args[0] else {
        panic!("the declaration says TypeAlias, not {:?}", args[0])
    };
    mirror(vm, Mirror::Alias(alias))
}

/// The module that an object is.
pub(super) fn id_of(vm: &Vm<'_>, object: ObjectId) -> ModuleId {
    let position = vm.modules.iter().position(|state| state.object == Some(object));
    ModuleId::at(position.expect("a mirror of a module shows a module's own object"))
}

/// The declarations of the module that an object is.
pub(super) fn ir_of<'ir>(vm: &Vm<'ir>, object: ObjectId) -> &'ir ModuleIr {
    vm.module(id_of(vm, object)).ir
}

fn object(vm: &Vm<'_>, this: Value) -> ObjectId {
    match shown(vm, this) {
        Mirror::Module(object) => object,
        other => panic!("a mirror of a module shows a module, not {other:?}"),
    }
}

fn reflectee(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(Value::Object(object(vm, this)))
}

fn uri(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let uri = ir_of(vm, object(vm, this)).uri.clone();
    Ok(vm.heap.string(uri))
}

fn module_class(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let class = vm.heap.object(object(vm, this)).class;
    mirror(vm, Mirror::Class(class))
}

fn supermodule(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    match vm.module(id_of(vm, object(vm, this))).base {
        Some(base) => {
            let base = vm.module_object(base)?;
            mirror(vm, Mirror::Module(base))
        }
        None => Ok(Value::NULL),
    }
}

fn is_amend(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let link = &ir_of(vm, object(vm, this)).link;
    Ok(Value::Bool(link.as_ref().is_some_and(|link| !link.extends)))
}

fn imports(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let module = ir_of(vm, object(vm, this));
    let mut pairs = Vec::new();
    for import in module.imports.iter().filter(|import| !import.glob) {
        let uri = vm.resolve_uri(module, &import.uri)?;
        let name = vm.text_of(import.name);
        pairs.push((vm.heap.string(name), vm.heap.string(uri)));
    }
    vm.make_map(&pairs)
}

fn classes(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let id = id_of(vm, object(vm, this));
    let declared = &vm.module(id).ir.classes;
    let mut mirrors = Vec::new();
    for (position, class) in declared.iter().enumerate() {
        if !class.modifiers.contains(ModifierKind::Local) {
            mirrors.push((class.name, Mirror::Class(vm.class_at(id, position)?)));
        }
    }
    by_name(vm, mirrors)
}

fn type_aliases(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let id = id_of(vm, object(vm, this));
    let declared = &vm.module(id).ir.aliases;
    let mut mirrors = Vec::new();
    for (position, alias) in declared.iter().enumerate() {
        if !alias.modifiers.contains(ModifierKind::Local) {
            mirrors.push((alias.name, Mirror::Alias(vm.alias_at(id, position))));
        }
    }
    by_name(vm, mirrors)
}
