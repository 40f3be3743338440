//! Who asks.

use formwork_iam::Subject;
use formwork_model::{ActorId, ProjectId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What somebody is, before any policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May do everything within the credential's bounds.
    Admin,
    /// May do what policies allow.
    User,
}

impl Role {
    /// The role as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
        }
    }
}

/// An authenticated caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Who it is; stored on what they start, so that recovery runs as them.
    pub actor: ActorId,
    /// Who stands behind the credential: the user, or the token that made a key.
    pub owner: ActorId,
    /// The role of whoever stands behind the credential.
    pub role: Role,
    /// What the credential permits: the owner's permissions, and each limit of the keys between.
    pub subject: Arc<Subject>,
    /// The one project the credential is confined to.
    pub scope: Option<ProjectId>,
    /// The project that is meant where a request names none.
    pub default_project: Option<ProjectId>,
}

impl Principal {
    /// Whether nothing but `scope` limits what they may do.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.role == Role::Admin && self.subject.is_unlimited()
    }

    /// Whether they have the admin role beyond one project.
    pub(crate) fn is_admin(&self) -> bool {
        self.role == Role::Admin && self.scope.is_none()
    }
}
