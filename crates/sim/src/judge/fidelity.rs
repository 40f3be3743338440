//! INV-4: each effect is a step of the plan whose condition held, with the values that were known,
//! or the declared undo of a step that was done.

use super::Invariant;
use crate::provider::{Change, Effect, Mark};
use crate::world::{Run, World};
use formwork_model::{
    Action, BoundRef, Condition, Entry, InputLeaf, InputPart, Inputs, IntentKind, JournalEntry, Json,
    Outcome, Path, RefPath, RowId, RowRef, Step, StepId, Undo, same,
};

impl World {
    pub(super) fn judge_fidelity(&mut self, effect: &Effect, mark: &Mark) {
        let Some(run) = self.runs.get(&mark.operation).cloned() else { return };
        let Some(step) = run.plan.step(mark.step) else {
            self.violated(
                Invariant::PlanFidelity,
                format!("an effect of {}, which the plan lacks", mark.step),
            );
            return;
        };
        let journal = self.journal_of(&mark.operation);
        if let Some(what) = self.unfaithful(&run, step, &journal, effect, mark) {
            let what = format!("{:?} of `{}` (step {}): {what}", mark.kind, mark.label, mark.step);
            self.violated(Invariant::PlanFidelity, what);
        }
    }

    fn unfaithful(
        &self,
        run: &Run,
        step: &Step,
        journal: &[JournalEntry],
        effect: &Effect,
        mark: &Mark,
    ) -> Option<String> {
        if row_id(run, &step.row).as_ref() != Some(&mark.row) {
            return Some(format!("it is about {:?}, not {}", step.row, mark.row));
        }
        if mark.kind == IntentKind::Undo {
            return unfaithful_undo(step, journal);
        }
        if !fits(&step.action, mark.kind) {
            return Some(format!("the plan says {}", step.action.name()));
        }
        if !held(&step.when, run, journal) && !self.refers_otherwise(run, step, effect, mark) {
            return Some(format!("its condition did not hold: {:?}", step.when));
        }
        if let Some(early) = step.after_steps.iter().find(|before| !succeeded(journal, **before)) {
            return Some(format!("it had to wait for {early}"));
        }
        match (&effect.change, &step.inputs) {
            (Change::Created(sent) | Change::Updated(sent), Some(inputs)) => {
                self.other_value(run, inputs, sent, &mut Path::root())
            }
            _ => None,
        }
    }

    /// Whether a reference that the step's condition names resolves to something else than what the
    /// object was sent before. What it refers to need not have changed in this operation: the dependent
    /// of a step that failed stayed behind.
    fn refers_otherwise(&self, run: &Run, step: &Step, effect: &Effect, mark: &Mark) -> bool {
        let (Condition::RefChanged(listed), Some(inputs)) = (&step.when, &step.inputs) else { return false };
        let (Change::Created(now) | Change::Updated(now)) = &effect.change else { return false };
        let Some(before) = self.sent_before(effect, mark) else { return false };
        let is_listed = |bound: &BoundRef| {
            listed.iter().any(|(on, path)| {
                let row = run.plan.step(*on).map(|on| &on.row);
                row == Some(&bound.row) && bound.reference.path == *path
            })
        };
        let mut otherwise = false;
        inputs.for_each_leaf(&mut |path, leaf| {
            let concerns = match leaf {
                InputLeaf::Ref(bound) => is_listed(bound),
                InputLeaf::Template(parts) => {
                    parts.iter().any(|part| matches!(part, InputPart::Ref(bound) if is_listed(bound)))
                }
                InputLeaf::Secret { .. } | InputLeaf::Kept(_) => false,
            };
            otherwise |= concerns && path.get(now) != path.get(&before);
        });
        otherwise
    }

    /// What the provider has on record of the object before an effect: of the same one, or of the one
    /// that a replacement takes the place of.
    fn sent_before(&self, effect: &Effect, mark: &Mark) -> Option<Json> {
        let replaced = || {
            let row = self.ledger().into_iter().find(|row| row.id == mark.row)?;
            row.current.map(|object| object.native_id)
        };
        let id = match effect.change {
            Change::Created(_) => replaced()?,
            _ => effect.native_id.clone(),
        };
        let log = self.provider.log().iter().rev();
        log.filter(|other| other.call != effect.call && other.native_id == id).find_map(|other| match &other
            .change
        {
            Change::Created(sent) | Change::Updated(sent) => Some(sent.clone()),
            Change::Deleted => None,
        })
    }

    /// Where what was sent is not what the plan says.
    fn other_value(&self, run: &Run, inputs: &Inputs, sent: &Json, path: &mut Path) -> Option<String> {
        match inputs {
            Inputs::Plain(Json::Object(members)) => members.iter().find_map(|(name, wanted)| {
                let found = sent.get(name).unwrap_or(&Json::Null);
                (!same(wanted, found)).then(|| format!("it sent {found} for `{name}`, not {wanted}"))
            }),
            Inputs::Plain(wanted) => {
                (!same(wanted, sent)).then(|| format!("it sent {sent} for `{path}`, not {wanted}"))
            }
            Inputs::Leaf(InputLeaf::Ref(bound)) if bound.reference.path == RefPath::NativeId => {
                let row = row_id(run, &bound.row)?;
                let rows = self.ledger();
                let row = rows.iter().find(|other| other.id == row)?;
                let id = row.current.as_ref().map(|object| Json::from(object.native_id.as_str()));
                (id.as_ref() != Some(sent)).then(|| format!("it sent {sent} for `{path}`, not {id:?}"))
            }
            // Templates, properties of others and secrets are compared with the declaration once
            // the operation is over.
            Inputs::Leaf(_) => None,
            Inputs::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                let mut path = path.index(index);
                self.other_value(run, item, sent.get(index).unwrap_or(&Json::Null), &mut path)
            }),
            Inputs::Object(members) => members.iter().find_map(|(name, member)| {
                let mut path = path.key(name.clone());
                self.other_value(run, member, sent.get(&**name).unwrap_or(&Json::Null), &mut path)
            }),
        }
    }
}

/// The row that a plan's name for it means.
pub(super) fn row_id(run: &Run, row: &RowRef) -> Option<RowId> {
    match row {
        RowRef::Existing(id) => Some(id.clone()),
        RowRef::New(number) => run.minted.get(*number as usize).cloned(),
    }
}

fn fits(action: &Action, kind: IntentKind) -> bool {
    match kind {
        // An effect of an earlier operation is settled by making its call again.
        IntentKind::Create | IntentKind::Update if *action == Action::Resolve => true,
        IntentKind::Create => matches!(action, Action::Create | Action::Replace),
        IntentKind::Update => matches!(action, Action::Update),
        IntentKind::Delete => matches!(action, Action::Delete { .. }),
        IntentKind::Cleanup => matches!(action, Action::Cleanup { .. }),
        IntentKind::Undo => false,
    }
}

fn unfaithful_undo(step: &Step, journal: &[JournalEntry]) -> Option<String> {
    // An object that a failed create left behind is deleted by rollback too (architecture §3).
    let left_behind = journal.iter().any(|entry| match &entry.entry {
        Entry::Settled { step: settled, outcome: Outcome::Partial { .. }, .. } => *settled == step.id,
        _ => false,
    });
    let declared = step.undo == Undo::DeleteCreated;
    if !declared {
        return Some(format!("its declared undo is {:?}", step.undo));
    }
    if !(left_behind || made(journal, step.id)) {
        return Some("the step had made nothing".to_owned());
    }
    let rolls_back = journal.iter().any(|entry| matches!(entry.entry, Entry::RollbackStarted { .. }));
    (!rolls_back).then(|| "no rollback has begun".to_owned())
}

fn made(journal: &[JournalEntry], step: StepId) -> bool {
    journal.iter().any(|entry| match &entry.entry {
        Entry::Settled { step: settled, outcome: Outcome::Present { .. }, .. } => *settled == step,
        _ => false,
    })
}

fn held(when: &Condition, run: &Run, journal: &[JournalEntry]) -> bool {
    match when {
        Condition::Always => true,
        Condition::RefChanged(refs) => refs.iter().any(|(named, _)| {
            // The step's own effect, or that of an earlier operation which turned out to have been.
            let row = run.plan.step(*named).map(|step| &step.row);
            let steps = run.plan.steps.iter().filter(|step| Some(&step.row) == row);
            steps.into_iter().any(|step| changed_something(journal, step.id))
        }),
        Condition::Replaced(step) => journal.iter().any(|entry| match &entry.entry {
            Entry::Settled { step: settled, outcome: Outcome::Present { deposes, .. }, .. } => {
                settled == step && *deposes
            }
            _ => false,
        }),
    }
}

/// Whether a step did something that a reference to its row may notice.
fn changed_something(journal: &[JournalEntry], step: StepId) -> bool {
    journal.iter().any(|entry| match &entry.entry {
        Entry::Settled { step: settled, outcome, .. } => {
            *settled == step && matches!(outcome, Outcome::Present { .. } | Outcome::Recorded { .. })
        }
        _ => false,
    })
}

fn succeeded(journal: &[JournalEntry], step: StepId) -> bool {
    journal.iter().any(|entry| match &entry.entry {
        Entry::Settled { step: settled, kind, outcome, .. } => {
            *settled == step && *kind != Some(IntentKind::Undo) && outcome.is_success()
        }
        _ => false,
    })
}
