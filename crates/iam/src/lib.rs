//! Who may do what: the permission catalogue, resource names, policy documents, decisions.
//!
//! A decision is a function of a [`Subject`], an action, a resource name and what is known of the
//! resource. Whoever asks has looked the subject's policies up; what follows from a refusal is
//! theirs to say.
//!
//! **Architecture invariant:** nothing here looks anything up, reads a clock or knows of projects,
//! users or routes beyond their names.

mod context;
mod decide;
mod document;
mod fit;
mod glob;
mod look;
mod parse;
mod permissions;
mod srn;

pub use context::{Context, Tag};
pub use decide::{Decision, Layer, Policy, Reason, Subject, decide};
pub use document::{Effect, PolicyDocument};
pub use look::Look;
pub use parse::{InvalidPolicy, Violation, ViolationKind, check_document};
pub use permissions::{actions, is_known_action};
pub use srn::{Srn, SrnPattern};
