//! A checker of plans.

use formwork_model::{Plan, StepId};

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// A step's id is not its index.
    #[error("step {found} stands at index {index}")]
    Id {
        /// Where it stands.
        index: usize,
        /// What it says.
        found: StepId,
    },
}

/// Checks a plan on its own.
pub fn check(plan: &Plan) -> Result<(), Vec<PlanFault>> {
    let _ = plan;
    Ok(())
}
