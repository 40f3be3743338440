//! What a purge of credentials found, as its route answers it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a purge found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SecretOutputPurge {
    /// Whether it only looked.
    pub dry_run: bool,
    /// The formations whose records hold outputs that are credentials, oldest first.
    pub formations: Vec<PurgedFormation>,
}

/// A formation whose record holds outputs that are credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PurgedFormation {
    /// The formation.
    pub formation_id: String,
    /// Its name.
    pub name: String,
    /// The outputs' names.
    pub outputs: Vec<String>,
    /// Whether they were removed.
    pub purged: bool,
    /// Whether an operation runs on the formation: it is left to the next purge.
    pub busy: bool,
}
