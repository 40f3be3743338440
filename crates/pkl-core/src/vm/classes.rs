//! Classes and the names of types.

use pkl_data::tree::ClassName;
use pkl_parser::Symbol;
use pkl_parser::ast::ModifierKind;
use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::amend::slot;
use super::{Known, Memo, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{Class, ClassKind, ClassMethod, ClassProperty, Object, PropertyKey, Role};
use crate::ir::{ClassIr, Code, IrId, MemberSource, ModuleIr, Site, Ty, TyIx};
use crate::value::{ClassId, ModuleId, ObjectId, TypeAliasId, Value};

/// How many aliases may stand for one another.
const MAX_ALIASES: usize = 100;

const NOT_OPEN: &str = "By default, classes are closed for extension.\nTo make a class extensible, add an `open` modifier: `open class MyClass { ... }`";

/// What declares a class.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    /// It is a module's own class.
    Module(ModuleId),
    /// It is declared in a module.
    Declared(ModuleId),
}

/// What the name of a type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    Class(ClassId),
    Alias(TypeAliasId),
}

impl<'ir> Vm<'ir> {
    /// Makes a class that a module declares.
    pub(crate) fn declare_class(&mut self, module: ModuleId, ir: &'ir ClassIr) -> Result<ClassId> {
        let module_ir = self.module(module).ir;
        let is_any = &*module_ir.uri == "pkl:base" && &*self.text_of(ir.name) == "Any";
        let superclass = match ir.superclass {
            _ if is_any => None,
            None => Some(self.known(Known::Typed)?),
            Some(ty) => Some(self.superclass(module, ir, ty)?),
        };
        self.make_class(Owner::Declared(module), ir, superclass, ClassKind::Declared)
    }

    fn superclass(
        &mut self,
        module: ModuleId,
        ir: &'ir ClassIr,
        ty: pkl_parser::ast::TypeId,
    ) -> Result<ClassId> {
        let module_ir = self.module(module).ir;
        let node = module_ir.ast[ty];
        let locate =
            |error: Failure| error.locate(module_ir.id, node.span).leave(|| module_ir.name.to_string());
        let path: Vec<Symbol> = match node.kind {
            pkl_parser::ast::TypeKind::Declared { name, .. } => {
                module_ir.ast[name].iter().map(|part| part.symbol).collect()
            }
            _ => {
                return Err(locate(Raised::new(ErrorCode::InvalidClass, "Not a valid superclass.")));
            }
        };
        let resolved = self.resolve_path(module, &path).map_err(locate)?;
        let superclass = self.class_behind(resolved).map_err(locate)?;
        let modifiers = self.heap.class(superclass).modifiers;
        let own = &*module_ir.uri;
        let open = modifiers.contains(ModifierKind::Open) || modifiers.contains(ModifierKind::Abstract);
        if !open && !own.starts_with("pkl:") {
            let name = self.class_name(superclass);
            let message = format!("Cannot extend non-open class `{name}`.");
            return Err(locate(Raised::new(ErrorCode::InvalidClass, message).with_hint(NOT_OPEN)));
        }
        if self.heap.class(superclass).kind == ClassKind::Declared
            && modifiers.contains(ModifierKind::External)
            && !own.starts_with("pkl:")
        {
            let name = self.class_name(superclass);
            let message = format!("Cannot extend external class `{name}`.");
            let hint = "External classes can only be extended by standard library classes.";
            return Err(locate(Raised::new(ErrorCode::InvalidClass, message).with_hint(hint)));
        }
        let _ = ir;
        Ok(superclass)
    }

    /// Makes a class and its prototype.
    pub(crate) fn make_class(
        &mut self,
        owner: Owner,
        ir: &'ir ClassIr,
        superclass: Option<ClassId>,
        kind: ClassKind,
    ) -> Result<ClassId> {
        let (Owner::Module(module) | Owner::Declared(module)) = owner;
        let module_ir = self.module(module).ir;
        let members = self.store.class_members(module_ir, ir);
        let (this, enclosing_owner) = match owner {
            Owner::Module(_) => (Value::NULL, None),
            Owner::Declared(_) => {
                let object = self.module_object(module).ok();
                (object.map_or(Value::NULL, Value::Object), self.module(module).definer)
            }
        };
        let id = ClassId::at(self.class_count());
        let (shape, slots, parent, mut properties, mut methods, mut display) = match superclass {
            None => (Self::EMPTY_SHAPE, 0, None, FxHashMap::default(), FxHashMap::default(), Vec::new()),
            Some(superclass) => {
                let class = self.heap.class(superclass);
                let prototype = self.heap.object(class.prototype);
                (
                    prototype.shape,
                    prototype.slots,
                    Some(class.prototype),
                    class.properties.clone(),
                    class.methods.clone(),
                    class.display.to_vec(),
                )
            }
        };
        display.push(id);
        self.charge_class(display.len(), properties.len(), methods.len())?;
        for method in &members.methods {
            if kind == ClassKind::Declared && method.modifiers.contains(ModifierKind::Local) {
                continue;
            }
            methods.insert(method.name, ClassMethod { method, class: id });
        }
        for member in &members.properties {
            if let (
                Some(PropertyKey::Named(name)),
                MemberSource::Expr(_)
                | MemberSource::Bodies(_)
                | MemberSource::Default
                | MemberSource::External
                | MemberSource::Given,
            ) = (member.key, member.source)
            {
                let inherited = properties.get(&name).copied();
                self.check_override(ir, member, inherited)?;
                let typed = if member.ty.is_some() {
                    Some((member, id))
                } else {
                    inherited.and_then(|known: ClassProperty<'ir>| known.typed)
                };
                let mut modifiers = member.modifiers;
                if let Some(known) = inherited
                    && known.modifiers.contains(ModifierKind::Hidden)
                {
                    modifiers = modifiers.with(ModifierKind::Hidden);
                }
                properties.insert(name, ClassProperty { member, class: id, typed, modifiers });
            }
        }
        let len = self.heap.shapes.get(shape).len();
        let slots = self.heap.inherit_slots_of_superclass(slots, len);
        let prototype = self.heap.add_object(Object {
            class: id,
            parent,
            enclosing_this: this,
            enclosing_owner,
            shape,
            slots,
            items: None,
            check: None,
            env: None,
            body: None,
            role: Role::Prototype,
            forced: false,
        });
        let (display_name, full_name) = self.class_names(module_ir, ir.name, kind);
        let made = self.heap.add_class(Class {
            kind,
            name: ir.name,
            module,
            ir,
            superclass,
            display: display.into(),
            modifiers: ir.modifiers,
            prototype,
            properties,
            methods,
            display_name,
            full_name,
        });
        debug_assert_eq!(made, id);
        self.fill_prototype(prototype, &members.properties);
        Ok(id)
    }

    /// The name of a class in messages, and outside of the evaluation.
    fn class_names(&self, module: &ModuleIr, name: Symbol, kind: ClassKind) -> (Arc<str>, ClassName) {
        let text = self.text_of(name);
        let (shown, full) = match kind {
            ClassKind::Module => (Arc::clone(&module.name), ClassName::module(Arc::clone(&module.name))),
            ClassKind::Declared => {
                let full = ClassName::new(Arc::clone(&module.name), Arc::clone(&text));
                let shown = if &*module.name == "pkl.base" { text } else { full.to_string().into() };
                (shown, full)
            }
        };
        (shown, full.at(Arc::clone(&module.uri)))
    }

    /// Counts what a class takes: each class of a long chain has all that is above it.
    fn charge_class(&mut self, superclasses: usize, properties: usize, methods: usize) -> Result<()> {
        let bytes = superclasses * size_of::<ClassId>()
            + properties * size_of::<(Symbol, ClassProperty<'_>)>()
            + methods * size_of::<(Symbol, ClassMethod<'_>)>();
        self.check_room(bytes)?;
        self.heap.charge(bytes);
        Ok(())
    }

    fn class_count(&self) -> usize {
        self.heap.class_count()
    }

    fn fill_prototype(&mut self, prototype: ObjectId, members: &'ir [crate::ir::Member]) {
        let stored = |member: &&'ir crate::ir::Member| !matches!(member.source, MemberSource::External);
        let keys = members.iter().filter(stored).filter_map(|member| member.key);
        let shape = self.heap.object(prototype).shape;
        let grown = self.heap.shapes.grow_once(shape, keys);
        self.regrow(prototype, grown);
        for member in members.iter().filter(stored) {
            if let Some(key) = member.key {
                self.put_property(prototype, key, slot(member, prototype, None));
            }
        }
    }

    /// Whether a class may declare a property as it does, given what it inherits.
    fn check_override(
        &self,
        class: &ClassIr,
        member: &crate::ir::Member,
        inherited: Option<ClassProperty<'ir>>,
    ) -> Result<()> {
        let Some(inherited) = inherited else { return Ok(()) };
        for kind in [ModifierKind::Fixed, ModifierKind::Const] {
            let (before, now) = (inherited.modifiers.contains(kind), member.modifiers.contains(kind));
            if before == now {
                continue;
            }
            let name = member.name.map(|name| self.text_of(name)).unwrap_or_default();
            let owner = self.class_name(inherited.class);
            let word = kind.as_str();
            let message = if before {
                format!("Missing modifier `{word}`.")
            } else {
                format!("Modifier `{word}` cannot be applied to property `{name}`.")
            };
            let (must, other) =
                if before { ("must", word.to_owned()) } else { ("cannot", format!("non-{word}")) };
            let hint = format!(
                "Property `{name}` {must} be declared {word}, because it overrides a {other} property on parent class `{owner}`."
            );
            let class_name = self.text_of(class.name);
            return Err(Raised::new(ErrorCode::InvalidDeclaration, message)
                .with_hint(hint)
                .locate(member.module, member.name_span)
                .leave(|| class_name.to_string()));
        }
        Ok(())
    }

    /// The class that a name stands for, aliases followed.
    fn class_behind(&mut self, resolved: Resolved) -> Result<ClassId> {
        let mut resolved = resolved;
        for _ in 0..MAX_ALIASES {
            let alias = match resolved {
                Resolved::Class(class) => return Ok(class),
                Resolved::Alias(alias) => alias,
            };
            let code = self.store.alias_type(self.heap.alias(alias).ir);
            let ty = code.ty.expect("the code of a type has a type");
            match self.resolve_type(code, ty)? {
                Some(next) => resolved = next,
                None => break,
            }
        }
        Err(Raised::new(ErrorCode::InvalidClass, "Not a valid supertype."))
    }

    /// What a dotted name of a type stands for in a module.
    pub(crate) fn resolve_path(&mut self, module: ModuleId, path: &[Symbol]) -> Result<Resolved> {
        match *path {
            [name] => match self.find_type(module, name)? {
                Some(found) => Ok(found),
                None => Err(self.unknown_type(module, name)),
            },
            [import, name] => {
                let Some(target) = self.find_import(module, import)? else {
                    return Err(self.unknown_type(module, import));
                };
                match self.find_own_type(target, name)? {
                    Some(found) => Ok(found),
                    None => {
                        let (name, module) = (self.text_of(name), &self.module(target).ir.name);
                        let message = format!("Cannot find type `{name}` in module `{module}`.");
                        Err(Raised::new(ErrorCode::UnknownType, message))
                    }
                }
            }
            _ => Err(Raised::new(ErrorCode::UnknownType, "A type's name has at most two parts.")),
        }
    }

    fn unknown_type(&self, module: ModuleId, name: Symbol) -> Failure {
        let ir = self.module(module).ir;
        let text = self.text_of(name);
        if ir.names.properties.contains_key(&name) {
            let message = format!("Expected `{text}` to be a type, but it is not.");
            return Raised::new(ErrorCode::UnknownType, message);
        }
        let hint = format!(
            "Searched in the following places:\n* Module `{}` and any supermodules\n* Module `pkl#base`",
            ir.name
        );
        Raised::new(ErrorCode::UnknownType, format!("Cannot find type `{text}`.")).with_hint(hint)
    }

    /// A type by its simple name: declared or imported here, of the base, or declared in what the module
    /// builds on.
    fn find_type(&mut self, module: ModuleId, name: Symbol) -> Result<Option<Resolved>> {
        if let Some(found) = self.declared_type(module, name)? {
            return Ok(Some(found));
        }
        if let Some(imported) = self.find_import(module, name)? {
            let object = self.module_object(imported)?;
            return Ok(Some(Resolved::Class(self.heap.object(object).class)));
        }
        let base = self.base_module()?;
        if let Some(found) = self.declared_type(base, name)? {
            return Ok(Some(found));
        }
        self.find_own_type(module, name)
    }

    /// A class or alias that a module declares or inherits.
    pub(crate) fn find_own_type(&mut self, module: ModuleId, name: Symbol) -> Result<Option<Resolved>> {
        let mut current = Some(module);
        while let Some(id) = current {
            if let Some(found) = self.declared_type(id, name)? {
                return Ok(Some(found));
            }
            current = self.module(id).base;
        }
        Ok(None)
    }

    /// A class or alias that a module itself declares.
    fn declared_type(&mut self, module: ModuleId, name: Symbol) -> Result<Option<Resolved>> {
        if let Some(class) = self.declared_class(module, name)? {
            return Ok(Some(Resolved::Class(class)));
        }
        let ir = self.module(module).ir;
        let position = ir.aliases.iter().position(|alias| alias.name == name);
        Ok(position.map(|position| Resolved::Alias(self.alias_at(module, position))))
    }

    fn find_import(&mut self, module: ModuleId, name: Symbol) -> Result<Option<ModuleId>> {
        let ir = self.module(module).ir;
        let Some(import) = ir.imports.iter().find(|import| import.name == name && !import.glob) else {
            return Ok(None);
        };
        let uri = self.resolve_uri(ir, &import.uri)?;
        self.load_module(&uri).map(Some).map_err(|error| error.locate(ir.id, import.span))
    }

    /// What the name of a type in a piece of code stands for.
    pub(crate) fn resolve_named(&mut self, code: IrId, path: &[Symbol], site: Site) -> Result<Resolved> {
        match self.memo(site) {
            Memo::Class(class) => return Ok(Resolved::Class(class)),
            Memo::Alias(alias) => return Ok(Resolved::Alias(alias)),
            _ => {}
        }
        let module = self.module_of(code);
        let resolved = self.resolve_path(module, path)?;
        self.remember(
            site,
            match resolved {
                Resolved::Class(class) => Memo::Class(class),
                Resolved::Alias(alias) => Memo::Alias(alias),
            },
        );
        Ok(resolved)
    }

    /// What a named type in a piece of code stands for, located.
    pub(crate) fn resolve_type(&mut self, code: &'ir Code, ty: TyIx) -> Result<Option<Resolved>> {
        match &code.types[ty as usize] {
            Ty::Named { path, site, .. } => self
                .resolve_named(code.module, path, *site)
                .map(Some)
                .map_err(|error| error.locate(code.module, code.type_spans[ty as usize])),
            _ => Ok(None),
        }
    }

    /// Why a property can't be set by a body, if it can't.
    pub(crate) fn check_assignable(&mut self, class: ClassId, name: Symbol, amends: bool) -> Result<()> {
        let verb = if amends { "amend" } else { "assign to" };
        let found = self.heap.class(class).properties.get(&name).map(|property| property.modifiers);
        match found {
            Some(modifiers)
                if modifiers.contains(ModifierKind::Fixed) || modifiers.contains(ModifierKind::Const) =>
            {
                let word = if modifiers.contains(ModifierKind::Fixed) { "fixed" } else { "const" };
                let text = self.text_of(name);
                Err(Raised::new(ErrorCode::FixedProperty, format!("Cannot {verb} {word} property `{text}`.")))
            }
            Some(modifiers) if modifiers.contains(ModifierKind::External) => {
                let text = self.text_of(name);
                Err(Raised::new(
                    ErrorCode::FixedProperty,
                    format!("Cannot {verb} external property `{text}`."),
                ))
            }
            Some(_) => Ok(()),
            None => Err(self.unknown_property_of_class(class, name)),
        }
    }
}
