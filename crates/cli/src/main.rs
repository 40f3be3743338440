//! The `formwork` binary: arguments, one command, an exit code.
//!
//! **Architecture invariant:** no rule lives here. A command is one or more requests to the server's
//! API, in this process or another; the same code path either way.

mod args;
mod commands;
mod env_file;
mod exit;
mod parameters;
mod session;
mod ui;

use std::process::ExitCode;

/// A plan is very many small values, made and dropped at once: the system's allocator spends as much
/// time on them as all else takes.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let invocation = match args::parse(std::env::args_os(), commands::forma::parameters) {
        Ok(invocation) => invocation,
        Err(error) => return exit::usage(&error),
    };
    match commands::run(invocation) {
        Ok(code) => code.into(),
        Err(error) => exit::report(&error),
    }
}
