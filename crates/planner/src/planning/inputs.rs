//! What a step will send: the declaration with references bound to rows and secrets in slots.

use super::draft::Slots;
use super::resolve::subtree;
use super::world::{Found, World};
use crate::change::{Lifted, hint, is_private};
use formwork_model::{
    BoundRef, Expr, ExprLeaf, InputLeaf, InputPart, Inputs, Json, Part, Path, Ref, RowRef, Schema, Secret,
    Segment, Stored, StoredLeaf, digest_of,
};
use indexmap::IndexMap;

impl Lifted for InputLeaf {
    fn lift(leaf: &StoredLeaf) -> Inputs {
        match leaf {
            StoredLeaf::Resolved { sent, .. } => Inputs::Plain(sent.clone()),
            StoredLeaf::Sealed { slot, digest } => {
                Inputs::Leaf(Self::Secret { slot: slot.clone(), digest: *digest })
            }
            StoredLeaf::Digest(digest) => Inputs::Leaf(Self::Kept(*digest)),
        }
    }
}

/// Binds what is declared in one stack.
pub(crate) struct Binder<'r, 'a> {
    pub(crate) world: &'r World<'a>,
    pub(crate) stack: usize,
    pub(crate) slots: &'r mut Slots,
    /// What was sent last, for values that are kept.
    pub(crate) previous: Option<&'a Stored>,
    /// The properties' schema; none for outputs and metadata.
    pub(crate) schema: Option<&'r Schema>,
}

impl Binder<'_, '_> {
    /// The inputs of a whole declaration; an empty object where everything is dropped.
    pub(crate) fn bind(&mut self, expr: &Expr) -> Inputs {
        self.value(expr, &mut Path::root(), false).unwrap_or_else(Inputs::empty_object)
    }

    fn value(&mut self, expr: &Expr, path: &mut Path, private: bool) -> Option<Inputs> {
        match expr {
            Expr::Plain(Json::Object(members)) if path.is_root() && self.schema.is_some() => {
                Some(self.literals(members))
            }
            Expr::Plain(value) if private && !value.is_null() => Some(Inputs::Leaf(self.secret(value))),
            Expr::Plain(value) => Some(Inputs::Plain(value.clone())),
            Expr::Array(items) => {
                let mut bound = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    path.push(Segment::Index(index));
                    bound.extend(self.value(item, path, private));
                    path.pop();
                }
                Some(Inputs::array(bound))
            }
            Expr::Object(members) => {
                let mut bound = IndexMap::with_capacity(members.len());
                for (name, member) in members {
                    let private = private || (path.is_root() && self.is_private(name));
                    path.push(Segment::Key(name.clone()));
                    let member = self.value(member, path, private);
                    path.pop();
                    bound.extend(member.map(|member| (name.clone(), member)));
                }
                Some(Inputs::object(bound))
            }
            Expr::Leaf(leaf) => self.leaf(leaf, path, private),
        }
    }

    /// Properties that are all literal: those that must not be seen become secrets.
    fn literals(&mut self, members: &serde_json::Map<String, Json>) -> Inputs {
        let bound = members.iter().map(|(name, value)| {
            let private = self.is_private(name) && !value.is_null();
            let value = if private { Inputs::Leaf(self.secret(value)) } else { Inputs::Plain(value.clone()) };
            (name.as_str().into(), value)
        });
        let bound = bound.collect();
        Inputs::object(bound)
    }

    fn is_private(&self, name: &str) -> bool {
        self.schema.is_some_and(|schema| is_private(hint(schema, name)))
    }

    fn leaf(&mut self, leaf: &ExprLeaf, path: &mut Path, private: bool) -> Option<Inputs> {
        match leaf {
            ExprLeaf::Secret(value) => Some(Inputs::Leaf(self.secret(value.expose()))),
            ExprLeaf::Ref(reference) => {
                self.bound(reference).map(|bound| Inputs::Leaf(InputLeaf::Ref(bound)))
            }
            ExprLeaf::Template(parts) => {
                let parts = parts.iter().filter_map(|part| self.part(part)).collect();
                Some(Inputs::Leaf(InputLeaf::Template(parts)))
            }
            ExprLeaf::KeepPrevious => self.previous_at(path),
            ExprLeaf::Once(value) => match self.previous_at(path) {
                Some(previous) => Some(previous),
                None => self.value(value, path, private),
            },
        }
    }

    fn part(&mut self, part: &Part) -> Option<InputPart> {
        match part {
            Part::Text(text) => Some(InputPart::Text(text.clone())),
            Part::Ref(reference) => self.bound(reference).map(InputPart::Ref),
            Part::Secret(value) => {
                let (slot, digest) = self.slot(value.expose());
                Some(InputPart::Secret { slot, digest })
            }
        }
    }

    fn previous_at(&self, path: &Path) -> Option<Inputs> {
        subtree(self.previous?, path.segments()).map(|value| crate::change::lift(&value))
    }

    fn secret(&mut self, value: &Json) -> InputLeaf {
        let (slot, digest) = self.slot(value);
        InputLeaf::Secret { slot, digest }
    }

    fn slot(&mut self, value: &Json) -> (formwork_model::SlotId, formwork_model::Digest) {
        let digest = digest_of(self.world.request.key, value);
        (self.slots.keep(digest, || Secret::new(value.clone())), digest)
    }

    /// A reference, bound to the row that will answer it: always, even where its value is known, so
    /// that the run uses what is true then.
    fn bound(&self, reference: &Ref) -> Option<BoundRef> {
        let row = match self.world.find(self.stack, &reference.to) {
            Found::Node(node) => self.world.node(node).name.clone(),
            Found::Row(row) => RowRef::Existing(self.world.request.rows[row].id.clone()),
            Found::Nothing | Found::Several => return None,
        };
        Some(BoundRef { row, reference: reference.clone() })
    }
}
