//! Projects.

use crate::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A project (`formations-behaviour.md` §6.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Project {
    /// Public id (`proj_…`).
    pub id: String,
    /// The name, unique.
    pub name: String,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}
