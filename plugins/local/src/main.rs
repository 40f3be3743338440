//! The plugin's process.

use formwork_plugin::About;
use formwork_plugin_local::LocalPlugin;
use std::process::ExitCode;

fn main() -> ExitCode {
    // As `formae-plugin.pkl` says.
    let about = About { name: "local", version: env!("CARGO_PKG_VERSION") };
    formwork_plugin::run(about, LocalPlugin::new())
}
