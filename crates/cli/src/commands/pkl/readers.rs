//! External readers: which processes read what, and what they get of the environment.

use super::settings::Effective;
use pkl_core::EvaluatorBuilder;
use pkl_external::{Command, ExternalModuleReader, ExternalResourceReader, Process};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// How long a reader may take for an answer, if modules aren't given less time.
const PATIENCE: Duration = Duration::from_secs(60);

/// The variables that a reader gets of ours: what programs need to be found and to speak the user's language.
/// What else there is may be secret.
const NEEDED: [&str; 9] = ["HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];

/// Lets programs read by the external readers of the settings. Those are asked before readers of our own.
pub(super) fn add_to(mut builder: EvaluatorBuilder, settings: &Effective) -> EvaluatorBuilder {
    let mut processes = Processes { settings, running: BTreeMap::new() };
    for (scheme, command) in &settings.module_readers {
        builder = builder.module_reader(ExternalModuleReader::new(scheme, processes.of(command)));
    }
    for (scheme, command) in &settings.resource_readers {
        builder = builder.resource_reader(ExternalResourceReader::new(scheme, processes.of(command)));
    }
    builder
}

/// One process for each command, whatever it reads.
struct Processes<'a> {
    settings: &'a Effective,
    running: BTreeMap<Command, Arc<Process>>,
}

impl Processes<'_> {
    fn of(&mut self, command: &Command) -> Arc<Process> {
        let settings = self.settings;
        let process = self.running.entry(command.clone()).or_insert_with(|| {
            let timeout = settings.timeout.map_or(PATIENCE, |timeout| timeout.min(PATIENCE));
            Arc::new(Process::new(command.clone(), environment(settings), timeout))
        });
        Arc::clone(process)
    }
}

/// What is needed, and the variables that were given for programs.
fn environment(settings: &Effective) -> BTreeMap<OsString, OsString> {
    let is_needed =
        |name: &OsString| name.to_str().is_some_and(|name| NEEDED.contains(&name) || name.starts_with("LC_"));
    let given = settings.environment.iter().flatten().map(|(name, value)| (name.into(), value.into()));
    super::environment::all().filter(|(name, _)| is_needed(name)).chain(given).collect()
}
