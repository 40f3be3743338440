//! What others hold of a running operation.

use formwork_engine_core::{Input, Waiting};
use formwork_model::{Failure, OperationId, OperationStatus, Plan, RowId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// How many requests from outside may wait for an operation.
const INBOX: usize = 64;

/// What others hold of a running operation. Dropping it changes nothing: the operation goes on.
#[derive(Clone)]
pub struct OperationHandle(Arc<Shared>);

struct Shared {
    id: OperationId,
    plan: Arc<Plan>,
    inbox: mpsc::Sender<Input>,
    waiting: watch::Receiver<Vec<Waiting>>,
    finished: watch::Receiver<Option<Finished>>,
}

/// How an operation left this process.
#[derive(Clone, Debug, PartialEq)]
pub enum Finished {
    /// It is over.
    Done {
        /// Succeeded or failed.
        status: OperationStatus,
        /// Why it failed.
        failure: Option<Failure>,
    },
    /// Another process took it over and carries it on.
    Lost,
    /// This process gave it up unfinished, because it shuts down or can't reach the store; the
    /// next recovery carries it on.
    Left,
}

/// The other ends of a handle, for the task that runs the operation.
pub(crate) struct Ends {
    pub(crate) inbox: mpsc::Receiver<Input>,
    pub(crate) waiting: watch::Sender<Vec<Waiting>>,
    pub(crate) finished: watch::Sender<Option<Finished>>,
    /// Whether what was published as waiting may be out of date.
    pub(crate) is_outdated: bool,
    /// Requests that are not known to be durable. They are made again after a recovery.
    pub(crate) unsettled: Vec<Input>,
    /// Rows that the store did not let go. The operation is told after a recovery.
    pub(crate) refused: BTreeMap<RowId, Failure>,
}

impl OperationHandle {
    pub(crate) fn new(id: OperationId, plan: Arc<Plan>) -> (Self, Ends) {
        let (inbox_sender, inbox) = mpsc::channel(INBOX);
        let (waiting_sender, waiting) = watch::channel(Vec::new());
        let (finished_sender, finished) = watch::channel(None);
        let handle = Self(Arc::new(Shared { id, plan, inbox: inbox_sender, waiting, finished }));
        let ends = Ends {
            inbox,
            waiting: waiting_sender,
            finished: finished_sender,
            is_outdated: true,
            unsettled: Vec::new(),
            refused: BTreeMap::new(),
        };
        (handle, ends)
    }

    /// Which operation.
    pub fn id(&self) -> &OperationId {
        &self.0.id
    }

    /// The plan it carries out.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.0.plan
    }

    /// Waits until the operation is over, or leaves this process.
    pub async fn finished(&self) -> Finished {
        let mut finished = self.0.finished.clone();
        match finished.wait_for(Option::is_some).await {
            Ok(ending) => ending.clone().unwrap_or(Finished::Left),
            // The task ended without a word: the runtime is going down.
            Err(_) => Finished::Left,
        }
    }

    /// Waits until this process gives the operation up unfinished ([`Finished::Left`]); for ever if
    /// it ends, or another process takes it over.
    pub async fn given_up(&self) {
        if self.finished().await != Finished::Left {
            std::future::pending::<()>().await;
        }
    }

    /// What is under way, as of a moment ago.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.0.waiting.borrow().clone()
    }

    /// Hands an input to the operation; waits while its inbox is full. `false`: it is over.
    pub(crate) async fn send(&self, input: Input) -> bool {
        self.0.inbox.send(input).await.is_ok()
    }
}

impl fmt::Debug for OperationHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OperationHandle({})", self.id())
    }
}
