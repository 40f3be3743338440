//! The evaluator that the flags and the project describe.

use super::settings::Effective;
use super::{PklError, allowed, packages, readers};
use crate::args::{PklHost, PklProject, TraceMode};
use formwork_forma::library;
use formwork_forma::package::PackageReader;
use pkl_core::host::Dependencies as _;
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, Limits, ModuleSource};
use pkl_project::{PROJECT_FILE, Packages, Project, ProjectDependencies};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where a command works, and with what.
pub(super) struct Host {
    pub(super) evaluator: Evaluator,
    pub(super) directory: PathBuf,
    pub(super) packages: Arc<Packages>,
    /// The project that modules are evaluated in.
    pub(super) project: Option<Project>,
    dependencies: Arc<ProjectDependencies>,
}

impl Host {
    /// What the flags and the project describe.
    ///
    /// # Errors
    /// They ask for what there isn't, or the project can't be loaded.
    pub(super) fn new(host: &PklHost, project: &PklProject, format: Option<&str>) -> Result<Self, PklError> {
        let directory = working_directory(host.working_dir.as_deref())?;
        let Some(root) = project_directory(project, &directory) else {
            return Self::without_project(host, format);
        };
        let outer = Self::without_project(host, None)?;
        let project_file = ModuleSource::file(root.join(PROJECT_FILE));
        let read = |source| PklError::Read { name: root.display().to_string(), source };
        let loaded = pkl_project::load(&outer.evaluator, &project_file.map_err(read)?)?;
        let settings = if project.omit_project_settings {
            Effective::of_flags(host, &directory)
        } else {
            Effective::of_project(host, &directory, &loaded.settings, &root)?
        };
        Self::with(host, directory, &settings, Some(loaded), format)
    }

    /// What the flags describe by themselves.
    ///
    /// # Errors
    /// They ask for what there isn't.
    pub(super) fn without_project(host: &PklHost, format: Option<&str>) -> Result<Self, PklError> {
        let directory = working_directory(host.working_dir.as_deref())?;
        refuse(host)?;
        let settings = Effective::of_flags(host, &directory);
        Self::with(host, directory, &settings, None, format)
    }

    fn with(
        host: &PklHost,
        directory: PathBuf,
        settings: &Effective,
        project: Option<Project>,
        format: Option<&str>,
    ) -> Result<Self, PklError> {
        if let Some(archive) = settings.module_path.iter().find(|path| path.is_file()) {
            let what = format!("an archive as module path, `{}`,", archive.display());
            return Err(PklError::Unsupported { what, hint: Some("unpack it, and name the directory") });
        }
        let packages = Arc::new(packages::packages(settings, host.verbose)?);
        let dependencies = ProjectDependencies::new(Arc::clone(&packages), project.clone());
        let dependencies = Arc::new(dependencies.warnings(Arc::new(|name: &str| {
            let name = crate::ui::text::lines(name);
            crate::ui::say(format_args!("pkl: a mirror answers for the local dependency `{name}`"));
        })));
        let files = settings.root.as_ref().map_or_else(FileReader::new, FileReader::below);
        let mut properties = settings.properties.clone();
        properties.extend(format.map(|format| ("pkl.outputFormat".to_owned(), format.to_owned())));
        let resources = settings.allowed_resources.as_deref();
        let builder = readers::add_to(Evaluator::builder(), settings)
            .files(files.clone())
            .module_path(settings.module_path.clone())
            .properties(properties)
            .environment(settings.environment.clone().unwrap_or_else(process_environment))
            .allowed_modules(allowed::modules(settings.allowed_modules.as_deref())?)
            .allowed_resources(allowed::resources(resources, settings.resource_readers.keys())?)
            .limits(Limits { time: settings.timeout, ..Limits::default() })
            .trace(Arc::new(|line: &str| {
                crate::ui::say(format_args!("pkl: {}", crate::ui::text::lines(line)));
            }));
        let mut builder = builder.module_reader(PackageReader);
        if !settings.resource_readers.contains_key(library::SCHEME) {
            builder = library::add_to(builder);
        }
        let evaluator = pkl_project::attach(builder, Arc::clone(&dependencies), &packages, files).build();
        Ok(Self { evaluator, directory, packages, project, dependencies })
    }

    /// The URI that `@name/path`, given without its sign, stands for.
    ///
    /// # Errors
    /// There is no such dependency.
    pub(super) fn dependency(&self, notation: &str) -> Result<String, PklError> {
        let (name, path) = notation.split_once('/').unwrap_or((notation, ""));
        let package = self.dependencies.locate("repl:text", name).map_err(PklError::Dependency)?;
        Ok(format!("{package}{}", normal(&Path::new("/").join(path)).display()))
    }
}

/// The directory that relative paths are in, absolute.
pub(super) fn working_directory(given: Option<&Path>) -> Result<PathBuf, PklError> {
    let absolute = std::path::absolute(given.unwrap_or(Path::new(".")));
    let read = |source| PklError::Read { name: "the working directory".to_owned(), source };
    absolute.map(|path| normal(&path)).map_err(read)
}

/// The directory of the project that modules are evaluated in, if there is one.
fn project_directory(project: &PklProject, directory: &Path) -> Option<PathBuf> {
    match &project.project_dir {
        _ if project.no_project => None,
        // As with the official command, it is seen from where the process is.
        Some(given) => std::path::absolute(given).ok().map(|path| normal(&path)),
        None => nearest_project(directory),
    }
}

/// The nearest directory from here upwards that has a project.
pub(super) fn nearest_project(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find(|at| at.join(PROJECT_FILE).is_file()).map(Path::to_owned)
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
fn refuse(host: &PklHost) -> Result<(), PklError> {
    let refused = |what: String| Err(PklError::Unsupported { what, hint: None });
    if let Some(flag) = host.refused() {
        return refused(format!("`{flag}`"));
    }
    if host.trace_mode == Some(TraceMode::Pretty) {
        return refused("`--trace-mode pretty`".to_owned());
    }
    Ok(())
}

/// The variables of the process.
fn process_environment() -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}
