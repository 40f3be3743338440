//! What travels between a client and the server: wire types, the error body, and a typed client.
//!
//! Names and order of fields are those of seed 4's data model and of `formations-behaviour.md` §1.3
//! and §11; what is ours beyond them is optional and comes last.
//!
//! **Architecture invariant:** this crate does not know `control`: the server turns its views into
//! these types. A client therefore compiles without the engine.

mod client;
mod drift;
mod error;
mod event;
mod forma;
mod formation;
pub mod json;
mod managed;
mod operation;
mod page;
mod plan;
mod project;
mod purge;
mod requests;
mod revision;
mod time;
mod token;
mod user;
mod validation;

pub use client::{
    Answer, ApiError, Client, ClientError, Endpoint, EndpointError, HttpMethod, Locate, Located,
    OperationStream, StreamItem, TransportError,
};
pub use drift::{DriftChange, DriftStatus, FormationDrift, ResourceDrift};
pub use error::{ErrorBody, ErrorDetail};
pub use event::{EventPage, OperationEnd, OperationEvent, WaitingFor};
pub use forma::{
    FormaAnswer, FormaCommand, FormaCommandKind, FormaMode, FormaResource, FormaStack, FormaTarget,
    OnDependents,
};
pub use formation::{
    DeleteResult, Formation, FormationResource, FormationStatus, OperationAccepted, ResourceStatus,
};
pub use managed::{MANAGED_BY, ManagedBy, WARNING};
pub use operation::{FormationEvent, FormationOperation, Operation, OperationPlan, PlannedStep, SavedPlan};
pub use page::Page;
pub use plan::{
    CauseLink, Graph, GraphEdge, GraphNode, PlanChange, PlanDiff, PlanResult, UnauthorizedAction,
};
pub use project::{Project, TraceContentMode};
pub use purge::{PurgedFormation, SecretOutputPurge};
pub use requests::{
    ApplyPlan, CancelOperation, CreateFormation, CreateProject, CreateToken, GraphFormation, Observe,
    OnFailure, PlanFormation, UpdateFormation, UpdateProject, ValidateFormation,
};
pub use revision::FormationRevision;
pub use time::Time;
pub use token::{NewToken, Token};
pub use user::{AttachPolicies, AuditEntry, CreateUser, Credentials, Login, User, UserRole};
pub use validation::{Detail, RelatedPlace, SourcePlace, Validation};
