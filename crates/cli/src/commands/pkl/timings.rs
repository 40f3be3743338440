//! How long modules took, on stderr.

use crate::ui::{say, text};
use std::time::{Duration, Instant};

/// How long the parts of one evaluation took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) load: Duration,
    pub(super) evaluate: Duration,
}

/// Tells how long modules took, if somebody wants to know.
pub(super) struct Timings {
    wanted: bool,
    start: Instant,
}

impl Timings {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, start: Instant::now() }
    }

    /// Tells of one module.
    pub(super) fn module(&self, uri: &str, spent: Spent) {
        if self.wanted {
            let (load, evaluate) = (milliseconds(spent.load), milliseconds(spent.evaluate));
            say(format_args!("timings: load {load}, evaluate {evaluate}: {}", text::lines(uri)));
        }
    }

    /// Tells of the whole command.
    pub(super) fn total(&self) {
        if self.wanted {
            say(format_args!("timings: total {}", milliseconds(self.start.elapsed())));
        }
    }
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.1} ms", duration.as_secs_f64() * 1000.0)
}
