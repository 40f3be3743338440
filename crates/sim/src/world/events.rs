//! What is to happen.

use super::{Process, World};
use crate::provider::{Call, Said};
use crate::weather::Journey;
use formwork_engine_core::{Input, TimerKey};
use formwork_model::{IntentKind, NativeId, OperationId, StepId, Timestamp};
use std::cmp::Ordering;

/// Something that is to happen.
#[derive(Debug)]
pub(crate) enum Happening {
    /// A call takes effect at the provider.
    Arrive(Box<Call>, Journey),
    /// An answer reaches a process.
    Hear(usize, u64, Said),
    /// A process gives up on an answer.
    GiveUp(usize, u64),
    /// A timer of a process is due.
    Timer(usize, TimerKey),
    /// A permit is granted.
    Permit(usize, StepId, IntentKind),
    /// A process extends its lease.
    Renew(usize),
    /// A process that stood still goes on.
    Wake(usize),
    /// Somebody recovers an operation whose process is gone.
    Recover(OperationId),
    /// Somebody asks an operation to stop.
    Cancel(OperationId, bool),
    /// An object vanishes, without us.
    Vanish(NativeId),
}

impl Happening {
    /// The process whose operation gets an input by it.
    pub(super) fn input_for(&self) -> Option<usize> {
        match self {
            Self::Hear(process, ..)
            | Self::GiveUp(process, _)
            | Self::Timer(process, _)
            | Self::Permit(process, ..) => Some(*process),
            _ => None,
        }
    }
}

/// With its time, and a number that orders what happens at the same time.
#[derive(Debug)]
pub(crate) struct Scheduled {
    pub(crate) at: Timestamp,
    pub(crate) number: u64,
    pub(crate) what: Happening,
}

impl Scheduled {
    fn key(&self) -> (Timestamp, u64) {
        (self.at, self.number)
    }
}

/// The earliest is the greatest: a binary heap gives out the greatest first.
impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Scheduled {}

impl World {
    pub(super) fn happen(&mut self, what: Happening) {
        match what {
            Happening::Arrive(call, journey) => self.arrive(&call, journey),
            Happening::Renew(process) => self.renew(process),
            Happening::Wake(process) => self.wake(process),
            Happening::Recover(operation) => self.recover(&operation),
            Happening::Cancel(operation, force) => self.cancel(&operation, force),
            Happening::Vanish(id) => self.vanish(&id),
            input => self.hand_in(input),
        }
    }

    /// Hands an input to its process, with those that are due along with it if they share a turn.
    fn hand_in(&mut self, first: Happening) {
        let Some(process) = first.input_for() else { return };
        let mut inputs: Vec<Input> = self.input_of(first).into_iter().collect();
        while self.due_for(process) && self.weather.merges() {
            let Some(next) = self.queue.pop() else { break };
            inputs.extend(self.input_of(next.what));
        }
        if !inputs.is_empty() {
            self.turn(process, inputs);
        }
    }

    fn input_of(&mut self, what: Happening) -> Option<Input> {
        match what {
            Happening::Hear(process, number, said) => self.heard(process, number, said),
            Happening::GiveUp(process, number) => self.given_up(process, number),
            Happening::Timer(process, key) => self.alive(process).then_some(Input::TimerDue(key)),
            Happening::Permit(process, step, kind) => {
                self.alive(process).then_some(Input::PermitGranted { step, kind })
            }
            _ => None,
        }
    }

    pub(super) fn alive(&self, process: usize) -> bool {
        self.processes.get(process).is_some_and(Process::is_alive)
    }

    fn vanish(&mut self, id: &NativeId) {
        if self.provider.lose(self.now, id) {
            self.note(format_args!("out of band: {id} vanishes"));
            self.lost.insert(id.clone());
        }
    }

    /// Lets an object vanish after a while.
    pub fn vanish_after(&mut self, millis: u64, id: NativeId) {
        self.at(self.now.plus(millis), Happening::Vanish(id));
    }

    /// Cancels an operation after a while.
    pub fn cancel_after(&mut self, millis: u64, operation: &OperationId, force: bool) {
        self.at(self.now.plus(millis), Happening::Cancel(operation.clone(), force));
    }
}
