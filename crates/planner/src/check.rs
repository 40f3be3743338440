//! A plan's own promises, checked without anything but the plan: what a linter is to source.

use formwork_model::{
    Action, BaseRow, BoundRef, Condition, DeletionPolicy, Guard, InputLeaf, InputPart, Inputs, OnFailure,
    Plan, PlannedStack, RowRef, StackId, Step, StepId, Undo,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A promise that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// A step's id is not its index.
    #[error("step {found} stands at index {index}")]
    Id {
        /// Where it stands.
        index: usize,
        /// What it says.
        found: StepId,
    },
    /// A step waits for a later one, for itself, or for none that exists.
    #[error("step {step} waits for {on}, which does not come before it")]
    Order {
        /// The step.
        step: StepId,
        /// What it waits for.
        on: StepId,
    },
    /// A step waits for one of a later wave of its stack.
    #[error("step {step} waits for {on}, which is of a later wave")]
    Wave {
        /// The step.
        step: StepId,
        /// What it waits for.
        on: StepId,
    },
    /// A condition that can never hold, or names a step that cannot meet it.
    #[error("the condition of step {step} cannot hold")]
    Condition {
        /// The step.
        step: StepId,
    },
    /// A step of a stack that the plan does not list.
    #[error("step {step} is of stack `{stack}`, which the plan does not change")]
    Stack {
        /// The step.
        step: StepId,
        /// Its stack.
        stack: StackId,
    },
    /// A step of a type that the plan does not pin, and that must be called to create or change.
    #[error("step {step} is of type `{type_name}`, which the plan does not pin")]
    Type {
        /// The step.
        step: StepId,
        /// Its type.
        type_name: String,
    },
    /// A step whose row has no base, or a base that contradicts it.
    #[error("step {step} has no base that fits its row")]
    Base {
        /// The step.
        step: StepId,
    },
    /// A base of a step that does not exist, or is of another label.
    #[error("base {index} names step {step}, which is not about it")]
    StrayBase {
        /// Index into the bases.
        index: usize,
        /// The step it names.
        step: StepId,
    },
    /// A step without the guard that its action demands.
    #[error("step {step} ({action}) lacks its guard")]
    Guard {
        /// The step.
        step: StepId,
        /// Its action.
        action: &'static str,
    },
    /// A step that sends something without inputs, or the other way round.
    #[error("step {step} ({action}) has inputs where it should not, or none where it should")]
    Inputs {
        /// The step.
        step: StepId,
        /// Its action.
        action: &'static str,
    },
    /// An input bound to a row whose step does not come before.
    #[error("step {step} refers to a row that nothing before it provides")]
    Unbound {
        /// The step.
        step: StepId,
    },
    /// An undo that is not legal for the step.
    #[error("step {step} ({action}) cannot have this undo")]
    Undo {
        /// The step.
        step: StepId,
        /// Its action.
        action: &'static str,
    },
    /// A deletion or replacement of a protected resource.
    #[error("step {step} would delete or replace a protected resource")]
    Protected {
        /// The step.
        step: StepId,
    },
    /// A deletion for a replacement that does not follow.
    #[error("step {step} deletes for a replacement that does not follow")]
    NoReplacement {
        /// The step.
        step: StepId,
    },
    /// A replacement that leaves its old object without a cleanup, or cleans up what was deleted.
    #[error("step {step} replaces an object that is not disposed of exactly once")]
    NoCleanup {
        /// The step.
        step: StepId,
    },
    /// A step with an effect and no reason.
    #[error("step {step} has no cause")]
    Cause {
        /// The step.
        step: StepId,
    },
}

/// Checks a plan on its own. Linear in the size of the plan.
///
/// # Errors
/// Every promise it breaks, in the order of the steps.
pub fn check(plan: &Plan) -> Result<(), Vec<PlanFault>> {
    let mut checker = Checker::new(plan);
    for (index, step) in plan.steps.iter().enumerate() {
        if step.id.index() != index {
            checker.faults.push(PlanFault::Id { index, found: step.id });
            continue;
        }
        checker.place(step);
        checker.content(step);
        checker.replacement(step);
        checker.seen(step);
    }
    for (index, base) in plan.bases.iter().enumerate() {
        checker.base(index, base);
    }
    if checker.faults.is_empty() { Ok(()) } else { Err(checker.faults) }
}

struct Checker<'p> {
    plan: &'p Plan,
    stacks: FxHashMap<&'p StackId, &'p PlannedStack>,
    existing: FxHashSet<&'p formwork_model::RowId>,
    /// Labels whose base says that there is no row.
    absent: FxHashSet<(&'p StackId, &'p formwork_model::Label)>,
    /// Rows that a `Resolve` came for.
    resolved: FxHashSet<&'p RowRef>,
    /// The deletion that came for a replacement of a row.
    deleted: FxHashMap<&'p RowRef, StepId>,
    /// Rows that some step replaces, with the step.
    replaced: FxHashMap<&'p RowRef, StepId>,
    /// Rows that a step was about so far.
    about: FxHashSet<&'p RowRef>,
    /// Steps that a cleanup waits for.
    cleaned: FxHashSet<StepId>,
    faults: Vec<PlanFault>,
}

impl<'p> Checker<'p> {
    fn new(plan: &'p Plan) -> Self {
        let replaces = plan.steps.iter().filter(|step| step.action == Action::Replace);
        let cleanups = plan.steps.iter().filter(|step| matches!(step.action, Action::Cleanup { .. }));
        Self {
            plan,
            stacks: plan.stacks.iter().map(|stack| (&stack.id, stack)).collect(),
            existing: plan.bases.iter().filter_map(|base| base.row.as_ref()).map(|(id, _)| id).collect(),
            absent: (plan.bases.iter().filter(|base| base.row.is_none()))
                .map(|base| (&base.stack, &base.label))
                .collect(),
            resolved: FxHashSet::default(),
            deleted: FxHashMap::default(),
            replaced: replaces.map(|step| (&step.row, step.id)).collect(),
            about: FxHashSet::default(),
            cleaned: cleanups
                .filter_map(|step| match step.when {
                    Condition::Replaced(on) => Some(on),
                    _ => None,
                })
                .collect(),
            faults: Vec::new(),
        }
    }

    /// Where a step stands: its order, wave, condition, stack, type and base.
    fn place(&mut self, step: &'p Step) {
        for on in &step.after_steps {
            match self.before(step, *on) {
                None => self.faults.push(PlanFault::Order { step: step.id, on: *on }),
                Some(earlier) if earlier.stack == step.stack && earlier.wave > step.wave => {
                    self.faults.push(PlanFault::Wave { step: step.id, on: *on });
                }
                Some(_) => {}
            }
        }
        if !self.can_hold(step) {
            self.faults.push(PlanFault::Condition { step: step.id });
        }
        if !self.stacks.contains_key(&step.stack) {
            self.faults.push(PlanFault::Stack { step: step.id, stack: step.stack.clone() });
        }
        let calls = matches!(
            step.action,
            Action::Create | Action::Update | Action::Replace | Action::Read | Action::Adopt { .. }
        );
        if calls && !self.plan.types.contains_key(&step.type_name) {
            let type_name = step.type_name.to_string();
            self.faults.push(PlanFault::Type { step: step.id, type_name });
        }
        let based = match &step.row {
            RowRef::Existing(id) => self.existing.contains(id),
            RowRef::New(_) => self.absent.contains(&(&step.stack, &step.label)),
        };
        if !based {
            self.faults.push(PlanFault::Base { step: step.id });
        }
    }

    fn before(&self, step: &Step, on: StepId) -> Option<&'p Step> {
        self.plan.step(on).filter(|_| on < step.id)
    }

    fn can_hold(&self, step: &Step) -> bool {
        match &step.when {
            Condition::Always => true,
            Condition::RefChanged(on) => {
                !on.is_empty() && on.iter().all(|(on, _)| self.before(step, *on).is_some())
            }
            Condition::Replaced(on) => self.before(step, *on).is_some_and(|on| {
                on.row == step.row && matches!(on.action, Action::Update | Action::Replace | Action::Resolve)
            }),
        }
    }

    /// What a step says: guard, inputs, undo, protection, cause.
    fn content(&mut self, step: &'p Step) {
        let action = step.action.name();
        if !self.is_guarded(step) {
            self.faults.push(PlanFault::Guard { step: step.id, action });
        }
        let sends = match step.action {
            Action::Create | Action::Update | Action::Replace => step.inputs.is_some(),
            Action::Record => true,
            _ => step.inputs.is_none(),
        };
        if !sends {
            self.faults.push(PlanFault::Inputs { step: step.id, action });
        }
        if let Some(inputs) = &step.inputs
            && !self.is_bound(inputs)
        {
            self.faults.push(PlanFault::Unbound { step: step.id });
        }
        if !self.may_undo(step) {
            self.faults.push(PlanFault::Undo { step: step.id, action });
        }
        let removes = matches!(step.action, Action::Delete { .. } | Action::Replace | Action::Cleanup { .. });
        if removes && step.deletion_policy == DeletionPolicy::Protect {
            self.faults.push(PlanFault::Protected { step: step.id });
        }
        if step.cause.0.is_empty() && step.action != Action::NoOp {
            self.faults.push(PlanFault::Cause { step: step.id });
        }
    }

    /// After a `Resolve`, or after the deletion that a replacement brings, a row's generation is only
    /// known to the run; no guard is possible there.
    fn is_guarded(&self, step: &Step) -> bool {
        let excused = self.resolved.contains(&step.row);
        match step.action {
            Action::Create => excused || matches!(step.guard, Guard::Absent { .. }),
            Action::Update | Action::Delete { .. } | Action::Adopt { .. } => {
                excused || matches!(step.guard, Guard::Unchanged { .. })
            }
            Action::Replace => {
                excused
                    || self.deleted.contains_key(&step.row)
                    || matches!(step.guard, Guard::Unchanged { .. })
            }
            _ => true,
        }
    }

    /// Whether every row that the inputs refer to is there by then: a step was about it, or it is a
    /// row of the ledger that the plan leaves alone.
    fn is_bound(&self, inputs: &Inputs) -> bool {
        let mut bound = true;
        let mut look = |reference: &BoundRef| {
            bound &= self.about.contains(&reference.row)
                || matches!(&reference.row, RowRef::Existing(id) if !self.existing.contains(id));
        };
        inputs.for_each_leaf(&mut |_, leaf| match leaf {
            InputLeaf::Ref(reference) => look(reference),
            InputLeaf::Template(parts) => parts.iter().for_each(|part| {
                if let InputPart::Ref(reference) = part {
                    look(reference);
                }
            }),
            InputLeaf::Secret { .. } | InputLeaf::Kept(_) => {}
        });
        bound
    }

    fn may_undo(&self, step: &Step) -> bool {
        let adopts = matches!(step.action, Action::Adopt { .. });
        let rolls_back =
            self.stacks.get(&step.stack).is_some_and(|stack| stack.on_failure == OnFailure::RollBack);
        match step.undo {
            Undo::Nothing => !(step.action == Action::Create || adopts) || !rolls_back,
            Undo::Release => rolls_back && adopts,
            Undo::DeleteCreated => {
                rolls_back && step.action == Action::Create && step.deletion_policy == DeletionPolicy::Delete
            }
            Undo::KeepRetained => {
                rolls_back && step.action == Action::Create && step.deletion_policy != DeletionPolicy::Delete
            }
        }
    }

    /// That a replacement disposes of its old object exactly once.
    fn replacement(&mut self, step: &'p Step) {
        match step.action {
            Action::Delete { replacing: true } => {
                let replacement = self.replaced.get(&step.row).and_then(|later| self.plan.step(*later));
                if !replacement.is_some_and(|later| later.after_steps.contains(&step.id)) {
                    self.faults.push(PlanFault::NoReplacement { step: step.id });
                }
            }
            Action::Replace => {
                let deleted = self.deleted.contains_key(&step.row);
                if deleted == self.cleaned.contains(&step.id) {
                    self.faults.push(PlanFault::NoCleanup { step: step.id });
                }
            }
            _ => {}
        }
    }

    fn seen(&mut self, step: &'p Step) {
        self.about.insert(&step.row);
        match step.action {
            Action::Resolve => {
                self.resolved.insert(&step.row);
            }
            Action::Delete { replacing: true } => {
                self.deleted.insert(&step.row, step.id);
            }
            _ => {}
        }
    }

    fn base(&mut self, index: usize, base: &BaseRow) {
        let fits = self.plan.step(base.step).is_some_and(|step| {
            step.stack == base.stack
                && match (&step.row, &base.row) {
                    (RowRef::Existing(id), Some((base, _))) => id == base,
                    (RowRef::New(_), None) => step.label == base.label,
                    _ => false,
                }
        });
        if !fits {
            self.faults.push(PlanFault::StrayBase { index, step: base.step });
        }
    }
}
