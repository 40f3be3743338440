//! The life of an operation in this process: it is driven, and after a fault of the store dropped
//! and recovered from its journal, with growing pauses and not for ever.

use crate::driver::{Driver, Stop};
use crate::handle::{Ends, Finished};
use crate::recovery::{LoadError, load};
use crate::shared::Shared;
use formwork_model::{Failure, OperationId, WireCode};
use formwork_store::{Referrer, StoreError, TakenOver};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How many faults in a row an operation bears without getting further.
const FAULTS_IN_A_ROW: u32 = 8;
/// How many faults it bears in all.
const FAULTS: u32 = 64;
/// The pause after the first fault; it doubles with each.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Carries an operation out until it leaves this process.
pub(crate) async fn supervise(shared: Arc<Shared>, id: OperationId, mut driver: Driver, mut ends: Ends) {
    let mut patience = Patience::default();
    let finished = loop {
        let reached = driver.sequence();
        let stop = driver.run(&mut ends).await;
        if driver.sequence() > reached {
            patience.in_a_row = 0;
        }
        // Nothing more may be sent from here on.
        drop(driver);
        match stop {
            Stop::Done { status, failure } => break Finished::Done { status, failure },
            Stop::Shutdown => break Finished::Left,
            Stop::LeaseLost => {
                tracing::warn!("the lease is not sure; the operation goes on only if nobody else has it");
            }
            Stop::Fault(StoreError::Referenced { row, by }) if !ends.refused.contains_key(&row) => {
                tracing::warn!(%row, "other stacks refer to what would be deleted; it stays");
                ends.refused.insert(row, still_referenced(&by));
                patience.excuse();
            }
            Stop::Fault(error) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the store failed; recovering from the journal"
                );
            }
        }
        match reopen(&shared, &id, &mut patience).await {
            Ok(reopened) => driver = reopened,
            Err(finished) => break finished,
        }
    };
    tracing::info!(?finished, "the operation leaves this process");
    ends.waiting.send_replace(Vec::new());
    ends.finished.send_replace(Some(finished));
}

/// Takes the operation again: from ourselves even if the lease still runs, since nothing of ours
/// acts under it any more; from another owner only once it ran out.
async fn reopen(shared: &Arc<Shared>, id: &OperationId, patience: &mut Patience) -> Result<Driver, Finished> {
    let options = &shared.options;
    loop {
        let Some(pause) = patience.next() else {
            tracing::error!("giving up after too many faults; the next recovery carries it on");
            return Err(Finished::Left);
        };
        let mut stopping = shared.stopping();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopping.wait_for(|stopping| *stopping) => return Err(Finished::Left),
        }
        let asked_at = shared.clock.now();
        let taken =
            shared.store.take_over(id, &options.owner, Some(&options.owner), options.lease_millis).await;
        match taken {
            Ok(TakenOver::Taken(guard)) => match load(shared, id, guard, asked_at).await {
                Ok((driver, _)) => return Ok(driver),
                Err(LoadError::Store(error)) => tracing::warn!(%error, "the operation can't be loaded yet"),
                Err(error) => {
                    shared.report_unreadable(id, &error);
                    return Err(Finished::Left);
                }
            },
            Ok(TakenOver::Held(_)) => return Err(Finished::Lost),
            Ok(TakenOver::Nothing) => return Err(ended(shared, id).await),
            Err(error) => tracing::warn!(%error, "the operation can't be taken over yet"),
        }
    }
}

/// Why something can't be deleted to which other stacks refer.
fn still_referenced(by: &[Referrer]) -> Failure {
    let named: Vec<_> = by.iter().map(|from| format!("`{}` of `{}`", from.label, from.stack)).collect();
    let message = format!("It can't be deleted: {} still refers to it.", named.join(", "));
    let entry = |from: &Referrer| json!({ "formation_id": from.stack, "logical_id": from.label });
    let references: Vec<_> = by.iter().map(entry).collect();
    Failure::new(WireCode::StillReferenced, message).meta(json!({ "references": references }))
}

/// How an operation ended whose last unit turned out to be durable.
async fn ended(shared: &Shared, id: &OperationId) -> Finished {
    match shared.store.reader().operation(id).await {
        Ok(Some(record)) if record.status.is_final() => {
            Finished::Done { status: record.status, failure: record.failure }
        }
        _ => Finished::Left,
    }
}

/// How often the store may fail.
#[derive(Debug, Default)]
struct Patience {
    in_a_row: u32,
    in_all: u32,
}

impl Patience {
    /// The last fault was none of the store's.
    fn excuse(&mut self) {
        self.in_a_row = 0;
        self.in_all = self.in_all.saturating_sub(1);
    }

    /// The pause before the next attempt; `None`: there is none.
    fn next(&mut self) -> Option<Duration> {
        self.in_a_row += 1;
        self.in_all += 1;
        if self.in_a_row > FAULTS_IN_A_ROW || self.in_all > FAULTS {
            return None;
        }
        Some((PAUSE * 2u32.pow(self.in_a_row - 1)).min(LONGEST_PAUSE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_patience_ends() {
        let mut patience = Patience::default();
        let pauses: Vec<_> = std::iter::from_fn(|| patience.next()).collect();
        assert_eq!(pauses.len(), FAULTS_IN_A_ROW as usize);
        assert!(pauses.is_sorted() && pauses.iter().all(|pause| *pause <= LONGEST_PAUSE));
    }

    #[test]
    fn progress_does_not_buy_patience_for_ever() {
        let mut patience = Patience::default();
        let attempts = std::iter::from_fn(|| {
            patience.in_a_row = 0;
            patience.next()
        });
        assert_eq!(attempts.count(), FAULTS as usize);
    }
}
