//! Values that all objects of a class with one definition have in common: literals, and constants made of
//! constants. They are evaluated once, and objects made later begin with them.

use pkl_parser::ast::ModifierKind;
use std::ptr;

use super::Vm;
use super::type_refs::stands_alone;
use crate::heap::{Cache, PropertyKey, Sharing};
use crate::ir::{Code, Expr, Member, MemberSource};
use crate::value::{ObjectId, Value};

impl Vm<'_> {
    /// Whether the value of a property is the same whatever the receiver: neither the definition nor the check of
    /// the declared type looks at it.
    pub(super) fn is_same_for_all(&self, object: ObjectId, index: u32) -> bool {
        let member = self.heap.slot(index).member;
        let MemberSource::Expr(_) = member.source else { return false };
        let code = self.store.member_code(member);
        if !is_literal(code) && !is_made_of_constants(member, code) {
            return false;
        }
        let class = self.heap.object(object).class;
        let typed = match member.key {
            Some(PropertyKey::Named(name)) => {
                let property = self.heap.class(class).properties.get(&name);
                property.and_then(|property| property.typed).map(|(typed, _)| typed)
            }
            Some(PropertyKey::Local(_)) => Some(member),
            None => return false,
        };
        match typed.and_then(|typed| self.store.member_type(typed)) {
            Some(code) => stands_alone(code, code.ty.expect("the code of a type has a type")),
            None => true,
        }
    }

    /// Lets the objects that an object amends, up to the definer, have the value of a property too, so that those
    /// made from them later begin with it.
    pub(super) fn share(&mut self, object: ObjectId, index: u32, value: Value) {
        let first = *self.heap.slot(index);
        let record = self.heap.object(object);
        let (class, position) = (record.class, index - record.slots);
        let mut current = Some(object);
        while let Some(id) = current {
            let record = self.heap.object(id);
            let (slots, parent) = (record.slots, record.parent);
            // Shapes grow at their ends, so that a property that both have is at one position.
            if record.class != class || position as usize >= self.heap.shapes.get(record.shape).len() {
                return;
            }
            let slot = self.heap.slot_mut(slots + position);
            let same = ptr::eq(slot.member, first.member) && slot.definer == first.definer;
            if !same || slot.sharing != Sharing::Own {
                return;
            }
            slot.sharing = match slot.cache {
                Cache::Ready(_) => Sharing::Read,
                Cache::Empty => Sharing::Unread,
                Cache::Busy => return,
            };
            slot.cache = Cache::Ready(value);
            current = if id == first.definer { None } else { parent };
        }
    }
}

fn is_literal(code: &Code) -> bool {
    matches!(
        code.exprs[code.root as usize],
        Expr::Null | Expr::Bool(_) | Expr::Int(_) | Expr::Float(_) | Expr::String(..)
    )
}

/// Whether a `const` definition uses nothing but other constants. What makes objects and functions is left out:
/// they know where they were made.
fn is_made_of_constants(member: &Member, code: &Code) -> bool {
    let is_constant = |expr: &Expr| {
        matches!(
            expr,
            Expr::Null
                | Expr::Bool(_)
                | Expr::Int(_)
                | Expr::Float(_)
                | Expr::String(..)
                | Expr::Interpolated(_)
                | Expr::Local(_)
                | Expr::Lexical(_)
                | Expr::Base { .. }
                | Expr::Property { .. }
                | Expr::Collect { .. }
                | Expr::NonNull(_)
                | Expr::Unary { .. }
                | Expr::Binary { .. }
                | Expr::If { .. }
        )
    };
    member.modifiers.contains(ModifierKind::Const) && code.exprs.iter().all(is_constant)
}
