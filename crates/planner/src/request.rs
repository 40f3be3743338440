//! What a plan is made from, and what is made.

use formwork_model::{
    Catalog, Desired, Diagnostics, InstanceKey, Observation, OperationKind, Plan, Row, RowId, SecretSlots,
};
use std::collections::BTreeMap;

/// What a plan is made from.
#[derive(Clone, Copy)]
pub struct PlanRequest<'a> {
    /// What the operation is for.
    pub kind: OperationKind,
    /// What should exist.
    pub desired: &'a Desired,
    /// All rows of the desired stacks, tombstones included, in position order.
    pub rows: &'a [Row],
    /// What was seen of them.
    pub observations: &'a BTreeMap<RowId, Observation>,
    /// The types that exist.
    pub catalog: &'a dyn Catalog,
    /// What secrets are compared under.
    pub key: &'a InstanceKey,
    /// Whether values may still be missing, because the plan is only looked at: what has none is
    /// left out then, instead of refused.
    pub incomplete: bool,
}

/// A plan, and what belongs to it but may not be written into it.
#[derive(Debug)]
pub struct Planning {
    /// The plan.
    pub plan: Plan,
    /// The plaintexts its inputs name.
    pub secrets: SecretSlots,
    /// What a person should know, though nothing is refused.
    pub warnings: Diagnostics,
}

/// Makes the plan: deterministic, complete, and the same whoever asks.
///
/// A plan can be made for every state of the ledger. A property that cannot be changed, of a type
/// that refuses that, is a warning here and fails when the plan runs, since the provider has the
/// last word (seed 4, "A Failed Deploy Still Answers 2xx").
///
/// # Errors
/// What stands in the way, warnings among it: references to nothing or in a circle, types that do
/// not exist, protected resources that would have to go, kept secrets that nobody holds.
pub fn plan(request: &PlanRequest<'_>) -> Result<Planning, Diagnostics> {
    let planning = crate::planning::make(request)?;
    debug_assert_eq!(crate::check(&planning.plan), Ok(()), "a plan keeps its own promises");
    Ok(planning)
}
