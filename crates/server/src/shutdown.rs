//! One signal that everything which runs for long listens to.

use std::sync::Arc;
use tokio::sync::watch;

/// Tells all who hold a copy that the server stops.
#[derive(Clone, Debug)]
pub struct Shutdown(Arc<watch::Sender<bool>>);

impl Shutdown {
    /// A signal that has not been given.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Gives the signal. Once given, it stays.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was given.
    pub fn is_triggered(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is given.
    pub async fn triggered(&self) {
        // The sender lives in `self`, so the channel cannot close.
        let _ = self.0.subscribe().wait_for(|given| *given).await;
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}
