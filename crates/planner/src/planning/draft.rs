//! A plan while it is being made.

use super::links::Links;
use super::world::World;
use formwork_model::{Action, Guard, Json, Patch, Undo};
use formwork_model::{
    BaseRow, Cause, Condition, DeletionPolicy, Diagnostics, Digest, Label, NativeId, PinnedType, RowRef,
    Secret, SecretSlots, SlotId, StackId, Step, StepId, Stored, TargetRev, TypeName,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What becomes of a declared resource, as far as those that refer to it must know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// The last step about it.
    pub(crate) step: StepId,
    pub(crate) identity: Identity,
    /// Whether its properties stay as they are known.
    pub(crate) settled: bool,
    /// Whether it has an object now that another is certainly put in the place of.
    pub(crate) replaced: bool,
    /// Whether its object goes before anything comes in its place.
    pub(crate) goes_first: bool,
}

/// What becomes of a resource's native id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// It stays: an update in place does not change it.
    Stays,
    /// It may change: a replacement that is only discovered, or that has a condition.
    MayChange,
    /// It changes.
    Changes,
}

/// The deletion of an object that is, or will be, deposed.
pub(crate) struct CleanupDraft {
    /// The declared resource it belonged to.
    pub(crate) node: Option<u32>,
    /// The row it belongs to, as an index into the request's.
    pub(crate) row: usize,
    pub(crate) native_id: Option<NativeId>,
    pub(crate) type_name: TypeName,
    pub(crate) target: TargetRev,
    pub(crate) policy: DeletionPolicy,
    pub(crate) when: Condition,
    pub(crate) before: Option<Stored>,
    pub(crate) cause: Cause,
}

/// The plaintexts that a plan's inputs name: one slot per different secret, named after its digest, so
/// that a slot of this plan and one that a row keeps from an earlier plan can't be mistaken for each
/// other.
#[derive(Default)]
pub(crate) struct Slots {
    pub(crate) secrets: SecretSlots,
}

impl Slots {
    /// The slot of a secret.
    pub(crate) fn keep(&mut self, digest: Digest, plaintext: impl FnOnce() -> Secret<Json>) -> SlotId {
        let slot = SlotId::new(digest.short());
        self.secrets.entry(slot.clone()).or_insert_with(plaintext);
        slot
    }
}

/// A plan while it is being made.
pub(crate) struct Draft<'w, 'a> {
    pub(crate) world: &'w World<'a>,
    pub(crate) links: &'w Links,
    pub(crate) steps: Vec<Step>,
    pub(crate) bases: Vec<BaseRow>,
    pub(crate) slots: Slots,
    pub(crate) found: &'w mut Diagnostics,
    /// Per declared resource, once it is decided.
    pub(crate) fates: Vec<Option<Fate>>,
    /// The step that settles each row's open intent.
    pub(crate) resolving: FxHashMap<usize, StepId>,
    pub(crate) cleanups: Vec<CleanupDraft>,
    pub(crate) types: BTreeMap<TypeName, PinnedType>,
    pinned: FxHashSet<usize>,
    /// Rows that have a base already.
    based: FxHashSet<usize>,
    /// The declared resource that adopts each object.
    pub(crate) adopted: FxHashMap<(&'a TypeName, &'a NativeId), u32>,
}

impl<'w, 'a> Draft<'w, 'a> {
    pub(crate) fn new(world: &'w World<'a>, links: &'w Links, found: &'w mut Diagnostics) -> Self {
        Self {
            world,
            links,
            steps: Vec::with_capacity(world.nodes.len()),
            bases: Vec::with_capacity(world.nodes.len()),
            slots: Slots::default(),
            found,
            fates: vec![None; world.nodes.len()],
            resolving: FxHashMap::default(),
            cleanups: Vec::new(),
            types: BTreeMap::new(),
            pinned: FxHashSet::default(),
            based: FxHashSet::default(),
            adopted: FxHashMap::default(),
        }
    }

    /// The id of the next step.
    pub(crate) fn next_id(&self) -> StepId {
        StepId(crate::graph::narrow(self.steps.len()))
    }

    /// Adds a step, with what it rests on. Its id is given here.
    pub(crate) fn push(&mut self, mut step: Step, row: Option<usize>) -> StepId {
        let id = self.next_id();
        step.id = id;
        step.after_steps.sort_unstable();
        step.after_steps.dedup();
        // What follows an adoption rests on the same row to come.
        let follows = || self.steps.last().is_some_and(|before| before.row == step.row);
        if row.map_or_else(|| !follows(), |row| self.based.insert(row)) {
            let rows = self.world.request.rows;
            let row = row.map(|row| (rows[row].id.clone(), rows[row].revision));
            self.bases.push(BaseRow { step: id, stack: step.stack.clone(), label: step.label.clone(), row });
        }
        self.steps.push(step);
        id
    }

    /// Pins a type, once.
    pub(crate) fn pin(&mut self, kind: usize) {
        if !self.pinned.insert(kind) {
            return;
        }
        let entry = self.world.kind(kind);
        if let Some(rules) = &entry.rules {
            let pinned =
                PinnedType { schema: rules.schema().clone(), capabilities: rules.capabilities().clone() };
            self.types.insert(entry.name.clone(), pinned);
        }
    }

    /// Pins the type of an object that only a row knows. Whether the catalog knows it.
    pub(crate) fn pin_name(&mut self, name: &TypeName) -> bool {
        let Some(kind) = self.world.kind_of(name) else { return false };
        self.pin(kind);
        self.world.kind(kind).rules.is_some()
    }

    /// The steps that must have succeeded before a declared resource is touched.
    pub(crate) fn after(&self, node: u32) -> Vec<StepId> {
        let dependencies = self.links.nodes.of(node as usize);
        let mut after = Vec::with_capacity(dependencies.len() + 1);
        after.extend(dependencies.iter().filter_map(|on| self.fates[*on as usize]).map(|fate| fate.step));
        if !self.resolving.is_empty() {
            let row = self.world.node(node).row;
            after.extend(row.and_then(|row| self.resolving.get(&row)));
        }
        after
    }
}

/// A step about a row, with nothing in it yet.
pub(crate) fn blank(
    stack: &StackId,
    label: &Label,
    row: RowRef,
    type_name: TypeName,
    target: TargetRev,
    action: Action,
) -> Step {
    Step {
        id: StepId(0),
        row,
        stack: stack.clone(),
        label: label.clone(),
        type_name,
        action,
        when: Condition::Always,
        guard: Guard::None,
        inputs: None,
        before: None,
        after: None,
        patch: Patch::None,
        undo: Undo::Nothing,
        target,
        deletion_policy: DeletionPolicy::Delete,
        after_steps: Vec::new(),
        wave: 0,
        references: Vec::new(),
        metadata: None,
        position: 0,
        cause: Cause::default(),
        place: None,
    }
}
