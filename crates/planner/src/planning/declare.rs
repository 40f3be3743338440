//! Deciding one declared resource: create, change, record or leave it.

use super::cause::{about, declaration_place, link, unknown_refs};
use super::draft::{CleanupDraft, Draft, Fate, Identity, blank};
use super::inputs::Binder;
use super::resolve::{Keeping, Resolver};
use super::world::{Node, Seen, is_tombstone};
use crate::change::{Bag, Growth, Subject, Verdict, grow, grown, growth_base, judge};
use formwork_model::{
    Action, Cause, Certainty, Condition, DeletionPolicy, Diagnostic, DiagnosticCode, Guard, ImmutableRule,
    Inputs, Json, Object, OnFailure, Ownership, Patch, PatchOp, Path, Ref, Replacement, ResourceDesired, Row,
    RowRef, Schema, SecretKeeping, Step, StepId, Stored, TargetRev, Tree, TypeCapabilities, Undo, as_text,
    fingerprint,
};
use formwork_model::{Planned, TargetName};

/// A declared resource with all that is needed to decide it.
pub(crate) struct Case<'w, 'a> {
    /// Its index.
    pub(crate) index: u32,
    pub(crate) node: &'w Node<'a>,
    pub(crate) schema: &'w Schema,
    pub(crate) capabilities: &'w TypeCapabilities,
    pub(crate) row: Option<&'a Row>,
    pub(crate) seen: Seen<'a>,
    /// Whether a step before adopts its object.
    pub(crate) adopts: bool,
}

impl<'a> Case<'_, 'a> {
    pub(crate) fn resource(&self) -> &'a ResourceDesired {
        self.node.resource
    }

    pub(crate) fn object(&self) -> Option<&'a Object> {
        self.row?.current.as_ref()
    }

    /// Whether an earlier effect on the row must be settled first: what is known of the object may
    /// be outdated by then.
    pub(crate) fn is_resolving(&self) -> bool {
        self.row.is_some_and(|row| row.intent.is_some())
    }

    /// Whether its row has another label so far.
    pub(crate) fn is_renamed(&self) -> bool {
        self.row.is_some_and(|row| row.label != self.resource().label)
    }

    /// How sure the object is; an effect of unknown outcome makes it uncertain.
    pub(crate) fn certainty(&self) -> Certainty {
        match self.object().map_or(Certainty::Certain, |object| object.certainty) {
            Certainty::Certain if self.is_resolving() => Certainty::Uncertain,
            certainty => certainty,
        }
    }

    /// What was seen of the object, if it counts.
    pub(crate) fn observed(&self) -> Option<&'a Stored> {
        match self.seen {
            Seen::Present(properties) if self.capabilities.read && !self.is_resolving() => Some(properties),
            _ => None,
        }
    }

    /// What must still hold before an object is changed, deleted or replaced. A step after a
    /// `Resolve` of its row carries none: the resolution looks at the object just before, and the
    /// row's generation may rise by it.
    pub(crate) fn unchanged(&self, row: &Row, object: &Object) -> Guard {
        if self.is_resolving() {
            return Guard::None;
        }
        Guard::Unchanged {
            native_id: object.native_id.clone(),
            generation: row.generation,
            baseline: self.observed().map(fingerprint),
        }
    }

    /// Who can still give a secret of which only the digest is kept.
    fn keeping(&self) -> Keeping {
        match self.capabilities.secrets {
            SecretKeeping::Provider => Keeping::Provider,
            SecretKeeping::Ledger => Keeping::Nobody,
        }
    }
}

impl<'a> Draft<'_, 'a> {
    /// Decides a declared resource whose dependencies are decided.
    pub(crate) fn declare(&mut self, index: u32) {
        let world = self.world;
        let node = world.node(index);
        let entry = world.kind(node.kind);
        let (Some(schema), Some(capabilities)) = (entry.schema(), entry.capabilities()) else { return };
        self.pin(node.kind);
        let row = node.row.map(|row| &world.request.rows[row]);
        let seen = node.row.map_or(Seen::Not, |row| world.seen[row]);
        let case = Case { index, node, schema, capabilities, row, seen, adopts: false };
        self.leftovers(&case);
        self.rename(&case);
        if self.adopts(&case) {
            return;
        }
        match (row, case.object()) {
            (Some(row), Some(object)) => match seen {
                Seen::Gone => self.create(&case, "was deleted outside", Some(&object.sent)),
                _ if moved(&case, object) => self.move_object(&case, row, object),
                _ => self.compare(&case, row, object),
            },
            (Some(row), None) if is_tombstone(row) => self.create(&case, "is declared again", None),
            _ => self.create(&case, "is new", None),
        }
    }

    /// Objects that earlier operations left deposed.
    fn leftovers(&mut self, case: &Case<'_, 'a>) {
        let (Some(at), Some(row)) = (case.node.row, case.row) else { return };
        for object in &row.deposed {
            self.cleanups.push(CleanupDraft {
                node: Some(case.index),
                row: at,
                native_id: Some(object.native_id.clone()),
                type_name: object.type_name.clone(),
                target: object.target.clone(),
                policy: disposal(case.resource().deletion_policy),
                when: Condition::Always,
                before: Some(object.sent.clone()),
                cause: about(self.world, case.resource(), "was replaced by an earlier operation"),
            });
        }
    }

    fn create(&mut self, case: &Case<'_, 'a>, why: &str, before: Option<&'a Stored>) {
        self.refuse_lacking(case, before);
        self.refuse_incomplete(case);
        let (bag, inputs) = self.resolved(case, before, Keeping::Nobody);
        let mut step = self.step(case, Action::Create);
        step.guard = match case.row {
            Some(_) if case.is_resolving() => Guard::None,
            row => Guard::Absent { generation: row.map(|row| row.generation).unwrap_or_default() },
        };
        step.patch = if case.is_resolving() { Patch::AtRuntime } else { Patch::None };
        step.before = before.cloned();
        step.after = Some(bag.to_planned());
        step.inputs = Some(inputs);
        step.undo = self.undo_of_create(case);
        step.cause = about(self.world, case.resource(), why);
        self.settle(case, step, Identity::Changes, false);
    }

    /// Rollback undoes creations only; what was updated or replaced keeps its new state (seed 4,
    /// "Rollback on a Failed Deploy").
    fn undo_of_create(&self, case: &Case<'_, '_>) -> Undo {
        match (self.world.stack(case.node.stack).on_failure, case.resource().deletion_policy) {
            (OnFailure::Continue, _) => Undo::Nothing,
            (OnFailure::RollBack, DeletionPolicy::Delete) => Undo::DeleteCreated,
            (OnFailure::RollBack, DeletionPolicy::Retain | DeletionPolicy::Protect) => Undo::KeepRetained,
        }
    }

    pub(crate) fn compare(&mut self, case: &Case<'_, 'a>, row: &'a Row, object: &'a Object) {
        self.warn_unread(case);
        let subject = Subject {
            schema: case.schema,
            capabilities: case.capabilities,
            ownership: self.world.stack(case.node.stack).ownership,
            object,
            observed: case.observed(),
            certainty: case.certainty(),
        };
        let declared = self.bag(case, Some(&object.sent), case.keeping());
        let (bag, plain) = match subject.ownership {
            Ownership::Additive => (grown(&subject, declared.clone()), Some(declared)),
            _ => (declared, None),
        };
        let verdict = judge(&subject, &bag);
        let amendments = if case.adopts { Vec::new() } else { self.amendments(case, row, object) };
        if verdict == Verdict::NoOp && amendments.is_empty() && !case.adopts {
            if case.is_renamed() {
                return;
            }
            let step = self.step(case, Action::NoOp);
            self.settle(case, step, Identity::Stays, true);
            return;
        }
        if verdict == Verdict::NoOp && !case.adopts {
            return self.amend(case, amendments);
        }
        let mut inputs = self.bind(case, Some(&object.sent));
        if let Some(plain) = plain {
            inputs = grown_inputs(&subject, &plain, inputs);
        }
        let change = Change { row, object, bag, inputs };
        match verdict {
            // What was adopted as it is declared is recorded as sent just so.
            Verdict::NoOp | Verdict::Record => self.record(case, change, amendments),
            Verdict::Update { patch }
            | Verdict::Replace { patch, .. }
            | Verdict::Undetermined { patch, .. }
                if case.adopts && patch.iter().any(|change| change.immutable) =>
            {
                self.refuse_replacing(case, &patch);
            }
            Verdict::Update { patch } => self.update(case, change, patch),
            Verdict::Replace { patch, .. } => {
                self.replace(case, change, patch, Condition::Always, None);
            }
            Verdict::Undetermined { patch, waits_for, may_replace } => {
                if !amendments.is_empty() && !case.adopts {
                    self.amend(case, amendments);
                }
                self.follow(case, change, patch, &waits_for, may_replace);
            }
        }
    }

    fn warn_unread(&mut self, case: &Case<'_, '_>) {
        let Seen::Failed(message) = case.seen else { return };
        let label = &case.resource().label;
        let text =
            format!("`{label}` could not be read ({message}); planned from what the ledger knows of it");
        let path = case.resource().path.clone();
        let place = declaration_place(self.world, case.resource());
        self.found.push(Diagnostic::warning(DiagnosticCode::UnreadableResource, path, text).at(place));
    }

    /// The ledger takes note of what is not about properties.
    fn amend(&mut self, case: &Case<'_, 'a>, amendments: Vec<String>) {
        let mut step = self.step(case, Action::Record);
        let place = step.place.clone();
        step.cause = Cause(amendments.into_iter().map(|text| link(text, place.clone())).collect());
        self.settle(case, step, Identity::Stays, true);
    }

    /// It is already as declared: the ledger takes over what is observed, `before`.
    fn record(&mut self, case: &Case<'_, 'a>, change: Change<'a>, amendments: Vec<String>) {
        let mut step = self.step(case, Action::Record);
        let text = format!("`{}` is already as declared", case.resource().label);
        let place = step.place.clone();
        step.cause =
            Cause(std::iter::once(text).chain(amendments).map(|text| link(text, place.clone())).collect());
        step.guard = case.unchanged(change.row, change.object);
        change.fill(case, &mut step);
        self.settle(case, step, Identity::Stays, true);
    }

    fn update(&mut self, case: &Case<'_, 'a>, change: Change<'a>, patch: Vec<PatchOp>) {
        // A create-only property that is not known yet, beside something that changes anyway: if
        // what it refers to is certainly made anew, so is this; otherwise the run decides whether
        // the update is still possible.
        let refuses = matches!(case.capabilities.on_immutable, ImmutableRule::Refuse { .. });
        let forced = |operation: &PatchOp| {
            let mut waits = unknown_refs(operation).into_iter();
            operation.immutable && waits.any(|reference| self.surely_changes(case, reference))
        };
        if !refuses && patch.iter().any(forced) {
            self.replace(case, change, patch, Condition::Always, None);
            return;
        }
        if let ImmutableRule::Refuse { message } = &case.capabilities.on_immutable {
            self.warn_immutable(case, change.object, message, &patch);
        }
        self.update_when(case, change, patch, Condition::Always);
    }

    /// Whether anything changes depends on references: a step with a condition.
    fn follow(
        &mut self,
        case: &Case<'_, 'a>,
        change: Change<'a>,
        patch: Vec<PatchOp>,
        waits_for: &[Ref],
        may_replace: bool,
    ) {
        // What was adopted was never sent, so the run compares all of it.
        let when = if case.adopts {
            Condition::Always
        } else {
            Condition::RefChanged(self.awaited(case, waits_for))
        };
        let protects = case.resource().deletion_policy == DeletionPolicy::Protect;
        let sure = waits_for.iter().any(|reference| self.surely_changes(case, reference));
        // What it is in goes, so it goes before, whatever comes in the place of that.
        if may_replace && self.goes_along(case, change.object, &patch) {
            self.replace(case, change, patch, Condition::Always, None);
            return;
        }
        // A protected resource that only might have to be replaced is planned as an update; should
        // it come to a replacement, the run refuses it.
        if may_replace && (sure || !protects) {
            self.replace(case, change, patch, when, None);
        } else {
            self.update_when(case, change, patch, when);
        }
    }

    fn update_when(
        &mut self,
        case: &Case<'_, 'a>,
        change: Change<'a>,
        mut patch: Vec<PatchOp>,
        when: Condition,
    ) {
        self.locate(case.resource(), &mut patch);
        let mut step = self.step(case, Action::Update);
        step.cause = Cause(self.change_links(case, &patch));
        step.guard = case.unchanged(change.row, change.object);
        step.when = when;
        step.patch = settled_patch(case, patch);
        let object = change.object;
        change.fill(case, &mut step);
        let discovered = case.capabilities.replacement == Replacement::Discovered;
        let identity = if discovered || case.is_resolving() { Identity::MayChange } else { Identity::Stays };
        let step = self.settle(case, step, identity, false);
        if discovered {
            self.cleanup_after(case, object, None, step);
        }
    }

    /// The steps, and the parts of what they are about, that references wait for.
    fn awaited(&self, case: &Case<'_, '_>, waits_for: &[Ref]) -> Vec<(StepId, formwork_model::RefPath)> {
        let mut awaited = Vec::with_capacity(waits_for.len());
        for reference in waits_for {
            let entry = self.fate_of(case, reference).map(|fate| (fate.step, reference.path.clone()));
            if let Some(entry) = entry.filter(|entry| !awaited.contains(entry)) {
                awaited.push(entry);
            }
        }
        awaited
    }

    pub(crate) fn fate_of(&self, case: &Case<'_, '_>, reference: &Ref) -> Option<Fate> {
        match self.world.find(case.node.stack, &reference.to) {
            super::world::Found::Node(node) => self.fates[node as usize],
            _ => None,
        }
    }

    /// Whether the object has to go before what it refers to for good: one of the two goes before anything comes in its
    /// place, so that nothing can be waited for that would tell whether the reference changes.
    fn goes_along(&self, case: &Case<'_, '_>, object: &Object, patch: &[PatchOp]) -> bool {
        self.refers_for_good(case, patch, |fate| fate.replaced) && self.deletes_first(case, object, patch)
    }

    /// Whether a create-only property refers to a resource of such a fate.
    pub(crate) fn refers_for_good(
        &self,
        case: &Case<'_, '_>,
        patch: &[PatchOp],
        is_such: impl Fn(Fate) -> bool,
    ) -> bool {
        let immutable = patch.iter().filter(|operation| operation.immutable);
        let mut references = immutable.flat_map(unknown_refs);
        references.any(|reference| self.fate_of(case, reference).is_some_and(&is_such))
    }

    /// Whether what a reference points to is certainly made anew.
    fn surely_changes(&self, case: &Case<'_, '_>, reference: &Ref) -> bool {
        self.fate_of(case, reference).is_some_and(|fate| fate.identity == Identity::Changes)
    }

    /// Says beforehand what the provider will refuse (seed 4, "A Failed Deploy Still Answers 2xx":
    /// the deploy runs and fails, so this is no error of the plan).
    fn warn_immutable(&mut self, case: &Case<'_, '_>, object: &Object, message: &str, patch: &[PatchOp]) {
        for operation in patch.iter().filter(|operation| operation.immutable) {
            let current = operation.before.as_ref().map(Stored::masked);
            let declared = operation.after.as_ref().map(Planned::masked);
            let text = message
                .replace("{field}", &operation.path.to_string())
                .replace("{native_id}", object.native_id.as_str())
                .replace("{current}", &in_words(current))
                .replace("{declared}", &in_words(declared));
            let path = case.resource().properties_path.join(&operation.path);
            let place = self.world.request.desired.source_map.place(&path);
            self.found.push(Diagnostic::warning(DiagnosticCode::ImmutableProperty, path, text).at(place));
        }
    }

    /// The declaration of a resource as it is compared, and as it is sent.
    pub(crate) fn resolved(
        &mut self,
        case: &Case<'_, 'a>,
        previous: Option<&'a Stored>,
        keeping: Keeping,
    ) -> (Bag<'a>, Inputs) {
        (self.bag(case, previous, keeping), self.bind(case, previous))
    }

    fn bag(&mut self, case: &Case<'_, 'a>, previous: Option<&'a Stored>, keeping: Keeping) -> Bag<'a> {
        let mut resolver = Resolver {
            world: self.world,
            fates: &self.fates,
            stack: case.node.stack,
            resource: case.resource(),
            schema: case.schema,
            has_private: self.world.kind(case.node.kind).has_private,
            previous,
            keeping,
            found: self.found,
        };
        resolver.bag()
    }

    fn bind(&mut self, case: &Case<'_, 'a>, previous: Option<&'a Stored>) -> Inputs {
        let mut binder = Binder {
            world: self.world,
            stack: case.node.stack,
            slots: &mut self.slots,
            previous,
            schema: Some(case.schema),
        };
        binder.bind(&case.resource().properties)
    }

    /// A step about a declared resource, with all that follows from the declaration.
    pub(crate) fn step(&self, case: &Case<'_, '_>, action: Action) -> Step {
        let world = self.world;
        let node = case.node;
        let resource = node.resource;
        let stack = &world.stack(node.stack).id;
        let place = if action == Action::NoOp { None } else { declaration_place(world, resource) };
        let (row, type_name) = (node.name.clone(), resource.type_name.clone());
        let mut step = blank(stack, &resource.label, row, type_name, target_of(case), action);
        step.deletion_policy = resource.deletion_policy;
        step.after_steps = self.after(case.index);
        if let Some(before) = self.fates[case.index as usize] {
            step.after_steps.push(before.step);
        }
        step.references = self.references(case.index);
        step.metadata.clone_from(&resource.metadata);
        step.position = node.position;
        step.place = place;
        step
    }

    /// Adds the step and notes what it means for those that refer to the resource.
    pub(crate) fn settle(
        &mut self,
        case: &Case<'_, '_>,
        step: Step,
        identity: Identity,
        settled: bool,
    ) -> StepId {
        let replaced = step.action == Action::Replace && step.when == Condition::Always;
        let id = self.push(step, case.node.row);
        self.fates[case.index as usize] =
            Some(Fate { step: id, identity, settled, replaced, goes_first: false });
        id
    }
}

/// What a step that changes an object carries.
pub(crate) struct Change<'a> {
    pub(crate) row: &'a Row,
    pub(crate) object: &'a Object,
    pub(crate) bag: Bag<'a>,
    pub(crate) inputs: Inputs,
}

impl Change<'_> {
    /// Fills in what was there, what will be there, and what is sent.
    pub(crate) fn fill(self, case: &Case<'_, '_>, step: &mut Step) {
        step.before = Some(case.observed().unwrap_or(&self.object.sent).clone());
        step.after = Some(self.bag.to_planned());
        step.inputs = Some(self.inputs);
    }
}

/// The patch as it is planned: exactly, if all of it is known and stays so.
pub(crate) fn settled_patch(case: &Case<'_, '_>, patch: Vec<PatchOp>) -> Patch {
    let known = patch.iter().all(|operation| operation.after.as_ref().is_none_or(Planned::is_known));
    if known && !case.is_resolving() { Patch::Final(patch) } else { Patch::AtRuntime }
}

/// What becomes of a replaced object: a protected one is never deleted.
pub(crate) fn disposal(policy: DeletionPolicy) -> DeletionPolicy {
    match policy {
        DeletionPolicy::Protect => DeletionPolicy::Retain,
        policy => policy,
    }
}

/// Where a resource lives: where its object is, if that is where it is declared.
fn target_of(case: &Case<'_, '_>) -> TargetRev {
    let declared = case.resource().target.as_ref();
    match case.object() {
        Some(object) if object.target.name.as_str() == declared.map_or("", TargetName::as_str) => {
            object.target.clone()
        }
        _ => declared.map_or_else(TargetRev::default, |name| TargetRev { name: name.clone(), revision: 0 }),
    }
}

/// Whether the object is of another type, or lives elsewhere, than declared.
fn moved(case: &Case<'_, '_>, object: &Object) -> bool {
    let resource = case.resource();
    let target = resource.target.as_ref().map_or("", TargetName::as_str);
    object.type_name != resource.type_name || object.target.name.as_str() != target
}

/// What only grows is also sent grown.
fn grown_inputs(subject: &Subject<'_>, declared: &Bag<'_>, inputs: Inputs) -> Inputs {
    let Some(members) = inputs.members() else { return inputs };
    let grown = members.into_iter().map(|(name, value)| {
        let desired = declared.0.iter().find(|(declared, _)| **declared == *name);
        let grown = desired.zip(growth_base(subject, &name)).map(|((_, member), base)| {
            grow(&base, &member.to_planned(), &value, Growth::of(subject.schema, &name))
        });
        (name, grown.unwrap_or(value))
    });
    Tree::object(grown.collect())
}

/// How a value reads in a sentence.
fn in_words(value: Option<Json>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| as_text(&value))
}

/// The properties in a bag of which the provider keeps its own copy.
pub(crate) fn kept_paths(bag: &Bag<'_>) -> Vec<Path> {
    let mut kept = Vec::new();
    for (name, member) in &bag.0 {
        let value = member.to_planned();
        value.for_each_leaf(&mut |path, leaf| {
            if matches!(leaf, formwork_model::PlannedLeaf::Kept(_)) {
                kept.push(Path::root().key(&**name).join(path));
            }
        });
    }
    kept
}

/// The row that a step is about, for steps that do not come from a declaration.
pub(crate) fn existing(row: &Row) -> RowRef {
    RowRef::Existing(row.id.clone())
}
