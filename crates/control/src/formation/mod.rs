//! Formations: a stack whose desired state came from a template.

mod authorise;
mod deploy;
mod destroy;
mod discover;
mod drift;
mod graph;
mod handlers;
mod history;
mod import;
mod inheriting;
mod masked;
mod plan;
mod prepare;
mod purge;
mod record;
mod rows;
mod saved;
mod validate;
mod view;

/// Formations, as resource names spell their type.
pub(crate) const SRN_TYPE: &str = "formation";

pub(crate) use deploy::Beginning;
pub use deploy::{CreateFormation, Decisions, Deploy, UpdateFormation};
pub use discover::Whose;
pub use drift::{DriftChange, DriftFound, FormationDrift, ResourceDrift};
pub use graph::{GraphEdgeView, GraphNodeView, GraphView};
pub use history::RevisionView;
pub(crate) use history::{Deployed, forget_revisions, keep_revision};
pub(crate) use masked::MaskedTemplates;
pub(crate) use plan::Ready;
pub use plan::{DeniedAction, ObservePolicy, PlanChange, PlanDiff, PlanFormation, PlannedFormation};
pub use purge::{Purge, PurgedFormation};
pub use record::FormationStatus;
pub(crate) use record::{FormationDoc, Pending, live_link};
pub use saved::SavedPlanView;
pub use validate::{ValidateFormation, Validation};
pub use view::FormationView;
