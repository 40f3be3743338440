//! The `pkl` commands: evaluate, analyse and format modules.
//!
//! **Architecture invariant:** they need neither an engine nor a ledger, and never connect to one.

mod allowed;
mod download;
mod environment;
pub(crate) mod error;
mod eval;
mod files;
pub(crate) mod forma;
mod format;
mod host;
mod imports;
mod module;
mod output;
mod package;
mod packages;
mod person;
mod project;
mod reader;
mod readers;
mod settings;
mod test;
mod timings;
mod trees;

pub(crate) use error::PklError;

use super::CommandError;
use crate::args::{Pkl, PklAnalyze, PklProjects};
use crate::exit::Exit;

/// Runs one of them.
///
/// # Errors
/// What it fails with.
pub(crate) fn run(command: &Pkl) -> Result<Exit, CommandError> {
    match command {
        Pkl::Eval(arguments) => eval::run(arguments)?,
        Pkl::Analyze(PklAnalyze::Imports(arguments)) => imports::run(arguments)?,
        Pkl::Test(arguments) => return Ok(test::run(arguments)?),
        Pkl::Project(PklProjects::Resolve(arguments)) => project::resolve(arguments)?,
        Pkl::Project(PklProjects::Package(arguments)) => package::run(arguments)?,
        Pkl::DownloadPackage(arguments) => download::run(arguments)?,
        Pkl::Reader => reader::run()?,
        Pkl::Format(arguments) => return Ok(format::run(arguments)?),
    }
    Ok(Exit::Done)
}
