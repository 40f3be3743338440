//! `pkl:reflect`: mirrors of what programs declare.
//!
//! A mirror is an object of a class of that module. Its properties are `external`: they are computed, by the
//! natives here, when they are first read, so that a mirror costs little until somebody looks into it.
//! Everything has one mirror in an evaluation, which makes mirrors of the same thing equal at once.

mod class;
mod declaration;
mod member;
mod module;
mod types;

pub(super) use class::{METHODS as CLASS_METHODS, PROPERTIES as CLASS};
pub(super) use declaration::{PROPERTIES as DECLARATION, simple_name};
pub(super) use member::PROPERTIES as MEMBER;
pub(super) use module::{METHODS as FUNCTIONS, PROPERTIES as MODULE};
pub(super) use types::{METHODS as TYPE_METHODS, PROPERTIES as TYPE};

use pkl_parser::Symbol;
use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::heap::PropertyKey;
use crate::ir::{Member, MemberSource, ModuleIr};
use crate::value::{ClassId, ObjectId, ShapeId, TypeAliasId, Value};
use crate::vm::{Vm, amend};

/// What a mirror shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mirror {
    Module(ObjectId),
    Class(ClassId),
    Alias(TypeAliasId),
    /// A property that a class declares, as `seen_from`, the class or one below it, has it.
    Property {
        class: ClassId,
        seen_from: ClassId,
        name: Symbol,
    },
    Method {
        class: ClassId,
        name: Symbol,
    },
    Parameter {
        class: ClassId,
        method: Symbol,
        position: u32,
    },
    TypeParameter {
        owner: Generic,
        position: u32,
    },
}

/// What has type parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Generic {
    Class(ClassId),
    Alias(TypeAliasId),
    Method { class: ClassId, name: Symbol },
}

/// A property that every mirror of a class has: its declaration and the prototype of the declaring class.
type Field<'ir> = (PropertyKey, &'ir Member, ObjectId);

/// The mirrors of an evaluation.
#[derive(Default)]
pub(crate) struct Mirrors {
    objects: FxHashMap<Mirror, ObjectId>,
    shown: FxHashMap<ObjectId, Mirror>,
    classes: FxHashMap<&'static str, ClassId>,
    /// For each class a mirror of nothing, which the others are like.
    blanks: FxHashMap<ClassId, ObjectId>,
}

/// A class of the module of mirrors.
fn class_named(vm: &mut Vm<'_>, name: &'static str) -> Result<ClassId> {
    if let Some(&known) = vm.mirrors.classes.get(name) {
        return Ok(known);
    }
    let module = vm.load_module("pkl:reflect")?;
    let symbol = vm.store.symbol(name);
    let class = vm.declared_class(module, symbol)?;
    let class = class.unwrap_or_else(|| panic!("`pkl:reflect` declares {name}"));
    vm.mirrors.classes.insert(name, class);
    Ok(class)
}

/// The mirror of something.
fn mirror(vm: &mut Vm<'_>, shown: Mirror) -> Result<Value> {
    if let Some(&known) = vm.mirrors.objects.get(&shown) {
        return Ok(Value::Object(known));
    }
    let name = match shown {
        Mirror::Module(_) => "Module",
        Mirror::Class(_) => "Class",
        Mirror::Alias(_) => "TypeAlias",
        Mirror::Property { .. } => "Property",
        Mirror::Method { .. } => "Method",
        Mirror::Parameter { .. } => "MethodParameter",
        Mirror::TypeParameter { .. } => "TypeParameter",
    };
    let class = class_named(vm, name)?;
    let blank = match vm.mirrors.blanks.get(&class) {
        Some(&known) => known,
        None => blank(vm, class),
    };
    let object = vm.twin(blank);
    vm.mirrors.objects.insert(shown, object);
    vm.mirrors.shown.insert(object, shown);
    Ok(Value::Object(object))
}

/// Makes the mirror of a class that the others are like.
fn blank(vm: &mut Vm<'_>, class: ClassId) -> ObjectId {
    let object = vm.new_instance(class);
    let (shape, fields) = layout(vm, object, class);
    vm.regrow(object, shape);
    for (key, member, definer) in fields {
        vm.put_property(object, key, amend::slot(member, definer, None));
    }
    vm.mirrors.blanks.insert(class, object);
    object
}

/// The properties that a mirror of a class stores, those of the topmost class first.
fn layout<'ir>(vm: &mut Vm<'ir>, object: ObjectId, class: ClassId) -> (ShapeId, Vec<Field<'ir>>) {
    let mut fields: Vec<Field<'ir>> = Vec::new();
    for &class in &vm.class(class).display {
        let (module, record) = (module_ir(vm, class), vm.class(class));
        let definer = record.prototype;
        for member in &vm.store.class_members(module, record.ir).properties {
            if let (Some(key), MemberSource::External) = (member.key, member.source) {
                fields.retain(|(known, ..)| *known != key);
                fields.push((key, member, definer));
            }
        }
    }
    let base = vm.heap.object(object).shape;
    let shape = vm.heap.shapes.grow_once(base, fields.iter().map(|(key, ..)| *key));
    (shape, fields)
}

/// What a mirror shows.
fn shown(vm: &Vm<'_>, mirror: Value) -> Mirror {
    let Value::Object(object) = mirror else { panic!("a mirror is an object, not {mirror:?}") };
    vm.mirrors.shown[&object]
}

/// The module that declares a class.
fn module_ir<'ir>(vm: &Vm<'ir>, class: ClassId) -> &'ir ModuleIr {
    vm.module(vm.class(class).module).ir
}

/// A list.
fn list(vm: &mut Vm<'_>, items: Vec<Value>) -> Value {
    Value::List(vm.heap.add_list(items))
}

/// A map of mirrors by name.
fn by_name(vm: &mut Vm<'_>, mirrors: impl IntoIterator<Item = (Symbol, Mirror)>) -> Result<Value> {
    let mirrors = mirrors.into_iter();
    let mut pairs = Vec::with_capacity(mirrors.size_hint().0);
    for (name, shown) in mirrors {
        let name = vm.text_of(name);
        let name = vm.heap.string(name);
        pairs.push((name, mirror(vm, shown)?));
    }
    vm.make_map(&pairs)
}
