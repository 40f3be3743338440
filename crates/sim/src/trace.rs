//! The trace of a run: a hash to compare runs by, and lines to read if they are asked for.

use formwork_model::Timestamp;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// What happened in a run, in order.
#[derive(Clone, Default)]
pub struct Trace {
    hasher: Sha256,
    lines: Vec<String>,
    keep: bool,
    count: u64,
}

impl Trace {
    /// A trace; its lines are kept only if somebody will read them.
    pub fn new(keep: bool) -> Self {
        Self { keep, ..Self::default() }
    }

    /// Adds a line.
    pub fn line(&mut self, at: Timestamp, text: fmt::Arguments<'_>) {
        let line = format!("{:>9} {text}", at.0);
        self.hasher.update(line.as_bytes());
        self.hasher.update(b"\n");
        self.count += 1;
        if self.keep {
            self.lines.push(line);
        }
    }

    /// A hash over all lines: equal for equal runs (INV-10).
    pub fn hash(&self) -> String {
        formwork_model::sha256_hex(&self.hasher.clone().finalize())
    }

    /// How many lines there were, kept or not.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The lines that were kept.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} lines, {})", self.count, self.hash())
    }
}
