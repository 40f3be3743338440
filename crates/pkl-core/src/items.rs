//! The members of an object as a session shows them, each with the code that defines it.

use crate::error::{Error, SourcePlace};
use crate::evaluator::source_place;
use crate::ir::MemberSource;
use crate::session::{Handle, Session};
use crate::value::{ObjectId, Value};
use crate::vm::{MemberKey, MemberRef};
use pkl_parser::Span;

/// A member of an object, not evaluated by being looked at.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where its value is defined; `None` if no code of its own does.
    pub place: Option<SourcePlace>,
    /// The code that defines its value.
    pub source: String,
    object: ObjectId,
    key: MemberKey,
    member: MemberRef,
}

impl Session<'_, '_> {
    /// The visible members of an object in order; none if the value is no object.
    pub fn items(&mut self, value: Handle) -> Vec<Item> {
        let Value::Object(object) = value.0 else { return Vec::new() };
        let vm = self.vm();
        let members = vm.members_of(object);
        let item = |(key, member)| {
            let definition = vm.slot_at(member).member;
            let ir = vm.store.module(definition.module);
            let span = match definition.source {
                MemberSource::Expr(expr) => ir.ast[expr].span,
                _ => definition.span,
            };
            // What was spread has no code of its own.
            let known = span != Span::default() && !matches!(definition.source, MemberSource::Given);
            let place = known.then(|| source_place(vm.store, definition.module, span));
            let source = if known { span.text(&ir.source).to_owned() } else { String::new() };
            Item { place, source, object, key, member }
        };
        members.into_iter().map(item).collect()
    }

    /// The value of a member.
    ///
    /// # Errors
    /// Why it can't be evaluated.
    pub fn force(&mut self, item: &Item) -> Result<Handle, Error> {
        self.attempt(|vm| vm.force(item.object, item.member)).map(Handle)
    }

    /// What names a member: the key of an entry, the name of a property, the index of an element.
    pub fn key(&mut self, item: &Item) -> Handle {
        let vm = self.vm();
        Handle(match item.key {
            MemberKey::Entry(key) => key,
            MemberKey::Element(index) => Value::Int(i64::from(index)),
            MemberKey::Property(name) => {
                let name = vm.text_of(name);
                vm.heap.string(name)
            }
        })
    }
}
