//! Everything that configures Formwork from outside: environment variables and files.
//!
//! [`VARIABLES`] and [`FILES`] list all of it with defaults and one sentence each; the reference
//! page is made from them. Parsing is a function of an [`Environment`] value; only
//! [`Environment::from_process`], [`DataDir::prepare`], [`DataDir::admin_token`],
//! [`PluginSettings::read`] and [`Profiles::read`] touch the outside.
//!
//! **Architecture invariant:** no other crate reads an environment variable or knows a file name of
//! the data directory.

mod admin_token;
mod connection;
mod data_dir;
mod database;
mod environment;
mod error;
mod plugins;
mod profile;
mod reference;
mod settings;
mod variables;

pub use connection::{Connection, ConnectionRequest};
pub use data_dir::DataDir;
pub use database::Database;
pub use environment::Environment;
pub use error::ConfigError;
pub use plugins::{PluginEntry, PluginSettings, is_private_variable};
pub use profile::{Profile, Profiles};
pub use reference::reference_page;
pub use settings::{LogLevel, Settings};
pub use variables::{FILES, FileEntry, VARIABLES, Variable, name};
