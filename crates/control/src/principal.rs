//! Who asks.

use formwork_model::{ActorId, ProjectId};

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Who it is; stored on what they start, so that recovery runs as them.
    pub actor: ActorId,
    /// Whether they may do everything, within `scope`.
    pub admin: bool,
    /// The one project the credential is confined to.
    pub scope: Option<ProjectId>,
    /// The project that is meant where a request names none.
    pub default_project: Option<ProjectId>,
}
