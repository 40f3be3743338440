//! Saved plans: how many are kept, and for how long.

use crate::SavedPlan;
use crate::tables::{Stored, Tables};
use formwork_model::Timestamp;

/// For how long a plan is kept: 30 days.
const KEPT_MILLIS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// How many plans are kept.
const KEPT: usize = 1_000;
/// How many one save deletes: more than it adds, so a heap from before shrinks.
const AT_ONCE: usize = 50;

/// [`Store::save_plan`](crate::Store::save_plan). Nobody applies a plan that is long outdated, so
/// each save clears away some that are old.
pub(crate) fn save_plan(tables: &mut dyn Tables, plan: &SavedPlan) -> Stored<()> {
    tables.save_plan(plan)?;
    let before = Timestamp(plan.created_at.0.saturating_sub(KEPT_MILLIS));
    tables.forget_plans(before, KEPT, AT_ONCE)
}
