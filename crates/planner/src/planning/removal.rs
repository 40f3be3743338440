//! Rows that are not declared: deleted or forgotten.

use super::cleanup::DELETES;
use super::declare::existing;
use super::draft::{CleanupDraft, Draft, blank};
use super::world::Seen;
use formwork_model::{
    Action, Cause, Condition, DeletionPolicy, Diagnostic, DiagnosticCode, Guard, IntentKind, Object,
    OpenIntent, OperationKind, Patch, Path, Row, Step, StepId, TargetRev, TypeName, fingerprint,
};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

impl Draft<'_, '_> {
    /// Adds a step for every row whose earlier effect has no known outcome: the plan begins with
    /// them, and each holds up only the steps of its own row and what depends on those.
    pub(crate) fn add_resolves(&mut self) {
        let rows = self.world.request.rows;
        for (at, row) in rows.iter().enumerate() {
            let (Some(intent), Some(_)) = (&row.intent, self.world.row_stacks[at]) else { continue };
            self.pin_name(&intent.type_name);
            let type_name = intent.type_name.clone();
            let target = intent.target.clone();
            let mut step = blank(&row.stack, &row.label, existing(row), type_name, target, Action::Resolve);
            step.deletion_policy = intent.deletion_policy;
            step.position = row.position;
            let text =
                format!("the outcome of an earlier {} of `{}` is not known", effect(intent.kind), row.label);
            step.cause = Cause::of(text, None);
            let id = self.push(step, Some(at));
            self.resolving.insert(at, id);
            if let (IntentKind::Create, Some(object)) = (intent.kind, &row.current) {
                self.cleanups.push(replaced_before(row, at, object, id));
            }
        }
    }

    /// Finds the deposed objects of rows that are not declared.
    pub(crate) fn add_undeclared_leftovers(&mut self) {
        let rows = self.world.request.rows;
        for (at, row) in rows.iter().enumerate() {
            if self.world.row_stacks[at].is_none() || self.world.row_nodes[at].is_some() {
                continue;
            }
            self.cleanups.extend(row.deposed.iter().map(|object| CleanupDraft {
                node: None,
                row: at,
                native_id: Some(object.native_id.clone()),
                type_name: object.type_name.clone(),
                target: object.target.clone(),
                policy: super::declare::disposal(object.deletion_policy),
                when: Condition::Always,
                before: Some(object.sent.clone()),
                cause: Cause::of(format!("`{}` was replaced by an earlier operation", row.label), None),
            }));
        }
    }

    /// The rows to go, in reverse order of declaration.
    pub(crate) fn removal_order(&self) -> Vec<usize> {
        let world = self.world;
        let rows = world.request.rows;
        let mut going: Vec<usize> = (0..rows.len())
            .filter(|at| world.row_nodes[*at].is_none())
            .filter(|at| world.row_stacks[*at].is_some_and(|stack| world.removes(stack)))
            .filter(|at| rows[*at].current.is_some() || rows[*at].intent.is_some())
            .collect();
        going.sort_by_key(|at| Reverse((world.row_stacks[*at], rows[*at].position, *at)));
        going
    }

    /// The declared resources of other stacks that referred to a row before: it goes after they were
    /// changed. Within a stack the wave says so.
    pub(crate) fn freed(&self, order: &[usize]) -> FxHashMap<usize, Vec<StepId>> {
        let world = self.world;
        let going: FxHashMap<_, _> = order.iter().map(|at| (&world.request.rows[*at].id, *at)).collect();
        let mut freed: FxHashMap<usize, Vec<StepId>> = FxHashMap::default();
        if going.is_empty() {
            return freed;
        }
        for (node, fate) in world.nodes.iter().zip(&self.fates) {
            let (Some(row), Some(fate)) = (node.row, fate) else { continue };
            let references = &world.request.rows[row].references;
            for at in references.iter().filter_map(|id| going.get(id)) {
                if world.row_stacks[*at] != Some(node.stack) {
                    freed.entry(*at).or_default().push(fate.step);
                }
            }
        }
        freed
    }

    /// The step for one row that is to go; none if that is refused.
    pub(crate) fn removal(&mut self, at: usize) -> Option<Step> {
        let row = &self.world.request.rows[at];
        let seen = self.world.seen[at];
        let Some(object) = &row.current else {
            return row.intent.as_ref().and_then(|intent| self.unfinished(row, intent));
        };
        if matches!(seen, Seen::Gone) {
            return Some(self.forget(row, &object.type_name, object.deletion_policy, "is gone already"));
        }
        match object.deletion_policy {
            DeletionPolicy::Retain => {
                Some(self.forget(row, &object.type_name, DeletionPolicy::Retain, "is retained"))
            }
            DeletionPolicy::Protect => {
                self.refuse_deletion(row);
                None
            }
            DeletionPolicy::Delete => Some(self.delete(at, row, object)),
        }
    }

    fn delete(&mut self, at: usize, row: &Row, object: &Object) -> Step {
        let known = self.pin_name(&object.type_name);
        let path = Path::of(["resources"]).key(row.label.as_str());
        if !known {
            let text = format!(
                "`{}` is of type `{}`, which no longer exists here; deleting it may fail",
                row.label, object.type_name
            );
            self.found.push(Diagnostic::warning(DiagnosticCode::UnknownType, path.clone(), text));
        }
        let readable = self.readable(&object.type_name);
        let observed = match self.world.seen[at] {
            Seen::Present(properties) if readable => Some(properties),
            Seen::Failed(message) => {
                let text =
                    format!("`{}` could not be read ({message}); it is deleted all the same", row.label);
                self.found.push(Diagnostic::warning(DiagnosticCode::UnreadableResource, path, text));
                None
            }
            _ => None,
        };
        let mut step =
            self.going(row, &object.type_name, &object.target, Action::Delete { replacing: false });
        step.before = Some(observed.unwrap_or(&object.sent).clone());
        if row.intent.is_some() {
            step.patch = Patch::AtRuntime;
        } else {
            step.guard = Guard::Unchanged {
                native_id: object.native_id.clone(),
                generation: row.generation,
                baseline: observed.map(fingerprint),
            };
        }
        step.cause = self.removal_cause(row);
        step
    }

    /// A row whose object may exist: resolved first, then deleted if it does.
    fn unfinished(&mut self, row: &Row, intent: &OpenIntent) -> Option<Step> {
        match intent.deletion_policy {
            DeletionPolicy::Retain => {
                return Some(self.forget(row, &intent.type_name, DeletionPolicy::Retain, "is retained"));
            }
            DeletionPolicy::Protect => {
                self.refuse_deletion(row);
                return None;
            }
            DeletionPolicy::Delete => {}
        }
        self.pin_name(&intent.type_name);
        let mut step =
            self.going(row, &intent.type_name, &intent.target, Action::Delete { replacing: false });
        step.before = Some(intent.sent.clone());
        step.patch = Patch::AtRuntime;
        step.cause = self.removal_cause(row);
        Some(step)
    }

    fn forget(&mut self, row: &Row, type_name: &TypeName, policy: DeletionPolicy, why: &str) -> Step {
        self.pin_name(type_name);
        let target = row.current.as_ref().map(|object| object.target.clone()).unwrap_or_default();
        let mut step = self.going(row, type_name, &target, Action::Forget);
        step.deletion_policy = policy;
        step.before = row.current.as_ref().map(|object| object.sent.clone());
        step.cause = self.removal_cause(row);
        step.cause.0.insert(0, super::cause::link(format!("`{}` {why}", row.label), None));
        step
    }

    fn going(&self, row: &Row, type_name: &TypeName, target: &TargetRev, action: Action) -> Step {
        let (type_name, target) = (type_name.clone(), target.clone());
        let mut step = blank(&row.stack, &row.label, existing(row), type_name, target, action);
        step.wave = if self.world.request.kind == OperationKind::Delete { 0 } else { DELETES };
        step.position = row.position;
        step
    }

    fn removal_cause(&self, row: &Row) -> Cause {
        let text = match self.world.request.kind {
            OperationKind::Delete => "the stack is deleted".to_owned(),
            OperationKind::Create | OperationKind::Update => format!("`{}` is no longer declared", row.label),
        };
        Cause::of(text, None)
    }

    fn refuse_deletion(&mut self, row: &Row) {
        let path = Path::of(["resources"]).key(row.label.as_str());
        let text = format!("`{}` is protected and would have to be deleted", row.label);
        let error = Diagnostic::error(DiagnosticCode::ProtectedResource, path, text);
        self.found.push(error.hint("deploy it with the deletion policy `delete` or `retain` first"));
    }

    fn readable(&self, type_name: &TypeName) -> bool {
        let kind = self.world.kind_of(type_name);
        kind.and_then(|kind| self.world.kind(kind).capabilities())
            .is_some_and(|capabilities| capabilities.read)
    }
}

/// The cleanup of the object that a row has, should it turn out that an earlier operation had made
/// another one in its place.
fn replaced_before(row: &Row, at: usize, object: &Object, resolve: StepId) -> CleanupDraft {
    let text = format!("an earlier operation may have replaced `{}`", row.label);
    CleanupDraft {
        node: None,
        row: at,
        native_id: Some(object.native_id.clone()),
        type_name: object.type_name.clone(),
        target: object.target.clone(),
        policy: super::declare::disposal(object.deletion_policy),
        when: Condition::Replaced(resolve),
        before: Some(object.sent.clone()),
        cause: Cause::of(text, None),
    }
}

fn effect(kind: IntentKind) -> &'static str {
    match kind {
        IntentKind::Create => "creation",
        IntentKind::Update => "update",
        IntentKind::Delete | IntentKind::Cleanup | IntentKind::Undo => "deletion",
    }
}
