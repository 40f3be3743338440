//! The members of an object body that are computed when the object is made.

use super::amend::{Building, ObjectKind, duplicate, narrow, slot};
use super::subscript::out_of_range;
use super::{MemberRef, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{Order, PropertyKey, Slot};
use crate::ir::{Member, Op};
use crate::mutants::mutant;
use crate::value::{ClassId, EnvId, Value};

const NO_ELEMENT: &str = "Only objects of type `Listing` and `Dynamic` can have elements. If you did not mean to add an element, you probably got the syntax wrong. For example, `obj { name }` adds an element, whereas `obj { name = \"Pigeon\" }` sets a property.";
const NO_ENTRY: &str = "Only objects of type `Mapping` and `Dynamic` can have entries. If you did not mean to add an entry, you probably got the syntax wrong. For example, `obj { [\"name\"] = \"Pigeon\" }` adds an entry, whereas `obj { name = \"Pigeon\" }` sets a property.";

impl<'ir> Vm<'ir> {
    pub(super) fn run_ops(
        &mut self,
        building: &mut Building<'ir>,
        ops: &'ir [Op],
        env: Option<EnvId>,
    ) -> Result<()> {
        for op in ops {
            self.run_op(building, op, env)?;
        }
        Ok(())
    }

    fn run_op(&mut self, building: &mut Building<'ir>, op: &'ir Op, env: Option<EnvId>) -> Result<()> {
        let body = building.body;
        match op {
            Op::Property(member) => {
                let member = &body.members[*member as usize];
                self.check_property(building.kind, building.class, member)?;
                let key = member.key.expect("a property has a key");
                self.add_property(building, key, slot(member, building.object, env))
                    .map_err(|error| error.locate(member.module, member.name_span))
            }
            Op::Element(member) => {
                let member = &body.members[*member as usize];
                self.add_element(building, slot(member, building.object, env))
                    .map_err(|error| error.locate(member.module, member.span))
            }
            Op::Entry { key, member } => {
                let frame = building.frame;
                let key = self.eval(&body.code, *key, &frame)?;
                let member = &body.members[*member as usize];
                self.add_entry(building, key, slot(member, building.object, env))
                    .map_err(|error| error.locate(member.module, member.span))
            }
            Op::Predicate { slot, condition, member } => {
                let member = &body.members[*member as usize];
                self.run_predicate(building, *slot, *condition, member, env)
            }
            Op::Spread { value, nullable, member } => {
                let member = &body.members[*member as usize];
                let (frame, span) = (building.frame, member.span);
                let value = self.eval(&body.code, *value, &frame)?;
                if *nullable && value.is_null() {
                    return Ok(());
                }
                self.spread(building, member, value).map_err(|error| {
                    let error = error.locate(body.module, span);
                    if !value.is_null() {
                        return error;
                    }
                    let text = span.text(&self.store.module(body.module).source);
                    let text = text.trim_start_matches('.');
                    error.with_hint(format!(
                        "To guard against a nullable value, use `...?` instead of `...`.\nTry: `...?{text}`"
                    ))
                })
            }
            Op::When { condition, then, otherwise } => {
                let frame = building.frame;
                let holds = self.eval_condition(&body.code, *condition, &frame)?;
                if !holds && mutant!(ElseIgnored) {
                    return Ok(());
                }
                self.run_ops(building, if holds { then } else { otherwise }, env)
            }
            Op::For { key, value, iterable, body: ops } => {
                let frame = building.frame;
                let iterated = self.eval(&body.code, *iterable, &frame)?;
                let located = |error: Failure| error.locate(body.module, body.code.spans[*iterable as usize]);
                let pairs = self.iterate(iterated).map_err(located)?;
                let base = frame.base;
                for (item_key, item) in pairs {
                    let item_key = if mutant!(ForKeyIsValue) { item } else { item_key };
                    self.tick()?;
                    if let Some(variable) = key {
                        let item_key = match variable.ty {
                            Some(ty) => self.check(item_key, &body.code, ty, &frame)?,
                            None => item_key,
                        };
                        self.stack[base + variable.slot as usize] = item_key;
                    }
                    let item = match value.ty {
                        Some(ty) => self.check(item, &body.code, ty, &frame)?,
                        None => item,
                    };
                    self.stack[base + value.slot as usize] = item;
                    let first = base + body.first_slot as usize;
                    let outer =
                        if body.captures { self.outer_env(env, building) } else { building.frame.env };
                    let values = &self.stack[first..=base + value.slot as usize];
                    let iteration = self.heap.add_env(outer, values);
                    self.run_iteration(building, ops, iteration)?;
                }
                Ok(())
            }
        }
    }

    /// The environment of the body itself, of which `env` is that or an iteration's inside of it.
    fn outer_env(&self, env: Option<EnvId>, building: &Building<'ir>) -> Option<EnvId> {
        let mut current = env;
        while let Some(id) = current {
            if self.heap.env_parent(id) == building.frame.env {
                return current;
            }
            current = self.heap.env_parent(id);
        }
        current
    }

    fn run_iteration(&mut self, building: &mut Building<'ir>, ops: &'ir [Op], env: EnvId) -> Result<()> {
        self.run_ops(building, ops, Some(env))
    }

    fn add_property(
        &mut self,
        building: &mut Building<'ir>,
        key: PropertyKey,
        slot: Slot<'ir>,
    ) -> Result<()> {
        if building.property_keys.contains(&key) {
            let name = match key {
                PropertyKey::Named(name) => self.text_of(name),
                PropertyKey::Local(_) => slot.member.name.map(|name| self.text_of(name)).unwrap_or_default(),
            };
            return Err(duplicate(&name));
        }
        self.push_property(building, key, slot);
        Ok(())
    }

    pub(super) fn push_property(&self, building: &mut Building<'ir>, key: PropertyKey, slot: Slot<'ir>) {
        if self.heap.find_property(building.parent, key).is_none() {
            building.order.push(Order::Property(key));
        }
        building.property_keys.insert(key);
        building.properties.push((key, slot));
    }

    fn cannot_have(&self, class: ClassId, what: &str) -> Failure {
        let message = format!("Object of type `{}` cannot have {what}.", self.class_name(class));
        let hint = if what == "an entry" { NO_ENTRY } else { NO_ELEMENT };
        Raised::new(ErrorCode::InvalidMember, message).with_hint(hint)
    }

    pub(super) fn add_element(&mut self, building: &mut Building<'ir>, slot: Slot<'ir>) -> Result<()> {
        if !matches!(building.kind, ObjectKind::Dynamic | ObjectKind::Listing) {
            return Err(self.cannot_have(building.class, "an element"));
        }
        let index = narrow(building.items.elements.len());
        if building.generated && !building.items.entries.is_empty() {
            let hash = self.hash(Value::Int(index.into()))?;
            let taken = building.items.candidates(hash).any(|(position, key)| {
                (position >= building.inherited_entries || building.touched_entries.contains(&position))
                    && matches!(key, Value::Int(taken) if taken == i64::from(index))
            });
            if taken {
                return Err(duplicate(&index.to_string()));
            }
        }
        building.order.push(Order::Element(index));
        building.items.elements.push(slot);
        self.heap.charge(size_of::<Slot<'_>>());
        self.tick()
    }

    fn add_entry(&mut self, building: &mut Building<'ir>, key: Value, slot: Slot<'ir>) -> Result<()> {
        match (building.kind, key) {
            (ObjectKind::Typed, _) => Err(self.cannot_have(building.class, "an entry")),
            (ObjectKind::Listing | ObjectKind::Dynamic, Value::Int(index)) => {
                let count = match building.kind {
                    ObjectKind::Dynamic if building.generated => building.items.elements.len(),
                    _ => building.inherited_elements,
                };
                match usize::try_from(index).ok().filter(|index| *index < count) {
                    Some(index) if index >= building.inherited_elements && !mutant!(DuplicatesAllowed) => {
                        Err(duplicate(&index.to_string()))
                    }
                    Some(index) => override_element(building, index, slot),
                    None if building.kind == ObjectKind::Dynamic => self.put_entry(building, key, slot),
                    None => Err(out_of_range("Element", index, count)),
                }
            }
            (ObjectKind::Listing, other) => {
                let class = self.class_of(other)?;
                let name = self.class_name(class);
                let message = format!("Expected key of type `Int`, but got type `{name}`.");
                Err(Raised::new(ErrorCode::TypeMismatch, message))
            }
            _ => self.put_entry(building, key, slot),
        }
    }

    pub(super) fn put_entry(
        &mut self,
        building: &mut Building<'ir>,
        key: Value,
        slot: Slot<'ir>,
    ) -> Result<()> {
        let hash = self.hash(key)?;
        let candidates: Vec<(usize, Value)> = building.items.candidates(hash).collect();
        for (position, candidate) in candidates {
            if self.same(candidate, key)? {
                if mutant!(EntryOverrideIgnored) && position < building.inherited_entries {
                    return Ok(());
                }
                if (position >= building.inherited_entries || !building.touched_entries.insert(position))
                    && !mutant!(DuplicatesAllowed)
                {
                    let shown = self.show(key)?;
                    return Err(duplicate(&shown));
                }
                building.items.entries[position] = slot;
                if let Some(check) = building.items.entry_checks.get_mut(position) {
                    *check = None;
                }
                return Ok(());
            }
        }
        building.order.push(Order::Entry(narrow(building.items.entries.len())));
        building.items.push_entry(hash, key, slot);
        self.heap.charge(size_of::<Slot<'_>>() + 40);
        self.tick()
    }

    fn run_predicate(
        &mut self,
        building: &mut Building<'ir>,
        variable: u32,
        condition: u32,
        member: &'ir Member,
        env: Option<EnvId>,
    ) -> Result<()> {
        let frame = building.frame;
        let members = self.members_of(building.parent);
        for (_, place) in self.in_definition_order(building.parent, members) {
            if let MemberRef::Property(_) = place {
                continue;
            }
            let value = self.force_unchecked(building.parent, place)?;
            self.stack[frame.base + variable as usize] = value;
            if !self.eval_condition(&building.body.code, condition, &frame)? {
                continue;
            }
            let defined = slot(member, building.object, env);
            let result = match place {
                MemberRef::Element(_, position) => override_element(building, position as usize, defined),
                MemberRef::Entry(items, position) => {
                    let key = self.heap.items(items).keys[position as usize];
                    self.add_entry(building, key, defined)
                }
                MemberRef::Property(_) => Ok(()),
            };
            result.map_err(|error| error.locate(member.module, member.span))?;
            if mutant!(PredicateStopsEarly) {
                break;
            }
        }
        Ok(())
    }
}

/// Redefines an element that is there already.
fn override_element<'ir>(building: &mut Building<'ir>, index: usize, slot: Slot<'ir>) -> Result<()> {
    if !building.touched_elements.insert(index) {
        return Err(duplicate(&index.to_string()));
    }
    if mutant!(OverrideAppends) {
        building.items.elements.push(slot);
        return Ok(());
    }
    building.items.elements[index] = slot;
    if let Some(check) = building.items.element_checks.get_mut(index) {
        *check = None;
    }
    Ok(())
}
