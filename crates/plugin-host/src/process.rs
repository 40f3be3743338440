//! A plugin's process that runs, and how it ends.

use crate::launch::Client;
use crate::output::LastWords;
use formwork_plugin::wire::Announcement;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt;
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::process::{Child, ChildStdin};
use tokio::sync::watch;

/// A process that said what it is.
pub(crate) struct Running {
    client: Client,
    pub(crate) announcement: Announcement,
    pub(crate) warden: Warden,
    last_words: LastWords,
    pub(crate) since: Instant,
    /// Why it was killed, if this host did it.
    condemned: OnceLock<Offence>,
}

/// What a process did for which it is killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Offence {
    /// It no longer answers.
    Silence,
    /// What it sent is no conversation.
    Garbage(String),
}

impl Running {
    pub(crate) fn new(
        client: Client,
        announcement: Announcement,
        warden: Warden,
        last_words: LastWords,
    ) -> Self {
        Self { client, announcement, warden, last_words, since: Instant::now(), condemned: OnceLock::new() }
    }

    /// What calls are made with.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Kills it, and waits until it is gone. Whoever finds its connection broken from now on knows why.
    pub(crate) async fn condemn(&self, fault: Offence) {
        // The first to find it out knows best.
        let _ = self.condemned.set(fault);
        self.warden.kill();
        self.warden.ended().await;
    }

    /// Why it was killed, if this host did it.
    pub(crate) fn condemned(&self) -> Option<&Offence> {
        self.condemned.get()
    }

    /// How it ended, with its last words.
    pub(crate) fn obituary(&self, how: Ended) -> String {
        format!("its process ended ({how}){}", self.last_words.quoted())
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended(Option<ExitStatus>);

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => status.fmt(formatter),
            None => formatter.write_str("nobody knows how"),
        }
    }
}

/// What a process is told; never less than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// To live.
    Live,
    /// To end: its standard input ends, then it gets SIGTERM, then SIGKILL.
    Stop,
    /// To be gone.
    Kill,
}

/// Who waits for a process's end and brings it about. The process is killed when nobody has its warden any more.
pub(crate) struct Warden {
    orders: watch::Sender<Order>,
    ended: watch::Receiver<Option<Ended>>,
}

impl Warden {
    /// Guards a process; `place` is removed when it has ended.
    pub(crate) fn new(mut child: Child, place: TempDir, grace: Duration) -> Self {
        let (orders, ordered) = watch::channel(Order::Live);
        let (end, ended) = watch::channel(None);
        let input = child.stdin.take();
        tokio::spawn(async move {
            let how = guard(child, input, ordered, grace).await;
            drop(place);
            end.send_replace(Some(how));
        });
        Self { orders, ended }
    }

    /// How it ended, if it did.
    pub(crate) fn has_ended(&self) -> Option<Ended> {
        *self.ended.borrow()
    }

    /// Waits for its end.
    pub(crate) async fn ended(&self) -> Ended {
        let mut ended = self.ended.clone();
        let how = ended.wait_for(Option::is_some).await.ok().and_then(|how| *how);
        how.unwrap_or(Ended(None))
    }

    /// How it ended, if it does so in time.
    pub(crate) async fn ended_within(&self, time: Duration) -> Option<Ended> {
        tokio::time::timeout(time, self.ended()).await.ok()
    }

    /// Ends it at once.
    pub(crate) fn kill(&self) {
        self.order(Order::Kill);
    }

    /// Ends it in order, and waits for that.
    pub(crate) async fn stop(&self) -> Ended {
        self.order(Order::Stop);
        self.ended().await
    }

    fn order(&self, order: Order) {
        self.orders.send_if_modified(|given| {
            let more = order > *given;
            *given = order.max(*given);
            more
        });
    }
}

async fn guard(
    mut child: Child,
    input: Option<ChildStdin>,
    mut ordered: watch::Receiver<Order>,
    grace: Duration,
) -> Ended {
    // Until it is waited for, its id, and so that of its group, is nobody else's.
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let order = tokio::select! {
        status = child.wait() => return Ended(status.ok()),
        order = more_than(Order::Live, &mut ordered) => order,
    };
    if order == Order::Stop {
        drop(input);
        if let Some(how) = within(&mut child, &mut ordered, grace / 2).await {
            return how;
        }
        signal(group, Signal::TERM);
        if let Some(how) = within(&mut child, &mut ordered, grace / 2).await {
            return how;
        }
    }
    signal(group, Signal::KILL);
    // If it had no group: it alone.
    let _ = child.start_kill();
    Ended(child.wait().await.ok())
}

/// Waits for the end of a process, unless it must be gone at once.
async fn within(child: &mut Child, ordered: &mut watch::Receiver<Order>, time: Duration) -> Option<Ended> {
    tokio::select! {
        status = child.wait() => Some(Ended(status.ok())),
        _ = more_than(Order::Stop, ordered) => None,
        () = tokio::time::sleep(time) => None,
    }
}

/// Waits for an order beyond one. If nobody has the warden any more, nobody calls the process either: it must go.
async fn more_than(order: Order, ordered: &mut watch::Receiver<Order>) -> Order {
    ordered.wait_for(|given| *given > order).await.map_or(Order::Kill, |given| *given)
}

fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // It may be gone already.
        let _ = kill_process_group(group, signal);
    }
}
