//! `Dynamic`.

use super::{Table, args, typed};
use crate::error::Result;
use crate::value::Value;
use crate::vm::{MemberKey, Vm};

pub(super) static METHODS: Table = &[
    ("pkl.base#Dynamic.length", length),
    ("pkl.base#Dynamic.hasProperty", typed::has_property),
    ("pkl.base#Dynamic.getProperty", typed::get_property),
    ("pkl.base#Dynamic.getPropertyOrNull", typed::get_property_or_null),
    ("pkl.base#Dynamic.toMap", to_map),
    ("pkl.base#Dynamic.toList", to_list),
    ("pkl.base#Dynamic.toTyped", to_typed),
];

pub(super) static PROPERTIES: Table = &[];

fn length(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    Ok(args::count(vm.element_count(args::object(this))))
}

fn to_map(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let object = args::object(this);
    let members = vm.members_of(object);
    vm.force_in_order(object, &members)?;
    let mut pairs = Vec::new();
    for (key, place) in members {
        // The elements aren't in the map, but they are read.
        let value = vm.force(object, place)?;
        let key = match key {
            MemberKey::Property(name) => {
                let name = vm.text_of(name);
                vm.heap.string(name)
            }
            MemberKey::Entry(key) => key,
            MemberKey::Element(_) => continue,
        };
        pairs.push((key, value));
    }
    vm.make_map(&pairs)
}

fn to_list(vm: &mut Vm<'_>, this: Value, _: &[Value]) -> Result<Value> {
    let elements = vm.elements(args::object(this))?;
    Ok(Value::List(vm.heap.add_list(elements)))
}

fn to_typed(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let class = args::class(args[0]);
    typed::check_typed(vm, class)?;
    let source = args::object(this);
    let names = typed::property_names(vm, source);
    let converted: Vec<_> = names.into_iter().filter(|name| typed::is_converted(vm, class, *name)).collect();
    let typed = vm.new_instance(class);
    vm.settle_defaults(typed, &converted);
    vm.forward_properties(typed, source, converted);
    Ok(Value::Object(typed))
}
