//! Arguments of the `plugin` commands.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// What can be done with plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// List the plugins that are installed on this machine
    List(PluginList),
    /// Show a plugin: what it serves, where it is, and what is wrong with it
    Info(PluginInfo),
    /// Write the source of a new plugin, which compiles and passes its tests
    Init(PluginInit),
    /// Find all that is wrong with a plugin's manifest and schema
    VerifySchema(PluginVerify),
    /// Try a plugin out: what plugins must keep, and the scenarios that come with it
    Test(PluginTest),
}

#[derive(Debug, Args)]
pub(crate) struct PluginList {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginInfo {
    /// The plugin's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginInit {
    /// The plugin's name: small letters, digits and dashes
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The first segment of its types; the name in capitals, if nothing is said
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
    /// The directory to make; the name, if nothing is said
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
    /// A checkout of Formwork to take its crates from, instead of its repository
    #[arg(long, value_name = "DIR")]
    pub(crate) checkout: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PluginVerify {
    /// The directory of the plugin's source, or of an installed version
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PluginTest {
    /// The directory of the plugin's source or of an installed version, or its program there
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The program, if it isn't where Cargo puts it
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// The directory of the scenarios; `scenarios` in the plugin's, if nothing is said
    #[arg(long, value_name = "DIR")]
    pub(crate) scenarios: Option<PathBuf>,
    /// The value of a parameter of the scenarios
    #[arg(long = "value", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) values: Vec<(String, String)>,
    /// A variable of the environment that the plugin's process gets, too
    #[arg(long = "env", value_name = "VARIABLE")]
    pub(crate) environment: Vec<String>,
    /// How long all of it may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it must be `NAME=VALUE`".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<u32>() {
        Ok(seconds @ 1..=86_400) => Ok(Duration::from_secs(seconds.into())),
        _ => Err("it must be a number from 1 to 86400".to_owned()),
    }
}
