//! Users, logins, the audit.

use super::{Page, secret};
use clap::{Args, ValueEnum};
use formwork_secret::Secret;

/// What a user is, before any policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// May do everything
    Admin,
    /// May do what the attached policies allow
    #[default]
    User,
}

/// A name and password.
#[derive(Debug, Args)]
pub(crate) struct Credentials {
    /// The name to log in with
    #[arg(long, value_name = "NAME")]
    pub(crate) username: String,
    /// The password; `-`, or leaving it out, takes it from standard input
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true, value_parser = secret)]
    pub(crate) password: Option<Secret<String>>,
}

#[derive(Debug, Args)]
pub(crate) struct CreateUser {
    #[command(flatten)]
    pub(crate) credentials: Credentials,
    /// The role
    #[arg(long, value_enum, default_value_t)]
    pub(crate) role: Role,
}

/// Names a user.
#[derive(Debug, Args)]
pub(crate) struct UserId {
    /// The user's id (`user_…`)
    #[arg(value_name = "USER_ID", required_unless_present = "user_id")]
    id: Option<String>,
    /// The user's id (`user_…`)
    #[arg(long, visible_alias = "id", value_name = "ID", conflicts_with = "id")]
    user_id: Option<String>,
}

impl UserId {
    pub(crate) fn get(&self) -> &str {
        self.id.as_deref().or(self.user_id.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Args)]
pub(crate) struct AttachUserPolicies {
    #[command(flatten)]
    pub(crate) user: UserId,
    /// A policy's id, in place of those attached; repeat it for several, leave it out for none
    #[arg(long = "policy-id", value_name = "ID")]
    pub(crate) policy_ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListAuditEntries {
    /// Only those of this project
    #[arg(long, value_name = "ID")]
    pub(crate) project_id: Option<String>,
    #[command(flatten)]
    pub(crate) page: Page,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_arguments_shows_no_password() {
        let password = secret("canary").ok();
        let credentials = Credentials { username: "ada".to_owned(), password };
        let create = CreateUser { credentials, role: Role::User };
        assert!(!format!("{create:?}").contains("canary"));
    }
}
