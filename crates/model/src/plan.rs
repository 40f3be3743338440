//! Plans: what will be done, in full, before it is done.
//!
//! A plan is deterministic (same inputs, same bytes), hashed over everything in it, and
//! self-describing: it renders without its source, its schemas or its provider. Apply runs exactly
//! these steps or refuses. What is known only at run time is in it as a [`Condition`]; a step may
//! become a no-op at run time, never another action.

use crate::{
    DeletionPolicy, Generation, Inputs, Json, Label, NativeId, OnFailure, OperationKind, Ownership, Path,
    Place, PlanHash, Planned, ProjectId, RefPath, RowId, Schema, StackId, StackKey, StepId, Stored,
    TargetRev, TypeCapabilities, TypeName, canonical_bytes, sha256_hex,
};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of the plan's shape; an operation pins the one it began with.
pub const PLAN_FORMAT: u16 = 1;

/// A whole plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_FORMAT`] when it was made.
    pub format: u16,
    /// What it is for.
    pub kind: OperationKind,
    /// The project.
    pub project: ProjectId,
    /// The stacks it changes, in id order.
    pub stacks: Vec<PlannedStack>,
    /// The steps; a step's id is its index, and its dependencies have lower ids.
    pub steps: Vec<Step>,
    /// What the plan was made from, one per step that touches a row.
    pub bases: Vec<BaseRow>,
    /// The types it uses, pinned.
    pub types: BTreeMap<TypeName, PinnedType>,
}

/// A type as it was when the plan was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinnedType {
    /// Its schema.
    pub schema: Arc<Schema>,
    /// Its capabilities.
    pub capabilities: TypeCapabilities,
}

/// A stack in a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedStack {
    /// Its id.
    pub id: StackId,
    /// Its name.
    pub key: StackKey,
    /// What a failed step means for the rest.
    pub on_failure: OnFailure,
    /// Which fields its declarations own.
    pub ownership: Ownership,
    /// What to show once all is done.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub outputs: IndexMap<Arc<str>, Inputs>,
    /// Metadata to resolve once all is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Inputs>,
}

/// A row in a plan: an existing one, or the n-th that the plan creates. Ids of new rows are bound
/// by the journal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowRef {
    /// A row of the ledger.
    Existing(RowId),
    /// A row to come.
    New(u32),
}

/// What a step found when it was planned; `begin` refuses a plan if any of it moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaseRow {
    /// The first step that rests on it.
    pub step: StepId,
    /// The stack.
    pub stack: StackId,
    /// The label.
    pub label: Label,
    /// The row and its revision then; `None`: there was no row of this label.
    pub row: Option<(RowId, u64)>,
}

/// One step: at most one effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its index.
    pub id: StepId,
    /// The row it is about.
    pub row: RowRef,
    /// The row's stack.
    pub stack: StackId,
    /// The row's label.
    pub label: Label,
    /// The type to call: of the object, for a delete or cleanup.
    pub type_name: TypeName,
    /// What to do.
    pub action: Action,
    /// When to do it.
    #[serde(default)]
    pub when: Condition,
    /// What must still hold just before.
    #[serde(default)]
    pub guard: Guard,
    /// What to send, for a create, update or replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Inputs>,
    /// What is there, as far as it is comparable, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Stored>,
    /// What will be there, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Planned>,
    /// What changes.
    #[serde(default)]
    pub patch: Patch,
    /// What rollback does after it succeeded.
    #[serde(default)]
    pub undo: Undo,
    /// Where.
    pub target: TargetRev,
    /// What becomes of the object when it is no longer wanted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// Steps that must have succeeded first. Direct ones only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after_steps: Vec<StepId>,
    /// All steps of a lower wave of the same stack must have succeeded first: a formation's deletes
    /// and cleanups wait for all its creates and updates without an edge to each.
    #[serde(default)]
    pub wave: u32,
    /// The rows it refers to directly; they become the row's `references`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<RowRef>,
    /// The declaration's own annotations; they become the row's `metadata`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    /// Its place in the declaration; deletes run in reverse.
    #[serde(default)]
    pub position: u32,
    /// Why.
    pub cause: Cause,
    /// Where it was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum Action {
    /// Makes the object of a row that has none.
    Create,
    /// Changes the row's object in place.
    Update,
    /// Makes a new object and points the row at it; the old one, if it is still there, becomes
    /// deposed and has a `Cleanup`, or was deleted by a `Delete` before.
    Replace,
    /// Deletes the row's current object. Part of a delete-first replacement if `replacing`.
    Delete {
        /// Whether a `Replace` of the same row follows.
        replacing: bool,
    },
    /// Deletes a deposed object; keeps it if its deletion policy is to retain.
    Cleanup {
        /// Which object; `None`: the one that the step named by the condition deposes.
        native_id: Option<NativeId>,
    },
    /// Drops the row without touching the object (retained, or already gone).
    Forget,
    /// Points the row at an object that exists already.
    Adopt {
        /// Which object.
        native_id: NativeId,
    },
    /// Gives the row another label.
    Rename {
        /// The label it had.
        from: Label,
    },
    /// Reads the object so that others can refer to it.
    Read,
    /// Takes what was observed, or a change of policy, metadata or order, into the ledger; no call.
    Record,
    /// Settles an effect of an earlier operation whose outcome is not known.
    Resolve,
    /// Nothing.
    NoOp,
}

impl Action {
    /// The action's name, as plans show it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete { .. } => "delete",
            Self::Cleanup { .. } => "cleanup",
            Self::Forget => "forget",
            Self::Adopt { .. } => "adopt",
            Self::Rename { .. } => "rename",
            Self::Read => "read",
            Self::Record => "record",
            Self::Resolve => "resolve",
            Self::NoOp => "no-op",
        }
    }

    /// Whether the step may change something at a provider.
    pub fn has_effect(&self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Update
                | Self::Replace
                | Self::Delete { .. }
                | Self::Cleanup { .. }
                | Self::Resolve
        )
    }
}

/// When a step is done; otherwise it settles as a no-op.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Always.
    #[default]
    Always,
    /// If a reference resolves to something else than what was sent before.
    RefChanged(Vec<(StepId, RefPath)>),
    /// If that step replaced its object.
    Replaced(StepId),
}

/// What must still hold just before a step's call; otherwise the step fails as drifted, without
/// effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Guard {
    /// Nothing.
    #[default]
    None,
    /// The row has no object.
    Absent {
        /// The row's generation.
        generation: Generation,
    },
    /// The object is the one that was planned against.
    Unchanged {
        /// Its id.
        native_id: NativeId,
        /// The row's generation.
        generation: Generation,
        /// The fingerprint of what was observed ([`fingerprint`]); `None` where the type cannot be
        /// read.
        baseline: Option<String>,
    },
}

/// The fingerprint that a [`Guard`] compares: over the comparable form of an observation.
pub fn fingerprint(observed: &Stored) -> String {
    sha256_hex(&canonical_bytes(&observed.comparable()))
}

/// What a step changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Patch {
    /// Nothing in place.
    #[default]
    None,
    /// Exactly this.
    Final(Vec<PatchOp>),
    /// What `planner::diff` says once the references are known.
    AtRuntime,
}

/// One change of one property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PatchOp {
    /// Which property.
    pub path: Path,
    /// What it was; `None`: it was absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Stored>,
    /// What it becomes; `None`: it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Planned>,
    /// Whether the change comes from outside (healing drift) rather than from the declaration.
    #[serde(default)]
    pub drift: bool,
    /// Whether it forces a replacement.
    #[serde(default)]
    pub immutable: bool,
    /// Where it was declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

/// What rollback does after a step succeeded. It runs only after a failure under
/// [`OnFailure::RollBack`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undo {
    /// Nothing: an update keeps its new state.
    #[default]
    Nothing,
    /// Deletes the object that the step created.
    DeleteCreated,
    /// Leaves the object and says so.
    KeepRetained,
    /// Gives up the object that the step adopted, which stays as it is.
    Release,
}

/// Why a step is in a plan: a chain from the effect to the change that started it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cause(pub Vec<CauseLink>);

/// One link of a [`Cause`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseLink {
    /// What a person reads: "`vpc.cidr` changed".
    pub text: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl Cause {
    /// A cause of one link.
    pub fn of(text: impl Into<String>, place: Option<Place>) -> Self {
        Self(vec![CauseLink { text: text.into(), place }])
    }
}

impl Plan {
    /// The hash that a person approves: over everything in the plan, conditions and undos included.
    pub fn hash(&self) -> PlanHash {
        use sha2::{Digest as _, Sha256};
        // Buffered: a serialiser writes token by token, and a hasher likes blocks.
        let mut hasher = std::io::BufWriter::with_capacity(64 << 10, HashWriter(Sha256::new()));
        if serde_json::to_writer(&mut hasher, self).is_err() {
            unreachable!("a plan has string keys only, and a hasher takes every byte");
        }
        let Ok(hasher) = hasher.into_inner() else { unreachable!("a hasher takes every byte") };
        PlanHash(hasher.0.finalize().into())
    }

    /// The step with this id.
    pub fn step(&self, id: StepId) -> Option<&Step> {
        self.steps.get(id.index())
    }

    /// Whether carrying it out would do nothing: no step has an effect or changes the ledger.
    pub fn is_no_op(&self) -> bool {
        self.steps.iter().all(|step| matches!(step.action, Action::NoOp | Action::Read))
    }
}

struct HashWriter(sha2::Sha256);

impl std::io::Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        use sha2::Digest as _;
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
