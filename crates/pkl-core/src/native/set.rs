//! What `Set` has and `List` lacks.

use super::{Table, args};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table =
    &[("pkl.base#Set.intersect", intersect), ("pkl.base#Set.difference", difference)];

pub(super) static PROPERTIES: Table = &[];

/// The items that both sets have, in the order of the shorter one.
fn intersect(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let length = |set| vm.heap.set(args::set(set)).len();
    let (shorter, longer) = if length(args[0]) < length(this) { (args[0], this) } else { (this, args[0]) };
    chosen(vm, shorter, longer, true)
}

fn difference(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    chosen(vm, this, args[0], false)
}

/// The items that another set has, or those that it lacks.
fn chosen(vm: &mut Vm<'_>, this: Value, other: Value, contained: bool) -> Result<Value> {
    let mut items = Vec::new();
    for item in vm.heap.set(args::set(this)).to_vec() {
        vm.tick()?;
        if vm.set_contains(args::set(other), item)? == contained {
            items.push(item);
        }
    }
    vm.make_set(&items)
}
