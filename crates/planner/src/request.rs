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

/// Makes the plan.
///
/// # Errors
/// What stands in the way of any plan.
pub fn plan(request: &PlanRequest<'_>) -> Result<Planning, Diagnostics> {
    let _ = request;
    Err(Diagnostics::default())
}
