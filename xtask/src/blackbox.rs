//! Random sequences of commands against release builds, as many as one has patience for.

use crate::{TaskError, output, root};
use std::process::{Command, Stdio};

/// Builds what is played with, and plays: the arguments are those of the program `blackbox`.
pub(crate) fn run(arguments: &[&str]) -> Result<(), TaskError> {
    let programs = ["formwork", "fake-cloud", "blackbox"];
    let mut build = vec!["build", "--quiet", "--release", "--locked", "--workspace"];
    build.extend(programs.iter().flat_map(|program| ["--bin", *program]));
    output("cargo", &build)?;
    let release = root().join("target/release");
    let mut command = Command::new(release.join("blackbox"));
    command.arg("--formwork").arg(release.join("formwork")).arg("--plugin").arg(release.join("fake-cloud"));
    command.args(arguments).stdin(Stdio::null());
    let shown = || format!("blackbox {}", arguments.join(" "));
    let status = command.status().map_err(|source| TaskError::Run { command: shown(), source })?;
    if status.success() {
        return Ok(());
    }
    Err(TaskError::Failed { command: shown(), stderr: status.to_string() })
}
