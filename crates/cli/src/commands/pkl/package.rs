//! `pkl project package`: what is published of projects.

use super::PklError;
use super::host::{Host, normal};
use super::module::Module;
use super::output::{write_file, write_stdout};
use super::{project, test};
use crate::args::{PklPackage, PklProject};
use crate::exit::Exit;
use pkl_project::{Artifacts, LOCKFILE, Lockfile, Project, Publication};
use std::io;
use std::path::{Path, PathBuf};

/// Tests the projects, prepares them, and writes what is to be published only if all of them can be.
pub(super) fn run(arguments: &PklPackage) -> Result<(), PklError> {
    let host = Host::without_project(&arguments.host, None)?;
    let projects = project::projects(&host, &arguments.host, &arguments.directories)?;
    for (root, project) in &projects {
        run_tests(arguments, root, project)?;
    }
    let publication =
        |(root, project): (PathBuf, Project)| Ok(Publication { lockfile: lockfile(&root)?, root, project });
    let publications = projects.into_iter().map(publication).collect::<Result<Vec<_>, PklError>>()?;
    let prepared = pkl_project::publish(&publications)?;
    if !arguments.skip_publish_check {
        prepared.iter().try_for_each(|artifacts| host.packages.check_published(artifacts))?;
    }
    prepared.iter().try_for_each(|artifacts| write(arguments, &host, artifacts))
}

/// Runs the tests of a project that are to hold for its package, in the project.
fn run_tests(arguments: &PklPackage, root: &Path, project: &Project) -> Result<(), PklError> {
    let Some(package) = project.package.as_ref().filter(|package| !package.api_tests.is_empty()) else {
        return Ok(());
    };
    let within =
        PklProject { project_dir: Some(root.to_owned()), omit_project_settings: false, no_project: false };
    let host = Host::new(&arguments.host, &within, None)?;
    let names = package.api_tests.iter().map(|test| root.join(test).display().to_string());
    let modules = Module::all(&names.collect::<Vec<_>>(), &host)?;
    match test::run_modules(&host, &modules, &arguments.tests)? {
        Exit::Failed => Err(PklError::ApiTests(package.uri.clone())),
        _ => Ok(()),
    }
}

/// What was resolved for the project in a directory.
fn lockfile(root: &Path) -> Result<Lockfile, PklError> {
    let path = root.join(LOCKFILE);
    let read = |source| PklError::Read { name: path.display().to_string(), source };
    match std::fs::read_to_string(&path) {
        Ok(text) => Lockfile::parse(&text).map_err(|error| read(io::Error::other(error))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lockfile::default()),
        Err(error) => Err(read(error)),
    }
}

/// Writes the four files of a package, and prints their names.
fn write(arguments: &PklPackage, host: &Host, artifacts: &Artifacts) -> Result<(), PklError> {
    let template = arguments.output_path.replace("%{name}", &artifacts.name);
    let directory = PathBuf::from(template.replace("%{version}", &artifacts.version));
    let name = format!("{}@{}", artifacts.name, artifacts.version);
    for (ending, bytes) in [
        (".zip", artifacts.archive.as_slice()),
        (".zip.sha256", artifacts.archive_checksum.as_str().as_bytes()),
        ("", artifacts.metadata.as_bytes()),
        (".sha256", artifacts.metadata_checksum.as_str().as_bytes()),
    ] {
        let path = directory.join(format!("{name}{ending}"));
        write_file(&normal(&host.directory.join(&path)), bytes)?;
        write_stdout("", format!("{}\n", path.display()).as_bytes())?;
    }
    Ok(())
}
