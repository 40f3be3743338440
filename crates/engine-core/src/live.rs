//! What is outstanding in this process: volatile, and empty after a replay.

use crate::facts::{Key, Phase};
use crate::inputs::Prepared;
use crate::operation::Operation;
use crate::{Waiting, WaitsFor};
use formwork_model::{NativeId, Timestamp};

/// What a step, or its undo, is at right now.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) state: State,
    pub(crate) since: Timestamp,
}

/// See [`Live`].
#[derive(Debug)]
pub(crate) enum State {
    /// An object is being read.
    Reading(Box<Prepared>),
    /// A permit was asked for, to do this.
    Permit(Box<Errand>),
    /// A call is under way.
    Calling,
    /// The provider works on it; the next poll is due later.
    PollPause,
    /// A poll is under way.
    Polling,
    /// An object is being looked for.
    Finding,
    /// The next attempt is due later.
    Backoff,
    /// An unknown outcome can be looked for later.
    Doubt,
}

/// What to do once a call is permitted.
#[derive(Debug)]
pub(crate) enum Errand {
    /// Send this.
    Send(Prepared),
    /// Delete this.
    Delete(NativeId),
    /// Make the call of an earlier intent again.
    Repeat(Prepared),
}

impl State {
    /// Whether it takes one of the operation's slots.
    fn occupies(&self) -> bool {
        !matches!(self, Self::Backoff | Self::Doubt)
    }
}

impl Operation {
    pub(crate) fn set_live(&mut self, now: Timestamp, key: Key, state: State) {
        self.again.remove(&key);
        self.slots_used += usize::from(state.occupies());
        let before = self.live.insert(key, Live { state, since: now });
        self.slots_used -= usize::from(before.is_some_and(|before| before.state.occupies()));
    }

    pub(crate) fn take_live(&mut self, key: Key) -> Option<State> {
        let live = self.live.remove(&key)?;
        self.slots_used -= usize::from(live.state.occupies());
        Some(live.state)
    }

    pub(crate) fn state(&self, key: Key) -> Option<&State> {
        self.live.get(&key).map(|live| &live.state)
    }

    pub(crate) fn slot_free(&self) -> bool {
        self.slots_used < self.limits.concurrency.max(1)
    }

    /// What is under way: for heartbeats, and for a person who wonders.
    pub fn waiting(&self, now: Timestamp) -> Vec<Waiting> {
        let waiting = self.live.iter().filter_map(|(key, live)| {
            let step = self.plan.step(key.step)?;
            let track = self.facts.track(*key);
            let begun = track.filter(|track| track.is_open()).map(|track| track.since);
            let attempt = track.map_or(0, |track| track.attempt);
            Some(Waiting {
                step: step.id,
                label: step.label.clone(),
                type_name: step.type_name.clone(),
                action: step.action.clone(),
                undo: key.undo,
                attempt: attempt.max(1),
                since: begun.unwrap_or(live.since).min(now),
                on: self.waits_for(*key, &live.state),
            })
        });
        waiting.collect()
    }

    fn waits_for(&self, key: Key, state: &State) -> WaitsFor {
        let phase = self.facts.track(key).map(|track| &track.phase);
        match (state, phase) {
            (State::Permit(_), _) => WaitsFor::Permit,
            (State::Calling, _) => {
                let not_after = self.intent(key).map(|intent| intent.not_after);
                WaitsFor::Answer(not_after.unwrap_or_default())
            }
            (State::PollPause | State::Polling, Some(Phase::Accepted { deadline, .. })) => {
                WaitsFor::Provider(*deadline)
            }
            (State::Backoff, Some(Phase::Backoff { at })) => WaitsFor::Retry(*at),
            (State::Doubt, Some(Phase::Doubtful { resolve_at })) => WaitsFor::Resolution(*resolve_at),
            _ => WaitsFor::Read,
        }
    }
}
