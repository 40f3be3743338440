//! Types that are kept to check the members of a collection when they are read.

use std::ptr::from_ref;

use super::types::TypeRef;
use super::{Frame, Vm};
use crate::error::Result;
use crate::heap::Role;
use crate::ir::{Code, Ty, TyIx};
use crate::mutants::mutant;
use crate::value::{CheckId, ObjectId, Value};

impl<'ir> Vm<'ir> {
    /// An object that shows another one's members, checked.
    pub(super) fn view(&mut self, object: ObjectId, check: CheckId) -> ObjectId {
        let view = self.unevaluated_copy(object);
        let record = self.heap.object_mut(view);
        record.check = Some(check);
        record.role = Role::View;
        view
    }

    /// A type kept for later, with what it needs.
    pub(super) fn type_ref(&mut self, code: &'ir Code, ty: TyIx, frame: &Frame<'ir>) -> CheckId {
        let key = (from_ref(code).addr(), ty);
        let free = stands_alone(code, ty);
        if free && let Some(&known) = self.checks.interned.get(&key) {
            return known;
        }
        let locals = if free || code.frame_size == 0 {
            None
        } else {
            let values = &self.stack[frame.base..frame.base + code.frame_size as usize];
            Some(self.heap.add_env(None, values))
        };
        let id = CheckId::at(self.checks.refs.len());
        self.heap.charge(size_of::<TypeRef<'_>>());
        self.checks.refs.push(TypeRef {
            code,
            ty,
            this: frame.this,
            owner: frame.owner,
            env: frame.env,
            locals,
            alias: frame.alias,
        });
        if free {
            self.checks.interned.insert(key, id);
        }
        id
    }

    /// The kept type with a frame for it on the stack.
    pub(super) fn enter_type_ref(&mut self, id: CheckId) -> (TypeRef<'ir>, Frame<'ir>) {
        let kept = self.checks.refs[id.index()];
        let base = self.stack.len();
        if let Some(locals) = kept.locals {
            self.stack.extend_from_slice(self.heap.env_values(locals));
        }
        self.stack.resize(base + kept.code.frame_size as usize, Value::NULL);
        let frame = Frame {
            this: kept.this,
            owner: kept.owner,
            env: kept.env,
            base,
            key: Value::NULL,
            member: None,
            alias: kept.alias,
        };
        (kept, frame)
    }

    /// Checks an element or value of a collection that is being read.
    pub(crate) fn check_member(&mut self, check: CheckId, value: Value) -> Result<Value> {
        if mutant!(ElementsUnchecked) {
            return Ok(value);
        }
        let (kept, frame) = self.enter_type_ref(check);
        let result = self.check(value, kept.code, kept.ty, &frame);
        self.stack.truncate(frame.base);
        result.map_err(|error| error.leave(String::new))
    }
}

/// Whether checking a type depends on nothing around it.
pub(super) fn stands_alone(code: &Code, ty: TyIx) -> bool {
    match &code.types[ty as usize] {
        Ty::Unknown | Ty::Nothing | Ty::StringLiteral(_) | Ty::Variable(_) | Ty::Function { .. } => true,
        Ty::Module(_) | Ty::AliasParameter(_) | Ty::Constrained { .. } => false,
        Ty::Named { args, .. } => args.iter().all(|&arg| stands_alone(code, arg)),
        Ty::Nullable(inner) => stands_alone(code, *inner),
        Ty::Union { members, .. } => members.iter().all(|&member| stands_alone(code, member)),
    }
}
