//! The use cases: functions of a principal and a request, and the only code that strings front
//! ends, planner, engine and store together.
//!
//! ```text
//! validate → observe → plan → authorise → begin → run → finish
//! ```
//!
//! **Architecture invariant:** nothing here formats for people or knows of routes. What a command
//! or a route does is one call of [`Control`].

mod access;
mod audit_log;
mod authenticate;
mod authorise;
mod control;
mod decided;
mod error;
mod files;
mod finish;
mod forma;
mod formation;
mod gate;
mod ids;
mod input;
mod instance;
mod jwt;
mod logins;
mod operations;
mod orchestrations;
mod owners;
mod passwords;
mod principal;
mod projects;
mod reading;
mod resources;
mod target;
mod tokens;
mod turns;
mod types;
mod users;

pub use audit_log::AuditEntry;
pub use control::{Control, ControlOptions};
pub use error::ControlError;
pub use forma::{
    AppliedForma, ApplyForma, DestroyForma, InventoryResource, InventoryStack, InventoryTarget, PlannedForma,
};
pub use formation::{
    CreateFormation, Decisions, DeniedAction, Deploy, DriftChange, DriftFound, FormationDrift,
    FormationStatus, FormationView, GraphEdgeView, GraphNodeView, GraphView, ObservePolicy, PlanChange,
    PlanDiff, PlanFormation, PlannedFormation, Purge, PurgedFormation, ResourceDrift, RevisionView,
    SavedPlanView, UpdateFormation, ValidateFormation, Validation, Whose,
};
pub use gate::Gate;
pub use input::{JsonMap, Parameters, TemplateInput};
pub use instance::key_of_store;
pub use operations::OperationView;
pub use owners::Owner;
pub use principal::{Principal, Role};
pub use projects::Project;
pub use tokens::{NewToken, TokenRecord};
pub use users::{Login, NewUser, UserView};

pub(crate) use types::TypeCatalog;
pub use types::{OutsideTypes, PluginTypes};

pub use formwork_engine::{Clock, Discovered, Discoveries, Undiscovered};
pub use formwork_handler::{CustomTypes, RegistrationError, Surroundings};
pub use formwork_platform::{Made, UpdateMode};
