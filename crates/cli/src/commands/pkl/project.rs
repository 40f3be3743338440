//! `pkl project`: what is done with projects as a whole.

use super::PklError;
use super::host::{Host, nearest_project, normal, working_directory};
use super::output::{write_file, write_stdout};
use crate::args::{PklHost, PklResolve};
use pkl_core::ModuleSource;
use pkl_project::{LOCKFILE, PROJECT_FILE, Project};
use std::path::{Path, PathBuf};

const NONE_VISIBLE: &str = "No project visible to the working directory. Ensure there is a PklProject file in the workspace, or provide an explicit project directory as an argument.";

/// `pkl project resolve`: writes the chosen versions beside each project, and prints where.
pub(super) fn resolve(arguments: &PklResolve) -> Result<(), PklError> {
    let host = Host::without_project(&arguments.host, None)?;
    for (root, project) in projects(&host, &arguments.host, &arguments.directories)? {
        let lockfile = pkl_project::resolve_with(&host.packages, &project)
            .map_err(|error| PklError::Resolve(Box::new(error)))?;
        let path = root.join(LOCKFILE);
        write_file(&path, lockfile.to_json().as_bytes())?;
        write_stdout("", format!("{}\n", path.display()).as_bytes())?;
    }
    Ok(())
}

/// The projects in these directories, or else the one of the working directory.
pub(super) fn projects(
    host: &Host,
    flags: &PklHost,
    directories: &[PathBuf],
) -> Result<Vec<(PathBuf, Project)>, PklError> {
    let working = working_directory(flags.working_dir.as_deref())?;
    let roots = if directories.is_empty() {
        let nearest = nearest_project(&working);
        vec![nearest.ok_or_else(|| PklError::NoProject(NONE_VISIBLE.to_owned()))?]
    } else {
        directories.iter().map(|directory| normal(&working.join(directory))).collect()
    };
    roots.into_iter().map(|root| project(host, &root).map(|project| (root, project))).collect()
}

fn project(host: &Host, root: &Path) -> Result<Project, PklError> {
    let path = root.join(PROJECT_FILE);
    if !path.is_file() {
        let message = format!("Directory {} does not contain a PklProject file.", root.display());
        return Err(PklError::NoProject(message));
    }
    let module = ModuleSource::file(&path);
    let module = module.map_err(|source| PklError::Read { name: path.display().to_string(), source })?;
    pkl_project::load(&host.evaluator, &module).map_err(|error| host.linked(error))
}
