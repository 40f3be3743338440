//! Checking values to types.

use rustc_hash::{FxHashMap, FxHashSet};

use super::amend::ObjectKind;
use super::force::Undefined;
use super::{Frame, Known, Resolved, Vm};
use crate::error::{ErrorCode, Failure, Raised, Result};
use crate::ir::{Code, Ty, TyIx};
use crate::mutants::mutant;
use crate::value::{CheckId, ClassId, EnvId, ModuleId, ObjectId, TypeAliasId, Value};

/// The application of an alias to type arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AppliedId(u32);

/// A type and what it needs to be checked later.
#[derive(Clone, Copy)]
pub(crate) struct TypeRef<'ir> {
    pub(crate) code: &'ir Code,
    pub(crate) ty: TyIx,
    pub(super) this: Value,
    pub(super) owner: ObjectId,
    pub(super) env: Option<EnvId>,
    /// The variables of the frame.
    pub(super) locals: Option<EnvId>,
    pub(super) alias: Option<AppliedId>,
}

#[derive(Clone, Copy)]
struct Applied<'ir> {
    code: &'ir Code,
    args: &'ir [TyIx],
    frame: Frame<'ir>,
}

/// The types of this evaluation that are checked lazily, and what is known of checks.
#[derive(Default)]
pub(crate) struct Checks<'ir> {
    pub(super) refs: Vec<TypeRef<'ir>>,
    /// Types that depend on nothing around them are one.
    pub(super) interned: FxHashMap<(usize, TyIx), CheckId>,
    applied: Vec<Applied<'ir>>,
    /// The default instances of classes.
    pub(super) instances: FxHashMap<ClassId, ObjectId>,
    /// Calls of deprecated methods that have been told: module, place and method.
    pub(super) warned: FxHashSet<(crate::ir::IrId, u32, usize)>,
    /// Modules whose declarations have been verified.
    pub(super) verified: FxHashSet<ModuleId>,
    /// The objects of annotations, by module and place.
    pub(super) annotations: FxHashMap<(ModuleId, u32), Vec<Value>>,
    /// Bodies whose properties objects of a class can have.
    pub(super) bodies: FxHashSet<(ClassId, usize)>,
}

/// How thorough a check is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Members of listings and mappings are checked when they are read.
    Lazy {
        /// The value is an object that nothing else has seen.
        fresh: bool,
    },
    /// Everything is checked now.
    Eager,
}

impl<'ir> Vm<'ir> {
    /// Checks a value to a type; the result is the value, or a view of it that checks its members.
    pub(crate) fn check(
        &mut self,
        value: Value,
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
    ) -> Result<Value> {
        self.check_in(value, code, ty, frame, Mode::Lazy { fresh: false })
    }

    pub(crate) fn check_value(
        &mut self,
        value: Value,
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
        fresh: bool,
    ) -> Result<Value> {
        self.check_in(value, code, ty, frame, Mode::Lazy { fresh })
    }

    /// `value is type`
    pub(crate) fn is(&mut self, value: Value, code: &'ir Code, ty: TyIx, frame: &Frame<'ir>) -> Result<bool> {
        let result = self.attempt(|vm| vm.check_in(value, code, ty, frame, Mode::Eager));
        decide(result)
    }

    pub(super) fn check_in(
        &mut self,
        value: Value,
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
        mode: Mode,
    ) -> Result<Value> {
        let result = self.check_type(value, code, ty, frame, mode);
        result.map_err(|error| error.locate(code.module, code.type_spans[ty as usize]))
    }

    fn check_type(
        &mut self,
        value: Value,
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
        mode: Mode,
    ) -> Result<Value> {
        match &code.types[ty as usize] {
            Ty::Unknown | Ty::Variable(_) => Ok(value),
            Ty::Named { path, args, site } => match self.resolve_named(code.module, path, *site)? {
                Resolved::Class(class) => {
                    self.check_class(value, class)?;
                    if args.is_empty() { Ok(value) } else { self.check_args(value, code, args, frame, mode) }
                }
                Resolved::Alias(alias) => self.check_alias(value, alias, code, args, frame, mode),
            },
            Ty::Nullable(inner) => {
                if value.is_null() {
                    Ok(value)
                } else {
                    self.check_in(value, code, *inner, frame, mode)
                }
            }
            Ty::Constrained { base, slot, constraints } => {
                let value = self.check_in(value, code, *base, frame, mode)?;
                self.stack[frame.base + *slot as usize] = value;
                for &constraint in constraints {
                    self.stack[frame.base + *slot as usize] = value;
                    self.check_constraint(value, code, constraint, frame)?;
                }
                Ok(value)
            }
            Ty::Union { members, literals, .. } => match (literals, value) {
                (Some(literals), Value::String(id)) if literals.contains(self.heap.text(id)) => Ok(value),
                (Some(_), _) => {
                    // It is looked up among the literals by its hash, which is that of everything in it.
                    self.force_deep(value, Undefined::Fails).map_err(fatal)?;
                    Err(self.union_mismatch(value, code, ty)?)
                }
                (None, _) => self.check_union(value, code, ty, members, frame, mode),
            },
            Ty::StringLiteral(text) => match value {
                Value::String(id) if self.heap.text(id) == &**text => Ok(value),
                _ => Err(self.union_mismatch(value, code, ty)?),
            },
            Ty::Module(level) => {
                let (module, _) = self.at_level(frame, *level);
                let class = self.class_of(module)?;
                self.check_class(value, class)?;
                Ok(value)
            }
            Ty::Nothing => {
                let class = self.class_of(value)?;
                let (name, shown) = (self.class_name(class), self.show_shallow(value)?);
                let message = format!(
                    "Expected `nothing`, but got type `{name}`.\n\n`nothing` is typically used as the return type of functions that throw errors.\nValue: {shown}"
                );
                Err(Raised::new(ErrorCode::TypeMismatch, message))
            }
            Ty::AliasParameter(position) => match self.argument(frame, *position) {
                Some((code, ty, frame)) => self.check_in(value, code, ty, &frame, mode),
                None => Ok(value),
            },
            Ty::Function { params, .. } => {
                let expected = [
                    Known::Function0,
                    Known::Function1,
                    Known::Function2,
                    Known::Function3,
                    Known::Function4,
                    Known::Function5,
                ];
                let class = self.known(expected[params.len().min(5)])?;
                self.check_class(value, class)?;
                Ok(value)
            }
        }
    }

    pub(super) fn argument(
        &self,
        frame: &Frame<'ir>,
        position: u32,
    ) -> Option<(&'ir Code, TyIx, Frame<'ir>)> {
        let applied = &self.checks.applied[frame.alias?.0 as usize];
        let ty = *applied.args.get(position as usize)?;
        Some((applied.code, ty, applied.frame))
    }

    pub(crate) fn check_class(&mut self, value: Value, class: ClassId) -> Result<()> {
        let actual = self.class_of(value)?;
        let refused = mutant!(SubclassRefused) && matches!(value, Value::Object(_));
        if actual == class || (self.is_subclass(actual, class) && !refused) {
            Ok(())
        } else {
            Err(self.mismatch(class, value)?)
        }
    }

    fn check_constraint(
        &mut self,
        value: Value,
        code: &'ir Code,
        constraint: u32,
        frame: &Frame<'ir>,
    ) -> Result<()> {
        let mut result = self.eval(code, constraint, frame).map_err(fatal)?;
        if let Value::Function(_) = result {
            result = self
                .apply(result, &[value])
                .map_err(|error| fatal(error.locate(code.module, code.spans[constraint as usize])))?;
        }
        match result {
            Value::Bool(true) => Ok(()),
            Value::Bool(false) if mutant!(ConstraintsIgnored) => Ok(()),
            Value::Bool(false) => {
                let module = self.store.module(code.module);
                let span = code.spans[constraint as usize];
                let shown = self.show_shallow(value)?;
                let text = span.text(&module.source);
                let message = format!("Type constraint `{text}` violated.\nValue: {shown}");
                Err(Raised::new(ErrorCode::ConstraintViolated, message).locate(code.module, span))
            }
            other => {
                let class = self.class_of(other)?;
                let (name, shown) = (self.class_name(class), self.show_shallow(other)?);
                let message = format!(
                    "Expected value of type `Boolean` or `Function`, but got type `{name}`.\nValue: {shown}"
                );
                let error = Raised::new(ErrorCode::TypeMismatch, message);
                Err(fatal(error.locate(code.module, code.spans[constraint as usize])))
            }
        }
    }

    fn check_alias(
        &mut self,
        value: Value,
        alias: TypeAliasId,
        code: &'ir Code,
        args: &'ir [TyIx],
        frame: &Frame<'ir>,
        mode: Mode,
    ) -> Result<Value> {
        // An alias of itself ends like a call of itself.
        self.enter()?;
        let (target, inner) = self.enter_alias(alias, code, args, frame)?;
        let ty = target.ty.expect("the code of a type has a type");
        let result = self.check_in(value, target, ty, &inner, mode);
        self.stack.truncate(inner.base);
        self.leave();
        result
    }

    /// The type that an alias stands for, and a frame on the stack in which it is checked.
    pub(super) fn enter_alias(
        &mut self,
        alias: TypeAliasId,
        code: &'ir Code,
        args: &'ir [TyIx],
        frame: &Frame<'ir>,
    ) -> Result<(&'ir Code, Frame<'ir>)> {
        self.check_stack()?;
        let record = self.heap.alias(alias);
        let (ir, module) = (record.ir, record.module);
        let target = self.store.alias_type(ir);
        let object = self.module_object(module)?;
        let owner = self.module(module).definer.unwrap_or(object);
        let applied = if args.is_empty() {
            None
        } else {
            let id = AppliedId(u32::try_from(self.checks.applied.len()).expect("memory is limited"));
            self.heap.charge(size_of::<Applied<'_>>());
            self.checks.applied.push(Applied { code, args, frame: *frame });
            Some(id)
        };
        let base = self.push_frame(target.frame_size);
        let inner = Frame {
            this: Value::Object(object),
            owner,
            env: None,
            base,
            key: Value::NULL,
            member: None,
            alias: applied,
        };
        Ok((target, inner))
    }

    fn check_args(
        &mut self,
        value: Value,
        code: &'ir Code,
        args: &'ir [TyIx],
        frame: &Frame<'ir>,
        mode: Mode,
    ) -> Result<Value> {
        match value {
            Value::List(_) | Value::Set(_) => {
                if self.is_trivial(code, args[0]) || mutant!(ListUnchecked) {
                    return Ok(value);
                }
                let items = self.collection_items(value).unwrap_or_default();
                match self.check_all(&items, code, args[0], frame, mode)? {
                    None => Ok(value),
                    Some(checked) if matches!(value, Value::Set(_)) => self.make_set(&checked),
                    Some(checked) => Ok(Value::List(self.heap.add_list(checked))),
                }
            }
            Value::Map(id) => {
                let (keys, values) = (self.heap.map_keys(id).to_vec(), self.heap.map_values(id).to_vec());
                let checked_keys = self.check_all(&keys, code, args[0], frame, mode)?;
                let value_type = args.get(1).copied().unwrap_or(args[0]);
                let checked_values = self.check_all(&values, code, value_type, frame, mode)?;
                if checked_keys.is_none() && checked_values.is_none() {
                    return Ok(value);
                }
                let keys = checked_keys.unwrap_or(keys);
                let pairs: Vec<(Value, Value)> =
                    keys.into_iter().zip(checked_values.unwrap_or(values)).collect();
                self.make_map(&pairs)
            }
            Value::Pair(id) => {
                let (first, second) = *self.heap.pair(id);
                let new_first = self.check_in(first, code, args[0], frame, mode)?;
                let new_second =
                    self.check_in(second, code, args.get(1).copied().unwrap_or(args[0]), frame, mode)?;
                if identical(first, new_first) && identical(second, new_second) {
                    return Ok(value);
                }
                Ok(Value::Pair(self.heap.add_pair((new_first, new_second))))
            }
            Value::Object(object) => {
                let kind = self.object_kind(self.heap.object(object).class)?;
                match kind {
                    ObjectKind::Listing => self.check_object(object, code, args[0], frame, mode),
                    ObjectKind::Mapping => {
                        if !self.is_trivial(code, args[0]) {
                            let keys = self
                                .heap
                                .object(object)
                                .items
                                .map(|items| self.heap.items(items).keys.clone());
                            self.check_all(&keys.unwrap_or_default(), code, args[0], frame, mode)?;
                        }
                        match args.get(1) {
                            Some(&ty) => self.check_object(object, code, ty, frame, mode),
                            None => Ok(value),
                        }
                    }
                    _ => Ok(value),
                }
            }
            _ => Ok(value),
        }
    }

    /// Checks values one by one; `None` if none of them changes by it.
    fn check_all(
        &mut self,
        values: &[Value],
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
        mode: Mode,
    ) -> Result<Option<Vec<Value>>> {
        let mode = if mode == Mode::Eager { mode } else { Mode::Lazy { fresh: false } };
        let mut changed: Option<Vec<Value>> = None;
        for (position, &value) in values.iter().enumerate() {
            self.tick()?;
            let checked = self.check_in(value, code, ty, frame, mode)?;
            match &mut changed {
                Some(changed) => changed.push(checked),
                None if identical(value, checked) => {}
                None => {
                    let mut copy = values[..position].to_vec();
                    copy.push(checked);
                    changed = Some(copy);
                }
            }
        }
        Ok(changed)
    }

    /// Whether every value has a type, as far as can be seen without resolving more than a name.
    fn is_trivial(&mut self, code: &'ir Code, ty: TyIx) -> bool {
        match &code.types[ty as usize] {
            Ty::Unknown | Ty::Variable(_) => true,
            Ty::Nullable(inner) => self.is_trivial(code, *inner),
            Ty::Named { .. } => match self.resolve_type(code, ty) {
                Ok(Some(Resolved::Class(class))) => self.is_known(class, Known::Any),
                _ => false,
            },
            _ => false,
        }
    }

    /// Checks the elements or values of a listing or mapping, or sees to it that they are when read.
    fn check_object(
        &mut self,
        object: ObjectId,
        code: &'ir Code,
        ty: TyIx,
        frame: &Frame<'ir>,
        mode: Mode,
    ) -> Result<Value> {
        if self.is_trivial(code, ty) {
            return Ok(Value::Object(object));
        }
        let mode = if mutant!(ElementsCheckedEagerly) { Mode::Eager } else { mode };
        let Mode::Lazy { fresh } = mode else {
            let mut values = self.elements(object)?;
            values.extend(self.entries(object)?.into_iter().map(|(_, value)| value));
            for value in values {
                self.check_in(value, code, ty, frame, mode)?;
            }
            return Ok(Value::Object(object));
        };
        let check = self.type_ref(code, ty, frame);
        let record = self.heap.object(object);
        if record.check == Some(check) {
            return Ok(Value::Object(object));
        }
        if fresh && record.check.is_none() {
            self.heap.object_mut(object).check = Some(check);
            return Ok(Value::Object(object));
        }
        Ok(Value::Object(self.view(object, check)))
    }

    /// A value of a class was expected.
    pub(crate) fn mismatch(&mut self, expected: ClassId, value: Value) -> Result<Failure> {
        let name = self.class_name(expected);
        self.mismatch_text(&name, value)
    }

    pub(crate) fn mismatch_text(&mut self, expected: &str, value: Value) -> Result<Failure> {
        if value.is_null() {
            let message = format!("Expected value of type `{expected}`, but got `null`.");
            return Ok(Raised::new(ErrorCode::TypeMismatch, message));
        }
        let class = self.class_of(value)?;
        let (name, shown) = (self.class_name(class), self.show_shallow(value)?);
        let message = format!("Expected value of type `{expected}`, but got type `{name}`.\nValue: {shown}");
        Ok(Raised::new(ErrorCode::TypeMismatch, message))
    }
}

/// An error that isn't about the type, whatever it says.
fn fatal(mut error: Failure) -> Failure {
    error.fatal = true;
    error
}

/// Whether an error says no more than that a value isn't of a type.
pub(super) fn is_negative(error: &Failure) -> bool {
    !error.fatal && matches!(error.code, ErrorCode::TypeMismatch | ErrorCode::ConstraintViolated)
}

fn decide(result: Result<Value>) -> Result<bool> {
    match result {
        Ok(_) => Ok(true),
        Err(error) if is_negative(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether two values are one and the same.
fn identical(left: Value, right: Value) -> bool {
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => a == b,
        (Value::List(a), Value::List(b)) => a == b,
        (Value::Set(a), Value::Set(b)) => a == b,
        (Value::Map(a), Value::Map(b)) => a == b,
        (Value::Pair(a), Value::Pair(b)) => a == b,
        // A check changes no other kind of value.
        _ => true,
    }
}
