//! Completion scripts, and the list of commands.

use super::CommandError;
use crate::args::{Completions, command_tree};
use crate::exit::Exit;
use std::io::{self, Write as _};

pub(crate) fn run(arguments: &Completions) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command_tree(), "formwork", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}

pub(crate) fn list() -> Result<Exit, CommandError> {
    let mut stdout = io::stdout().lock();
    for command in command_tree().get_subcommands().filter(|command| !command.is_hide_set()) {
        writeln!(stdout, "{}", command.get_name())?;
    }
    Ok(Exit::Done)
}
