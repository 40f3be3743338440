//! Mutation checks: with one protection switched off, the sweep must find the invariant broken
//! that the protection is for (architecture §8). The same sweep finds nothing while it is on.

use crate::scenarios;
use formwork_sim::{Invariant, Protections, Scenario, sweep};

fn breaks(scenario: &Scenario, without: Protections, invariant: Invariant) {
    let protected = sweep(scenario, Protections::default(), 0);
    assert!(protected.findings.is_empty(), "not even protected: {:?}", protected.findings[0].violation);
    let bare = sweep(scenario, without, 0);
    let broken: std::collections::BTreeSet<_> =
        bare.findings.iter().map(|found| found.violation.invariant).collect();
    assert!(broken.contains(&invariant), "the sweep found only {broken:?}");
}

#[test]
fn without_fsync_before_a_call() {
    let without = Protections { durable: false, ..Protections::default() };
    breaks(&scenarios::chain(), without, Invariant::NoLostEffect);
}

/// A token that serves twice answers with an outcome that is long gone: the ledger then has what
/// the provider has not.
#[test]
fn without_generation_in_the_token() {
    let without = Protections { generation_in_token: false, ..Protections::default() };
    breaks(&scenarios::back_and_forth(), without, Invariant::NoPhantomNoOrphan);
}

#[test]
fn without_the_fence_in_a_commit() {
    let without = Protections { fence: false, ..Protections::default() };
    breaks(&scenarios::chain(), without, Invariant::Isolation);
}

#[test]
fn without_not_after() {
    let without = Protections { not_after: false, ..Protections::default() };
    breaks(&scenarios::tagged_replacement(), without, Invariant::NoDoubleCreate);
}
