//! The evaluator that the flags describe.

use super::{PklError, allowed};
use crate::args::{Assignment, PklHost, PklUnsupported, TraceMode};
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, Limits};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What a bare `--property NAME` says.
const SET: &str = "true";

/// Where a command works, and with what.
pub(super) struct Host {
    pub(super) evaluator: Evaluator,
    pub(super) directory: PathBuf,
}

impl Host {
    /// What the flags describe.
    ///
    /// # Errors
    /// They ask for what there isn't.
    pub(super) fn new(
        host: &PklHost,
        unsupported: &PklUnsupported,
        format: Option<&str>,
    ) -> Result<Self, PklError> {
        let directory = working_directory(host.working_dir.as_deref())?;
        refuse(host, unsupported, &directory)?;
        let files = match &host.root_dir {
            Some(root) => FileReader::below(directory.join(root)),
            None => FileReader::new(),
        };
        let mut properties = assignments(&host.property, SET);
        properties.extend(format.map(|format| ("pkl.outputFormat".to_owned(), format.to_owned())));
        let evaluator = Evaluator::builder()
            .files(files)
            .module_path(host.module_path.iter().map(|path| directory.join(path)).collect())
            .properties(properties)
            .environment(environment(&host.env_var))
            .allowed_modules(allowed::modules(host.allowed_modules.as_deref())?)
            .allowed_resources(allowed::resources(host.allowed_resources.as_deref())?)
            .limits(Limits { time: host.timeout.map(Duration::from_secs), ..Limits::default() })
            .trace(Arc::new(|line: &str| {
                crate::ui::say(format_args!("pkl: {}", crate::ui::text::lines(line)));
            }))
            .build();
        Ok(Self { evaluator, directory })
    }
}

/// The directory that relative paths are in, absolute.
fn working_directory(given: Option<&Path>) -> Result<PathBuf, PklError> {
    let absolute = std::path::absolute(given.unwrap_or(Path::new(".")));
    let read = |source| PklError::Read { name: "the working directory".to_owned(), source };
    absolute.map(|path| normal(&path)).map_err(read)
}

/// An absolute path without `.` and `..`, as the names are: links are not followed.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

/// Refuses what there isn't.
fn refuse(host: &PklHost, unsupported: &PklUnsupported, directory: &Path) -> Result<(), PklError> {
    let refused = |what: String, hint| Err(PklError::Unsupported { what, hint });
    if let Some(flag) = unsupported.given() {
        return refused(format!("`{flag}`"), None);
    }
    if host.trace_mode == TraceMode::Pretty {
        return refused("`--trace-mode pretty`".to_owned(), None);
    }
    if let Some(archive) = host.module_path.iter().find(|path| directory.join(path).is_file()) {
        let hint = Some("unpack it, and name the directory");
        return refused(format!("an archive as module path, `{}`,", archive.display()), hint);
    }
    if !host.no_project
        && let Some(project) =
            directory.ancestors().map(|at| at.join("PklProject")).find(|path| path.is_file())
    {
        let hint = Some("`--no-project` evaluates without it");
        return refused(format!("the project `{}`", project.display()), hint);
    }
    Ok(())
}

/// The variables given, or else those of the process.
fn environment(given: &[Assignment]) -> BTreeMap<String, String> {
    if !given.is_empty() {
        return assignments(given, "");
    }
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// Assignments by name; the last one counts. A bare name is given `bare`.
fn assignments(given: &[Assignment], bare: &str) -> BTreeMap<String, String> {
    let pair =
        |given: &Assignment| (given.name.clone(), given.value.clone().unwrap_or_else(|| bare.to_owned()));
    given.iter().map(pair).collect()
}
