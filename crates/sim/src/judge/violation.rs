//! What the judges find.

use formwork_model::Timestamp;
use std::fmt;

/// What must never happen (`invariants.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// INV-1: each effect has an intent that was durable before it.
    NoLostEffect,
    /// INV-2: at most one live object per incarnation of a resource.
    NoDoubleCreate,
    /// INV-3: the ledger is what the provider has.
    NoPhantomNoOrphan,
    /// INV-4: each effect is a step of the plan whose condition held, or a declared undo.
    PlanFidelity,
    /// INV-5: planning changes nothing.
    Purity,
    /// INV-6: dependencies first, dependents gone first.
    Order,
    /// INV-7: retained and protected objects stay.
    Retain,
    /// INV-8: nothing is written under a stale fence.
    Isolation,
    /// INV-9: secrets are nowhere but at the provider.
    Secrecy,
    /// INV-10: same inputs, same plan; same seed, same trace.
    Determinism,
    /// INV-11: every prefix of the journal opens and recovers.
    Integrity,
    /// INV-12: from every status, "empty" and "desired" can be reached.
    NoDeadEnd,
    /// INV-13: a plan is a no-op exactly when apply does nothing.
    OneRule,
    /// INV-15: an apply settles.
    Settles,
    /// INV-16: cancel ends in time.
    CancelEnds,
    /// The contract of `fold`: the journal folded over the rows gives the rows.
    Fold,
}

impl Invariant {
    /// Its name in `invariants.md`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoLostEffect => "INV-1 no lost effect",
            Self::NoDoubleCreate => "INV-2 no double create",
            Self::NoPhantomNoOrphan => "INV-3 no phantom, no orphan",
            Self::PlanFidelity => "INV-4 plan fidelity",
            Self::Purity => "INV-5 dry-run purity",
            Self::Order => "INV-6 order",
            Self::Retain => "INV-7 retain",
            Self::Isolation => "INV-8 isolation",
            Self::Secrecy => "INV-9 secrecy",
            Self::Determinism => "INV-10 determinism",
            Self::Integrity => "INV-11 integrity",
            Self::NoDeadEnd => "INV-12 no dead end",
            Self::OneRule => "INV-13 one rule",
            Self::Settles => "INV-15 settles",
            Self::CancelEnds => "INV-16 cancel ends",
            Self::Fold => "fold(journal) == rows",
        }
    }
}

/// That an invariant was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// When.
    pub at: Timestamp,
    /// How.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} broken at {}: {}", self.invariant.name(), self.at.0, self.what)
    }
}
