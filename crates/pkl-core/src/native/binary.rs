//! `pkl:pklbinary`.

use pkl_data::render::binary;

use super::Table;
use super::render::{converted, render_failure};
use crate::error::Result;
use crate::value::Value;
use crate::vm::Vm;

pub(super) static METHODS: Table =
    &[("pkl.pklbinary#Renderer.renderDocument", render), ("pkl.pklbinary#Renderer.renderValue", render)];

fn render(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let tree = converted(vm, this, args[0])?;
    match binary::value(&tree, vm.limits().output) {
        Ok(bytes) => Ok(Value::Bytes(vm.heap.add_bytes(bytes.into()))),
        Err(error) => Err(render_failure(vm, args[0], &error)),
    }
}
