//! Objects made of values that are there already.

use pkl_parser::ast::ModifierKind;

use super::amend::narrow;
use super::{Known, Vm};
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::{Items, Object, Order, PropertyKey, Slot};
use crate::ir::Member;
use crate::value::{ClassId, ItemsId, ObjectId, Value};

impl<'ir> Vm<'ir> {
    /// A member that has this value, whatever the receiver. It isn't read yet.
    pub(crate) fn given(&mut self, object: ObjectId, value: Value) -> Slot<'ir> {
        self.given_by(self.store.given(), object, value)
    }

    /// The same, defined by a spread.
    pub(super) fn given_by(&mut self, member: &'ir Member, object: ObjectId, value: Value) -> Slot<'ir> {
        let env = self.heap.add_env(None, &[value]);
        super::amend::slot(member, object, Some(env))
    }

    /// An object with these elements.
    pub(crate) fn make_listing(&mut self, values: &[Value]) -> Result<Value> {
        let class = self.known(Known::Listing)?;
        let object = self.new_instance(class);
        let elements = values.iter().map(|&value| self.given(object, value)).collect();
        self.set_items(object, Items { elements, ..Items::default() });
        Ok(Value::Object(object))
    }

    /// A `Mapping` with these entries.
    pub(crate) fn make_mapping(&mut self, entries: &[(Value, Value)]) -> Result<Value> {
        let class = self.known(Known::Mapping)?;
        let object = self.new_instance(class);
        self.give_entries(object, entries, Vec::new())?;
        Ok(Value::Object(object))
    }

    fn give_entries(
        &mut self,
        object: ObjectId,
        entries: &[(Value, Value)],
        order: Vec<Order>,
    ) -> Result<ItemsId> {
        let mut items = Items { order, ..Items::default() };
        for &(key, value) in entries {
            let hash = self.hash(key)?;
            let slot = self.given(object, value);
            items.push_entry(hash, key, slot);
        }
        self.set_items(object, items);
        Ok(self.heap.object(object).items.expect("it was just set"))
    }

    /// A `Dynamic` with these members.
    pub(crate) fn make_dynamic(
        &mut self,
        properties: &[(pkl_parser::Symbol, Value)],
        entries: &[(Value, Value)],
        elements: &[Value],
    ) -> Result<Value> {
        let class = self.known(Known::Dynamic)?;
        let object = self.new_instance(class);
        self.give_properties(object, properties);
        if !entries.is_empty() || !elements.is_empty() {
            let shape = self.heap.object(object).shape;
            let mut order: Vec<Order> =
                self.heap.shapes.get(shape).keys().iter().copied().map(Order::Property).collect();
            order.extend((0..entries.len()).map(|position| Order::Entry(narrow(position))));
            order.extend((0..elements.len()).map(|position| Order::Element(narrow(position))));
            let items = self.give_entries(object, entries, order)?;
            for &value in elements {
                let slot = self.given(object, value);
                self.heap.items_mut(items).elements.push(slot);
            }
        }
        Ok(Value::Object(object))
    }

    /// Gives an object properties whose values are those of another one, evaluated when they are read.
    pub(crate) fn forward_properties(
        &mut self,
        object: ObjectId,
        source: ObjectId,
        names: impl IntoIterator<Item = pkl_parser::Symbol>,
    ) {
        let names: Vec<_> = names.into_iter().collect();
        let shape = self.heap.object(object).shape;
        let keys = names.iter().map(|name| PropertyKey::Named(*name));
        let grown = self.heap.shapes.grow_once(shape, keys);
        self.regrow(object, grown);
        for name in names {
            let text = self.text_of(name);
            let values = [Value::Object(source), self.heap.string(text)];
            let env = self.heap.add_env(None, &values);
            let member = self.store.forward();
            let slot = super::amend::slot(member, object, Some(env));
            self.put_property(object, PropertyKey::Named(name), slot);
        }
    }

    /// Gives a new instance of a class the values that its visible properties have by default: those that aren't
    /// `given` follow no other property of the object, whoever amends it.
    pub(crate) fn settle_defaults(&mut self, object: ObjectId, given: &[pkl_parser::Symbol]) {
        let class = self.heap.object(object).class;
        let properties = self.heap.class(class).properties.iter();
        let computed = properties.filter(|(_, property)| {
            property.member.source_is_code() && !property.modifiers.contains(ModifierKind::Hidden)
        });
        let names: Vec<_> = computed.map(|(name, _)| *name).filter(|name| !given.contains(name)).collect();
        let follows = |name: &pkl_parser::Symbol| {
            let found = self.heap.find_property(object, PropertyKey::Named(*name));
            found.is_some_and(|index| !self.is_same_for_all(object, index))
        };
        let names: Vec<_> = names.into_iter().filter(follows).collect();
        if !names.is_empty() {
            let defaults = self.new_instance(class);
            self.forward_properties(object, defaults, names);
        }
    }

    /// An object that is as another one was before any of its members was evaluated.
    pub(crate) fn unevaluated_copy(&mut self, object: ObjectId) -> ObjectId {
        let original = self.heap.object(object);
        let (class, shape, slots, items) = (original.class, original.shape, original.slots, original.items);
        let (enclosing_this, enclosing_owner) = (original.enclosing_this, original.enclosing_owner);
        let (check, env, body, role) = (original.check, original.env, original.body, original.role);
        let len = self.heap.shapes.get(shape).len();
        let slots = self.heap.inherit_slots(slots, len);
        let items = items.map(|items| {
            let copy = self.heap.items(items).inherit(None);
            self.heap.charge(copy.size());
            self.heap.add_items(copy)
        });
        let parent = Some(object);
        self.heap.add_object(Object {
            class,
            parent,
            enclosing_this,
            enclosing_owner,
            shape,
            slots,
            items,
            check,
            env,
            body,
            role,
            forced: false,
        })
    }

    /// An instance of a class with these properties; the others have their defaults.
    pub(crate) fn make_typed(&mut self, class: ClassId, properties: &[(pkl_parser::Symbol, Value)]) -> Value {
        let object = self.new_instance(class);
        self.give_properties(object, properties);
        Value::Object(object)
    }

    fn give_properties(&mut self, object: ObjectId, properties: &[(pkl_parser::Symbol, Value)]) {
        let shape = self.heap.object(object).shape;
        let keys = properties.iter().map(|(name, _)| PropertyKey::Named(*name));
        let grown = self.heap.shapes.grow_once(shape, keys);
        self.regrow(object, grown);
        for &(name, value) in properties {
            let slot = self.given(object, value);
            self.put_property(object, PropertyKey::Named(name), slot);
        }
    }

    /// An object that is as another one is, of which no member was read.
    pub(crate) fn twin(&mut self, object: ObjectId) -> ObjectId {
        let original = self.heap.object(object);
        let (class, parent, shape, slots) = (original.class, original.parent, original.shape, original.slots);
        let (enclosing_this, enclosing_owner) = (original.enclosing_this, original.enclosing_owner);
        let (env, body, role) = (original.env, original.body, original.role);
        debug_assert!(original.items.is_none(), "elements would have to be copied");
        let len = self.heap.shapes.get(shape).len();
        let slots = self.heap.inherit_slots(slots, len);
        self.heap.add_object(Object {
            class,
            parent,
            enclosing_this,
            enclosing_owner,
            shape,
            slots,
            items: None,
            check: None,
            env,
            body,
            role,
            forced: false,
        })
    }

    /// An instance of a class that defines nothing itself.
    pub(crate) fn new_instance(&mut self, class: ClassId) -> ObjectId {
        let prototype = self.heap.class(class).prototype;
        self.instantiate_prototype(class, prototype, false)
    }

    /// Whether a class can be instantiated.
    pub(crate) fn check_instantiable(&self, class: ClassId) -> Result<()> {
        let modifiers = self.heap.class(class).modifiers;
        if modifiers.contains(ModifierKind::Abstract) {
            let message = format!("Cannot instantiate abstract class `{}`.", self.class_name(class));
            let hint = "Abstract classes cannot be instantiated.\nInstead, instantiate a concrete subclass.";
            return Err(Raised::new(ErrorCode::InvalidClass, message).with_hint(hint));
        }
        if modifiers.contains(ModifierKind::External) {
            return Err(self.not_instantiable(class));
        }
        Ok(())
    }
}
