//! What a host is told once.

use formwork_secret::Secret;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Where plugins are, and how they are run.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// The directories that hold plugins: what the first has of a name wins.
    pub directories: Vec<PathBuf>,
    /// Where what schemas say is kept; `None` if nothing may be written.
    pub cache: Option<PathBuf>,
    /// Where the private directories of sockets are made.
    pub sockets: PathBuf,
    /// What every plugin's process finds in its environment.
    pub environment: BTreeMap<String, Secret<String>>,
    /// What the operator says of single plugins, by their names.
    pub plugins: BTreeMap<String, PluginOptions>,
    /// How they are run.
    pub limits: HostLimits,
}

impl HostOptions {
    /// No plugins, and the usual limits.
    pub fn new(sockets: impl Into<PathBuf>) -> Self {
        Self {
            directories: Vec::new(),
            cache: None,
            sockets: sockets.into(),
            environment: BTreeMap::new(),
            plugins: BTreeMap::new(),
            limits: HostLimits::default(),
        }
    }
}

/// What the operator says of one plugin.
#[derive(Clone, Debug, Default)]
pub struct PluginOptions {
    /// Whether it is not used at all.
    pub disabled: bool,
    /// What its process finds in its environment besides.
    pub environment: BTreeMap<String, Secret<String>>,
    /// The calls per second that are made to its namespace; 0 is no limit, `None` leaves it to the plugin.
    pub rate_limit: Option<u32>,
}

impl PluginOptions {
    /// The names of the variables that its process finds besides.
    pub fn variables(&self) -> BTreeSet<&str> {
        self.environment.keys().map(String::as_str).collect()
    }
}

/// The bounds of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLimits {
    /// How long a process may take until it said what it is.
    pub start: Duration,
    /// How long a process may take to end once it was told to; half of it until it gets SIGTERM.
    pub stop: Duration,
    /// How long is waited before a process is started again that failed once; twice as long each further time.
    pub first_pause: Duration,
    /// The longest that is waited.
    pub longest_pause: Duration,
    /// How long a process must live so that its failures before are forgotten.
    pub healthy: Duration,
    /// How long a call waits for a process that failed; if it is longer until the next try, the call fails at once.
    pub patience: Duration,
    /// How long a call may take that has no deadline of its own.
    pub validate: Duration,
}

impl Default for HostLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(10),
            stop: Duration::from_secs(4),
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(30),
            healthy: Duration::from_secs(60),
            patience: Duration::from_secs(2),
            validate: Duration::from_secs(30),
        }
    }
}
