//! Arguments of the `plugin` commands.

use clap::{Args, Subcommand};

/// What can be asked about plugins.
#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// List the plugins that are installed on this machine
    List(PluginList),
    /// Show a plugin: what it serves, where it is, and what is wrong with it
    Info(PluginInfo),
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
