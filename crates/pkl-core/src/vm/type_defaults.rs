//! Default values of types and properties, and what `new` amends.

use pkl_parser::ast::ModifierKind;

use super::amend::ObjectKind;
use super::{Frame, Known, MemberRef, Resolved, Vm};
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::{ClassKind, Function, FunctionKind, PropertyKey};
use crate::ir::{Code, Member, MemberSource, Ty, TyIx};
use crate::value::{CheckId, ClassId, ObjectId, Value};

impl<'ir> Vm<'ir> {
    /// The default value of a type, if it has one.
    pub(crate) fn default_of_type(
        &mut self,
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
    ) -> Result<Option<Value>> {
        self.check_stack()?;
        Ok(match &code.types[ty as usize] {
            Ty::Unknown | Ty::Variable(_) => Some(Value::Object(self.empty_dynamic()?)),
            Ty::Nothing | Ty::Function { .. } | Ty::Module(_) => None,
            Ty::StringLiteral(text) => Some(self.heap.string(std::sync::Arc::clone(text))),
            Ty::Nullable(inner) => {
                let default = match &code.types[*inner as usize] {
                    Ty::Unknown => None,
                    _ => self.default_of_type(code, *inner, frame)?,
                };
                Some(match default {
                    Some(value @ (Value::Object(_) | Value::Function(_))) => {
                        Value::Null(Some(self.heap.add_null(value)))
                    }
                    Some(null @ Value::Null(_)) => null,
                    _ => Value::NULL,
                })
            }
            Ty::Union { members, default, .. } => match default {
                Some(position) => self.default_of_type(code, members[*position as usize], frame)?,
                None => None,
            },
            Ty::Constrained { base, .. } => self.default_of_type(code, *base, frame)?,
            Ty::AliasParameter(_) => match self.alias_argument(frame, code, ty) {
                Some((code, ty, frame)) => self.default_of_type(code, ty, &frame)?,
                None => None,
            },
            Ty::Named { args, .. } => match self.resolve_type(code, ty)? {
                Some(Resolved::Class(class)) => self.default_of_class(class, code, args, frame)?,
                Some(Resolved::Alias(alias)) if self.heap.alias(alias).name == self.words.mixin => {
                    let check = args.first().map(|&ty| self.type_ref(code, ty, frame));
                    let identity = Function { arity: 1, kind: FunctionKind::Identity(check) };
                    Some(Value::Function(self.heap.add_function(identity)))
                }
                Some(Resolved::Alias(alias)) => {
                    let (target, inner) = self.enter_alias(alias, code, args, frame)?;
                    let ty = target.ty.expect("the code of a type has a type");
                    let result = self.default_of_type(target, ty, &inner);
                    self.stack.truncate(inner.base);
                    result?
                }
                None => None,
            },
        })
    }

    fn alias_argument(
        &self,
        frame: &Frame<'ir>,
        code: &'ir Code,
        ty: TyIx,
    ) -> Option<(&'ir Code, TyIx, Frame<'ir>)> {
        let Ty::AliasParameter(position) = code.types[ty as usize] else { return None };
        self.argument(frame, position)
    }

    fn default_of_class(
        &mut self,
        class: ClassId,
        code: &'ir Code,
        args: &'ir [TyIx],
        frame: &Frame<'ir>,
    ) -> Result<Option<Value>> {
        if self.is_known(class, Known::List) || self.is_known(class, Known::Collection) {
            return Ok(Some(Value::List(self.heap.add_list(Vec::new()))));
        }
        if self.is_known(class, Known::Set) {
            return self.make_set(&[]).map(Some);
        }
        if self.is_known(class, Known::Map) {
            return self.make_map(&[]).map(Some);
        }
        if self.is_known(class, Known::Null) {
            return Ok(Some(Value::NULL));
        }
        if self.check_instantiable(class).is_err() {
            return Ok(None);
        }
        let element = match self.object_kind(class)? {
            ObjectKind::Listing => args.first(),
            ObjectKind::Mapping => args.get(1),
            _ => None,
        };
        match element {
            Some(&element) => Ok(Some(self.typed_collection(class, code, element, frame))),
            None => Ok(Some(Value::Object(self.default_instance(class)))),
        }
    }

    /// An empty listing or mapping whose `default` gives the default of its elements' type.
    fn typed_collection(
        &mut self,
        class: ClassId,
        code: &'ir Code,
        element: TyIx,
        frame: &Frame<'ir>,
    ) -> Value {
        let object = self.new_instance(class);
        let check = self.type_ref(code, element, frame);
        let function = Function { arity: 1, kind: FunctionKind::TypeDefault(check) };
        let function = Value::Function(self.heap.add_function(function));
        let slot = self.given(object, function);
        let name = self.words.default;
        self.put_property(object, PropertyKey::Named(name), slot);
        self.heap.object_mut(object).check = Some(check);
        Value::Object(object)
    }

    /// What the `default` of a typed collection gives.
    pub(crate) fn default_of_check(&mut self, check: CheckId) -> Result<Value> {
        let (kept, frame) = self.enter_type_ref(check);
        let result = self.default_of_type(kept.code, kept.ty, &frame);
        self.stack.truncate(frame.base);
        match result? {
            Some(value) => Ok(value),
            None => {
                let message = "Tried to read property `default` but its value is undefined.";
                let error = Raised::new(ErrorCode::UndefinedValue, message);
                Err(error
                    .locate(kept.code.module, kept.code.type_spans[kept.ty as usize])
                    .leave(|| "default".to_owned()))
            }
        }
    }

    /// The instance of a class that defines nothing itself; one for all.
    pub(crate) fn default_instance(&mut self, class: ClassId) -> ObjectId {
        if let Some(&known) = self.checks.instances.get(&class) {
            return known;
        }
        let instance = self.new_instance(class);
        self.checks.instances.insert(class, instance);
        instance
    }

    /// What `new T { … }` amends.
    pub(crate) fn instance_parent(&mut self, code: &'ir Code, ty: TyIx, frame: &Frame<'ir>) -> Result<Value> {
        if let Ty::Module(_) = &code.types[ty as usize] {
            return Err(Raised::new(ErrorCode::InvalidClass, "Cannot instantiate type `module`.")
                .locate(code.module, code.type_spans[ty as usize]));
        }
        if let Ty::Named { args, .. } = &code.types[ty as usize]
            && let Some(Resolved::Class(class)) = self.resolve_type(code, ty)?
        {
            self.check_instantiable(class)
                .map_err(|error| error.locate(code.module, code.type_spans[ty as usize]))?;
            if args.is_empty() {
                return Ok(Value::Object(self.default_instance(class)));
            }
        }
        match self.default_of_type(code, ty, frame)? {
            Some(value) => Ok(value),
            None => {
                let module = self.store.module(code.module);
                let text = code.type_spans[ty as usize].text(&module.source);
                let message = format!("Cannot instantiate type `{text}`.");
                Err(Raised::new(ErrorCode::InvalidClass, message)
                    .locate(code.module, code.type_spans[ty as usize]))
            }
        }
    }

    /// Checks what `new T<…> { … }` made; a class or alias alone says nothing more.
    pub(crate) fn check_made(
        &mut self,
        value: Value,
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
    ) -> Result<Value> {
        match &code.types[ty as usize] {
            Ty::Named { args, .. } if args.is_empty() => Ok(value),
            _ => self.check_value(value, code, ty, frame, true),
        }
    }

    /// The default of the declared type of the member being evaluated.
    pub(crate) fn declared_default(&mut self, frame: &Frame<'ir>) -> Result<Value> {
        let member = frame.member.expect("only a member's own code refers to its type");
        if member.modifiers.contains(ModifierKind::Abstract) {
            let name = self.member_name(member, frame.owner);
            let message = format!("Cannot invoke abstract property `{name}`.");
            return Err(Raised::new(ErrorCode::UndefinedValue, message).locate(member.module, member.span));
        }
        let declared = match (member.key, frame.this) {
            (Some(PropertyKey::Local(_)), _) => member.ty.map(|_| (member, frame.owner, frame.env)),
            (_, this) => {
                let class = self.class_of(this)?;
                let typed = member
                    .name
                    .and_then(|name| self.heap.class(class).properties.get(&name))
                    .and_then(|property| property.typed);
                typed.map(|(member, class)| (member, self.class_definer(class), None))
            }
        };
        match declared {
            Some((typed, owner, env)) => match self.default_for(typed, frame.this, owner, env)? {
                Some(value) => Ok(value),
                None => Err(self.undefined(member, frame.this)),
            },
            None => Ok(Value::Object(self.empty_dynamic()?)),
        }
    }

    fn default_for(
        &mut self,
        typed: &'ir Member,
        this: Value,
        owner: ObjectId,
        env: Option<crate::value::EnvId>,
    ) -> Result<Option<Value>> {
        let Some(code) = self.store.member_type(typed) else { return Ok(None) };
        let base = self.push_frame(code.frame_size);
        let frame = Frame { this, owner, env, base, key: Value::NULL, member: None, alias: None };
        let ty = code.ty.expect("the code of a type has a type");
        let result = self.default_of_type(code, ty, &frame);
        self.stack.truncate(base);
        result
    }

    /// The value of a property that a class declares in an object that sets nothing, null if it has none.
    pub(crate) fn default_of_property(&mut self, class: ClassId, property: &'ir Member) -> Result<Value> {
        // The class of a module has one instance that sets nothing: the module.
        let prototype = match self.heap.class(class).kind {
            ClassKind::Module => self.module_object(self.heap.class(class).module)?,
            ClassKind::Declared => self.class_definer(class),
        };
        match property.source {
            MemberSource::External => Ok(Value::NULL),
            MemberSource::Default if property.modifiers.contains(ModifierKind::Abstract) => Ok(Value::NULL),
            MemberSource::Default => {
                let default = self.default_for(property, Value::Object(prototype), prototype, None)?;
                Ok(default.unwrap_or(Value::NULL))
            }
            _ => {
                let key = property.key.expect("a declared property has a name");
                let index = self.heap.find_property(prototype, key);
                let index = index.expect("a class's prototype has what the class declares");
                self.force(prototype, MemberRef::Property(index))
            }
        }
    }

    /// What `new { … }` amends as the value of a property.
    pub(crate) fn property_default(&mut self, frame: &Frame<'ir>) -> Result<Value> {
        let member = frame.member.expect("only a member's own code refers to its default");
        let Some(PropertyKey::Named(name)) = member.key else {
            return match self.declared_default(frame) {
                Err(error) if error.code == ErrorCode::UndefinedValue => Err(super::eval::unknown_parent()),
                value => value,
            };
        };
        let owner = self.heap.object(frame.owner);
        let class = if owner.is_prototype() {
            if member.ty.is_some() {
                return match self.declared_default(frame) {
                    Err(error) if error.code == ErrorCode::UndefinedValue => {
                        Err(super::eval::unknown_parent())
                    }
                    value => value,
                };
            }
            match self.heap.class(owner.class).superclass {
                Some(superclass) => superclass,
                None => return self.declared_default(frame),
            }
        } else {
            self.class_of(frame.this)?
        };
        let prototype = self.class_definer(class);
        match self.heap.find_property(prototype, PropertyKey::Named(name)) {
            Some(index) => match self.force(prototype, MemberRef::Property(index)) {
                Err(error) if error.code == ErrorCode::UndefinedValue => Err(super::eval::unknown_parent()),
                value => value,
            },
            None => Ok(Value::Object(self.empty_dynamic()?)),
        }
    }
}
