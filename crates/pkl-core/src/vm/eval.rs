//! Expressions.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{Frame, Known, Memo, Vm};
use crate::error::{ErrorCode, Raised, Result};
use crate::heap::{Function, FunctionKind, MapBuffer, PropertyKey};
use crate::host::TraceMode;
use crate::ir::{BinaryOp, Code, Collect, Expr, ExprIx, Inferred, Lambda, Lexical, Part, Site};
use crate::mutants::mutant;
use crate::value::{EnvId, ObjectId, Value};

/// How much of the buffer for interpolated strings is kept.
const MAX_SCRATCH: usize = 1 << 16;

/// How many parameters a function literal may have.
const MAX_PARAMETERS: usize = 5;

impl<'ir> Vm<'ir> {
    /// Evaluates an expression; an error learns where it happened.
    #[inline]
    pub(crate) fn eval(&mut self, code: &'ir Code, ix: ExprIx, frame: &Frame<'ir>) -> Result<Value> {
        match self.eval_inner(code, ix, frame) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.locate(code.module, code.spans[ix as usize])),
        }
    }

    fn eval_inner(&mut self, code: &'ir Code, ix: ExprIx, frame: &Frame<'ir>) -> Result<Value> {
        match &code.exprs[ix as usize] {
            Expr::Null => Ok(Value::NULL),
            Expr::Bool(value) => Ok(Value::Bool(*value)),
            Expr::Int(value) => Ok(Value::Int(*value)),
            Expr::Float(value) => Ok(Value::Float(*value)),
            Expr::String(text, site) => Ok(self.literal(text, *site)),
            Expr::Local(slot) => Ok(self.stack[frame.base + *slot as usize]),
            Expr::Captured { depth, index } => Ok(self.captured(frame.env, *depth, *index)),
            Expr::This => Ok(frame.this),
            Expr::Binary { op, left, right } => self.binary(code, *op, *left, *right, frame),
            Expr::If { condition, then, otherwise } => {
                let chosen = if self.eval_condition(code, *condition, frame)? { then } else { otherwise };
                self.eval(code, *chosen, frame)
            }
            Expr::Lexical(lexical) => self.lexical(code, *lexical, frame),
            Expr::CallLexical { level, name, args } => {
                let (this, _) = self.at_level(frame, *level);
                let found = self.method_of(this, *name)?;
                let base = self.push_args(code, args, frame)?;
                self.call_found(found, this, base, Some((code, ix)))
            }
            Expr::CallLocal { level, method, args } => {
                let (this, owner) = self.at_level(frame, *level);
                let base = self.push_args(code, args, frame)?;
                let env = self.heap.object(owner).env;
                self.warn_of_deprecated(method, Some((code, ix)))?;
                self.run_method(method, this, owner, env, base)
            }
            Expr::CallMethod { receiver, name, args, null_safe } => {
                let receiver = self.eval(code, *receiver, frame)?;
                if *null_safe && receiver.is_null() {
                    return Ok(Value::NULL);
                }
                let found = self.method_of(receiver, *name)?;
                let base = self.push_args(code, args, frame)?;
                self.call_found(found, receiver, base, Some((code, ix)))
            }
            Expr::Property { receiver, name, null_safe } => {
                let receiver = self.eval(code, *receiver, frame)?;
                if *null_safe && receiver.is_null() {
                    Ok(Value::NULL)
                } else {
                    self.read_property(receiver, *name)
                }
            }
            Expr::Let { slot, ty, value, body } => {
                let mut value = self.eval(code, *value, frame)?;
                if let Some(ty) = ty {
                    value = self.check(value, code, *ty, frame)?;
                }
                self.stack[frame.base + *slot as usize] = value;
                self.eval(code, *body, frame)
            }
            other => self.eval_rare(code, other, ix, frame),
        }
    }

    #[inline(never)]
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of expression")]
    fn eval_rare(
        &mut self,
        code: &'ir Code,
        expr: &'ir Expr,
        ix: ExprIx,
        frame: &Frame<'ir>,
    ) -> Result<Value> {
        match expr {
            Expr::Interpolated(parts) => self.interpolate(code, parts, frame),
            Expr::ThisAt(1) if mutant!(WrongOuter) => Ok(frame.this),
            Expr::ThisAt(level) => Ok(self.at_level(frame, *level).0),
            Expr::Sometimes { lexical, otherwise } => {
                let (_, owner) = self.at_level(frame, lexical.level);
                let found = self.heap.find_property(owner, lexical.key);
                if found.is_some_and(|index| self.heap.slot(index).definer == owner) {
                    self.lexical(code, *lexical, frame)
                } else {
                    self.eval(code, *otherwise, frame)
                }
            }
            Expr::Implicit { name, this } => {
                let this = self.implicit_this(code, *this, frame)?;
                match self.find_property(this, *name)? {
                    Some(value) => Ok(value),
                    None => Err(self.unknown_name(code, *name, this)),
                }
            }
            Expr::Base { name, site } => self.base_property(*name, *site),
            Expr::SuperProperty { name } => {
                match self.super_property(frame.owner, PropertyKey::Named(*name), frame.this)? {
                    Some(value) => Ok(value),
                    None => Ok(Value::Object(self.empty_dynamic()?)),
                }
            }
            Expr::SuperSubscript(index) => {
                let key = self.eval(code, *index, frame)?;
                match self.super_item(frame.owner, key, frame.this)? {
                    Some(value) => Ok(value),
                    None => self.default_item(&Frame { key, ..*frame }),
                }
            }
            Expr::Inherited => self.inherited(frame),
            Expr::InferredParent(inferred) => self.inferred_parent(code, *inferred, frame),
            Expr::TypeDefault => self.declared_default(frame),
            Expr::CallBase { name, args, site } => {
                let base = self.push_args(code, args, frame)?;
                self.call_base(*name, *site, base)
            }
            Expr::CallImplicit { name, args, this } => {
                let this = self.implicit_this(code, *this, frame)?;
                let found = self.implicit_method(code, this, *name)?;
                let base = self.push_args(code, args, frame)?;
                self.call_found(found, this, base, Some((code, ix)))
            }
            Expr::CallSuper { name, args } => {
                let found = self.super_method(frame, *name)?;
                let base = self.push_args(code, args, frame)?;
                let definer = self.class_definer(found.class);
                let this = if mutant!(SuperMethodReceiver) { Value::Object(definer) } else { frame.this };
                self.call_found(found, this, base, Some((code, ix)))
            }
            Expr::Collect { kind, args } => self.collect(code, *kind, args, frame),
            Expr::Subscript { receiver, index } => {
                let receiver = self.eval(code, *receiver, frame)?;
                let index = self.eval(code, *index, frame)?;
                self.subscript(receiver, index)
            }
            Expr::NonNull(operand) => {
                let value = self.eval(code, *operand, frame)?;
                if value.is_null() {
                    return Err(Raised::new(
                        ErrorCode::TypeMismatch,
                        "Expected a non-null value, but got `null`.",
                    ));
                }
                Ok(value)
            }
            Expr::Unary { op, operand } => {
                let value = self.eval(code, *operand, frame)?;
                self.unary(*op, value)
            }
            Expr::Is { operand, ty } => {
                let value = self.eval(code, *operand, frame)?;
                self.is(value, code, *ty, frame).map(Value::Bool)
            }
            Expr::As { operand, ty } => {
                let value = self.eval(code, *operand, frame)?;
                self.check(value, code, *ty, frame)
            }
            Expr::Lambda { lambda, .. } if lambda.arity > MAX_PARAMETERS => {
                let message = "Function literals can have at most five parameters.";
                Err(Raised::new(ErrorCode::InvalidDeclaration, message))
            }
            Expr::Lambda { lambda, visible } => Ok(self.closure(lambda, *visible, frame)),
            Expr::New { ty, body } => {
                let parent = self.instance_parent(code, *ty, frame)?;
                let value = match body {
                    Some(body) => self.amend(parent, body, frame)?,
                    None => parent,
                };
                self.check_made(value, code, *ty, frame)
            }
            Expr::Amend { receiver, body } => {
                let parent = self.eval(code, *receiver, frame)?;
                self.amend(parent, body, frame)
            }
            Expr::Throw(message) => {
                let message = self.eval(code, *message, frame)?;
                match message {
                    Value::String(id) => Err(Raised::new(ErrorCode::Thrown, self.heap.text(id))),
                    other => Err(self.invalid_operand("throw", other)?),
                }
            }
            Expr::Trace(value) => self.traced(code, *value, ix, frame),
            Expr::Import { uri, glob, site } => match self.memo(*site) {
                Memo::Value(value) => Ok(value),
                _ => {
                    let ir = self.store.module(code.module);
                    let value = self.import(ir, uri, *glob)?;
                    self.remember(*site, Memo::Value(value));
                    Ok(value)
                }
            },
            Expr::Read { kind, uri } => {
                let uri = self.eval(code, *uri, frame)?;
                self.read(code.module, *kind, uri)
            }
            Expr::NotConst(what) => Err(self.not_const(*what)),
            Expr::ConstMember { receiver, member, then } => {
                let receiver = self.eval(code, *receiver, frame)?;
                self.check_const(receiver, *member)?;
                self.eval(code, *then, frame)
            }
            Expr::Misplaced(word) => {
                let message = match *word {
                    "outer" => "Top-level scope does not have an outer scope.".to_owned(),
                    word => format!("`{word}` cannot be used here."),
                };
                Err(Raised::new(ErrorCode::InvalidMember, message))
            }
            Expr::Null
            | Expr::Bool(_)
            | Expr::Int(_)
            | Expr::Float(_)
            | Expr::String(..)
            | Expr::Local(_)
            | Expr::Captured { .. }
            | Expr::This
            | Expr::Binary { .. }
            | Expr::If { .. }
            | Expr::Lexical(_)
            | Expr::CallLexical { .. }
            | Expr::CallLocal { .. }
            | Expr::CallMethod { .. }
            | Expr::Property { .. }
            | Expr::Let { .. } => unreachable!("handled by the caller"),
        }
    }

    /// A condition, which must be a `Boolean`.
    pub(crate) fn eval_condition(&mut self, code: &'ir Code, ix: ExprIx, frame: &Frame<'ir>) -> Result<bool> {
        match self.eval(code, ix, frame)? {
            Value::Bool(value) => Ok(value),
            other => {
                let class = self.known(Known::Boolean)?;
                Err(self.mismatch(class, other)?.locate(code.module, code.spans[ix as usize]))
            }
        }
    }

    fn literal(&mut self, text: &Arc<str>, site: Site) -> Value {
        if let Memo::Value(value) = self.memo(site) {
            return value;
        }
        let value = self.heap.string(Arc::clone(text));
        self.remember(site, Memo::Value(value));
        value
    }

    #[inline]
    fn captured(&self, env: Option<EnvId>, depth: u32, index: u32) -> Value {
        let mut id = env.expect("code that uses captured variables has them");
        if mutant!(WrongCapture)
            && depth > 0
            && let Some(&value) = self.heap.env_values(id).get(index as usize)
        {
            return value;
        }
        for _ in 0..depth {
            id = self.heap.env_parent(id).expect("an environment is as deep as its scopes");
        }
        self.heap.env_values(id)[index as usize]
    }

    /// The receiver and the definer so many objects outward.
    #[inline]
    pub(crate) fn at_level(&self, frame: &Frame<'ir>, level: u32) -> (Value, ObjectId) {
        let (mut this, mut owner) = (frame.this, frame.owner);
        for _ in 0..level {
            let object = self.heap.object(owner);
            this = object.enclosing_this;
            owner = object.enclosing_owner.unwrap_or(owner);
        }
        (this, owner)
    }

    fn lexical(&mut self, code: &'ir Code, lexical: Lexical, frame: &Frame<'ir>) -> Result<Value> {
        let (this, owner) = self.at_level(frame, lexical.level);
        if let Value::Object(object) = this
            && let Some(index) = self.heap.find_property(object, lexical.key)
        {
            return self.force(object, super::MemberRef::Property(index));
        }
        match lexical.key {
            PropertyKey::Named(name) => match self.find_property(this, name)? {
                Some(value) => Ok(value),
                None => Err(self.unknown_name(code, name, this)),
            },
            // A local of a class whose instances aren't objects, or of a prototype.
            PropertyKey::Local(_) => match self.heap.find_property(owner, lexical.key) {
                Some(index) => {
                    let slot = *self.heap.slot(index);
                    self.run_member(slot.member, slot.definer, slot.env, this, Value::NULL)
                }
                None => Err(self.unknown_property(this, lexical.name)?),
            },
        }
    }

    fn implicit_this(&mut self, code: &'ir Code, this: Option<ExprIx>, frame: &Frame<'ir>) -> Result<Value> {
        match this {
            Some(variable) => self.eval(code, variable, frame),
            None => Ok(frame.this),
        }
    }

    fn base_property(&mut self, name: pkl_parser::Symbol, site: Site) -> Result<Value> {
        if let Memo::Value(value) = self.memo(site) {
            return Ok(value);
        }
        let base = self.base_module()?;
        let object = self.module_object(base)?;
        let value = self.read_property(Value::Object(object), name)?;
        self.remember(site, Memo::Value(value));
        Ok(value)
    }

    /// Puts arguments on the stack and returns where they begin.
    fn push_args(&mut self, code: &'ir Code, args: &[ExprIx], frame: &Frame<'ir>) -> Result<usize> {
        let base = self.stack.len();
        for &arg in args {
            let value = self.eval(code, arg, frame)?;
            self.stack.push(value);
        }
        Ok(base)
    }

    pub(crate) fn closure(&mut self, lambda: &'ir Lambda, visible: u32, frame: &Frame<'ir>) -> Value {
        let env = if visible == 0 {
            frame.env
        } else {
            let values = &self.stack[frame.base..frame.base + visible as usize];
            Some(self.heap.add_env(frame.env, values))
        };
        let kind = FunctionKind::Lambda { lambda, this: frame.this, owner: frame.owner, env };
        Value::Function(self.heap.add_function(Function { arity: lambda.arity, kind }))
    }

    fn interpolate(&mut self, code: &'ir Code, parts: &'ir [Part], frame: &Frame<'ir>) -> Result<Value> {
        let mut text = std::mem::take(&mut self.scratch);
        let result = self.interpolate_into(&mut text, code, parts, frame);
        let value = result.map(|()| self.heap.string(text.as_str()));
        text.clear();
        text.shrink_to(MAX_SCRATCH);
        self.scratch = text;
        value
    }

    fn interpolate_into(
        &mut self,
        text: &mut String,
        code: &'ir Code,
        parts: &'ir [Part],
        frame: &Frame<'ir>,
    ) -> Result<()> {
        for part in parts {
            self.check_room(text.len())?;
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Expr(expr) => match self.eval(code, *expr, frame)? {
                    Value::String(id) => text.push_str(self.heap.text(id)),
                    Value::Int(number) => {
                        let _infallible = write!(text, "{number}");
                    }
                    other => {
                        let shown = self
                            .display_text(other)
                            .map_err(|error| error.locate(code.module, code.spans[*expr as usize]))?;
                        text.push_str(&shown);
                    }
                },
            }
        }
        Ok(())
    }

    fn collect(
        &mut self,
        code: &'ir Code,
        kind: Collect,
        args: &[ExprIx],
        frame: &Frame<'ir>,
    ) -> Result<Value> {
        let base = self.push_args(code, args, frame)?;
        let values = self.stack[base..].to_vec();
        self.stack.truncate(base);
        match kind {
            Collect::List => Ok(Value::List(self.heap.add_list(values))),
            Collect::Set => self.make_set(&values),
            Collect::Map => {
                if !values.len().is_multiple_of(2) {
                    let message = "Number of `Map()` arguments must be a multiple of two: `Map(key1, value1, key2, value2, ..., keyN, valueN)`";
                    return Err(Raised::new(ErrorCode::WrongArgumentCount, message));
                }
                let pairs: Vec<(Value, Value)> =
                    values.as_chunks::<2>().0.iter().map(|[key, value]| (*key, *value)).collect();
                self.make_map(&pairs)
            }
            Collect::Bytes => {
                let mut bytes = Vec::with_capacity(values.len());
                for (value, arg) in values.into_iter().zip(args) {
                    match value {
                        Value::Int(number) if u8::try_from(number).is_ok() => {
                            bytes.push(u8::try_from(number).unwrap_or_default());
                        }
                        Value::Int(_) => {
                            let shown = self.show(value)?;
                            let message =
                                format!("Type constraint `isBetween(0, 255)` violated.\nValue: {shown}");
                            return Err(Raised::new(ErrorCode::ConstraintViolated, message)
                                .locate(code.module, code.spans[*arg as usize]));
                        }
                        other => {
                            let class = self.known(Known::Int)?;
                            return Err(self.mismatch(class, other)?);
                        }
                    }
                }
                Ok(Value::Bytes(self.heap.add_bytes(bytes.into())))
            }
        }
    }

    /// A set of these items in order, each once.
    pub(crate) fn make_set(&mut self, values: &[Value]) -> Result<Value> {
        let mut buffer = MapBuffer::default();
        for &value in values {
            let hash = self.hash(value)?;
            if self.find_in(&buffer, hash, value)?.is_none() || mutant!(SetKeepsRepeated) {
                buffer.push(hash, value, None);
            }
        }
        Ok(Value::Set(self.heap.add_set_buffer(buffer)))
    }

    /// A map of these entries in order; a later value of a key replaces an earlier one.
    pub(crate) fn make_map(&mut self, pairs: &[(Value, Value)]) -> Result<Value> {
        let mut buffer = MapBuffer::with_room(pairs.len());
        for &(key, value) in pairs {
            let hash = self.hash(key)?;
            match self.find_in(&buffer, hash, key)? {
                Some(_) if mutant!(MapKeepsFirst) => {}
                Some(position) => buffer.values[position] = value,
                None => buffer.push(hash, key, Some(value)),
            }
        }
        Ok(Value::Map(self.heap.add_map_buffer(buffer)))
    }

    fn find_in(&mut self, buffer: &MapBuffer, hash: u64, key: Value) -> Result<Option<usize>> {
        for (position, candidate) in buffer.candidates(hash) {
            if self.same(candidate, key)? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    fn traced(&mut self, code: &'ir Code, value: ExprIx, ix: ExprIx, frame: &Frame<'ir>) -> Result<Value> {
        let result = self.eval(code, value, frame)?;
        let shown = match self.trace_mode {
            TraceMode::Compact => self.show(result)?,
            TraceMode::Pretty => self.show_lines(result)?,
        };
        let module = self.store.module(code.module);
        let span = code.spans[value as usize];
        let (line, ..) = crate::store::line_of(module, code.spans[ix as usize].start);
        let source = span.text(&module.source);
        let told = match self.trace_mode {
            TraceMode::Compact => format!("{source} = {shown} "),
            TraceMode::Pretty => super::show::equation(source, &shown),
        };
        (self.trace)(&format!("TRACE: {told}({}, line {line})", module.uri));
        Ok(result)
    }

    fn inherited(&mut self, frame: &Frame<'ir>) -> Result<Value> {
        let member = frame.member.expect("only a member's own code refers to what it inherits");
        if let Some(key) = member.key {
            return match self.super_property(frame.owner, key, frame.this)? {
                Some(value) => Ok(value),
                None => self.declared_default(frame),
            };
        }
        match self.super_item(frame.owner, frame.key, frame.this)? {
            Some(value) => Ok(value),
            None => self.default_item(frame),
        }
    }

    /// What `default` of the receiver gives for the key or index being defined.
    fn default_item(&mut self, frame: &Frame<'ir>) -> Result<Value> {
        match self.find_property(frame.this, self.words.default)? {
            Some(Value::Function(_)) if mutant!(DefaultIgnored) => Ok(Value::Object(self.empty_dynamic()?)),
            Some(function @ Value::Function(_)) if mutant!(DefaultKeyWrong) => {
                self.apply(function, &[Value::Int(0)])
            }
            Some(function @ Value::Function(_)) => self.apply(function, &[frame.key]).map_err(|mut error| {
                if let (ErrorCode::UndefinedValue, None, Value::Object(object)) =
                    (error.code, error.undefined, frame.this)
                {
                    error.undefined = Some((object, self.words.default));
                }
                error
            }),
            Some(other) => Ok(other),
            None => Ok(Value::Object(self.empty_dynamic()?)),
        }
    }

    fn inferred_parent(&mut self, code: &'ir Code, inferred: Inferred, frame: &Frame<'ir>) -> Result<Value> {
        match (inferred, frame.member) {
            (Inferred::Type(ty), _) => match self.default_of_type(code, ty, frame)? {
                Some(value) => Ok(value),
                None => Err(unknown_parent()),
            },
            (Inferred::Member, Some(member)) if member.key.is_none() => self.default_item(frame),
            (Inferred::Member, Some(_)) => self.property_default(frame),
            _ => Err(unknown_parent()),
        }
    }

    fn binary(
        &mut self,
        code: &'ir Code,
        op: BinaryOp,
        left: ExprIx,
        right: ExprIx,
        frame: &Frame<'ir>,
    ) -> Result<Value> {
        let left = self.eval(code, left, frame)?;
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let Value::Bool(first) = left else {
                    return Err(self.invalid_left_operand(op.as_str(), left)?);
                };
                if first == (op == BinaryOp::Or) {
                    if mutant!(LogicIsEager) {
                        self.eval(code, right, frame)?;
                    }
                    return Ok(left);
                }
                let right = self.eval(code, right, frame)?;
                match right {
                    Value::Bool(_) => Ok(right),
                    _ => Err(self.invalid_operands(op.as_str(), left, right)?),
                }
            }
            BinaryOp::Coalesce => {
                if left.is_null() {
                    return self.eval(code, right, frame);
                }
                if mutant!(CoalesceIsEager) {
                    self.eval(code, right, frame)?;
                }
                Ok(left)
            }
            BinaryOp::Pipe => {
                let right = self.eval(code, right, frame)?;
                match right {
                    Value::Function(_) => self.apply(right, &[left]),
                    _ => Err(self.invalid_operands("|>", left, right)?),
                }
            }
            _ => {
                let right = self.eval(code, right, frame)?;
                self.operate(op, left, right)
            }
        }
    }
}

pub(super) fn unknown_parent() -> crate::error::Failure {
    Raised::new(ErrorCode::UnknownParent, "Cannot tell which parent to amend.").with_hint(
        "Please specify a parent explicitly, for example `new Person { ... }` instead of `new { ... }`.",
    )
}
