//! Calls of methods and functions.

use pkl_parser::Symbol;

use super::{Frame, Known, Memo, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::heap::{ClassMethod, FunctionKind};
use crate::ir::{Code, ExprIx, Method, MethodKind, Site};
use crate::mutants::mutant;
use crate::value::{EnvId, FunctionId, ObjectId, Value};

/// An expression in a program.
pub(crate) type Place<'ir> = (&'ir Code, ExprIx);

pub(crate) fn wrong_count(expected: usize, got: usize) -> Failure {
    Raised::new(
        ErrorCode::WrongArgumentCount,
        format!("Expected {expected} function arguments but got {got}."),
    )
}

impl<'ir> Vm<'ir> {
    /// Calls a method by name with the arguments from `base` on. The place is that of the call, if it is written
    /// in a program.
    pub(crate) fn call_method_at(
        &mut self,
        receiver: Value,
        name: Symbol,
        base: usize,
        place: Option<Place<'ir>>,
    ) -> Result<Value> {
        let found = self.method_of(receiver, name)?;
        self.call_found(found, receiver, base, place)
    }

    /// The method of this name; that there is none is seen before arguments are evaluated.
    pub(super) fn method_of(&mut self, receiver: Value, name: Symbol) -> Result<ClassMethod<'ir>> {
        let class = self.class_of(receiver)?;
        match self.heap.class(class).methods.get(&name).copied() {
            Some(found) => Ok(found),
            None => Err(self.unknown_method(class, name)),
        }
    }

    /// Calls a method that was found, with the arguments from `base` on.
    pub(super) fn call_found(
        &mut self,
        found: ClassMethod<'ir>,
        receiver: Value,
        base: usize,
        place: Option<Place<'ir>>,
    ) -> Result<Value> {
        self.warn_of_deprecated(found.method, place)?;
        let owner = self.class_definer(found.class);
        self.run_method(found.method, receiver, owner, None, base)
    }

    /// Calls a method by name.
    pub(crate) fn call_method(&mut self, receiver: Value, name: Symbol, args: &[Value]) -> Result<Value> {
        let base = self.stack.len();
        self.stack.extend_from_slice(args);
        self.call_method_at(receiver, name, base, None)
    }

    /// The method that a call without receiver means, which isn't in scope: one of `this`.
    pub(super) fn implicit_method(
        &mut self,
        code: &'ir Code,
        receiver: Value,
        name: Symbol,
    ) -> Result<ClassMethod<'ir>> {
        let class = self.class_of(receiver)?;
        match self.heap.class(class).methods.get(&name).copied() {
            Some(found) => Ok(found),
            None => Err(self.unknown_call(code, name, receiver)),
        }
    }

    pub(crate) fn call_base(&mut self, name: Symbol, _site: Site, base: usize) -> Result<Value> {
        let module = self.base_module()?;
        let object = self.module_object(module)?;
        self.call_method_at(Value::Object(object), name, base, None)
    }

    /// The method that `super.name()` means.
    pub(super) fn super_method(&mut self, frame: &Frame<'ir>, name: Symbol) -> Result<ClassMethod<'ir>> {
        let owner = self.heap.object(frame.owner);
        if !owner.is_prototype() {
            return Err(Raised::new(ErrorCode::InvalidMember, "Cannot invoke a supermethod from here."));
        }
        let class = self.heap.class(owner.class).superclass;
        let found = class.and_then(|class| self.heap.class(class).methods.get(&name).copied());
        match found {
            Some(found) => Ok(found),
            None => match class {
                Some(class) => Err(self.unknown_method(class, name)),
                None => {
                    let name = self.text_of(name);
                    Err(Raised::new(ErrorCode::UnknownMethod, format!("Cannot find method `{name}`.")))
                }
            },
        }
    }

    /// Tells once for each place that calls it that a method is deprecated.
    #[inline]
    pub(crate) fn warn_of_deprecated(
        &mut self,
        method: &'ir Method,
        place: Option<Place<'ir>>,
    ) -> Result<()> {
        match place {
            Some((code, ix)) if method.annotated => self.warn_of_annotated(method, code, ix),
            _ => Ok(()),
        }
    }

    fn warn_of_annotated(&mut self, method: &'ir Method, code: &'ir Code, ix: ExprIx) -> Result<()> {
        let place = (code.module, code.spans[ix as usize].start, std::ptr::from_ref(method).addr());
        if !self.checks.warned.insert(place) {
            return Ok(());
        }
        let declared = self.store.module(method.module);
        let module = self.module_of(method.module);
        let annotations = declared.ast[method.ast].annotations;
        let deprecated = self.known(Known::Deprecated)?;
        for annotation in self.annotation_objects(module, &declared.scope, annotations)? {
            if self.class_of(annotation)? != deprecated {
                continue;
            }
            let message = self.store.symbol("message");
            let why = match self.read_property(annotation, message)? {
                Value::String(id) => format!(": {}", self.heap.text(id)),
                _ => String::new(),
            };
            let name = self.method_name(method);
            let caller = self.store.module(code.module);
            let (line, ..) = crate::store::line_of(caller, place.1);
            (self.trace)(&format!("WARN: Method `{name}` is deprecated{why} ({}, line {line})", caller.uri));
        }
        Ok(())
    }

    /// Runs a method whose arguments are on the stack from `base` on, and takes them off.
    pub(crate) fn run_method(
        &mut self,
        method: &'ir Method,
        this: Value,
        owner: ObjectId,
        env: Option<EnvId>,
        base: usize,
    ) -> Result<Value> {
        let got = self.stack.len() - base;
        if let (Value::Function(function), MethodKind::External) = (this, method.kind)
            && method.name == self.words.apply
        {
            let args = self.stack.split_off(base);
            return self.apply_function(function, &args);
        }
        if got != method.arity {
            let error = wrong_count(method.arity, got).locate(method.module, method.span);
            return Err(error.leave(|| self.method_name(method)));
        }
        self.enter()?;
        let result = self.run_method_body(method, this, owner, env, base);
        self.leave();
        self.stack.truncate(base);
        result
    }

    fn run_method_body(
        &mut self,
        method: &'ir Method,
        this: Value,
        owner: ObjectId,
        env: Option<EnvId>,
        base: usize,
    ) -> Result<Value> {
        let lowered = self.store.method_code(method);
        let code = &lowered.code;
        self.stack.resize(base + code.frame_size as usize, Value::NULL);
        let frame = Frame { this, owner, env, base, key: Value::NULL, member: None, alias: None };
        let leave = |vm: &Self, error: Failure| error.leave(|| vm.method_name(method));
        for (position, param) in lowered.params.iter().enumerate() {
            if let Some(ty) = param.ty
                && !mutant!(ArgumentsUnchecked)
            {
                let value = self.stack[base + position];
                match self.check(value, code, ty, &frame) {
                    Ok(checked) => self.stack[base + position] = checked,
                    Err(error) => return Err(leave(self, error)),
                }
            }
        }
        let result = match method.kind {
            MethodKind::Expr(_) => self.eval(code, code.root, &frame),
            MethodKind::External => {
                let mut args = [Value::NULL; 8];
                let args = &mut args[..method.arity];
                args.copy_from_slice(&self.stack[base..base + method.arity]);
                match self.native_method(method, owner) {
                    // A failure inside a library method is shown at the call.
                    Ok(native) => return native(self, this, args),
                    Err(error) => return Err(error),
                }
            }
            MethodKind::Abstract => {
                let message = format!("Cannot invoke abstract method `{}`.", self.method_name(method));
                Err(Raised::new(ErrorCode::InvalidMember, message).locate(method.module, method.span))
            }
        };
        let checked = match (result, lowered.result) {
            (Ok(value), Some(ty)) => self.check(value, code, ty, &frame),
            (result, _) => result,
        };
        checked.map_err(|error| leave(self, error))
    }

    fn native_method(&mut self, method: &'ir Method, owner: ObjectId) -> Result<crate::native::NativeMethod> {
        if let Memo::Native(native) = self.memo(method.site) {
            return Ok(native);
        }
        let name = self.native_name(owner, method.name);
        match crate::native::method(&name) {
            Some(native) => {
                self.remember(method.site, Memo::Native(native));
                Ok(native)
            }
            None => Err(Raised::new(ErrorCode::Unsupported, format!("Method `{name}` is not supported."))),
        }
    }

    /// The value of an `external` property.
    pub(crate) fn native_property(
        &mut self,
        member: &'ir crate::ir::Member,
        definer: ObjectId,
        this: Value,
    ) -> Result<Value> {
        let place = std::ptr::from_ref(member).addr();
        if let Some(native) = self.natives.get(&place) {
            return native(self, this, &[]);
        }
        let name = member.name.expect("an external property has a name");
        let name = self.native_name(definer, name);
        match crate::native::property(&name) {
            Some(native) => {
                self.natives.insert(place, native);
                native(self, this, &[])
            }
            None => Err(Raised::new(ErrorCode::Unsupported, format!("Property `{name}` is not supported."))),
        }
    }

    /// The name by which a native implementation is registered: `module#Class.member`, `module#member`.
    fn native_name(&self, owner: ObjectId, name: Symbol) -> String {
        let class = self.heap.class(self.heap.object(owner).class);
        let module = self.module(class.module).ir;
        let name = self.text_of(name);
        match class.kind {
            crate::heap::ClassKind::Module => format!("{}#{name}", module.name),
            crate::heap::ClassKind::Declared => {
                format!("{}#{}.{name}", module.name, self.text_of(class.name))
            }
        }
    }

    /// Applies a function value.
    pub(crate) fn apply(&mut self, function: Value, args: &[Value]) -> Result<Value> {
        let Value::Function(id) = function else {
            let class = self.known(Known::Function)?;
            return Err(self.mismatch(class, function)?);
        };
        self.apply_function(id, args)
    }

    /// Applies a function.
    pub(crate) fn apply_function(&mut self, id: FunctionId, args: &[Value]) -> Result<Value> {
        let function = self.heap.function(id);
        if function.arity != args.len() {
            let error = wrong_count(function.arity, args.len());
            return Err(match function.kind {
                FunctionKind::Lambda { lambda, .. } => {
                    error.locate(lambda.module, lambda.span).leave(|| self.function_name(lambda.module))
                }
                _ => error,
            });
        }
        let kind = function.kind;
        self.enter()?;
        let result = self.run_function(kind, args);
        self.leave();
        result
    }

    fn run_function(&mut self, kind: FunctionKind<'ir>, args: &[Value]) -> Result<Value> {
        match kind {
            FunctionKind::Identity(None) => Ok(args[0]),
            FunctionKind::Identity(Some(check)) => self.check_member(check, args[0]),
            FunctionKind::TypeDefault(check) => self.default_of_check(check),
            FunctionKind::Lambda { lambda, this, owner, env } => {
                let (params, code) = self.store.lambda_code(lambda);
                let base = self.stack.len();
                self.stack.extend_from_slice(args);
                self.stack.resize(base + code.frame_size as usize, Value::NULL);
                let frame = Frame { this, owner, env, base, key: Value::NULL, member: None, alias: None };
                let result = self.run_lambda(params, code, &frame);
                self.stack.truncate(base);
                result.map_err(|error| error.leave(|| self.function_name(lambda.module)))
            }
            FunctionKind::Amended { base: inner, body, this, owner, env, locals } => {
                let mut parent = self.apply_function(inner, args)?;
                if mutant!(AmendedFunctionForgets)
                    && let FunctionKind::Amended { base, .. } = self.heap.function(inner).kind
                {
                    parent = self.apply_function(base, args)?;
                }
                let base = self.stack.len();
                if let Some(locals) = locals {
                    self.stack.extend_from_slice(self.heap.env_values(locals));
                }
                let frame = Frame { this, owner, env, base, key: Value::NULL, member: None, alias: None };
                let wanted = self.store.body(body).params.len();
                let has_params = wanted > 0;
                if has_params && wanted != args.len() {
                    let message =
                        format!("Expected a function with {wanted} parameters, but got {}.", args.len());
                    let lowered = self.store.body(body);
                    return Err(Raised::new(ErrorCode::WrongArgumentCount, message)
                        .locate(lowered.module, lowered.span)
                        .leave(|| self.function_name(lowered.module)));
                }
                let result = match parent {
                    Value::Null(default) => {
                        let object = match default.map(|id| *self.heap.null_default(id)) {
                            Some(Value::Object(object)) => object,
                            _ => self.empty_dynamic()?,
                        };
                        self.amend_object(object, body, &frame, if has_params { args } else { &[] })
                            .map(Value::Object)
                    }
                    Value::Object(object) => self
                        .amend_object(object, body, &frame, if has_params { args } else { &[] })
                        .map(Value::Object),
                    other => self.amend(other, body, &frame),
                };
                self.stack.truncate(base);
                result.map_err(|error| {
                    let lowered = self.store.body(body);
                    error.locate(lowered.module, lowered.span).leave(|| self.function_name(lowered.module))
                })
            }
        }
    }

    fn run_lambda(
        &mut self,
        params: &'ir [crate::ir::Parameter],
        code: &'ir Code,
        frame: &Frame<'ir>,
    ) -> Result<Value> {
        for (position, param) in params.iter().enumerate() {
            if let Some(ty) = param.ty {
                let value = self.stack[frame.base + position];
                self.stack[frame.base + position] = self.check(value, code, ty, frame)?;
            }
        }
        self.eval(code, code.root, frame)
    }
}
