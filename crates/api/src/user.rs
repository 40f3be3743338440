//! Users, logins and the audit.

use crate::Time;
use formwork_model::Json;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// What a user is, before any policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UserRole {
    /// May do everything.
    Admin,
    /// May do what the attached policies allow.
    User,
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct User {
    /// Public id.
    pub id: String,
    /// The name to log in with.
    pub username: String,
    /// The role.
    pub role: UserRole,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// The policies that say what a user who is no admin may do.
    pub policy_ids: Vec<String>,
}

/// A name and password.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct Credentials {
    /// The name.
    #[schema(min_length = 1, max_length = 64)]
    pub username: String,
    /// The password.
    #[schema(write_only, format = Password)]
    pub password: String,
}

/// A user to be made.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct CreateUser {
    /// The name to log in with, unique.
    pub username: String,
    /// The password: at least 8 characters.
    #[schema(write_only, format = Password)]
    pub password: String,
    /// The role; `user` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<UserRole>,
}

/// The policies of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttachPolicies {
    /// Their ids, in place of those that were attached.
    pub policy_ids: Vec<String>,
}

/// Somebody who logged in. This is the only answer that ever holds a login's token.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Login {
    /// The user.
    pub id: String,
    /// The name.
    pub username: String,
    /// The role.
    pub role: UserRole,
    /// What to send as bearer.
    pub token: String,
}

/// A decision on a write: allowed, or refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// When.
    pub at: Time,
    /// Who asked: a user, a key or a token.
    pub actor: String,
    /// In which project; null for what is in none.
    #[schema(required)]
    pub project_id: Option<String>,
    /// For which action.
    pub action: String,
    /// On what.
    pub subject: String,
    /// Whether it was allowed.
    pub allowed: bool,
    /// Further facts: the resource's name, what decided, what came of it.
    #[schema(value_type = Object)]
    pub detail: Json,
}

/// Without the password.
impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").field("username", &self.username).finish_non_exhaustive()
    }
}

/// Without the password.
impl fmt::Debug for CreateUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("CreateUser");
        shown.field("username", &self.username).field("role", &self.role).finish_non_exhaustive()
    }
}

/// Without the token.
impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Login");
        shown.field("id", &self.id).field("username", &self.username).field("role", &self.role);
        shown.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_shows_no_credential() {
        let (username, password) = ("ada".to_owned(), "canary".to_owned());
        let credentials = Credentials { username: username.clone(), password: password.clone() };
        let create = CreateUser { username: username.clone(), password: password.clone(), role: None };
        let login = Login { id: "user_1".to_owned(), username, role: UserRole::User, token: password };
        assert!(!format!("{credentials:?} {create:?} {login:?}").contains("canary"));
    }
}
