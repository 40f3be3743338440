//! Plugins that are processes: what is installed, what its schema declares, running it, calling it.
//!
//! ```text
//! <directory>/<name>/v<version>/ ── installed ──► inspect ──► types    what may be declared (a Catalog)
//!                                                    │ cache
//!                                     supervise ─────┴──────► hosted   one ResourcePlugin per process
//!                                         └─► launch ─► process
//! ```
//!
//! Nothing is started before it is needed; what a process serves is asked once, and kept for as long as neither its
//! program nor its schema changes.
//!
//! **Architecture invariant:** a process is never trusted. Whatever it does (dies, hangs, sends what makes no sense
//! or too much), the call that meets it ends with one error within its deadline, and nothing else notices. This crate
//! decides nothing about what is called or repeated, and reads no environment variable.

mod error;
mod escape;
mod hosted;
mod inspect;
mod installed;
mod launch;
mod manifest;
mod options;
mod output;
mod pkl;
mod plugins;
mod process;
mod staged;
mod supervise;
mod types;
mod verify;

pub use error::{InstallError, LaunchError};
pub use manifest::Manifest;
pub use options::{HostLimits, HostOptions, PluginOptions};
pub use plugins::{Plugin, Plugins};
pub use staged::{StageError, Staged};
pub use types::PluginTypeRules;
pub use verify::{Mistake, Verified, VerifyError, verify};
