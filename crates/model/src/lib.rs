//! The vocabulary of Formwork: what every other crate talks about, and nothing that acts.
//!
//! A value has one type per phase, so that a phase cannot be mistaken for another: [`Expr`] is what
//! a person declared, [`Planned`] what a plan knows of it, [`Inputs`] what a step will send,
//! [`Stored`] what a ledger row keeps.
//!
//! **Architecture invariant:** no I/O, no clock, no randomness, no async runtime in this crate or
//! below it. Time and ids come in as values.

mod codes;
mod depth;
mod desired;
mod diagnostic;
mod event;
mod ids;
mod journal;
mod json;
mod members;
mod name;
mod operation;
mod path;
mod plan;
mod reference;
mod row;
mod schema;
mod source;
mod suggest;
mod tree;
mod types;
mod value;

pub use codes::{DiagnosticCode, OperationErrorCode, WireCode};
pub use depth::{INPUT_DEPTH, STORED_DEPTH, Unreadable, depth, is_storable, read_stored};
pub use desired::{
    DeletionPolicy, Dependency, Desired, EdgeKind, Matching, Mode, OnFailure, Ownership, ResourceDesired,
    StackDesired,
};
pub use diagnostic::{Diagnostic, Diagnostics, Related, Severity};
pub use event::{Event, EventAction, EventStatus, EventSubject};
pub use ids::{
    ActorId, ClientToken, Fence, FormationName, Generation, Label, NativeId, NotHex, OperationId, OwnerId,
    PlanHash, ProjectId, RowId, SlotId, StackId, StackKey, StepId, TargetName, Timestamp, TypeName,
};
pub use journal::{Attempt, Entry, IntentKind, JOURNAL_VERSION, JournalEntry, Outcome};
pub use json::{Json, canonical, canonical_bytes, same, sha256_hex};
pub use members::Members;
pub use name::{NameProblem, name_problem};
pub use operation::{Failure, OperationKind, OperationRecord, OperationStatus};
pub use path::{Path, Segment};
pub use plan::{
    Action, BaseRow, Cause, CauseLink, Condition, Guard, PLAN_FORMAT, Patch, PatchOp, PinnedType, Plan,
    PlannedStack, RowRef, Step, Undo, fingerprint,
};
pub use reference::{Ref, RefPath, RefTarget, Visibility};
pub use row::{Certainty, Lookup, Object, OpenIntent, Row, RowStatus, TargetRev, UniqueValue};
pub use schema::{FieldHint, IndexBy, Kind, NestedHints, NestedKey, PropertySchema, Schema, UpdateMethod};
pub use source::{Children, Place, SourceFile, SourceMap, SourceNode, Span};
pub use suggest::Suggest;
pub use tree::{Leaf, Tree};
pub use types::{
    Catalog, CheckContext, Concurrency, Discovery, IamActions, ImmutableRule, ListParameter, LookupRule,
    Observation, Parent, Replacement, RetryRule, SecretKeeping, TARGET_STACK, TARGET_TYPE, TypeCapabilities,
    TypeRules, WriteOnlyRule, is_target_stack, target_stack,
};
pub use value::{
    BoundRef, Expr, ExprLeaf, InputLeaf, InputPart, Inputs, Part, Planned, PlannedLeaf, SecretSlots, Stored,
    StoredLeaf, as_text, digest_of, mask,
};

pub use formwork_secret::{Digest, InstanceKey, Sealed, Secret};
