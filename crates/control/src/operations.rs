//! Operations, as people follow them.

use crate::authorise::Question;
use crate::{Control, ControlError, Principal};
use formwork_engine::{CancelOutcome, Waiting};
use formwork_iam::Srn;
use formwork_model::{Event, OperationId, OperationKind, OperationRecord, Plan, StackId, WireCode};
use std::sync::Arc;
use std::time::Duration;

/// How often an operation of another process is looked at.
const POLL: Duration = Duration::from_millis(200);
/// The most events an operation's view carries.
const MOST_EVENTS: usize = 1_000_000;

/// An operation with what happened in it.
#[derive(Clone, Debug)]
pub struct OperationView {
    /// The record.
    pub record: OperationRecord,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The plan it carries out.
    pub plan: Option<Arc<Plan>>,
    /// The formation.
    pub formation: StackId,
}

impl Control {
    /// One operation's record, without its events and its plan.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn operation_record(
        &self,
        p: &Principal,
        id: &OperationId,
    ) -> Result<OperationRecord, ControlError> {
        let found = self.reader.operation(id).await?;
        found
            .filter(|record| follows(p, record))
            .ok_or_else(|| ControlError::not_found("Operation", id.as_str()))
    }

    /// One operation.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn operation(&self, p: &Principal, id: &OperationId) -> Result<OperationView, ControlError> {
        let record = self.operation_record(p, id).await?;
        self.operation_view(record).await
    }

    pub(crate) async fn operation_view(
        &self,
        record: OperationRecord,
    ) -> Result<OperationView, ControlError> {
        let events = self.reader.events(&record.id, 0, MOST_EVENTS).await?;
        let plan = self.reader.plan(&record.id).await?;
        let formation = record.stacks.first().cloned().unwrap_or_else(|| "".into());
        Ok(OperationView { record, events, plan, formation })
    }

    /// The events of an operation after a cursor.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn operation_events(
        &self,
        p: &Principal,
        id: &OperationId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, ControlError> {
        self.operation_record(p, id).await?;
        Ok(self.reader.events(id, after, limit).await?)
    }

    /// Rises with every event that this process stores.
    pub fn event_signal(&self) -> tokio::sync::watch::Receiver<u64> {
        self.store.event_signal()
    }

    /// What an operation of this process waits for.
    pub fn waiting(&self, id: &OperationId) -> Vec<Waiting> {
        self.engine.handle(id).map(|handle| handle.waiting()).unwrap_or_default()
    }

    /// Waits until an operation is over, in this process or another.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn wait(&self, id: &OperationId) -> Result<(), ControlError> {
        if let Some(handle) = self.engine.handle(id) {
            handle.finished().await;
        }
        // Lost to another process, or never ours: the store knows.
        while self.reader.operation(id).await?.is_some_and(|record| !record.status.is_final()) {
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// Waits until this process gives an operation up unfinished, because it can't reach the store;
    /// for ever if it ends, or runs elsewhere.
    pub async fn given_up(&self, id: &OperationId) {
        match self.engine.handle(id) {
            Some(handle) => handle.given_up().await,
            None => std::future::pending().await,
        }
    }

    /// Asks an operation to stop; `force` gives up its undos too. It takes what starting it takes.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`, and `OPERATION_IN_PROGRESS` if another process runs it.
    pub async fn cancel(&self, p: &Principal, id: &OperationId, force: bool) -> Result<(), ControlError> {
        let record = self.operation_record(p, id).await?;
        let permit = self.permit(p, &about(&record, starting(record.kind)), id.as_str()).await?;
        if record.status.is_final() {
            return Ok(());
        }
        // Written before: what a canceled operation does is in its own journal.
        let detail = serde_json::json!({ "cancel": true, "force": force });
        self.store.audit(permit.record(id.as_str(), detail)).await?;
        match self.engine.cancel(id, force).await {
            // It may have ended meanwhile.
            CancelOutcome::NotRunning if self.operation_record(p, id).await?.status.is_final() => Ok(()),
            CancelOutcome::NotRunning => Err(ControlError::new(
                WireCode::OperationInProgress,
                format!("Operation '{id}' runs in another process; cancel it there."),
            )),
            CancelOutcome::Requested => Ok(()),
        }
    }
}

/// Who started an operation may follow it, and so may whoever could have, or may read the
/// formation's operations.
fn follows(p: &Principal, record: &OperationRecord) -> bool {
    let may = |action| Control::may(p, &about(record, action));
    Control::sees(p, &record.project)
        && (p.actor == record.actor || may("formations:ListFormationEvents") || may(starting(record.kind)))
}

/// What starting an operation takes.
pub(crate) fn starting(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Create => "formations:CreateFormation",
        OperationKind::Update => "formations:UpdateFormation",
        OperationKind::Delete => "formations:DeleteFormation",
    }
}

/// A question about the formation of an operation.
fn about<'a>(record: &'a OperationRecord, action: &'a str) -> Question<'a> {
    let formation = record.stacks.first().map_or("*", StackId::as_str);
    Question::new(action, &record.project, Srn::new(&record.project, crate::formation::SRN_TYPE, formation))
}

/// "2 resource(s) could not be removed: Bot (agent), Kb (memory)".
pub(crate) fn name_failures(failures: &[formwork_model::Json]) -> String {
    let named: Vec<_> = failures
        .iter()
        .map(|failure| {
            let text = |key: &str| failure[key].as_str().unwrap_or("?").to_owned();
            format!("{} ({})", text("logical_id"), text("resource_type"))
        })
        .collect();
    format!("{} resource(s) could not be removed: {}", failures.len(), named.join(", "))
}
