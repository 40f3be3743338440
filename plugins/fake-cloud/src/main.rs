//! The plugin's process.

use formwork_plugin::About;
use formwork_plugin_fake_cloud::FakeCloudProcess;
use std::process::ExitCode;

fn main() -> ExitCode {
    // As `formae-plugin.pkl` says.
    let about = About { name: "fake-cloud", version: env!("CARGO_PKG_VERSION") };
    formwork_plugin::run(about, FakeCloudProcess::default())
}
