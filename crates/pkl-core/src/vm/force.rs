//! Evaluating members ahead of their use: all of an object's, or those of everything in a value.

use pkl_parser::Span;

use super::iterate::MemberKey;
use super::{MemberRef, Vm};
use crate::error::{ErrorCode, Result};
use crate::heap::Cache;
use crate::ir::Body;
use crate::value::{ObjectId, Value};

/// What is done about members without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undefined {
    /// They are errors.
    Fails,
    /// They stay without a value.
    Allowed,
}

impl Vm<'_> {
    /// The visible members of an object in the order in which they are evaluated when all of them are: its
    /// own as they are defined, then those of what it amends.
    pub(crate) fn members_to_force(&self, object: ObjectId) -> Vec<(MemberKey, MemberRef)> {
        let members = self.members_of(object);
        if self.are_waiting(&members) { self.in_definition_order(object, members) } else { members }
    }

    /// Whether several members aren't evaluated yet, so that it can be seen in which order they are.
    pub(crate) fn are_waiting(&self, members: &[(MemberKey, MemberRef)]) -> bool {
        let waiting = |place: MemberRef| !matches!(self.slot_at(place).cache, Cache::Ready(_));
        members.iter().filter(|(_, place)| waiting(*place)).nth(1).is_some()
    }

    /// Evaluates members of an object where the order of their definition isn't that in which they are listed: it
    /// decides which error is the first.
    pub(crate) fn force_in_order(
        &mut self,
        object: ObjectId,
        members: &[(MemberKey, MemberRef)],
    ) -> Result<()> {
        if !self.are_waiting(members) {
            return Ok(());
        }
        let Some(ordered) = self.reordered(object, members) else { return Ok(()) };
        for (_, place) in ordered {
            self.force(object, place)?;
        }
        Ok(())
    }

    /// Members of an object in the order of their definition: its own, then those of what it amends.
    pub(crate) fn in_definition_order(
        &self,
        object: ObjectId,
        members: Vec<(MemberKey, MemberRef)>,
    ) -> Vec<(MemberKey, MemberRef)> {
        self.reordered(object, &members).unwrap_or(members)
    }

    /// The members in the order of their definition, if they aren't in that order already.
    fn reordered(
        &self,
        object: ObjectId,
        members: &[(MemberKey, MemberRef)],
    ) -> Option<Vec<(MemberKey, MemberRef)>> {
        let order = self.definition_order(object, members);
        if order.is_sorted() {
            return None;
        }
        let mut positions: Vec<usize> = (0..members.len()).collect();
        positions.sort_by_key(|&position| order[position]);
        Some(positions.into_iter().map(|position| members[position]).collect())
    }

    /// For each member how far its definer is, and where in it the member is defined.
    ///
    /// Without generators a body has its properties first, its elements last.
    fn definition_order(
        &self,
        object: ObjectId,
        members: &[(MemberKey, MemberRef)],
    ) -> Vec<(usize, u8, u32)> {
        let mut known: Vec<(ObjectId, usize)> = vec![(object, 0)];
        let mut last = 0;
        let order = members.iter().map(|(_, place)| {
            let slot = self.slot_at(*place);
            let distance = match known.iter().find(|(definer, _)| *definer == slot.definer) {
                Some((_, distance)) => *distance,
                None => {
                    let distance = self.distance(object, slot.definer);
                    known.push((slot.definer, distance));
                    distance
                }
            };
            // What is given has no place of its own: it comes after what is before it.
            if slot.member.span != Span::default() {
                last = slot.member.span.start;
            }
            (distance, self.rank(slot.definer, *place), last)
        });
        order.collect()
    }

    /// Where the body of an object has members of this kind: an element that it overrides is an entry there.
    fn rank(&self, definer: ObjectId, place: MemberRef) -> u8 {
        let definer = self.heap.object(definer);
        if definer.body.is_none_or(Body::generates) {
            return 0;
        }
        let inherited = definer.parent.and_then(|parent| self.heap.object(parent).items);
        let inherited = inherited.map_or(0, |items| self.heap.items(items).elements.len());
        match place {
            MemberRef::Property(_) => 0,
            MemberRef::Element(_, index) if index as usize >= inherited => 2,
            MemberRef::Entry(..) | MemberRef::Element(..) => 1,
        }
    }

    /// How many objects up the chain of amendments a definer is.
    fn distance(&self, object: ObjectId, definer: ObjectId) -> usize {
        let chain = std::iter::successors(Some(object), |object| self.heap.object(*object).parent);
        chain.take_while(|object| *object != definer).count()
    }

    /// Evaluates everything in a value.
    pub(crate) fn force_deep(&mut self, value: Value, undefined: Undefined) -> Result<()> {
        let inside = match value {
            Value::Object(object) => return self.force_object(object, undefined),
            Value::List(id) => self.heap.list(id).to_vec(),
            Value::Set(id) => self.heap.set(id).to_vec(),
            Value::Map(id) => [self.heap.map_keys(id), self.heap.map_values(id)].concat(),
            Value::Pair(id) => {
                let (first, second) = *self.heap.pair(id);
                vec![first, second]
            }
            _ => return Ok(()),
        };
        self.check_stack()?;
        inside.into_iter().try_for_each(|value| self.force_deep(value, undefined))
    }

    /// Evaluates all members of an object and everything in them, once.
    pub(crate) fn force_object(&mut self, object: ObjectId, undefined: Undefined) -> Result<()> {
        if self.heap.object(object).forced {
            return Ok(());
        }
        self.check_stack()?;
        self.heap.object_mut(object).forced = true;
        for (_, place) in self.members_to_force(object) {
            let forced = match self.force_again(object, place) {
                Ok(value) => self.force_deep(value, undefined),
                Err(error) if error.code == ErrorCode::UndefinedValue && undefined == Undefined::Allowed => {
                    Ok(())
                }
                Err(error) => Err(error),
            };
            if forced.is_err() {
                self.heap.object_mut(object).forced = false;
                return forced;
            }
        }
        Ok(())
    }

    /// As [`Vm::force`], but a member that is being evaluated is evaluated a second time: the object's mark keeps
    /// that from going on.
    fn force_again(&mut self, object: ObjectId, place: MemberRef) -> Result<Value> {
        match self.slot_at(place).cache {
            Cache::Busy => {
                self.enter()?;
                let value = self.evaluate_slot(object, place);
                self.leave();
                if let Ok(value) = value {
                    self.set_cache(place, Cache::Ready(value));
                }
                value
            }
            _ => self.force(object, place),
        }
    }
}
