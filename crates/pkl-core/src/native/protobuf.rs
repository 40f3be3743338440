//! The renderer of `pkl:protobuf`.

use pkl_data::RenderError;
use pkl_data::render::textproto::{self, FieldType};
use pkl_data::tree::{ClassName, Member, Tree, Typed};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

use super::Table;
use super::render::{converted, rendered, text};
use crate::error::Result;
use crate::heap::PropertyKey;
use crate::ir::{Code, Ty, TyIx};
use crate::value::{ClassId, Value};
use crate::vm::{Resolved, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.protobuf#Renderer.renderDocument", document),
    ("pkl.protobuf#Renderer.renderValue", value),
    ("pkl.protobuf#Renderer.renderType", render_type),
];

fn document(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    render(vm, this, args[0], textproto::document)
}

fn value(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    render(vm, this, args[0], textproto::value)
}

/// The official evaluator gives the name of the mirror's class.
fn render_type(vm: &mut Vm<'_>, _: Value, args: &[Value]) -> Result<Value> {
    let class = vm.class_of(args[0])?;
    let name = vm.class_name(class);
    let simple = name.rsplit('#').next().unwrap_or_default().to_owned();
    Ok(vm.heap.string(simple))
}

fn render(
    vm: &mut Vm<'_>,
    this: Value,
    value: Value,
    render: fn(&Tree, &textproto::Options<'_>) -> std::result::Result<String, RenderError>,
) -> Result<Value> {
    let indent = text(vm, this, "indent")?;
    let tree = converted(vm, this, value)?;
    let mut types = Types::default();
    types.learn(vm, &tree)?;
    let options = textproto::Options {
        indent,
        field_type: &|class, name| types.field_type(class, name),
        max_bytes: vm.limits().output,
    };
    rendered(vm, value, render(&tree, &options))
}

/// The properties of the classes in a tree that are declared as unions.
#[derive(Default)]
struct Types {
    classes: FxHashMap<String, FxHashMap<String, FieldType>>,
}

impl Types {
    fn field_type(&self, class: &ClassName, name: &str) -> FieldType {
        let fields = self.classes.get(&class.to_string());
        fields.and_then(|fields| fields.get(name)).copied().unwrap_or_default()
    }

    /// Notes the declared types of all objects in a tree, which is no deeper than trees are.
    fn learn(&mut self, vm: &mut Vm<'_>, tree: &Tree) -> Result<()> {
        vm.check_stack()?;
        match tree {
            Tree::Typed(typed) => {
                if let Entry::Vacant(class) = self.classes.entry(typed.class.to_string()) {
                    let fields = fields(vm, typed)?;
                    class.insert(fields);
                }
                typed.properties.iter().try_for_each(|(_, value)| self.learn(vm, value))
            }
            Tree::List(items) | Tree::Set(items) | Tree::Listing(items) => {
                items.iter().try_for_each(|item| self.learn(vm, item))
            }
            Tree::Map(entries) | Tree::Mapping(entries) => {
                entries.iter().try_for_each(|(_, value)| self.learn(vm, value))
            }
            Tree::Dynamic(members) => {
                members.iter().map(Member::value).try_for_each(|value| self.learn(vm, value))
            }
            _ => Ok(()),
        }
    }
}

/// The types of the properties of an object.
fn fields(vm: &mut Vm<'_>, typed: &Typed) -> Result<FxHashMap<String, FieldType>> {
    let mut fields = FxHashMap::default();
    if let Some(class) = vm.class_displayed(&typed.class.to_string()) {
        for (name, _) in &typed.properties {
            fields.insert(name.to_string(), vm.field_type(class, name)?);
        }
    }
    Ok(fields)
}

impl<'ir> Vm<'ir> {
    /// The class of this displayed name.
    fn class_displayed(&self, name: &str) -> Option<ClassId> {
        self.heap.class_ids().find(|&id| *self.class_name(id) == *name)
    }

    /// What protocol buffers need to know of the declared type of a property.
    fn field_type(&mut self, class: ClassId, name: &str) -> Result<FieldType> {
        let symbol = self.store.symbol(name);
        let lines: Vec<ClassId> = self.class(class).display.iter().rev().copied().collect();
        for class in lines {
            let module = self.module(self.class(class).module).ir;
            let members = self.store.class_members(module, self.class(class).ir);
            let declared =
                members.properties.iter().find(|member| member.key == Some(PropertyKey::Named(symbol)));
            if let Some(code) = declared.and_then(|member| self.store.member_type(member)) {
                return self.field_type_of(code);
            }
        }
        Ok(FieldType::default())
    }

    fn field_type_of(&mut self, code: &'ir Code) -> Result<FieldType> {
        let Some(ty) = code.ty else { return Ok(FieldType::default()) };
        let ty = bare(code, ty);
        // Only the first argument of a collection is the type of elements; maps are never wrapped.
        let has_union_elements = match &code.types[ty as usize] {
            Ty::Named { args, .. } if args.len() == 1 => is_union(code, bare(code, args[0])),
            _ => false,
        };
        Ok(FieldType { is_union: self.resolves_to_union(code, ty)?, has_union_elements })
    }

    /// Whether a type is a union, or the alias of one.
    fn resolves_to_union(&mut self, mut code: &'ir Code, mut ty: TyIx) -> Result<bool> {
        loop {
            ty = bare(code, ty);
            if !matches!(code.types[ty as usize], Ty::Named { .. }) {
                return Ok(is_union(code, ty));
            }
            let Some(Resolved::Alias(alias)) = self.resolve_type(code, ty)? else { return Ok(false) };
            code = self.store.alias_type(self.heap.alias(alias).ir);
            let Some(target) = code.ty else { return Ok(false) };
            ty = target;
        }
    }
}

/// A type without its question mark and constraints.
fn bare(code: &Code, mut ty: TyIx) -> TyIx {
    while let Ty::Nullable(inner) | Ty::Constrained { base: inner, .. } = &code.types[ty as usize] {
        ty = *inner;
    }
    ty
}

/// Whether a type is a union of more than string literals.
fn is_union(code: &Code, ty: TyIx) -> bool {
    match &code.types[ty as usize] {
        Ty::Union { members, .. } => members
            .iter()
            .any(|&member| !matches!(code.types[bare(code, member) as usize], Ty::StringLiteral(_))),
        _ => false,
    }
}
