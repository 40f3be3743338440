//! The plugin's process.

use formwork_plugin::About;
use formwork_plugin_local::LocalPlugin;
use std::process::ExitCode;

fn main() -> ExitCode {
    // One line for each event, that begins with its level: the host logs it under that.
    tracing_subscriber::fmt().without_time().with_ansi(false).with_writer(std::io::stderr).init();
    // As `formae-plugin.pkl` says.
    let about = About { name: "local", version: env!("CARGO_PKG_VERSION") };
    formwork_plugin::run(about, LocalPlugin::new())
}
