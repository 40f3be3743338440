//! `Module`.

use super::{Table, args};
use crate::error::{ErrorCode, Raised, Result};
use crate::value::{ObjectId, Value};
use crate::vm::Vm;

pub(super) static METHODS: Table = &[("pkl.base#Module.relativePathTo", relative_path_to)];

pub(super) static PROPERTIES: Table = &[];

/// The URI of the module that an object is, or that it amends.
fn uri_of(vm: &Vm<'_>, mut object: ObjectId) -> std::sync::Arc<str> {
    loop {
        if let Some(state) = vm.modules.iter().find(|state| state.object == Some(object)) {
            return state.ir.uri.clone();
        }
        let record = vm.heap.object(object);
        match record.parent {
            Some(parent) => object = parent,
            None => return vm.module(vm.class(record.class).module).ir.uri.clone(),
        }
    }
}

/// The directories of a URI's path, with what comes before them.
fn directory(uri: &str) -> &str {
    uri.rfind('/').map_or("", |end| &uri[..=end])
}

/// The directories between a module's and another one's, which must lie below it.
fn relative_path_to(vm: &mut Vm<'_>, this: Value, args: &[Value]) -> Result<Value> {
    let (from, to) = (uri_of(vm, args::object(this)), uri_of(vm, args::object(args[0])));
    let (start, end) = (directory(&from), directory(&to));
    let Some(below) = (!start.is_empty()).then(|| end.strip_prefix(start)).flatten() else {
        let message = format!("No descendent path exists between modules `{from}` and `{to}`.");
        return Err(Raised::new(ErrorCode::InvalidArgument, message));
    };
    let names: Vec<String> = below.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let names = names.into_iter().map(|name| vm.heap.string(name)).collect();
    Ok(Value::List(vm.heap.add_list(names)))
}
