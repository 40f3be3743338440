//! How long a match may take.

use std::fmt;
use std::time::Instant;

/// What a run may use up. It is shared by all matches that are made with it.
#[derive(Clone, Debug)]
pub struct Budget {
    /// How many steps of the machine are left.
    pub steps: u64,
    /// When to give up, whatever is left.
    pub deadline: Option<Instant>,
    /// How many choices may be open at a time; bounds the memory of a run.
    pub max_choices: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 50_000_000, deadline: None, max_choices: 1 << 20 }
    }
}

/// A match that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitError {
    /// All steps are used up.
    Steps,
    /// The deadline has passed.
    Deadline,
    /// Too many open choices.
    Choices,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "The regular expression took too many steps.",
            Self::Deadline => "The regular expression took too long.",
            Self::Choices => "The regular expression kept too many choices open.",
        })
    }
}

impl std::error::Error for LimitError {}

/// How many steps pass between two looks at the clock.
const STEPS_PER_LOOK: u64 = 4096;

impl Budget {
    /// Takes one step.
    pub(crate) fn step(&mut self) -> Result<(), LimitError> {
        if self.steps == 0 {
            return Err(LimitError::Steps);
        }
        self.steps -= 1;
        if self.steps.is_multiple_of(STEPS_PER_LOOK)
            && self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
        {
            return Err(LimitError::Deadline);
        }
        Ok(())
    }
}
