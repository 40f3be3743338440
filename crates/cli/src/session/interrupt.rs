//! Ctrl-C, as often as it is pressed.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The presses of Ctrl-C from now on.
pub(crate) struct Interrupts(Option<Signal>);

impl Interrupts {
    /// Begins to listen; until then Ctrl-C ends the process, as everywhere.
    pub(crate) fn new() -> Self {
        Self(signal(SignalKind::interrupt()).ok())
    }

    /// Waits for the next press.
    pub(crate) async fn next(&mut self) {
        match &mut self.0 {
            Some(signal) => {
                signal.recv().await;
            }
            None => std::future::pending().await,
        }
    }
}

/// A request to stop: SIGINT or SIGTERM.
pub(crate) struct StopRequest {
    interrupt: Interrupts,
    terminate: Interrupts,
}

impl StopRequest {
    /// Begins to listen; until then either signal ends the process.
    pub(crate) fn listen() -> Self {
        Self { interrupt: Interrupts::new(), terminate: Interrupts(signal(SignalKind::terminate()).ok()) }
    }

    /// Waits for it.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            () = self.interrupt.next() => {}
            () = self.terminate.next() => {}
        }
    }
}
