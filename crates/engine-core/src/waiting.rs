//! What is under way, for heartbeats and for a person who waits.

use formwork_model::{Action, Label, StepId, Timestamp, TypeName};

/// A step that is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// The step.
    pub step: StepId,
    /// The row's label.
    pub label: Label,
    /// The type that is called.
    pub type_name: TypeName,
    /// What the step does.
    pub action: Action,
    /// Whether the step is being undone.
    pub undo: bool,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Since when the step is under way.
    pub since: Timestamp,
    /// For what it waits.
    pub on: WaitsFor,
}

/// What a step that is under way waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// For a permit to call.
    Permit,
    /// For a read or a lookup.
    Read,
    /// For the answer of a call that may begin no later than this.
    Answer(Timestamp),
    /// For the provider, which works on it; given up at this moment.
    Provider(Timestamp),
    /// For the next attempt, due at this moment.
    Retry(Timestamp),
    /// For the moment from which an unknown outcome can be looked for.
    Resolution(Timestamp),
}
