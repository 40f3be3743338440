//! The renderer of `pkl:protobuf`.

use pkl_data::RenderError;
use pkl_data::render::textproto::{self, FieldType};
use pkl_data::tree::{ClassName, Member, Tree, Typed};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::Table;
use super::render::{converted, rendered, text};
use crate::error::Result;
use crate::heap::PropertyKey;
use crate::ir::{Code, Ty, TyIx};
use crate::value::{ClassId, TypeAliasId, Value};
use crate::vm::amend::ObjectKind;
use crate::vm::{Known, Resolved, Vm};

/// The aliases of `Int` that protocol buffers have types for.
const SIZED_INTEGERS: [&str; 7] = ["Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32", "UInt"];

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
        fields.and_then(|fields| fields.get(name)).cloned().unwrap_or_default()
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
        Ok(FieldType {
            is_union: self.resolves_to_union(code, ty)?,
            has_union_elements,
            has_refused_keys: self.has_refused_keys(code, code.ty.unwrap_or(ty))?,
            exact_class: self.exact_class(code, code.ty.unwrap_or(ty))?,
        })
    }

    /// Whether a type is or contains a mapping whose type of keys protocol buffers don't have.
    fn has_refused_keys(&mut self, code: &'ir Code, ty: TyIx) -> Result<bool> {
        self.check_stack()?;
        match &code.types[ty as usize] {
            Ty::Nullable(inner) => self.has_refused_keys(code, *inner),
            Ty::Union { members, .. } => self.have_refused_keys(code, members),
            Ty::Named { args, .. } => match self.resolve_type(code, ty)? {
                Some(Resolved::Class(class)) => match self.object_kind(class)? {
                    ObjectKind::Listing => self.have_refused_keys(code, args),
                    ObjectKind::Mapping => match args[..] {
                        [key, value] => {
                            Ok(self.key_kind(code, key)?.is_none() || self.has_refused_keys(code, value)?)
                        }
                        _ => Ok(false),
                    },
                    ObjectKind::Dynamic | ObjectKind::Typed => Ok(false),
                },
                Some(Resolved::Alias(alias)) => match self.alias_target(alias) {
                    Some((code, ty)) => self.has_refused_keys(code, ty),
                    None => Ok(false),
                },
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    fn have_refused_keys(&mut self, code: &'ir Code, types: &[TyIx]) -> Result<bool> {
        for &ty in types {
            if self.has_refused_keys(code, ty)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What keys of a type are in protocol buffers, if they can be keys there.
    fn key_kind(&mut self, code: &'ir Code, ty: TyIx) -> Result<Option<Known>> {
        self.check_stack()?;
        match &code.types[ty as usize] {
            Ty::Nullable(inner) => self.key_kind(code, *inner),
            Ty::StringLiteral(_) | Ty::Union { literals: Some(_), .. } => Ok(Some(Known::String)),
            Ty::Union { members, .. } => {
                for &member in members {
                    if self.key_kind(code, member)? != Some(Known::String) {
                        return Ok(None);
                    }
                }
                Ok(Some(Known::String))
            }
            Ty::Named { .. } => match self.resolve_type(code, ty)? {
                Some(Resolved::Class(class)) => {
                    let kinds = [Known::String, Known::Int, Known::Boolean];
                    Ok(kinds.into_iter().find(|&kind| self.is_known(class, kind)))
                }
                Some(Resolved::Alias(alias)) if self.is_sized_integer(alias) => Ok(Some(Known::Int)),
                Some(Resolved::Alias(alias)) => match self.alias_target(alias) {
                    Some((code, ty)) => self.key_kind(code, ty),
                    None => Ok(None),
                },
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Whether an alias of the base module stands for the integers of some width.
    fn is_sized_integer(&self, alias: TypeAliasId) -> bool {
        let alias = self.heap.alias(alias);
        let name = self.text_of(alias.name);
        &*self.module(alias.module).ir.uri == "pkl:base" && SIZED_INTEGERS.contains(&&*name)
    }

    fn alias_target(&mut self, alias: TypeAliasId) -> Option<(&'ir Code, TyIx)> {
        let code = self.store.alias_type(self.heap.alias(alias).ir);
        code.ty.map(|ty| (code, ty))
    }

    /// The displayed name of the class that values of a type must have, if the type is no more than a class and
    /// not one that all messages have.
    fn exact_class(&mut self, mut code: &'ir Code, mut ty: TyIx) -> Result<Option<Arc<str>>> {
        loop {
            match &code.types[ty as usize] {
                Ty::Nullable(inner) => ty = *inner,
                Ty::Named { args, .. } if args.is_empty() => match self.resolve_type(code, ty)? {
                    Some(Resolved::Class(class)) => {
                        let is_general =
                            self.is_known(class, Known::Any) || self.is_known(class, Known::Typed);
                        return Ok((!is_general).then(|| self.class_name(class)));
                    }
                    Some(Resolved::Alias(alias)) => match self.alias_target(alias) {
                        Some(target) => (code, ty) = target,
                        None => return Ok(None),
                    },
                    None => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
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
