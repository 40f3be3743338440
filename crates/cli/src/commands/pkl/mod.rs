//! The `pkl` commands: evaluate, analyse and format modules.
//!
//! **Architecture invariant:** they need neither an engine nor a ledger, and never connect to one.

mod allowed;
pub(crate) mod error;
mod eval;
mod files;
mod format;
mod host;
mod imports;
mod module;
mod output;
mod timings;

pub(crate) use error::PklError;

use super::CommandError;
use crate::args::{Pkl, PklAnalyze};
use crate::exit::Exit;

/// Runs one of them.
///
/// # Errors
/// What it fails with.
pub(crate) fn run(command: &Pkl) -> Result<Exit, CommandError> {
    match command {
        Pkl::Eval(arguments) => eval::run(arguments)?,
        Pkl::Analyze(PklAnalyze::Imports(arguments)) => imports::run(arguments)?,
        Pkl::Format(arguments) => return Ok(format::run(arguments)?),
    }
    Ok(Exit::Done)
}
