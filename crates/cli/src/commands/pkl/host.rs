//! The evaluator that the flags and the project describe.

use super::person::Person;
use super::settings::Effective;
use super::trees::Kept;
use super::{PklError, allowed, environment, packages, readers};
use crate::args::{PklHost, PklProject};
use formwork_forma::library::{self, Drawn};
use formwork_forma::package::PackageReader;
use formwork_forma::tfvars::TfvarsReader;
use pkl_core::host::Dependencies as _;
use pkl_core::reader::FileReader;
use pkl_core::{Evaluator, Limits, ModuleSource};
use pkl_project::{ModulePath, PROJECT_FILE, Packages, Project, ProjectDependencies};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where a command works, and with what.
pub(super) struct Host {
    pub(super) evaluator: Evaluator,
    pub(super) directory: PathBuf,
    pub(super) packages: Arc<Packages>,
    /// The project that modules are evaluated in.
    pub(super) project: Option<Project>,
    /// What modules drew by chance.
    pub(super) drawn: Drawn,
    person: Person,
    trees: Option<Kept>,
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
        let outer = Self::bare(host, None, None)?;
        let project_file = ModuleSource::file(root.join(PROJECT_FILE));
        let read = |source| PklError::Read { name: root.display().to_string(), source };
        let loaded = pkl_project::load(&outer.evaluator, &project_file.map_err(read)?);
        let loaded = loaded.map_err(|error| outer.linked(error))?;
        let counts = (!project.omit_project_settings).then_some((&loaded.settings, root.as_path()));
        let settings = Effective::new(host, &directory, counts, &outer.person);
        let trees = kept(host, &root);
        Self::with(host, directory, &settings, outer.person, Some(loaded), format, trees)
    }

    /// What the flags describe by themselves.
    ///
    /// # Errors
    /// They ask for what there isn't, or the person's settings can't be read.
    pub(super) fn without_project(host: &PklHost, format: Option<&str>) -> Result<Self, PklError> {
        let trees = kept(host, &working_directory(host.working_dir.as_deref())?);
        Self::bare(host, format, trees)
    }

    fn bare(host: &PklHost, format: Option<&str>, trees: Option<Kept>) -> Result<Self, PklError> {
        let directory = working_directory(host.working_dir.as_deref())?;
        let person = Person::load(host.settings.as_deref(), &directory)?;
        let settings = Effective::new(host, &directory, None, &person);
        Self::with(host, directory, &settings, person, None, format, trees)
    }

    fn with(
        host: &PklHost,
        directory: PathBuf,
        settings: &Effective,
        person: Person,
        project: Option<Project>,
        format: Option<&str>,
        trees: Option<Kept>,
    ) -> Result<Self, PklError> {
        let module_path = ModulePath::open(&settings.module_path).map_err(PklError::ModulePath)?;
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
            .module_reader(module_path.clone())
            .resource_reader(module_path)
            .properties(properties)
            .environment(settings.environment.clone().unwrap_or_else(environment::texts))
            .allowed_modules(allowed::modules(settings.allowed_modules.as_deref())?)
            .allowed_resources(allowed::resources(resources, settings.resource_readers.keys())?)
            .limits(Limits { time: settings.timeout, ..Limits::default() })
            .trace_mode(settings.trace_mode)
            .trace(Arc::new(|line: &str| {
                crate::ui::say(format_args!("pkl: {}", crate::ui::text::lines(line)));
            }));
        let drawn = Drawn::default();
        let mut builder = builder.module_reader(PackageReader);
        if let Some(trees) = &trees {
            builder = builder.keep(trees.text());
        }
        if !settings.resource_readers.contains_key(library::SCHEME) {
            builder = library::add_noting(builder, &drawn);
        }
        // A reader that was given for the scheme is asked before this one.
        let root = project.as_ref().and_then(Project::directory).unwrap_or_else(|| directory.clone());
        builder = builder.resource_reader(TfvarsReader::new(root));
        let evaluator = pkl_project::attach(builder, Arc::clone(&dependencies), &packages, files).build();
        Ok(Self { evaluator, directory, packages, project, drawn, person, trees, dependencies })
    }

    /// Keeps what was parsed for later commands.
    pub(super) fn keep_trees(&self) {
        if let Some(trees) = &self.trees {
            trees.keep(&self.evaluator);
        }
    }

    /// Ends what belongs to the command, whose process ends too.
    pub(super) fn end(self) {
        self.evaluator.end();
    }

    /// An error of an evaluation, whose places are shown as the person likes it.
    pub(super) fn linked(&self, error: impl Into<PklError>) -> PklError {
        match error.into() {
            PklError::Evaluation(error) => self.person.linked(*error).into(),
            other => other,
        }
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

/// Where syntax trees are kept for commands in a directory, unless nothing is to be.
fn kept(host: &PklHost, directory: &Path) -> Option<Kept> {
    Kept::of(directory).filter(|_| !host.no_cache)
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
