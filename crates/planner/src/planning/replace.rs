//! Replacing an object: a new one first and the old one deleted at the end, or the other way round.

use super::cause::{declaration_place, link};
use super::declare::{Case, Change, disposal, existing, kept_paths, settled_patch};
use super::draft::{CleanupDraft, Draft, Identity, blank};
use super::resolve::{Keeping, unavailable};
use formwork_model::{
    Action, Cause, CauseLink, Certainty, Condition, DeletionPolicy, Diagnostic, DiagnosticCode, Guard,
    ImmutableRule, NativeId, Object, PatchOp, Row, StepId,
};

impl<'a> Draft<'_, 'a> {
    /// Replaces an object of another type, or at another place, than declared.
    pub(crate) fn move_object(&mut self, case: &Case<'_, 'a>, row: &'a Row, object: &'a Object) {
        let resource = case.resource();
        let label = &resource.label;
        let retyped = object.type_name != resource.type_name;
        let text = if retyped {
            format!("`{label}` changes its type from `{}` to `{}`", object.type_name, resource.type_name)
        } else {
            let target = resource.target.as_ref().map_or("", |target| target.as_str());
            format!("`{label}` moves from target `{}` to `{target}`", object.target.name)
        };
        // The properties of another type are nobody's previous values.
        let previous = (!retyped).then_some(&object.sent);
        self.refuse_lacking(case, previous);
        let (bag, inputs) = self.resolved(case, previous, Keeping::Nobody);
        let change = Change { row, object, bag, inputs };
        self.replace(case, change, Vec::new(), Condition::Always, Some(text));
    }

    /// Replaces the object under a condition. Its undo is nothing: the row had an object before and
    /// has one after, so a rollback leaves it as it leaves an update (seed 4, "Rollback on a Failed
    /// Deploy").
    pub(crate) fn replace(
        &mut self,
        case: &Case<'_, 'a>,
        change: Change<'a>,
        mut patch: Vec<PatchOp>,
        when: Condition,
        why: Option<String>,
    ) {
        let resource = case.resource();
        if resource.import.is_some() {
            self.refuse_replacing(case, &patch);
        }
        if resource.deletion_policy == DeletionPolicy::Protect {
            self.refuse_protected(case);
        }
        self.refuse_incomplete(case);
        for path in kept_paths(&change.bag) {
            // Where only the provider's copy is left, a new object cannot have it.
            self.found.push(unavailable(self.world, resource, &path));
        }
        self.locate(resource, &mut patch);
        let cause = self.replace_cause(case, &patch, &when, why);
        let (row, object) = (change.row, change.object);
        let deleted = self
            .deletes_first(case, object, &patch)
            .then(|| self.delete_replaced(case, row, object, when.clone(), cause.clone()));
        let mut step = self.step(case, Action::Replace);
        // After the deletion the row has no object, in a generation that only the run knows.
        step.guard = if deleted.is_some() { Guard::None } else { case.unchanged(row, object) };
        step.after_steps.extend(deleted);
        let conditional = when != Condition::Always;
        step.when = when;
        step.cause = cause;
        step.patch = settled_patch(case, patch);
        change.fill(case, &mut step);
        let identity = if conditional { Identity::MayChange } else { Identity::Changes };
        let step = self.settle(case, step, identity, false);
        if let Some(fate) = self.fates[case.index as usize].as_mut() {
            fate.goes_first = deleted.is_some();
        }
        if deleted.is_none() {
            self.cleanup_after(case, object, Some(object.native_id.clone()), step);
        }
    }

    fn refuse_protected(&mut self, case: &Case<'_, '_>) {
        let resource = case.resource();
        let text = format!("`{}` is protected and would have to be replaced", resource.label);
        let error = Diagnostic::error(DiagnosticCode::ProtectedResource, resource.path.clone(), text);
        let place = declaration_place(self.world, resource);
        self.found.push(error.at(place).hint("set its deletion policy to `delete` or `retain` first"));
    }

    fn replace_cause(
        &self,
        case: &Case<'_, '_>,
        patch: &[PatchOp],
        when: &Condition,
        why: Option<String>,
    ) -> Cause {
        let label = &case.resource().label;
        let place = declaration_place(self.world, case.resource());
        if let Some(text) = why {
            return Cause::of(text, place);
        }
        let text = match when {
            Condition::Always => format!("`{label}` must be replaced"),
            _ => format!("`{label}` must be replaced if what it refers to changes"),
        };
        let mut links: Vec<CauseLink> = vec![link(text, place.clone())];
        if case.certainty() == Certainty::Tainted {
            links.push(link(format!("creating `{label}` failed half-way"), place));
        } else {
            links.extend(self.change_links(case, patch));
        }
        Cause(links)
    }

    /// The deletion that comes before a replacement.
    fn delete_replaced(
        &mut self,
        case: &Case<'_, 'a>,
        row: &'a Row,
        object: &'a Object,
        when: Condition,
        cause: Cause,
    ) -> StepId {
        let stack = &self.world.stack(case.node.stack).id;
        let action = Action::Delete { replacing: true };
        let (type_name, target) = (object.type_name.clone(), object.target.clone());
        let mut step = blank(stack, &row.label, existing(row), type_name, target, action);
        step.guard = case.unchanged(row, object);
        step.when = when;
        step.after_steps = self.after(case.index);
        step.before = Some(object.sent.clone());
        step.position = case.node.position;
        step.place = declaration_place(self.world, case.resource());
        step.cause = cause;
        self.pin_name(&object.type_name);
        self.push(step, case.node.row)
    }

    /// The deletion of the object that a step deposes, once everything else is done (seed 4,
    /// "Replacement"). It depends on the step having replaced it: a replacement may turn out to be
    /// needless at run time.
    pub(crate) fn cleanup_after(
        &mut self,
        case: &Case<'_, 'a>,
        object: &Object,
        native_id: Option<NativeId>,
        step: StepId,
    ) {
        let Some(row) = case.node.row else { return };
        let resource = case.resource();
        let cause = self.steps[step.index()].cause.0.iter().take(2).cloned();
        let place = declaration_place(self.world, resource);
        let first = match native_id {
            Some(_) => link(format!("`{}` is replaced", resource.label), place),
            None => link(format!("updating `{}` may replace it", resource.label), place),
        };
        self.cleanups.push(CleanupDraft {
            node: Some(case.index),
            row,
            native_id,
            type_name: object.type_name.clone(),
            target: object.target.clone(),
            policy: disposal(resource.deletion_policy),
            when: Condition::Replaced(step),
            before: Some(object.sent.clone()),
            cause: Cause(std::iter::once(first).chain(cause).collect()),
        });
    }

    /// Whether the old object goes before the new one comes. Never where it is to be kept. An object
    /// that failed half-way may hold a unique name and nothing depends on it, so it goes first unless
    /// its type says otherwise. What refers for good to an object that goes first goes before that.
    pub(crate) fn deletes_first(&self, case: &Case<'_, '_>, object: &Object, patch: &[PatchOp]) -> bool {
        if case.resource().deletion_policy != DeletionPolicy::Delete
            || object.type_name != case.resource().type_name
        {
            return false;
        }
        match case.capabilities.on_immutable {
            ImmutableRule::ReplaceDeleteFirst => true,
            ImmutableRule::Replace => self.refers_for_good(case, patch, |fate| fate.goes_first),
            ImmutableRule::Refuse { .. } => case.certainty() == Certainty::Tainted,
        }
    }
}
