//! Modules of one evaluation: loaded once by URI, their classes and aliases made when first used.

use pkl_parser::ast::{ModifierKind, ModuleMember};
use pkl_parser::{Span, Symbol};
use std::sync::Arc;

use super::Vm;
use super::classes::Owner;
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::{Class, ClassKind, Object, PropertyKey, Role, Shapes, TypeAlias};
use crate::ir::{MemberSource, ModuleIr};
use crate::value::{ClassId, ModuleId, ObjectId, TypeAliasId, Value};

const NOT_OPEN_MODULE: &str = "By default, modules are closed for extension.\nTo make a module extensible, add an `open` modifier: `open module my_module; ...`";
const NEEDS_LOCAL: &str = "extend rather than amend the parent module (which must be `open` for extension).";

/// A module of one evaluation.
pub(crate) struct ModuleState<'ir> {
    pub(crate) ir: &'ir ModuleIr,
    /// The module it amends or extends.
    pub(crate) base: Option<ModuleId>,
    /// `None` while it is being loaded.
    pub(crate) object: Option<ObjectId>,
    /// The object whose members the module's own declarations are.
    pub(crate) definer: Option<ObjectId>,
    pub(crate) classes: Vec<Option<ClassId>>,
    pub(crate) aliases: Vec<Option<TypeAliasId>>,
}

impl<'ir> Vm<'ir> {
    pub(crate) fn module(&self, id: ModuleId) -> &ModuleState<'ir> {
        &self.modules[id.index()]
    }

    /// The object that a loaded module is.
    pub(crate) fn module_object(&self, id: ModuleId) -> Result<ObjectId> {
        self.module(id).object.ok_or_else(|| {
            let ir = self.module(id).ir;
            let verb = if ir.link.as_ref().is_some_and(|link| link.extends) { "extend" } else { "amend" };
            let message = format!("Module `{}` cannot {verb} itself.", ir.name);
            Raised::new(ErrorCode::InvalidDeclaration, message)
        })
    }

    pub(crate) fn base_module(&mut self) -> Result<ModuleId> {
        self.load_ir(self.store.base())
    }

    /// The module that was evaluated first: the host's.
    pub(crate) fn main_module(&self) -> Option<&'ir ModuleIr> {
        self.modules.iter().map(|module| module.ir).find(|ir| !ir.uri.starts_with("pkl:"))
    }

    /// The module that a piece of code belongs to.
    pub(crate) fn module_of(&self, id: crate::ir::IrId) -> ModuleId {
        self.module_of_ir[&id]
    }

    /// Lets code be part of a module that was loaded already.
    pub(super) fn adopt(&mut self, code: crate::ir::IrId, module: ModuleId) {
        self.module_of_ir.insert(code, module);
    }

    /// Loads the module at an absolute URI.
    pub(crate) fn load_module(&mut self, uri: &str) -> Result<ModuleId> {
        if let Some(&known) = self.module_of_uri.get(uri) {
            return Ok(known);
        }
        // A module may load the next without evaluating anything.
        self.enter()?;
        let loaded = self.read_and_load(uri);
        self.leave();
        let id = loaded?;
        self.module_of_uri.insert(uri.into(), id);
        Ok(id)
    }

    fn read_and_load(&mut self, uri: &str) -> Result<ModuleId> {
        self.check_limits()?;
        self.readers.check_module(uri)?;
        let other = self.readers.other_uri(uri);
        if let Some(&known) = other.as_deref().and_then(|other| self.module_of_uri.get(other)) {
            return Ok(known);
        }
        let source = self.readers.read_module(uri)?;
        self.heap.charge(source.len());
        self.check_limits()?;
        let ir = self.store.add(uri, source.into())?;
        let id = self.load_ir(ir)?;
        if let Some(other) = other {
            self.module_of_uri.insert(other.into(), id);
        }
        Ok(id)
    }

    /// Makes the object of a module that was read.
    pub(crate) fn load_ir(&mut self, ir: &'ir ModuleIr) -> Result<ModuleId> {
        if let Some(&known) = self.module_of_ir.get(&ir.id) {
            return Ok(known);
        }
        let id = ModuleId::at(self.modules.len());
        self.modules.push(ModuleState {
            ir,
            base: None,
            object: None,
            definer: None,
            classes: vec![None; ir.classes.len()],
            aliases: vec![None; ir.aliases.len()],
        });
        self.module_of_ir.insert(ir.id, id);
        self.module_of_uri.insert(Arc::clone(&ir.uri), id);
        if let Err(error) = self.make_module(id, ir) {
            self.module_of_ir.remove(&ir.id);
            self.module_of_uri.remove(&ir.uri);
            return Err(error);
        }
        Ok(id)
    }

    fn make_module(&mut self, id: ModuleId, ir: &'ir ModuleIr) -> Result<()> {
        if let Some(orphan) = ir.orphan {
            return Err(super::eval::unknown_parent().locate(ir.id, orphan).leave(|| ir.name.to_string()));
        }
        let base = match &ir.link {
            None => None,
            Some(link) => {
                let locate = |error: crate::error::Failure| {
                    error.locate(ir.id, link.span).leave(|| ir.name.to_string())
                };
                let uri = self.resolve_uri(ir, &link.uri).map_err(locate)?;
                let base = self.load_module(&uri).map_err(locate)?;
                self.module_object(base).map_err(locate)?;
                Some((base, link.extends, link.span))
            }
        };
        match base {
            Some((base, false, _)) => {
                self.modules[id.index()].base = Some(base);
                self.amend_module(id, ir, base)
            }
            Some((base, true, span)) => {
                self.modules[id.index()].base = Some(base);
                self.extend_module(id, ir, Some((base, span)))
            }
            None => self.extend_module(id, ir, None),
        }
    }

    fn extend_module(
        &mut self,
        id: ModuleId,
        ir: &'ir ModuleIr,
        base: Option<(ModuleId, Span)>,
    ) -> Result<()> {
        let superclass = match base {
            Some((base, span)) => {
                let object = self.module_object(base)?;
                let class = self.heap.object(object).class;
                let parent = self.module(base).ir;
                if !parent.class.modifiers.contains(ModifierKind::Open)
                    && !parent.class.modifiers.contains(ModifierKind::Abstract)
                {
                    let message = format!("Cannot extend non-open module `{}`.", parent.name);
                    return Err(Raised::new(ErrorCode::InvalidClass, message)
                        .with_hint(NOT_OPEN_MODULE)
                        .locate(ir.id, span)
                        .leave(|| ir.name.to_string()));
                }
                Some(class)
            }
            None if &*ir.uri == "pkl:base" => None,
            None => Some(self.known(super::Known::Module)?),
        };
        let class = self.make_class(Owner::Module(id), &ir.class, superclass, ClassKind::Module)?;
        let prototype = self.heap.class(class).prototype;
        let object = self.instantiate_prototype(class, prototype, true);
        let state = &mut self.modules[id.index()];
        state.object = Some(object);
        state.definer = Some(prototype);
        if superclass.is_none() { self.let_base_be_a_module(class, object) } else { Ok(()) }
    }

    /// Makes the base module's class extend `Module`, which that module itself declares.
    fn let_base_be_a_module(&mut self, class: ClassId, object: ObjectId) -> Result<()> {
        let superclass = self.known(super::Known::Module)?;
        let inherited = self.heap.class(superclass);
        let (parent, mut display) = (inherited.prototype, inherited.display.to_vec());
        let (mut properties, mut methods) = (inherited.properties.clone(), inherited.methods.clone());
        let record = self.heap.class_mut(class);
        display.push(class);
        properties.extend(std::mem::take(&mut record.properties));
        methods.extend(std::mem::take(&mut record.methods));
        record.superclass = Some(superclass);
        record.display = display.into();
        record.properties = properties;
        record.methods = methods;
        let prototype = record.prototype;
        self.heap.object_mut(prototype).parent = Some(parent);
        let keys = self.heap.shapes.get(self.heap.object(parent).shape).keys().to_vec();
        for target in [prototype, object] {
            for &key in &keys {
                if self.heap.find_property(target, key).is_none() {
                    let index = self.heap.find_property(parent, key).expect("the key is of this object");
                    let mut slot = *self.heap.slot(index);
                    slot.forget_all();
                    let shape = self.heap.object(target).shape;
                    let grown = self.heap.shapes.grow_once(shape, std::iter::once(key));
                    self.regrow(target, grown);
                    self.put_property(target, key, slot);
                }
            }
        }
        Ok(())
    }

    fn amend_module(&mut self, id: ModuleId, ir: &'ir ModuleIr, base: ModuleId) -> Result<()> {
        let parent = self.module_object(base)?;
        let parent_object = self.heap.object(parent);
        let (class, shape, slots) = (parent_object.class, parent_object.shape, parent_object.slots);
        let members = self.store.class_members(ir, &ir.class);
        let len = self.heap.shapes.get(shape).len();
        let slots = self.heap.inherit_slots(slots, len);
        let object = self.heap.add_object(Object {
            class,
            parent: Some(parent),
            enclosing_this: Value::NULL,
            enclosing_owner: None,
            shape,
            slots,
            items: None,
            check: None,
            env: None,
            body: None,
            role: Role::Module,
            forced: false,
        });
        let state = &mut self.modules[id.index()];
        state.object = Some(object);
        state.definer = Some(object);
        check_amending(ir)?;
        self.check_instantiable(class).map_err(|error| {
            let span = ir.link.as_ref().map(|link| link.span).unwrap_or_default();
            error.locate(ir.id, span).leave(|| ir.name.to_string())
        })?;
        let mut seen = rustc_hash::FxHashSet::default();
        for member in &members.properties {
            let Some(key) = member.key else { continue };
            let leave = |error: crate::error::Failure| {
                error.locate(ir.id, member.name_span).leave(|| ir.name.to_string())
            };
            if let (
                PropertyKey::Named(name),
                MemberSource::Expr(_) | MemberSource::Bodies(_) | MemberSource::Default,
            ) = (key, member.source)
            {
                let amends = matches!(member.source, MemberSource::Bodies(_));
                self.check_assignable(class, name, amends).map_err(leave)?;
            }
            if !seen.insert(key) {
                let name = member.name.map(|name| self.text_of(name)).unwrap_or_default();
                return Err(leave(super::amend::duplicate(&name)));
            }
            self.put_property(object, key, super::amend::slot(member, object, None));
        }
        Ok(())
    }

    /// A class that a module itself declares.
    pub(crate) fn declared_class(&mut self, module: ModuleId, name: Symbol) -> Result<Option<ClassId>> {
        let ir = self.module(module).ir;
        match ir.classes.iter().position(|class| class.name == name) {
            Some(position) => self.class_at(module, position).map(Some),
            None => Ok(None),
        }
    }

    /// The class at a position among a module's classes.
    pub(crate) fn class_at(&mut self, module: ModuleId, position: usize) -> Result<ClassId> {
        if let Some(known) = self.module(module).classes[position] {
            return Ok(known);
        }
        let ir = &self.module(module).ir.classes[position];
        let id = self.module(module).ir.id;
        if self.declaring.contains(&(module, position)) {
            let name = self.text_of(ir.name);
            let message = if self.declaring.last() == Some(&(module, position)) {
                format!("Class `{}#{name}` cannot extend itself.", self.module(module).ir.name)
            } else {
                "Cyclic class inheritance.".to_owned()
            };
            return Err(Raised::new(ErrorCode::InvalidClass, message).locate(id, ir.span));
        }
        self.declaring.push((module, position));
        let declared = self.declare_class(module, ir);
        self.declaring.pop();
        let class = declared?;
        if &*self.module(module).ir.uri == "pkl:base" {
            let name = self.text_of(self.heap.class(class).name);
            self.note_known(&name, class);
        }
        self.modules[module.index()].classes[position] = Some(class);
        Ok(class)
    }

    /// The alias at a position among a module's aliases.
    pub(crate) fn alias_at(&mut self, module: ModuleId, position: usize) -> TypeAliasId {
        if let Some(known) = self.module(module).aliases[position] {
            return known;
        }
        let ir = self.module(module).ir;
        let alias = &ir.aliases[position];
        let name = self.text_of(alias.name);
        let display_name = if &*ir.name == "pkl.base" { name } else { format!("{}#{name}", ir.name).into() };
        let id = self.heap.add_alias(TypeAlias { name: alias.name, module, ir: alias, display_name });
        self.modules[module.index()].aliases[position] = Some(id);
        id
    }

    /// An object of a class that defines nothing itself.
    pub(crate) fn instantiate_prototype(
        &mut self,
        class: ClassId,
        prototype: ObjectId,
        module: bool,
    ) -> ObjectId {
        let parent = self.heap.object(prototype);
        let (shape, slots, this, owner) =
            (parent.shape, parent.slots, parent.enclosing_this, parent.enclosing_owner);
        let len = self.heap.shapes.get(shape).len();
        let slots = self.heap.inherit_slots(slots, len);
        self.heap.add_object(Object {
            class,
            parent: Some(prototype),
            enclosing_this: this,
            enclosing_owner: owner,
            shape,
            slots,
            items: None,
            check: None,
            env: None,
            body: None,
            role: if module { Role::Module } else { Role::Plain },
            forced: false,
        })
    }

    /// The empty object that stands for nothing else: the owner of code that has no object around it.
    pub(crate) fn class_name(&self, class: ClassId) -> Arc<str> {
        Arc::clone(&self.heap.class(class).display_name)
    }

    /// The symbol tables of a class for hints.
    pub(crate) fn class(&self, class: ClassId) -> &Class<'ir> {
        self.heap.class(class)
    }

    pub(crate) const EMPTY_SHAPE: crate::value::ShapeId = Shapes::EMPTY;
}

/// Whether an amending module declares only what it may.
fn check_amending(ir: &ModuleIr) -> Result<()> {
    let local = |modifiers| ir.ast.modifier_set(modifiers).contains(ModifierKind::Local);
    for member in &ir.ast[ir.root.members] {
        let (what, span) = match *member {
            ModuleMember::Class(id) if !local(ir.ast[id].modifiers) => ("class", ir.ast[id].name.span),
            ModuleMember::TypeAlias(id) if !local(ir.ast[id].modifiers) => {
                ("typealias", ir.ast[id].name.span)
            }
            ModuleMember::Method(id) if !local(ir.ast[id].modifiers) => ("method", ir.ast[id].name.span),
            ModuleMember::Property(id) if !local(ir.ast[id].modifiers) && ir.ast[id].ty.is_some() => {
                let message = "A non-local object property cannot have a type annotation.";
                return Err(Raised::new(ErrorCode::InvalidDeclaration, message)
                    .locate(ir.id, ir.ast[id].name.span)
                    .leave(|| ir.name.to_string()));
            }
            _ => continue,
        };
        let mut name = what.to_owned();
        name[..1].make_ascii_uppercase();
        let message = format!("{name} needs a `local` modifier.");
        return Err(Raised::new(ErrorCode::InvalidDeclaration, message)
            .with_hint(format!("To define a non-local {what}, {NEEDS_LOCAL}"))
            .locate(ir.id, span)
            .leave(|| ir.name.to_string()));
    }
    Ok(())
}
