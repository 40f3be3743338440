//! When a plugin's process runs: from the first call that needs it; again after it died, later each time that it dies
//! soon; and no longer when the host ends.

use crate::error::LaunchError;
use crate::launch::Launch;
use crate::options::HostLimits;
use crate::process::{Ended, Running};
use formwork_secret::random_bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Who starts a plugin's process, and knows the one that runs.
pub(crate) struct Supervisor {
    launch: Launch,
    /// Held while a process is started, so that calls wait for one process and not each for one.
    state: Mutex<State>,
}

enum State {
    /// None runs, and nothing speaks against one.
    Idle { failures: u32 },
    /// One runs, or ran until just now.
    Running { process: Arc<Running>, failures: u32 },
    /// None runs, and one is started only after a while.
    Failed { why: LaunchError, failures: u32, until: Instant },
    /// None will run.
    Stopped,
}

impl Supervisor {
    pub(crate) fn new(launch: Launch) -> Self {
        Self { launch, state: Mutex::new(State::Idle { failures: 0 }) }
    }

    /// The process that runs, started if none does.
    ///
    /// # Errors
    /// [`LaunchError`]: nothing was sent to any process.
    pub(crate) async fn running(&self) -> Result<Arc<Running>, LaunchError> {
        let mut state = self.state.lock().await;
        loop {
            match &*state {
                State::Stopped => return Err(LaunchError::Stopping),
                State::Running { process, failures } => match ended(process).await {
                    None => return Ok(Arc::clone(process)),
                    Some(how) => {
                        let last_words = process.obituary(how);
                        tracing::warn!(plugin = &*self.launch.name, "{last_words}");
                        let forgiven = process.since.elapsed() >= self.launch.limits.healthy;
                        let failures = if forgiven { 1 } else { failures + 1 };
                        // The first time, and after a long life, it is started again at once.
                        *state = if failures == 1 {
                            State::Idle { failures }
                        } else {
                            let why = LaunchError::Ended { how: how.to_string(), last_words: String::new() };
                            self.failed(why, failures)
                        };
                    }
                },
                State::Failed { why, failures, until } => {
                    let now = Instant::now();
                    let left = until.saturating_duration_since(now);
                    if left > self.launch.limits.patience {
                        return Err(why.clone());
                    }
                    let failures = *failures;
                    tokio::time::sleep(left).await;
                    *state = State::Idle { failures };
                }
                State::Idle { failures } => {
                    let failures = *failures;
                    match self.launch.start().await {
                        Ok(running) => {
                            let process = Arc::new(running);
                            *state = State::Running { process: Arc::clone(&process), failures };
                            return Ok(process);
                        }
                        Err(why) => {
                            tracing::warn!(
                                plugin = &*self.launch.name,
                                error = &why as &dyn std::error::Error,
                                "cannot start the plugin"
                            );
                            *state = self.failed(why.clone(), failures + 1);
                            return Err(why);
                        }
                    }
                }
            }
        }
    }

    fn failed(&self, why: LaunchError, failures: u32) -> State {
        let pause = pause(&self.launch.limits, failures, random_bytes::<1>()[0]);
        State::Failed { why, failures, until: Instant::now() + pause }
    }

    /// Ends the process, if one runs; none is started any more.
    pub(crate) async fn stop(&self) {
        let before = std::mem::replace(&mut *self.state.lock().await, State::Stopped);
        if let State::Running { process, .. } = before {
            process.warden.stop().await;
        }
    }

    /// The name of the plugin.
    pub(crate) fn name(&self) -> &str {
        &self.launch.name
    }

    pub(crate) fn limits(&self) -> &HostLimits {
        &self.launch.limits
    }
}

/// How a process ended, if it did or is about to.
async fn ended(process: &Running) -> Option<Ended> {
    match process.condemned() {
        Some(_) => Some(process.warden.ended().await),
        None => process.warden.has_ended(),
    }
}

/// How long is waited after so many failures in a row: twice as long each time, and up to half of it is left to
/// chance, so that plugins that fail for one reason don't come back at one moment.
fn pause(limits: &HostLimits, failures: u32, chance: u8) -> Duration {
    let doublings = failures.saturating_sub(1).min(20);
    let whole = limits.first_pause.saturating_mul(1 << doublings).min(limits.longest_pause);
    whole / 2 + (whole / 2).mul_f64(f64::from(chance) / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_pause_up_to_a_bound() {
        let limits = HostLimits::default();
        let longest: Vec<u128> = (1..12).map(|failures| pause(&limits, failures, 255).as_millis()).collect();
        assert_eq!(longest, [100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
        assert_eq!(pause(&limits, 1, 0), Duration::from_millis(50));
        assert_eq!(pause(&limits, u32::MAX, 255), limits.longest_pause);
    }
}
