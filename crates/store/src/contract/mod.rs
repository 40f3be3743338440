//! The contract of a store, as cases that every implementation must pass.
//!
//! [`contract_suite!`](crate::contract_suite) makes a test of each.
#![expect(clippy::unwrap_used, reason = "these are tests, run by other crates too")]

pub mod begin;
pub mod commit;
pub mod given;
pub mod leases;
pub mod objects;
pub mod reading;
pub mod rows;

use crate::Store;
use async_trait::async_trait;
use std::sync::Arc;

/// A store to be tested, empty when it is made.
#[async_trait]
pub trait World: Send + Sync {
    /// The store.
    fn store(&self) -> Arc<dyn Store>;

    /// The same store, as another process opens it.
    async fn reopen(&self) -> Arc<dyn Store>;

    /// Lets time pass by the store's clock, at least so many milliseconds.
    async fn pass(&self, millis: u64);

    /// Damages the record of an operation behind the store's back; `false` where nothing is
    /// written that could be damaged.
    async fn damage_operation(&self, id: &str) -> bool;
}

/// Makes a test of each case of the contract. `$make` is a function that answers a future of
/// `Option<Box<dyn World>>`; `None` skips the case.
#[macro_export]
macro_rules! contract_suite {
    ($make:path) => {
        $crate::contract_suite! { $make:
            begin::an_operation_begins_with_all_that_belongs_to_it,
            begin::a_stack_that_is_held_is_refused,
            begin::a_stack_is_held_until_its_operation_is_recovered,
            begin::a_plan_whose_rows_moved_is_refused_by_its_first_step,
            begin::a_tombstone_counts_as_a_row_of_its_label,
            begin::a_refused_begin_stores_nothing,
            begin::a_taken_key_undoes_the_whole_begin,
            begin::of_many_that_begin_at_once_exactly_one_runs,
            begin::what_another_row_has_cannot_be_claimed,
            begin::a_claim_holds_until_the_row_is_written,
            begin::a_claim_ends_with_its_operation,
            commit::a_unit_is_stored_as_a_whole,
            commit::a_unit_with_a_conflicting_object_leaves_nothing,
            commit::a_gap_in_the_sequence_is_refused,
            commit::a_repeated_unit_is_refused,
            commit::every_write_raises_the_revision,
            commit::finishing_closes_the_record_and_wipes_the_slots,
            commit::slots_of_rows_live_on_until_they_are_wiped,
            commit::a_unit_cannot_write_rows_of_other_stacks,
            commit::units_of_many_operations_do_not_disturb_each_other,
            leases::a_stale_fence_is_rejected_after_a_take_over,
            leases::a_lease_that_ran_out_is_rejected,
            leases::a_renewed_lease_goes_on,
            leases::a_running_lease_is_taken_only_from_a_dead_owner,
            leases::a_finished_operation_is_not_taken_over,
            leases::a_finished_operation_cannot_write,
            leases::fences_rise_over_operations,
            objects::a_replayed_token_answers_with_the_first_outcome,
            objects::a_failed_job_leaves_nothing,
            objects::a_panicking_job_leaves_nothing,
            objects::a_stale_fence_stops_a_job,
            objects::keys_are_unique_per_project_and_type,
            objects::a_changed_key_is_free_again,
            objects::links_are_found_from_their_other_end,
            objects::an_old_version_is_a_conflict,
            objects::lists_are_in_order_of_creation_with_totals,
            objects::a_deleted_object_frees_its_keys,
            objects::a_decision_is_audited_with_its_effect_or_not_at_all,
            rows::references_from_another_stack_block_a_delete,
            rows::references_from_the_own_stack_do_not_block_a_delete,
            rows::a_delete_that_began_can_always_be_recorded,
            rows::references_are_those_of_the_last_write,
            rows::an_observation_needs_the_same_generation_and_object,
            rows::an_observation_does_not_raise_the_revision,
            rows::an_observation_passes_over_leased_rows,
            rows::rows_come_by_position_and_id,
            rows::a_row_is_found_by_what_it_has_had_and_makes,
            reading::events_have_a_cursor_and_a_signal,
            reading::operations_come_in_pages,
            reading::open_operations_name_their_holders,
            reading::old_journals_go_in_batches_and_plans_stay,
            reading::a_damaged_operation_does_not_hide_the_others,
            reading::a_saved_plan_comes_back_by_its_hash,
            reading::plans_of_more_than_a_month_ago_are_forgotten,
            reading::of_many_saved_plans_the_newest_thousand_are_kept,
            reading::the_audit_comes_newest_first,
            reading::the_digest_changes_with_contents_only,
            reading::what_was_stored_is_there_for_another_process,
        }
    };
    ($make:path: $($module:ident::$case:ident,)+) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                if let Some(world) = $make().await {
                    $crate::contract::$module::$case(&*world).await;
                }
            }
        )+
    };
}
