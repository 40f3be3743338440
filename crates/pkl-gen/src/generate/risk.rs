//! What may fail in a program.
//!
//! Where much can fail, most values only show their first error. So most programs are careful: they have one
//! member at most that was written to fail. The others are written without care, and show which of several
//! errors comes first.

use super::Generator;
use crate::choices::Choices;

/// How much of a program may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Risk {
    /// So many of its expressions, of those that were written with care.
    Careful(u8),
    /// Everything.
    Careless,
}

impl Risk {
    /// How much may fail in the next program.
    pub(super) fn chosen(choices: &mut Choices) -> Self {
        if choices.chance(15) { Self::Careless } else { Self::Careful(u8::from(choices.chance(50))) }
    }
}

impl Generator<'_> {
    /// Whether the program is written with care.
    pub(super) fn is_careful(&self) -> bool {
        self.risk != Risk::Careless
    }

    /// Whether what is written next may fail; it may no more after that if the program is careful.
    pub(super) fn may_fail(&mut self) -> bool {
        match self.risk {
            Risk::Careless => true,
            Risk::Careful(0) => false,
            Risk::Careful(left) => {
                let fails = self.choices.chance(10);
                self.risk = Risk::Careful(left - u8::from(fails));
                fails
            }
        }
    }

    /// One of the second ones if they may fail, of the first ones otherwise.
    pub(super) fn pick_by_risk(&mut self, sure: &[&'static str], risky: &[&'static str]) -> &'static str {
        if self.may_fail() { self.choices.pick(risky) } else { self.choices.pick(sure) }
    }
}
