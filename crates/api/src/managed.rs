//! Owner marks: what the routes of a resource say of the formation that it belongs to.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The header that names the formation: on every answer about a single resource that one owns.
pub const MANAGED_BY: &str = "x-formwork-managed-by";

/// The header with a warning: on every answer to a change that went past the formation.
pub const WARNING: &str = "x-formwork-warning";

/// The resource of a formation that an object belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ManagedBy {
    /// The formation.
    pub formation_id: String,
    /// The resource's logical id there.
    pub logical_id: String,
}

impl ManagedBy {
    /// What to tell whoever changed the object by its own route.
    pub fn changed(&self) -> String {
        format!(
            "This resource is managed by formation {}: the next deploy may undo the change.",
            self.formation_id
        )
    }

    /// What to tell whoever deleted it there.
    pub fn deleted(&self) -> String {
        format!(
            "This resource was managed by formation {}: the next deploy makes it again.",
            self.formation_id
        )
    }
}
