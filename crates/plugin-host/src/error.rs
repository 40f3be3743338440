//! Why a plugin can't be used, each in one sentence.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// What is wrong with what is installed of a plugin.
#[derive(Clone, Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no version of it.
    #[error("`{}` has no directory named after a version, such as `v0.1.0`", path.display())]
    NoVersion {
        /// The plugin's directory.
        path: PathBuf,
    },
    /// A file or directory of it can't be read.
    #[error("`{}` cannot be read: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// Its program is not there.
    #[error("its program `{}` is missing", path.display())]
    NoProgram {
        /// Where it should be.
        path: PathBuf,
    },
    /// Everybody may change its program.
    #[error("its program `{}` may be written by everybody (mode {mode:04o})", path.display())]
    OpenProgram {
        /// Where it is.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// There is no manifest.
    #[error("its manifest `{}` is missing", path.display())]
    NoManifest {
        /// Where it should be.
        path: PathBuf,
    },
    /// The manifest can't be evaluated.
    #[error("its manifest `{}` cannot be evaluated: {reason}", path.display())]
    Manifest {
        /// Where it is.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The manifest says something else than the place where it is.
    #[error("its manifest says that the {what} is `{declared}`, but its directory says `{found}`")]
    Misplaced {
        /// What it says.
        what: &'static str,
        /// What the manifest says.
        declared: String,
        /// What the directory says.
        found: String,
    },
    /// It needs a newer formae.
    #[error("it needs formae {needed} or newer, and this program speaks {spoken}")]
    TooNew {
        /// What it needs.
        needed: String,
        /// What there is.
        spoken: &'static str,
    },
    /// There is no schema.
    #[error("it has no schema: `{}` is missing", path.display())]
    NoSchema {
        /// Where it should be.
        path: PathBuf,
    },
    /// The schema is too large.
    #[error("its schema has more than {most}")]
    SchemaTooLarge {
        /// The bound.
        most: &'static str,
    },
    /// The schema can't be evaluated.
    #[error("its schema cannot be evaluated: {reason}")]
    Schema {
        /// Why.
        reason: String,
    },
    /// The schema declares a type of another namespace.
    #[error("its schema declares `{type_name}`, but its types begin with `{namespace}::`")]
    ForeignType {
        /// The type.
        type_name: String,
        /// What the manifest says.
        namespace: String,
    },
}

/// Why a plugin's process can't be started.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LaunchError {
    /// The operating system doesn't start it.
    #[error("`{}` cannot be started: {source}", path.display())]
    Spawn {
        /// The program.
        path: PathBuf,
        /// Why.
        source: Arc<io::Error>,
    },
    /// There is no private directory for its socket.
    #[error("there is no place for its socket: {reason}")]
    Socket {
        /// Why.
        reason: String,
    },
    /// It ended before it said what it is.
    #[error("its process ended before it said what it is ({how}){last_words}")]
    Ended {
        /// How.
        how: String,
        /// What it wrote last.
        last_words: String,
    },
    /// It doesn't say what it is.
    #[error("its process did not say what it is within {millis} ms{last_words}")]
    Silent {
        /// How long was waited.
        millis: u64,
        /// What it wrote last.
        last_words: String,
    },
    /// What it says makes no sense.
    #[error("what its process says of itself makes no sense: {reason}")]
    Nonsense {
        /// Why.
        reason: String,
    },
    /// It speaks another version of the protocol.
    #[error(
        "its process speaks version {theirs} of the plugin protocol, and this program version {ours}: {}",
        if theirs < ours { "build it anew with a newer SDK" } else { "use a newer `formwork`" }
    )]
    Protocol {
        /// What it speaks.
        theirs: u32,
        /// What this program speaks.
        ours: u32,
    },
    /// It isn't the process that was started.
    #[error("what answers on its socket is not the process that was started: the token is another")]
    Token,
    /// It serves another namespace than the manifest says.
    #[error("its process serves the namespace `{announced}`, but its manifest says `{declared}`")]
    Namespace {
        /// What the process says.
        announced: String,
        /// What the manifest says.
        declared: String,
    },
    /// It serves a type of another namespace.
    #[error("its process serves `{type_name}`, but its types begin with `{namespace}::`")]
    ForeignType {
        /// The type.
        type_name: String,
        /// The plugin's namespace.
        namespace: String,
    },
    /// It says one thing twice.
    #[error("its process serves `{type_name}` twice")]
    Twice {
        /// The type.
        type_name: String,
    },
    /// Plugins are no longer started.
    #[error("this program is about to end")]
    Stopping,
}
