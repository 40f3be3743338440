//! Making objects: a body amends a parent.

use rustc_hash::FxHashSet;
use std::ptr::from_ref;

use super::{Frame, Known, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{Cache, Function, FunctionKind, Items, Object, Order, PropertyKey, Role, Sharing, Slot};
use crate::ir::{Body, LazyBody, Member};
use crate::value::{ClassId, EnvId, ObjectId, ShapeId, Value};

const EXTERNAL: &str = "To create an instance of an external class, use its literal syntax or constructor method.\nExamples:\n* `123` uses literal syntax to create an instance of class `Int`.\n* `Pair(1, 2)` uses the `Pair()` constructor method to create an instance of class `Pair`.";
const NO_PROPERTY: &str = "Objects of type `Listing` and `Mapping` can only have a `default` property (and `local` properties). If you did not mean to set a property, you probably got the syntax wrong. For example, `obj { name = \"Pigeon\" }` sets a property, whereas `obj { [\"name\"] = \"Pigeon\" }` adds an entry.";

/// A member of an object that has no value yet.
pub(crate) fn slot(member: &Member, definer: ObjectId, env: Option<EnvId>) -> Slot<'_> {
    Slot { cache: Cache::Empty, member, definer, env, sharing: Sharing::Own }
}

pub(crate) fn duplicate(name: &str) -> Failure {
    Raised::new(ErrorCode::DuplicateMember, format!("Duplicate definition of member `{name}`."))
}

/// Which members an object can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Dynamic,
    Listing,
    Mapping,
    Typed,
}

/// An object that a body is building.
pub(super) struct Building<'ir> {
    pub(super) body: &'ir Body,
    pub(super) object: ObjectId,
    pub(super) parent: ObjectId,
    pub(super) class: ClassId,
    pub(super) kind: ObjectKind,
    /// Where the keys and conditions of the body run.
    pub(super) frame: Frame<'ir>,
    pub(super) properties: Vec<(PropertyKey, Slot<'ir>)>,
    pub(super) property_keys: FxHashSet<PropertyKey>,
    /// The new members in the order of their definition.
    pub(super) order: Vec<Order>,
    /// Whether members were generated: then that order counts.
    pub(super) generated: bool,
    pub(super) items: Items<'ir>,
    pub(super) inherited_elements: usize,
    pub(super) inherited_entries: usize,
    pub(super) touched_elements: FxHashSet<usize>,
    pub(super) touched_entries: FxHashSet<usize>,
}

impl Building<'_> {
    /// Whether the body gave the object no member at all.
    fn has_nothing(&self) -> bool {
        self.properties.is_empty()
            && self.items.elements.len() == self.inherited_elements
            && self.items.entries.len() == self.inherited_entries
            && self.touched_elements.is_empty()
            && self.touched_entries.is_empty()
    }
}

impl<'ir> Vm<'ir> {
    /// `parent { … }`
    pub(crate) fn amend(&mut self, parent: Value, lazy: &'ir LazyBody, frame: &Frame<'ir>) -> Result<Value> {
        match parent {
            Value::Object(id) => self.amend_object(id, lazy, frame, &[]).map(Value::Object),
            Value::Null(Some(id)) => {
                let default = *self.heap.null_default(id);
                self.amend(default, lazy, frame)
            }
            Value::Null(None) => {
                let dynamic = self.empty_dynamic()?;
                self.amend_object(dynamic, lazy, frame, &[]).map(Value::Object)
            }
            Value::Function(base) => {
                let locals = if lazy.visible == 0 {
                    None
                } else {
                    let values = &self.stack[frame.base..frame.base + lazy.visible as usize];
                    Some(self.heap.add_env(None, values))
                };
                let arity = self.heap.function(base).arity;
                let kind = FunctionKind::Amended {
                    base,
                    body: lazy,
                    this: frame.this,
                    owner: frame.owner,
                    env: frame.env,
                    locals,
                };
                Ok(Value::Function(self.heap.add_function(Function { arity, kind })))
            }
            Value::Class(class) => {
                self.check_instantiable(class)?;
                let instance = self.default_instance(class);
                self.amend_object(instance, lazy, frame, &[]).map(Value::Object)
            }
            other => {
                let class = self.class_of(other)?;
                Err(self.not_instantiable(class))
            }
        }
    }

    pub(crate) fn not_instantiable(&self, class: ClassId) -> Failure {
        let name = self.class_name(class);
        let message = format!("Cannot instantiate, or amend an instance of, external class `{name}`.");
        Raised::new(ErrorCode::InvalidClass, message).with_hint(EXTERNAL)
    }

    /// The prototype of `Dynamic`, which stands for the empty object.
    pub(crate) fn empty_dynamic(&mut self) -> Result<ObjectId> {
        let class = self.known(Known::Dynamic)?;
        Ok(self.heap.class(class).prototype)
    }

    pub(crate) fn object_kind(&mut self, class: ClassId) -> Result<ObjectKind> {
        let kinds = [
            (Known::Dynamic, ObjectKind::Dynamic),
            (Known::Listing, ObjectKind::Listing),
            (Known::Mapping, ObjectKind::Mapping),
        ];
        for (known, kind) in kinds {
            if self.known(known)? == class {
                return Ok(kind);
            }
        }
        Ok(ObjectKind::Typed)
    }

    /// Makes an object that amends `parent`. `args` are the values of the body's parameters.
    pub(crate) fn amend_object(
        &mut self,
        parent: ObjectId,
        lazy: &'ir LazyBody,
        frame: &Frame<'ir>,
        args: &[Value],
    ) -> Result<ObjectId> {
        let mut body = self.store.body(lazy);
        if args.is_empty() && !body.params.is_empty() {
            body = self.store.unapplied_body(lazy);
        }
        if body.params.len() != args.len() {
            let message =
                format!("Expected {} function arguments but got {}.", body.params.len(), args.len());
            return Err(Raised::new(ErrorCode::WrongArgumentCount, message).locate(body.module, body.span));
        }
        if body.ops.is_empty() && body.members.is_empty() && self.stays_itself(parent)? {
            return Ok(parent);
        }
        let base = self.stack.len();
        if body.code.frame_size > 0 {
            self.stack.extend_from_within(frame.base..frame.base + lazy.visible as usize);
            self.stack.extend_from_slice(args);
            self.stack.resize(base + body.code.frame_size as usize, Value::NULL);
        }
        let inner = Frame { base, ..*frame };
        for (param, position) in body.params.iter().zip(lazy.visible as usize..) {
            if let Some(ty) = param.ty {
                let value = self.stack[base + position];
                self.stack[base + position] = self.check(value, &body.code, ty, &inner)?;
            }
        }
        let env = if body.captures {
            let values = &self.stack[base..base + body.first_slot as usize];
            Some(self.heap.add_env(frame.env, values))
        } else {
            frame.env
        };
        let parent_object = self.heap.object(parent);
        let (class, check) = (parent_object.class, None);
        if self.heap.class(class).modifiers.contains(pkl_parser::ast::ModifierKind::External) {
            return Err(self.not_instantiable(class));
        }
        let object = self.heap.add_object(Object {
            class,
            parent: Some(parent),
            enclosing_this: frame.this,
            enclosing_owner: Some(frame.owner),
            shape: parent_object.shape,
            slots: 0,
            items: None,
            check,
            env,
            body: Some(body),
            role: if body.ops.is_empty() && body.members.is_empty() { Role::Same } else { Role::Plain },
            forced: false,
        });
        let made = if body.only_properties {
            self.amend_properties(object, parent, class, body, env)?;
            object
        } else {
            self.build(Frame { base, ..*frame }, object, parent, class, body, env)?
        };
        self.stack.truncate(base);
        Ok(made)
    }

    /// Whether an object that is amended by nothing is still that object. A collection is a new one, whose members
    /// may be checked to another type.
    fn stays_itself(&mut self, object: ObjectId) -> Result<bool> {
        let record = self.heap.object(object);
        let (class, role) = (record.class, record.role);
        if self.heap.class(class).modifiers.contains(pkl_parser::ast::ModifierKind::External) {
            return Ok(false);
        }
        Ok(match role {
            Role::Module => true,
            Role::Plain | Role::Same => {
                matches!(self.object_kind(class)?, ObjectKind::Typed | ObjectKind::Dynamic)
            }
            Role::View | Role::Prototype => false,
        })
    }

    fn amend_properties(
        &mut self,
        object: ObjectId,
        parent: ObjectId,
        class: ClassId,
        body: &'ir Body,
        env: Option<EnvId>,
    ) -> Result<()> {
        let kind = self.object_kind(class)?;
        if kind != ObjectKind::Dynamic {
            self.check_body(kind, class, body)?;
        }
        let (parent_shape, parent_slots) = (self.heap.object(parent).shape, self.heap.object(parent).slots);
        let shape = self.heap.shapes.grow(parent_shape, from_ref(body).addr(), &body.keys);
        let old_len = self.heap.shapes.get(parent_shape).len();
        let slots = self.heap.inherit_slots(parent_slots, old_len);
        let added = self.heap.shapes.get(shape).len() - old_len;
        if added > 0 {
            let filler = slot(&body.members[0], object, env);
            self.heap.add_slots(std::iter::repeat_n(filler, added));
        }
        for member in &body.members {
            let Some(key) = member.key else { continue };
            let position =
                self.heap.shapes.get(shape).position(key).expect("the shape was grown by this key");
            *self.heap.slot_mut(slots + position) = slot(member, object, env);
        }
        let old_items = self.heap.object(parent).items;
        let target = self.heap.object_mut(object);
        target.shape = shape;
        target.slots = slots;
        if let Some(items) = old_items {
            let check = self.heap.object(parent).check;
            let mut inherited = self.heap.items(items).inherit(check);
            if kind == ObjectKind::Dynamic {
                let new_keys = self.heap.shapes.get(shape).keys()[old_len..].iter().copied();
                inherited.order.extend(new_keys.map(Order::Property));
            }
            self.set_items(object, inherited);
        }
        Ok(())
    }

    pub(super) fn set_items(&mut self, object: ObjectId, items: Items<'ir>) {
        self.heap.charge(items.size());
        let id = self.heap.add_items(items);
        self.heap.object_mut(object).items = Some(id);
    }

    /// Whether objects of a class can have the properties of a body; asked once per class and body.
    fn check_body(&mut self, kind: ObjectKind, class: ClassId, body: &'ir Body) -> Result<()> {
        let key = (class, from_ref(body).addr());
        if self.checks.bodies.contains(&key) {
            return Ok(());
        }
        for member in &body.members {
            self.check_property(kind, class, member)?;
        }
        self.checks.bodies.insert(key);
        Ok(())
    }

    pub(super) fn check_property(
        &mut self,
        kind: ObjectKind,
        class: ClassId,
        member: &'ir Member,
    ) -> Result<()> {
        let Some(PropertyKey::Named(name)) = member.key else { return Ok(()) };
        let result = match kind {
            ObjectKind::Dynamic => Ok(()),
            ObjectKind::Typed => {
                let amends = matches!(member.source, crate::ir::MemberSource::Bodies(_));
                self.check_assignable(class, name, amends)
            }
            ObjectKind::Listing | ObjectKind::Mapping if name == self.words.default => Ok(()),
            ObjectKind::Listing | ObjectKind::Mapping => {
                let class = self.class_name(class);
                let message =
                    format!("Object of type `{class}` cannot have a property (other than `default`).");
                Err(Raised::new(ErrorCode::InvalidMember, message).with_hint(NO_PROPERTY))
            }
        };
        result.map_err(|error| error.locate(member.module, member.name_span))
    }

    /// Runs a body; the object that it makes, which is the parent if it has nothing to add.
    fn build(
        &mut self,
        frame: Frame<'ir>,
        object: ObjectId,
        parent: ObjectId,
        class: ClassId,
        body: &'ir Body,
        env: Option<EnvId>,
    ) -> Result<ObjectId> {
        let kind = self.object_kind(class)?;
        let mut items = match self.heap.object(parent).items {
            Some(items) => self.heap.items(items).inherit(self.heap.object(parent).check),
            None => Items::default(),
        };
        if kind == ObjectKind::Dynamic && items.order.is_empty() {
            let shape = self.heap.object(parent).shape;
            items.order = self.heap.shapes.get(shape).keys().iter().copied().map(Order::Property).collect();
        }
        let mut building = Building {
            body,
            object,
            parent,
            class,
            kind,
            frame,
            properties: Vec::new(),
            property_keys: FxHashSet::default(),
            order: Vec::new(),
            generated: body.generates(),
            inherited_elements: items.elements.len(),
            inherited_entries: items.entries.len(),
            items,
            touched_elements: FxHashSet::default(),
            touched_entries: FxHashSet::default(),
        };
        self.run_ops(&mut building, &body.ops, env)?;
        if building.has_nothing() {
            if self.stays_itself(parent)? {
                return Ok(parent);
            }
            self.heap.object_mut(object).role = Role::Same;
        }
        self.finish(building);
        Ok(object)
    }

    fn finish(&mut self, building: Building<'ir>) {
        let Building {
            object,
            parent,
            kind,
            properties,
            mut items,
            inherited_elements,
            inherited_entries,
            order,
            generated,
            ..
        } = building;
        let (parent_shape, parent_slots) = (self.heap.object(parent).shape, self.heap.object(parent).slots);
        let shape = self.heap.shapes.grow_once(parent_shape, properties.iter().map(|(key, _)| *key));
        let old_len = self.heap.shapes.get(parent_shape).len();
        let slots = self.heap.inherit_slots(parent_slots, old_len);
        let target = self.heap.object_mut(object);
        target.shape = parent_shape;
        target.slots = slots;
        self.regrow(object, shape);
        for (key, slot) in properties {
            self.put_property(object, key, slot);
        }
        if kind == ObjectKind::Dynamic && generated {
            items.order.extend(order);
        } else if kind == ObjectKind::Dynamic {
            let new_keys = self.heap.shapes.get(shape).keys()[old_len..].iter().copied();
            items.order.extend(new_keys.map(Order::Property));
            let entries = inherited_entries..items.entries.len();
            items.order.extend(entries.map(|position| Order::Entry(narrow(position))));
            let elements = inherited_elements..items.elements.len();
            items.order.extend(elements.map(|position| Order::Element(narrow(position))));
        }
        if kind == ObjectKind::Dynamic {
            items.replace_entries(inherited_elements..items.elements.len(), inherited_entries);
        }
        if !items.elements.is_empty() || !items.entries.is_empty() {
            self.set_items(object, items);
        }
    }

    /// Gives an object a grown shape. Its slots are the newest of the arena, or are copied there.
    pub(crate) fn regrow(&mut self, object: ObjectId, shape: ShapeId) {
        let current = self.heap.object(object);
        if current.shape == shape {
            return;
        }
        let (old_len, old_slots) = (self.heap.shapes.get(current.shape).len(), current.slots);
        let added = self.heap.shapes.get(shape).len() - old_len;
        let slots = self.heap.inherit_slots(old_slots, old_len);
        let filler = slot(self.store.given(), object, None);
        self.heap.add_slots(std::iter::repeat_n(filler, added));
        let target = self.heap.object_mut(object);
        target.shape = shape;
        target.slots = slots;
    }

    /// Sets the definition of a property, which may be new to the object.
    pub(crate) fn put_property(&mut self, object: ObjectId, key: PropertyKey, slot: Slot<'ir>) {
        if self.heap.find_property(object, key).is_none() {
            let shape = self.heap.object(object).shape;
            let grown = self.heap.shapes.grow_once(shape, std::iter::once(key));
            self.regrow(object, grown);
        }
        let position = self.heap.find_property(object, key).expect("the object was grown by this key");
        *self.heap.slot_mut(position) = slot;
    }
}

pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("the memory limit is reached before u32 numbers run out")
}
