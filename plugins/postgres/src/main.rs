//! The POSTGRES plugin as a process.

use formwork_plugin_postgres::PostgresPlugin;
use std::process::ExitCode;

fn main() -> ExitCode {
    formwork_plugin::run(formwork_plugin::about!(), PostgresPlugin::new())
}
