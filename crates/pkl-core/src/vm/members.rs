//! Reading members: evaluated once for each receiver, checked to the declared type.

use pkl_parser::Symbol;

use super::types::is_negative;
use super::{Frame, Known, Vm, stack_overflow};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{Cache, PropertyKey, Role, Sharing, Slot};
use crate::ir::{Expr, Member, MemberSource};
use crate::mutants::mutant;
use crate::value::{CheckId, ClassId, EnvId, ItemsId, ObjectId, Value};

/// Where a member's slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemberRef {
    Property(u32),
    Element(ItemsId, u32),
    Entry(ItemsId, u32),
}

impl<'ir> Vm<'ir> {
    pub(crate) fn slot_at(&self, place: MemberRef) -> &Slot<'ir> {
        match place {
            MemberRef::Property(index) => self.heap.slot(index),
            MemberRef::Element(items, position) => &self.heap.items(items).elements[position as usize],
            MemberRef::Entry(items, position) => &self.heap.items(items).entries[position as usize],
        }
    }

    fn slot_at_mut(&mut self, place: MemberRef) -> &mut Slot<'ir> {
        match place {
            MemberRef::Property(index) => self.heap.slot_mut(index),
            MemberRef::Element(items, position) => {
                &mut self.heap.items_mut(items).elements[position as usize]
            }
            MemberRef::Entry(items, position) => &mut self.heap.items_mut(items).entries[position as usize],
        }
    }

    pub(super) fn set_cache(&mut self, place: MemberRef, cache: Cache) {
        self.slot_at_mut(place).cache = cache;
    }

    /// The value of a member if it was read. One that a view shows, or an object that adds nothing to another, is that
    /// of the other.
    pub(super) fn known_value(&self, mut object: ObjectId, mut place: MemberRef) -> Option<Value> {
        loop {
            let value = self.slot_at(place).read_value();
            if value.is_some() {
                return value;
            }
            let record = self.heap.object(object);
            object = record.parent.filter(|_| matches!(record.role, Role::View | Role::Same))?;
            place = self.place_in(object, place)?;
        }
    }

    /// The value of a member for `object` as receiver.
    #[inline]
    pub(crate) fn force(&mut self, object: ObjectId, place: MemberRef) -> Result<Value> {
        match self.slot_at(place).cache {
            Cache::Ready(value) => {
                if self.slot_at(place).sharing == Sharing::Unread {
                    self.slot_at_mut(place).sharing = Sharing::Read;
                }
                Ok(value)
            }
            Cache::Busy => Err(stack_overflow()),
            Cache::Empty => self.force_empty(object, place),
        }
    }

    fn force_empty(&mut self, object: ObjectId, place: MemberRef) -> Result<Value> {
        self.set_cache(place, Cache::Busy);
        self.enter().inspect_err(|_| self.set_cache(place, Cache::Empty))?;
        let result = self.evaluate_slot(object, place);
        self.leave();
        match result {
            Ok(value) => {
                self.set_cache(place, Cache::Ready(value));
                if let MemberRef::Property(index) = place
                    && self.is_same_for_all(object, index)
                {
                    self.share(object, index, value);
                }
                Ok(value)
            }
            Err(error) => {
                self.set_cache(place, if mutant!(FailureCached) { Cache::Busy } else { Cache::Empty });
                Err(error)
            }
        }
    }

    pub(super) fn evaluate_slot(&mut self, object: ObjectId, place: MemberRef) -> Result<Value> {
        let slot = *self.slot_at(place);
        let key = match place {
            MemberRef::Property(_) => {
                let mut this = object;
                if mutant!(LateBindingLost) {
                    this = slot.definer;
                }
                if mutant!(LateBindingLostOnSecondAmend)
                    && let Some(parent) = self.heap.object(object).parent
                    && self.heap.object(parent).parent == Some(slot.definer)
                {
                    this = parent;
                }
                let value =
                    self.run_member(slot.member, slot.definer, slot.env, Value::Object(this), Value::NULL)?;
                return self.check_property_value(object, &slot, value);
            }
            MemberRef::Element(_, position) => Value::Int(i64::from(position)),
            MemberRef::Entry(items, position) => self.heap.items(items).keys[position as usize],
        };
        let value = self.unchecked_item(object, place, &slot, key)?;
        self.check_item(object, place, &slot, value)
    }

    fn unchecked_item(
        &mut self,
        object: ObjectId,
        place: MemberRef,
        slot: &Slot<'ir>,
        key: Value,
    ) -> Result<Value> {
        match self.viewed(object, place) {
            Some((original, inner)) => self.force(original, inner),
            None => self.run_member(slot.member, slot.definer, slot.env, Value::Object(object), key),
        }
    }

    fn check_item(
        &mut self,
        object: ObjectId,
        place: MemberRef,
        slot: &Slot<'ir>,
        value: Value,
    ) -> Result<Value> {
        let checks = [self.inherited_check(place), self.heap.object(object).check];
        let checked =
            checks.into_iter().flatten().try_fold(value, |value, check| self.check_member(check, value));
        checked.map_err(|error| self.place_of_value(error, slot))
    }

    /// The value of an element or entry as a predicate sees it: if it isn't of its type, that is an error only where
    /// it is used.
    pub(super) fn force_unchecked(&mut self, object: ObjectId, place: MemberRef) -> Result<Value> {
        if let Some((original, inner)) = self.viewed(object, place) {
            return match self.attempt(|vm| vm.force(object, place)) {
                Err(error) if is_negative(&error) => self.force_unchecked(original, inner),
                forced => forced,
            };
        }
        let slot = *self.slot_at(place);
        let key = match (slot.cache, place) {
            (Cache::Empty, MemberRef::Element(_, position)) => Value::Int(i64::from(position)),
            (Cache::Empty, MemberRef::Entry(items, position)) => {
                self.heap.items(items).keys[position as usize]
            }
            _ => return self.force(object, place),
        };
        self.set_cache(place, Cache::Busy);
        self.enter().inspect_err(|_| self.set_cache(place, Cache::Empty))?;
        let value = self.unchecked_item(object, place, &slot, key);
        let checked = value.as_ref().ok().map(|value| self.check_item(object, place, &slot, *value));
        self.leave();
        match checked {
            Some(Ok(checked)) => {
                self.set_cache(place, Cache::Ready(checked));
                Ok(checked)
            }
            _ => {
                self.set_cache(place, Cache::Empty);
                value
            }
        }
    }

    /// The error of a value that isn't of its type, with the place of the value.
    fn place_of_value(&self, error: Failure, slot: &Slot<'ir>) -> Failure {
        if !slot.member.source_is_code() {
            return error;
        }
        let span = self.value_span(slot.member);
        error.locate(slot.member.module, span).leave(|| self.member_name(slot.member, slot.definer))
    }

    /// The type to which a member was checked where it was defined.
    fn inherited_check(&self, place: MemberRef) -> Option<CheckId> {
        match place {
            MemberRef::Property(_) => None,
            MemberRef::Element(items, position) => {
                *self.heap.items(items).element_checks.get(position as usize)?
            }
            MemberRef::Entry(items, position) => {
                *self.heap.items(items).entry_checks.get(position as usize)?
            }
        }
    }

    /// The object that a view shows, and where an element or entry of the view is there.
    fn viewed(&self, object: ObjectId, place: MemberRef) -> Option<(ObjectId, MemberRef)> {
        let view = self.heap.object(object);
        let original = view.parent.filter(|_| view.is_view())?;
        Some((original, self.place_in(original, place)?))
    }

    /// Where an element or entry of one object is in another one that has all of them.
    fn place_in(&self, object: ObjectId, place: MemberRef) -> Option<MemberRef> {
        let items = self.heap.object(object).items?;
        match place {
            MemberRef::Element(_, position) => Some(MemberRef::Element(items, position)),
            MemberRef::Entry(_, position) => Some(MemberRef::Entry(items, position)),
            MemberRef::Property(_) => None,
        }
    }

    /// Evaluates a definition for a receiver, without looking at or filling any cache.
    pub(crate) fn run_member(
        &mut self,
        member: &'ir Member,
        definer: ObjectId,
        env: Option<EnvId>,
        this: Value,
        key: Value,
    ) -> Result<Value> {
        match member.source {
            MemberSource::Expr(_)
            | MemberSource::Matched(_)
            | MemberSource::Bodies(_)
            | MemberSource::Default => {
                let code = self.store.member_code(member);
                let base = self.push_frame(code.frame_size);
                let frame = Frame { this, owner: definer, env, base, key, member: Some(member), alias: None };
                let result = self.eval(code, code.root, &frame);
                self.stack.truncate(base);
                result.map_err(|error| error.leave(|| self.member_name(member, definer)))
            }
            MemberSource::Given => {
                let env = env.expect("a given member has its value in its environment");
                Ok(self.heap.env_values(env)[0])
            }
            MemberSource::ModuleAt | MemberSource::ResourceAt => {
                let env = env.expect("a member that a pattern found has its URI in its environment");
                let uri = self.heap.env_values(env)[0];
                self.found_member(member.source, uri)
            }
            MemberSource::Forward => {
                let env = env.expect("a forwarded member has its object in its environment");
                let [object, name] = self.heap.env_values(env)[..] else {
                    panic!("a forwarded member's environment is an object and a name")
                };
                let name = self.store.symbol(self.str(name));
                self.read_property(object, name)
            }
            MemberSource::External => self.native_property(member, definer, this),
            MemberSource::Class(position) => {
                let module = self.module_of(member.module);
                self.class_at(module, position as usize).map(Value::Class)
            }
            MemberSource::Alias(position) => {
                let module = self.module_of(member.module);
                Ok(Value::TypeAlias(self.alias_at(module, position as usize)))
            }
            MemberSource::Import(position) => {
                let module = self.module_of(member.module);
                let ir = self.module(module).ir;
                let import = &ir.imports[position as usize];
                self.import(ir, &import.uri, import.glob).map_err(|error| {
                    // That a module is abstract is seen where it is used.
                    if error.code == ErrorCode::InvalidClass && error.pending.is_none() {
                        return error;
                    }
                    error.locate(ir.id, import.span).leave(|| ir.name.to_string())
                })
            }
        }
    }

    fn check_property_value(&mut self, object: ObjectId, slot: &Slot<'ir>, value: Value) -> Result<Value> {
        if mutant!(PropertyUnchecked) {
            return Ok(value);
        }
        let class = self.heap.object(object).class;
        let (member, owner, env) = match slot.member.key {
            Some(PropertyKey::Local(_)) if slot.member.ty.is_some() => (slot.member, slot.definer, slot.env),
            Some(PropertyKey::Local(_)) => return Ok(value),
            _ => {
                let Some(name) = self.slot_name(object, slot) else { return Ok(value) };
                match self.heap.class(class).properties.get(&name).and_then(|property| property.typed) {
                    Some((member, declaring)) => (member, self.class_definer(declaring), None),
                    None => return Ok(value),
                }
            }
        };
        let Some(code) = self.store.member_type(member) else { return Ok(value) };
        let fresh = self.makes_object(slot.member);
        let base = self.push_frame(code.frame_size);
        let frame = Frame {
            this: Value::Object(object),
            owner,
            env,
            base,
            key: Value::NULL,
            member: None,
            alias: None,
        };
        let ty = code.ty.expect("the code of a type has a type");
        let result = self.check_value(value, code, ty, &frame, fresh);
        self.stack.truncate(base);
        result.map_err(|error| {
            let error = error.leave(|| self.member_name(member, owner));
            self.place_of_value(error, slot)
        })
    }

    /// The span of a definition's value.
    pub(crate) fn value_span(&self, member: &'ir Member) -> pkl_parser::Span {
        match member.source {
            MemberSource::Expr(_) | MemberSource::Matched(_) => {
                let code = self.store.member_code(member);
                code.spans[code.root as usize]
            }
            _ => member.name_span,
        }
    }

    /// The object whose body is that of a class: its prototype.
    pub(crate) fn class_definer(&self, class: ClassId) -> ObjectId {
        self.heap.class(class).prototype
    }

    /// The name of a property, given its slot; a given member doesn't know its own.
    fn slot_name(&self, object: ObjectId, slot: &Slot<'ir>) -> Option<Symbol> {
        match slot.member.key {
            Some(PropertyKey::Named(name)) => Some(name),
            Some(PropertyKey::Local(_)) => None,
            None => {
                let object = self.heap.object(object);
                let shape = self.heap.shapes.get(object.shape);
                shape.keys().iter().zip(object.slots..).find_map(|(key, index)| match key {
                    PropertyKey::Named(name) if self.heap.slot(index).env == slot.env => Some(*name),
                    _ => None,
                })
            }
        }
    }

    /// Whether a definition's value is an object that nothing else has seen.
    fn makes_object(&self, member: &'ir Member) -> bool {
        match member.source {
            MemberSource::Bodies(_) | MemberSource::Default => true,
            MemberSource::Expr(_) | MemberSource::Matched(_) => {
                let code = self.store.member_code(member);
                matches!(code.exprs[code.root as usize], Expr::New { .. } | Expr::Amend { .. })
            }
            _ => false,
        }
    }

    /// A property of any value, by name.
    pub(crate) fn read_property(&mut self, receiver: Value, name: Symbol) -> Result<Value> {
        match self.find_property(receiver, name)? {
            Some(value) => Ok(value),
            None => Err(self.unknown_property(receiver, name)?),
        }
    }

    /// A property of any value, or `None` if it has none of this name.
    pub(crate) fn find_property(&mut self, receiver: Value, name: Symbol) -> Result<Option<Value>> {
        if let Value::Object(object) = receiver
            && let Some(index) = self.heap.find_property(object, PropertyKey::Named(name))
        {
            return self.force(object, MemberRef::Property(index)).map(Some);
        }
        let class = self.class_of(receiver)?;
        let Some(property) = self.heap.class(class).properties.get(&name).copied() else { return Ok(None) };
        let definer = self.class_definer(property.class);
        self.enter()?;
        let result = self.run_member(property.member, definer, None, receiver, Value::NULL);
        self.leave();
        result.map(Some)
    }

    /// The inherited value of a property for a receiver: what the parents of `owner` define.
    pub(crate) fn super_property(
        &mut self,
        owner: ObjectId,
        key: PropertyKey,
        this: Value,
    ) -> Result<Option<Value>> {
        let Some(mut parent) = self.heap.object(owner).parent else { return Ok(None) };
        if mutant!(SuperSkipsLevel) {
            parent = self.heap.object(parent).parent.unwrap_or(parent);
        }
        let this = if mutant!(SuperReceiver) { Value::Object(parent) } else { this };
        match self.heap.find_property(parent, key) {
            Some(index) => {
                let slot = *self.heap.slot(index);
                self.enter()?;
                let result = self.run_member(slot.member, slot.definer, slot.env, this, Value::NULL);
                self.leave();
                result.map(Some)
            }
            None => {
                let PropertyKey::Named(name) = key else { return Ok(None) };
                let class = self.heap.object(parent).class;
                let Some(property) = self.heap.class(class).properties.get(&name).copied() else {
                    return Ok(None);
                };
                let definer = self.class_definer(property.class);
                self.run_member(property.member, definer, None, this, Value::NULL).map(Some)
            }
        }
    }

    /// The inherited value of an element or entry for a receiver.
    pub(crate) fn super_item(&mut self, owner: ObjectId, key: Value, this: Value) -> Result<Option<Value>> {
        let Some(parent) = self.heap.object(owner).parent else { return Ok(None) };
        let Some(place) = self.find_item(parent, key)? else { return Ok(None) };
        let this = if mutant!(SuperItemReceiver) { Value::Object(parent) } else { this };
        let slot = *self.slot_at(place);
        self.enter()?;
        let result = self.run_member(slot.member, slot.definer, slot.env, this, key);
        self.leave();
        result.map(Some)
    }

    /// Where an object has an element or entry.
    pub(crate) fn find_item(&mut self, object: ObjectId, key: Value) -> Result<Option<MemberRef>> {
        let Some(items) = self.heap.object(object).items else { return Ok(None) };
        let class = self.heap.object(object).class;
        if let Value::Int(index) = key
            && !self.is_known(class, Known::Mapping)
            && let Ok(position) = u32::try_from(index)
            && (position as usize) < self.heap.items(items).elements.len()
        {
            return Ok(Some(MemberRef::Element(items, position)));
        }
        if self.heap.items(items).entries.is_empty() {
            return Ok(None);
        }
        let hash = self.hash(key)?;
        let candidates: Vec<(usize, Value)> = self.heap.items(items).candidates(hash).collect();
        for (position, candidate) in candidates {
            if self.same(candidate, key)? {
                let position = u32::try_from(position).expect("positions are u32 numbers");
                return Ok(Some(MemberRef::Entry(items, position)));
            }
        }
        Ok(None)
    }

    /// An element or entry of an object.
    pub(crate) fn item(&mut self, object: ObjectId, key: Value) -> Result<Option<Value>> {
        match self.find_item(object, key)? {
            Some(place) => self.force(object, place).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn undefined(&self, member: &'ir Member, this: Value) -> Failure {
        let name = member.name.map(|name| self.text_of(name)).unwrap_or_default();
        let message = format!("Tried to read property `{name}` but its value is undefined.");
        let mut error = Raised::new(ErrorCode::UndefinedValue, message);
        if let (Value::Object(object), Some(name)) = (this, member.name) {
            error.undefined = Some((object, name));
        }
        error.locate(member.module, member.name_span)
    }
}
