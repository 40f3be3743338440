//! When a plugin's process ends: when it is told to, and when whoever started it is gone.

use super::ServeError;
use std::io::Read as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// Waits for SIGTERM, or for the end of standard input: its other end is held by the host, so that it ends with it,
/// however it ends.
pub(super) fn told_to_stop() -> Result<impl Future<Output = ()>, ServeError> {
    let system = |action| move |source| ServeError::System { action, source };
    let mut terminate = signal(SignalKind::terminate()).map_err(system("listen to signals"))?;
    let (gone, mut left) = oneshot::channel();
    // A thread of its own: it may wait for as long as the process lives, and nothing waits for it.
    let watch = move || {
        let mut input = std::io::stdin().lock();
        let mut byte = [0; 64];
        while !matches!(input.read(&mut byte), Ok(0) | Err(_)) {}
        let _ = gone.send(());
    };
    std::thread::Builder::new()
        .name("host-watch".to_owned())
        .spawn(watch)
        .map_err(system("watch standard input"))?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = &mut left => {}
        }
    })
}
