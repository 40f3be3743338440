//! The plugin's process.

use formwork_plugin_notes::NotesPlugin;
use std::process::ExitCode;

fn main() -> ExitCode {
    formwork_plugin::run(formwork_plugin::about!(), NotesPlugin)
}
