//! Bounds of an operation.

use serde::{Deserialize, Serialize};

/// Bounds of an operation. All times in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How many calls may be under way at once.
    pub concurrency: usize,
    /// How many attempts one call gets.
    pub attempts: u32,
    /// The pause before the second attempt; it doubles from then on.
    pub backoff_millis: u64,
    /// The longest pause.
    pub backoff_most_millis: u64,
    /// The pause between polls of an unfinished call.
    pub poll_millis: u64,
    /// How long an unfinished call may go on.
    pub poll_most_millis: u64,
    /// How many times an unknown outcome is looked for.
    pub lookups: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 64,
            attempts: 6,
            backoff_millis: 200,
            backoff_most_millis: 20_000,
            poll_millis: 500,
            poll_most_millis: 30 * 60_000,
            lookups: 3,
        }
    }
}
