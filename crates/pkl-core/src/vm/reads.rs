//! Imports and reads.

use std::sync::Arc;

use super::{Known, Vm};
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::Items;
use crate::host::Resource;
use crate::ir::{IrId, Member, MemberSource, ModuleIr, ReadKind};
use crate::value::Value;

impl<'ir> Vm<'ir> {
    /// The absolute form of a URI that is written in a module.
    pub(crate) fn resolve_uri(&self, module: &ModuleIr, uri: &str) -> Result<String> {
        self.readers.resolve_module(&module.uri, uri)
    }

    /// `import("uri")`, `import*("pattern")`
    pub(crate) fn import(&mut self, module: &'ir ModuleIr, uri: &str, glob: bool) -> Result<Value> {
        if glob {
            return self.import_glob(module, uri);
        }
        let absolute = self.resolve_uri(module, uri)?;
        let id = self.load_module(&absolute)?;
        let object = self.module_object(id)?;
        if !absolute.starts_with("pkl:") {
            self.check_instantiable(self.heap.object(object).class)?;
        }
        Ok(Value::Object(object))
    }

    fn import_glob(&mut self, module: &'ir ModuleIr, pattern: &str) -> Result<Value> {
        let key = format!("import {} {pattern}", module.uri);
        if let Some(&known) = self.globs.get(&key) {
            return Ok(known);
        }
        let found = self.readers.glob_modules(&module.uri, pattern, self.deadline())?;
        let member = self.store.module_at();
        let value = self.lazy_mapping(found, member)?;
        self.globs.insert(key, value);
        Ok(value)
    }

    /// A mapping whose values are read when they are needed.
    fn lazy_mapping(&mut self, found: Vec<(String, String)>, member: &'ir Member) -> Result<Value> {
        let class = self.known(Known::Mapping)?;
        let object = self.new_instance(class);
        let mut items = Items::default();
        for (name, uri) in found {
            let key = self.heap.string(name);
            let hash = self.hash(key)?;
            let uri = self.heap.string(uri);
            let env = self.heap.add_env(None, &[uri]);
            items.push_entry(hash, key, super::amend::slot(member, object, Some(env)));
        }
        self.set_items(object, items);
        Ok(Value::Object(object))
    }

    /// The value of a member that a pattern found.
    pub(crate) fn found_member(&mut self, source: MemberSource, uri: Value) -> Result<Value> {
        let Value::String(id) = uri else { return Ok(uri) };
        let uri = self.heap.shared_text(id);
        if matches!(source, MemberSource::ModuleAt) {
            let module = self.load_module(&uri)?;
            return self.module_object(module).map(Value::Object);
        }
        Ok(self.read_absolute(&uri)?.unwrap_or(Value::NULL))
    }

    /// `read(uri)`, `read?(uri)`, `read*(pattern)`
    pub(crate) fn read(&mut self, module: IrId, kind: ReadKind, uri: Value) -> Result<Value> {
        let Value::String(id) = uri else {
            return Err(self.invalid_operand("read", uri)?);
        };
        let text = self.heap.shared_text(id);
        let module = self.store.module(module);
        if kind == ReadKind::Glob {
            return self.read_glob(module, &text);
        }
        let absolute = self.readers.resolve_resource(&module.uri, &text)?;
        match self.read_absolute(&absolute)? {
            Some(value) => Ok(value),
            None if kind == ReadKind::Nullable => Ok(Value::NULL),
            None => {
                let message = format!("Cannot find resource `{text}`.");
                Err(Raised::new(ErrorCode::NotFound, message))
            }
        }
    }

    fn read_absolute(&mut self, uri: &str) -> Result<Option<Value>> {
        if let Some(&known) = self.resources.get(uri) {
            return Ok((!matches!(known, Value::Null(_))).then_some(known));
        }
        let value = match self.readers.read_resource(uri)? {
            None => None,
            Some(Resource::Text(text)) => Some(self.heap.string(text)),
            Some(Resource::Bytes(bytes)) => Some(self.resource(uri, bytes)?),
            Some(Resource::Found { uri, bytes }) => Some(self.resource(&uri, bytes)?),
        };
        if self.readers.is_memoised(uri) {
            self.resources.insert(uri.to_owned(), value.unwrap_or(Value::NULL));
        }
        Ok(value)
    }

    /// A `Resource`.
    pub(crate) fn resource(&mut self, uri: &str, bytes: Arc<[u8]>) -> Result<Value> {
        let class = self.known(Known::Resource)?;
        let uri = self.heap.string(uri);
        let text = self.heap.string(String::from_utf8_lossy(&bytes));
        let bytes = Value::Bytes(self.heap.add_bytes(bytes));
        let words = [self.words.uri, self.words.text, self.words.bytes];
        let properties: Vec<_> = words.into_iter().zip([uri, text, bytes]).collect();
        Ok(self.make_typed(class, &properties))
    }

    fn read_glob(&mut self, module: &'ir ModuleIr, pattern: &str) -> Result<Value> {
        let key = format!("read {} {pattern}", module.uri);
        if let Some(&known) = self.globs.get(&key) {
            return Ok(known);
        }
        let found = self.readers.glob_resources(&module.uri, pattern, self.deadline())?;
        let member = self.store.resource_at();
        let value = self.lazy_mapping(found, member)?;
        self.globs.insert(key, value);
        Ok(value)
    }
}
