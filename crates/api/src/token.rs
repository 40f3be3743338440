//! Bearer tokens.

use crate::Time;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// A token, without its plaintext.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Token {
    /// Public id.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// The one project it is confined to.
    #[schema(required)]
    pub project_id: Option<String>,
    /// When it was made.
    pub created_at: Time,
}

/// A token that was just made. This is the only answer that ever holds a token's plaintext.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewToken {
    /// The token.
    #[serde(flatten)]
    pub record: Token,
    /// What to send as bearer.
    pub token: String,
}

/// Without the plaintext.
impl fmt::Debug for NewToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewToken").field("record", &self.record).finish_non_exhaustive()
    }
}
