//! Which step may begin: in-degree counters, waves, serial lanes and ready sets, O(V+E) over a whole
//! operation. Volatile: rebuilt from the facts.

use formwork_model::{Action, Concurrency, OnFailure, OperationKind, Plan, StepId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// The plan as integers. Nothing in it changes.
#[derive(Debug)]
pub(crate) struct Layout {
    offsets: Vec<u32>,
    dependents: Vec<u32>,
    stack: Vec<u32>,
    wave: Vec<u32>,
    serial: Vec<bool>,
    pub(crate) stacks: Vec<StackLayout>,
}

/// A stack as integers.
#[derive(Debug, Default)]
pub(crate) struct StackLayout {
    /// Whether a failure rolls it back.
    pub(crate) rolls_back: bool,
    /// Its steps, wave by wave, in order.
    pub(crate) waves: Vec<WaveLayout>,
}

/// A wave as integers.
#[derive(Debug, Default)]
pub(crate) struct WaveLayout {
    pub(crate) steps: Vec<u32>,
    serial: Vec<u32>,
}

impl Layout {
    pub(crate) fn new(plan: &Plan) -> Self {
        let (offsets, dependents) = edges(plan);
        let mut layout = Self {
            offsets,
            dependents,
            stack: Vec::with_capacity(plan.steps.len()),
            wave: Vec::with_capacity(plan.steps.len()),
            serial: Vec::with_capacity(plan.steps.len()),
            stacks: Vec::new(),
        };
        layout.place(plan);
        layout
    }

    fn place(&mut self, plan: &Plan) {
        let mut stacks: FxHashMap<_, usize> = FxHashMap::default();
        for stack in &plan.stacks {
            stacks.insert(&stack.id, self.stacks.len());
            let rolls_back = stack.on_failure == OnFailure::RollBack && plan.kind != OperationKind::Delete;
            self.stacks.push(StackLayout { rolls_back, waves: Vec::new() });
        }
        let mut numbers: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); self.stacks.len()];
        for step in &plan.steps {
            // Reads of another stack's rows belong to that stack, which the plan does not list.
            let stack = *stacks.entry(&step.stack).or_insert_with(|| {
                self.stacks.push(StackLayout::default());
                numbers.push(BTreeSet::new());
                self.stacks.len() - 1
            });
            numbers[stack].insert(step.wave);
            self.stack.push(narrow(stack));
        }
        let indices: Vec<FxHashMap<u32, usize>> = numbers
            .iter()
            .map(|waves| waves.iter().enumerate().map(|(at, number)| (*number, at)).collect())
            .collect();
        for (layout, waves) in self.stacks.iter_mut().zip(&numbers) {
            layout.waves.resize_with(waves.len(), WaveLayout::default);
        }
        for (at, step) in plan.steps.iter().enumerate() {
            let stack = self.stack[at] as usize;
            let wave = indices[stack][&step.wave];
            let capabilities = plan.types.get(&step.type_name).map(|pinned| &pinned.capabilities);
            let serial = capabilities.is_some_and(|found| found.concurrency == Concurrency::Serial);
            let layout = &mut self.stacks[stack].waves[wave];
            layout.steps.push(narrow(at));
            if serial {
                layout.serial.push(narrow(at));
            }
            self.wave.push(narrow(wave));
            self.serial.push(serial);
        }
    }

    pub(crate) fn dependents(&self, step: StepId) -> impl Iterator<Item = StepId> + '_ {
        let range = self.offsets[step.index()] as usize..self.offsets[step.index() + 1] as usize;
        self.dependents[range].iter().map(|at| StepId(*at))
    }

    pub(crate) fn stack_of(&self, step: StepId) -> usize {
        self.stack[step.index()] as usize
    }

    pub(crate) fn is_serial(&self, step: StepId) -> bool {
        self.serial[step.index()]
    }

    /// The stacks that a failed step stops: its own and those that wait for it, where a failure
    /// rolls back.
    pub(crate) fn stops(&self, step: StepId) -> BTreeSet<usize> {
        let others = self.dependents(step).map(|dependent| self.stack_of(dependent));
        std::iter::once(self.stack_of(step)).chain(others).filter(|at| self.stacks[*at].rolls_back).collect()
    }
}

/// Who waits for whom, as one flat list: `dependents[offsets[i]..offsets[i + 1]]` wait for `i`.
fn edges(plan: &Plan) -> (Vec<u32>, Vec<u32>) {
    let count = plan.steps.len();
    let known = |on: &StepId| on.index() < count;
    let mut offsets = vec![0_u32; count + 1];
    for on in plan.steps.iter().flat_map(|step| &step.after_steps).filter(|on| known(on)) {
        offsets[on.index() + 1] += 1;
    }
    for at in 0..count {
        offsets[at + 1] += offsets[at];
    }
    let mut next = offsets.clone();
    let mut dependents = vec![0; offsets[count] as usize];
    for (at, step) in plan.steps.iter().enumerate() {
        for on in step.after_steps.iter().filter(|on| known(on)) {
            dependents[next[on.index()] as usize] = narrow(at);
            next[on.index()] += 1;
        }
    }
    (offsets, dependents)
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Where a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Idle,
    Queued,
    Begun,
    /// Settled, or given up without having begun.
    Done,
}

/// What is to be skipped, and because of which step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Blocked {
    /// Those that wait for this step.
    Dependents(StepId),
    /// The later waves of this stack, because of this step.
    LaterWaves(usize, StepId),
}

/// How far the waves of a stack are.
#[derive(Debug)]
struct Gate {
    open: usize,
    left: Vec<u32>,
    parked: Vec<Vec<u32>>,
    lanes: Vec<usize>,
    spoiled: Option<StepId>,
    /// Whether the waves after the open one are off.
    closed: bool,
    begun: usize,
}

/// Which step may begin.
#[derive(Debug)]
pub(crate) struct Schedule {
    missing: Vec<u32>,
    places: Vec<Place>,
    gates: Vec<Gate>,
    /// May begin and need no call.
    pub(crate) instant: BTreeSet<StepId>,
    /// May begin.
    pub(crate) ready: BTreeSet<StepId>,
    pub(crate) blocked: VecDeque<Blocked>,
    /// How many steps are not done.
    pub(crate) open: usize,
    instantly: Vec<bool>,
    cursor: usize,
}

/// What the end of a step means for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Consequence {
    /// Whether those that wait for it may go on.
    pub(crate) pass: bool,
    /// Whether later waves of its stack are off.
    pub(crate) spoils: bool,
}

impl Schedule {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let missing = plan.steps.iter().map(|step| narrow(step.after_steps.len())).collect();
        let gates = layout.stacks.iter().map(|stack| Gate {
            open: 0,
            left: stack.waves.iter().map(|wave| narrow(wave.steps.len())).collect(),
            parked: vec![Vec::new(); stack.waves.len()],
            lanes: vec![0; stack.waves.len()],
            spoiled: None,
            closed: false,
            begun: 0,
        });
        let instantly =
            |action: &Action| matches!(action, Action::NoOp | Action::Rename { .. } | Action::Forget);
        Self {
            missing,
            places: vec![Place::Idle; plan.steps.len()],
            gates: gates.collect(),
            instant: BTreeSet::new(),
            ready: BTreeSet::new(),
            blocked: VecDeque::new(),
            open: plan.steps.len(),
            instantly: plan.steps.iter().map(|step| instantly(&step.action)).collect(),
            cursor: 0,
        }
    }

    /// Queues everything that may begin.
    pub(crate) fn queue_all(&mut self, layout: &Layout) {
        for at in 0..self.places.len() {
            self.try_queue(layout, StepId(narrow(at)));
        }
    }

    pub(crate) fn place(&self, step: StepId) -> Place {
        self.places.get(step.index()).copied().unwrap_or(Place::Done)
    }

    /// How many steps of a stack are under way.
    pub(crate) fn begun_in(&self, stack: usize) -> usize {
        self.gates[stack].begun
    }

    /// The next step that may begin, with whether it needs a slot.
    pub(crate) fn next(&mut self, slot_free: bool) -> Option<StepId> {
        loop {
            let step = match self.instant.pop_first() {
                Some(step) => step,
                None if slot_free => self.ready.pop_first()?,
                None => return None,
            };
            if self.place(step) == Place::Queued {
                return Some(step);
            }
        }
    }

    /// Puts a step back that could not begin.
    pub(crate) fn requeue(&mut self, step: StepId) {
        if self.place(step) == Place::Queued {
            self.ready.insert(step);
        }
    }

    pub(crate) fn begin(&mut self, layout: &Layout, step: StepId) {
        if self.place(step) != Place::Begun {
            self.places[step.index()] = Place::Begun;
            self.gates[layout.stack_of(step)].begun += 1;
        }
    }

    /// A step that waits for something that never comes: a plan that contradicts itself.
    pub(crate) fn stuck(&mut self) -> Option<StepId> {
        while self.cursor < self.places.len() {
            if self.places[self.cursor] != Place::Done {
                return Some(StepId(narrow(self.cursor)));
            }
            self.cursor += 1;
        }
        None
    }

    /// A step is over, or given up.
    pub(crate) fn done(&mut self, layout: &Layout, step: StepId, consequence: Consequence) {
        let before = self.place(step);
        if before == Place::Done {
            return;
        }
        self.places[step.index()] = Place::Done;
        self.open -= 1;
        let (stack, wave) = (layout.stack_of(step), layout.wave[step.index()] as usize);
        let gate = &mut self.gates[stack];
        gate.left[wave] -= 1;
        if before == Place::Begun {
            gate.begun -= 1;
        }
        if consequence.spoils {
            gate.spoiled.get_or_insert(step);
        }
        if layout.serial[step.index()] {
            self.advance_lane(layout, stack, wave);
        }
        self.open_waves(layout, stack);
        if !consequence.pass {
            self.blocked.push_back(Blocked::Dependents(step));
            return;
        }
        for dependent in layout.dependents(step) {
            self.missing[dependent.index()] -= 1;
            self.try_queue(layout, dependent);
        }
    }

    fn advance_lane(&mut self, layout: &Layout, stack: usize, wave: usize) {
        let lane = &layout.stacks[stack].waves[wave].serial;
        let mut at = self.gates[stack].lanes[wave];
        while at < lane.len() && self.places[lane[at] as usize] == Place::Done {
            at += 1;
        }
        self.gates[stack].lanes[wave] = at;
        if let Some(next) = lane.get(at) {
            self.try_queue(layout, StepId(*next));
        }
    }

    fn open_waves(&mut self, layout: &Layout, stack: usize) {
        loop {
            let gate = &mut self.gates[stack];
            let last = gate.open + 1 >= gate.left.len();
            if last || gate.closed || gate.left[gate.open] > 0 {
                return;
            }
            let opened = gate.open;
            if let Some(cause) = gate.spoiled {
                gate.closed = true;
                self.blocked.push_back(Blocked::LaterWaves(stack, cause));
                return;
            }
            gate.open = opened + 1;
            for step in std::mem::take(&mut gate.parked[opened + 1]) {
                self.try_queue(layout, StepId(step));
            }
        }
    }

    fn try_queue(&mut self, layout: &Layout, step: StepId) {
        let at = step.index();
        if self.places[at] != Place::Idle || self.missing[at] > 0 {
            return;
        }
        let (stack, wave) = (layout.stack[at] as usize, layout.wave[at] as usize);
        let gate = &mut self.gates[stack];
        if wave > gate.open {
            gate.parked[wave].push(step.0);
            return;
        }
        if layout.serial[at] && layout.stacks[stack].waves[wave].serial.get(gate.lanes[wave]) != Some(&step.0)
        {
            return;
        }
        self.places[at] = Place::Queued;
        let queue = if self.instantly[at] { &mut self.instant } else { &mut self.ready };
        queue.insert(step);
    }

    /// The steps of the waves of a stack that are not open yet.
    pub(crate) fn later_waves<'l>(
        &self,
        layout: &'l Layout,
        stack: usize,
    ) -> impl Iterator<Item = StepId> + use<'l> {
        let open = self.gates[stack].open;
        layout.stacks[stack]
            .waves
            .iter()
            .skip(open + 1)
            .flat_map(|wave| wave.steps.iter().map(|at| StepId(*at)))
    }
}
