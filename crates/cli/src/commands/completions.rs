//! Completion scripts, and the list of commands.

use super::CommandError;
use crate::args::{Completions, command_tree};
use crate::exit::Exit;
use crate::ui::json;

pub(crate) fn run(arguments: &Completions) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command_tree(), "formwork", &mut script);
    json::print_text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(crate) fn list() -> Result<Exit, CommandError> {
    let tree = command_tree();
    let shown = tree.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<_> = shown.map(clap::Command::get_name).collect();
    json::print_text(&format!("{}\n", names.join("\n")))?;
    Ok(Exit::Done)
}
