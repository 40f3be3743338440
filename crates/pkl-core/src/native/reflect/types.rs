//! Mirrors of types.

use pkl_parser::Symbol;

use super::super::{Table, args};
use super::{Generic, Mirror, class_named, list, member, mirror, shown};
use crate::error::{ErrorCode, Raised, Result};
use crate::ir::{Code, Ty, TyIx};
use crate::value::{ClassId, TypeAliasId, Value};
use crate::vm::{Resolved, Vm};

pub(in super::super) static METHODS: Table = &[
    ("pkl.reflect#DeclaredType.withTypeArgument", with_type_argument),
    ("pkl.reflect#DeclaredType.withTypeArguments", with_type_arguments),
];

pub(in super::super) static PROPERTIES: Table = &[("pkl.reflect#Type.nullable", nullable)];

/// Where a type stands, which says what a type parameter's name stands for.
#[derive(Clone, Copy)]
pub(super) enum Context {
    Class(ClassId),
    Alias(TypeAliasId),
    Method { class: ClassId, name: Symbol },
}

/// An object of a class of types.
fn make(vm: &mut Vm<'_>, class: &'static str, fields: &[(&str, Value)]) -> Result<Value> {
    let class = class_named(vm, class)?;
    let fields: Vec<_> = fields.iter().map(|(name, value)| (vm.store.symbol(name), *value)).collect();
    Ok(vm.make_typed(class, &fields))
}

/// The only object of a class of types.
pub(super) fn singleton(vm: &mut Vm<'_>, class: &'static str) -> Result<Value> {
    let class = class_named(vm, class)?;
    Ok(Value::Object(vm.default_instance(class)))
}

/// The type that a class declares, its type arguments unknown.
pub(super) fn of_class(vm: &mut Vm<'_>, class: ClassId) -> Result<Value> {
    let mirror = mirror(vm, Mirror::Class(class))?;
    declared_type(vm, mirror, None)
}

/// The type that a piece of code is about.
pub(super) fn of_code<'ir>(vm: &mut Vm<'ir>, code: &'ir Code, context: Context) -> Result<Value> {
    of_part(vm, code, code.ty, context)
}

/// A type in a piece of code, unknown if there is none.
pub(super) fn of_part<'ir>(
    vm: &mut Vm<'ir>,
    code: &'ir Code,
    ty: Option<TyIx>,
    context: Context,
) -> Result<Value> {
    match ty {
        Some(ty) => of_type(vm, code, ty, context),
        None => singleton(vm, "UnknownType"),
    }
}

fn of_type<'ir>(vm: &mut Vm<'ir>, code: &'ir Code, ty: TyIx, context: Context) -> Result<Value> {
    vm.check_stack()?;
    match &code.types[ty as usize] {
        Ty::Unknown => singleton(vm, "UnknownType"),
        Ty::Nothing => singleton(vm, "NothingType"),
        Ty::Module(_) => singleton(vm, "ModuleType"),
        Ty::StringLiteral(text) => {
            let text = vm.heap.string(text.clone());
            make(vm, "StringLiteralType", &[("value", text)])
        }
        Ty::Nullable(inner) => {
            let inner = of_type(vm, code, *inner, context)?;
            make(vm, "NullableType", &[("member", inner)])
        }
        Ty::Union { members, .. } => {
            let members = of_types(vm, code, members, context)?;
            make(vm, "UnionType", &[("members", members)])
        }
        Ty::Constrained { base, .. } => of_type(vm, code, *base, context),
        Ty::Function { params, result } => {
            let params = of_types(vm, code, params, context)?;
            let result = of_type(vm, code, *result, context)?;
            make(vm, "FunctionType", &[("parameterTypes", params), ("returnType", result)])
        }
        Ty::Variable(name) => type_variable(vm, context, |vm, owner| {
            let nodes = member::type_parameter_nodes(vm, owner);
            nodes.iter().position(|node| node.name.symbol == *name)
        }),
        Ty::AliasParameter(position) => type_variable(vm, context, |_, _| Some(*position as usize)),
        Ty::Named { args, .. } => {
            let shown = match vm.resolve_type(code, ty)? {
                Some(Resolved::Class(class)) => Mirror::Class(class),
                Some(Resolved::Alias(alias)) => Mirror::Alias(alias),
                None => unreachable!("a named type resolves or fails"),
            };
            let referent = mirror(vm, shown)?;
            let args = if args.is_empty() { None } else { Some(of_types(vm, code, args, context)?) };
            declared_type(vm, referent, args)
        }
    }
}

fn of_types<'ir>(vm: &mut Vm<'ir>, code: &'ir Code, types: &[TyIx], context: Context) -> Result<Value> {
    let mut mirrors = Vec::with_capacity(types.len());
    for &ty in types {
        mirrors.push(of_type(vm, code, ty, context)?);
    }
    Ok(list(vm, mirrors))
}

/// The variable of the type parameter that `find` knows the position of.
fn type_variable(
    vm: &mut Vm<'_>,
    context: Context,
    find: impl Fn(&Vm<'_>, Generic) -> Option<usize>,
) -> Result<Value> {
    let owners: &[Generic] = match context {
        Context::Class(class) => &[Generic::Class(class)],
        Context::Alias(alias) => &[Generic::Alias(alias)],
        Context::Method { class, name } => &[Generic::Method { class, name }, Generic::Class(class)],
    };
    let found = owners.iter().find_map(|&owner| Some((owner, find(vm, owner)?)));
    let (owner, position) = found.expect("a type variable is a parameter of what it stands in");
    let position = u32::try_from(position).expect("type parameters are few");
    let referent = mirror(vm, Mirror::TypeParameter { owner, position })?;
    make(vm, "TypeVariable", &[("referent", referent)])
}

/// The type parameters of something.
pub(super) fn parameters(vm: &mut Vm<'_>, owner: Generic, count: usize) -> Result<Value> {
    let mut mirrors = Vec::with_capacity(count);
    for position in (0..).take(count) {
        mirrors.push(mirror(vm, Mirror::TypeParameter { owner, position })?);
    }
    Ok(list(vm, mirrors))
}

/// How many type parameters a mirror of a class or alias has.
fn parameter_count(vm: &Vm<'_>, referent: Value) -> usize {
    match shown(vm, referent) {
        Mirror::Class(class) => vm.class(class).ir.type_parameters.len(),
        Mirror::Alias(alias) => vm.heap.alias(alias).ir.type_parameters.len(),
        other => panic!("a type declaration is a class or alias, not {other:?}"),
    }
}

/// The type of a class or alias; without arguments they are unknown.
fn declared_type(vm: &mut Vm<'_>, referent: Value, args: Option<Value>) -> Result<Value> {
    let args = match args {
        Some(args) => args,
        None => {
            let unknown = singleton(vm, "UnknownType")?;
            let count = parameter_count(vm, referent);
            list(vm, vec![unknown; count])
        }
    };
    make(vm, "DeclaredType", &[("referent", referent), ("typeArguments", args)])
}

pub(super) fn declared(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    declared_type(vm, args[0], None)
}

pub(super) fn function(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    make(vm, "FunctionType", &[("parameterTypes", args[0]), ("returnType", args[1])])
}

pub(super) fn string_literal(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    make(vm, "StringLiteralType", &[("value", args[0])])
}

pub(super) fn union(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    make(vm, "UnionType", &[("members", args[0])])
}

pub(super) fn variable(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    make(vm, "TypeVariable", &[("referent", args[0])])
}

fn with_type_argument(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let arguments = list(vm, vec![args[0]]);
    with_type_arguments(vm, this, &[arguments])
}

fn with_type_arguments(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let name = vm.store.symbol("referent");
    let referent = vm.read_property(this, name)?;
    let (expected, got) = (parameter_count(vm, referent), vm.heap.list(args::list(args[0])).len());
    if expected != got {
        let message = format!("Expected {expected} type argument(s) but got {got}.");
        return Err(Raised::new(ErrorCode::WrongArgumentCount, message));
    }
    declared_type(vm, referent, Some(args[0]))
}

fn nullable(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let class = class_named(vm, "NullableType")?;
    if vm.class_of(this)? == class {
        return Ok(this);
    }
    make(vm, "NullableType", &[("member", this)])
}
