//! What must not have happened.

use std::fmt;

/// Something that must never happen, and did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which invariant: its number in `docs/concepts/guarantees.md`.
    pub invariant: &'static str,
    /// What happened.
    pub detail: String,
}

impl Violation {
    pub(crate) fn new(invariant: &'static str, detail: impl Into<String>) -> Self {
        Self { invariant, detail: detail.into() }
    }

    /// That a sequence can't be played at all.
    pub(crate) fn stuck(detail: impl fmt::Display) -> Self {
        Self::new("INV-15", detail.to_string())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.invariant, self.detail)
    }
}
