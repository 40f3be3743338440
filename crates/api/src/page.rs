//! Pages of lists.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The items of this page.
    pub data: Vec<T>,
    /// How many items there are in all.
    pub total: u64,
    /// The most items a page of this request has.
    pub limit: u64,
    /// How many items were passed over.
    pub offset: u64,
}

impl<T> Page<T> {
    /// How many items a page has where the request does not say.
    pub const DEFAULT_LIMIT: u64 = 50;
    /// The most items that a page can have.
    pub const MAX_LIMIT: u64 = 100;
}
