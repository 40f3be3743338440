//! One evaluation seen from outside: values as handles, read when they are asked for.

use pkl_data::tree::{ClassName, Tree};

use crate::error::{Error, ErrorCode, Failure, Raised, SourcePlace};
use crate::evaluator::{resolve_error, source_place};
use crate::export::{Export, Exporter};
use crate::heap::PropertyKey;
use crate::value::{ModuleId, ObjectId, Value};
use crate::vm::Vm;

/// A value of one evaluation; of no use in any other.
#[derive(Clone, Copy, Debug)]
pub struct Handle(pub(crate) Value);

/// Where a member's value was defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberPlaces {
    /// The definition that counts: that of the object which amended the member last.
    pub place: SourcePlace,
    /// The definitions that it overrides or amends, the nearest first.
    pub overridden: Vec<SourcePlace>,
}

/// An evaluation in progress.
pub struct Session<'s, 'ir> {
    vm: &'s mut Vm<'ir>,
    module: ModuleId,
    object: ObjectId,
}

impl<'s, 'ir> Session<'s, 'ir> {
    pub(crate) fn new(vm: &'s mut Vm<'ir>, module: ModuleId, object: ObjectId) -> Self {
        Self { vm, module, object }
    }

    pub(crate) fn vm(&mut self) -> &mut Vm<'ir> {
        self.vm
    }

    pub(crate) fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Vm<'ir>) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let result = self.vm.attempt(work);
        result.map_err(|failure| resolve_error(self.vm.store, failure))
    }

    /// The evaluated module.
    pub fn module(&self) -> Handle {
        Handle(Value::Object(self.object))
    }

    /// The evaluated module's name.
    pub fn name(&self) -> &str {
        &self.vm.module(self.module).ir.name
    }

    /// The evaluated module's URI.
    pub fn uri(&self) -> &str {
        &self.vm.module(self.module).ir.uri
    }

    /// An expression in the module's scope.
    ///
    /// # Errors
    /// Why it can't be parsed or evaluated.
    pub fn evaluate(&mut self, expression: &str) -> Result<Handle, Error> {
        let (module, object) = (self.module, self.object);
        self.attempt(|vm| vm.evaluate_expression(module, object, expression)).map(Handle)
    }

    /// The class of a value.
    ///
    /// # Errors
    /// If the library's declarations can't be evaluated.
    pub fn class_of(&mut self, value: Handle) -> Result<ClassName, Error> {
        self.attempt(|vm| {
            let class = vm.class_of(value.0)?;
            Ok(vm.class_name_of(class))
        })
    }

    /// A property of a value.
    ///
    /// # Errors
    /// If there is none, or why it can't be evaluated.
    pub fn property(&mut self, value: Handle, name: &str) -> Result<Handle, Error> {
        let name = self.vm.store.symbol(name);
        self.attempt(|vm| vm.read_property(value.0, name)).map(Handle)
    }

    /// A property of a value, or `None` if it has none of this name.
    ///
    /// # Errors
    /// Why it can't be evaluated.
    pub fn find_property(&mut self, value: Handle, name: &str) -> Result<Option<Handle>, Error> {
        let name = self.vm.store.symbol(name);
        Ok(self.attempt(|vm| vm.find_property(value.0, name))?.map(Handle))
    }

    /// Applies a function.
    ///
    /// # Errors
    /// If it takes another number of arguments, or why it fails.
    pub fn call(&mut self, function: Handle, args: &[Handle]) -> Result<Handle, Error> {
        let args: Vec<Value> = args.iter().map(|arg| arg.0).collect();
        self.attempt(|vm| vm.apply(function.0, &args)).map(Handle)
    }

    /// Calls a method.
    ///
    /// # Errors
    /// If there is none, or why it fails.
    pub fn call_method(&mut self, receiver: Handle, name: &str, args: &[Handle]) -> Result<Handle, Error> {
        let args: Vec<Value> = args.iter().map(|arg| arg.0).collect();
        let name = self.vm.store.symbol(name);
        self.attempt(|vm| vm.call_method(receiver.0, name, &args)).map(Handle)
    }

    /// A string as a value.
    pub fn string(&mut self, text: &str) -> Handle {
        Handle(self.vm.heap.string(text))
    }

    /// Where a property of an object was defined; `None` for what is no property of an object.
    pub fn place(&self, value: Handle, name: &str) -> Option<MemberPlaces> {
        let Value::Object(object) = value.0 else { return None };
        let key = PropertyKey::Named(self.vm.store.symbol(name));
        let mut places = Vec::new();
        let mut current = Some(object);
        let mut seen = None;
        while let Some(id) = current {
            let Some(index) = self.vm.heap.find_property(id, key) else { break };
            let slot = self.vm.heap.slot(index);
            if seen != Some(slot.definer) {
                seen = Some(slot.definer);
                places.push(source_place(self.vm.store, slot.member.module, slot.member.name_span));
            }
            current = self.vm.heap.object(slot.definer).parent;
        }
        let mut places = places.into_iter();
        Some(MemberPlaces { place: places.next()?, overridden: places.collect() })
    }

    /// A value as an owned tree, without converters.
    ///
    /// # Errors
    /// The first member that can't be evaluated.
    pub fn export(&mut self, value: Handle) -> Result<Tree, Error> {
        self.attempt(|vm| Exporter::new(Export::Strict, None).export(vm, value.0))
    }

    /// A value as an owned tree in which each member that fails is an error node.
    ///
    /// # Errors
    /// If a limit of the evaluation is reached.
    pub fn export_collecting(&mut self, value: Handle) -> Result<Tree, Error> {
        self.attempt(|vm| Exporter::new(Export::Collecting, None).export(vm, value.0))
    }

    /// A value as an interpolation shows it.
    ///
    /// # Errors
    /// Why it can't be shown.
    pub fn text_of(&mut self, value: Handle) -> Result<String, Error> {
        self.attempt(|vm| vm.display_text(value.0))
    }

    /// `output.text` of the module.
    ///
    /// # Errors
    /// Why it can't be evaluated.
    pub fn output_text(&mut self) -> Result<String, Error> {
        let module = self.object;
        self.attempt(|vm| {
            let output = vm.read_property(Value::Object(module), vm.words.output)?;
            let text = vm.read_property(output, vm.words.text)?;
            vm.host_text(text)
        })
    }

    /// `output.bytes` of the module.
    ///
    /// # Errors
    /// Why it can't be evaluated.
    pub fn output_bytes(&mut self) -> Result<Vec<u8>, Error> {
        let module = self.object;
        self.attempt(|vm| {
            let output = vm.read_property(Value::Object(module), vm.words.output)?;
            vm.output_bytes(output)
        })
    }

    /// Paths and contents of the files of `output.files`, in its order.
    ///
    /// # Errors
    /// Why one of them can't be evaluated.
    pub fn output_files(&mut self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let module = self.object;
        self.attempt(|vm| {
            let output = vm.read_property(Value::Object(module), vm.words.output)?;
            let files = vm.read_property(output, vm.words.files)?;
            let Value::Object(files) = files else { return Ok(Vec::new()) };
            let mut rendered = Vec::new();
            for (path, file) in vm.entries(files)? {
                let path = vm.host_text(path)?;
                let bytes = vm.output_bytes(file)?;
                rendered.push((path, bytes));
            }
            Ok(rendered)
        })
    }
}

impl Vm<'_> {
    fn output_bytes(&mut self, output: Value) -> Result<Vec<u8>, Failure> {
        let bytes = self.read_property(output, self.words.bytes)?;
        let bytes = match bytes {
            Value::Bytes(id) => self.heap.bytes_of(id).to_vec(),
            other => self.host_text(other)?.into_bytes(),
        };
        if bytes.len() > self.limits().output {
            return Err(Raised::new(ErrorCode::LimitExceeded, "The output is too long."));
        }
        Ok(bytes)
    }

    fn host_text(&mut self, value: Value) -> Result<String, Failure> {
        match value {
            Value::String(id) => Ok(self.heap.text(id).to_owned()),
            other => {
                let class = self.known(crate::vm::Known::String)?;
                Err(self.mismatch(class, other)?)
            }
        }
    }

    /// The name of a class outside of the evaluation.
    pub(crate) fn class_name_of(&self, class: crate::value::ClassId) -> ClassName {
        self.heap.class(class).full_name.clone()
    }
}
