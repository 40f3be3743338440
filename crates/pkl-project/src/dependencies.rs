//! Dependency notation (`@name/path`) in a project and in packages.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pkl_core::ErrorCode;
use pkl_core::host::{Dependencies, ReadError};
use pkl_core::reader::file_uri;

use crate::error::{lockfile_error, read_error, told};
use crate::lockfile::{LOCKFILE, Lockfile, Resolved};
use crate::packages::{Package, Packages};
use crate::project::{Declared, Project};
use crate::uri::{CanonicalId, PACKAGE, PROJECT_PACKAGE, PackageId, PackageUri};

/// Tells a person of a local dependency that a mirror answers for, given by its name.
pub type WarningSink = Arc<dyn Fn(&str) + Send + Sync>;

/// What names stand for in the modules of a project and in those of packages.
pub struct ProjectDependencies {
    packages: Arc<Packages>,
    project: Option<Project>,
    /// Projects that the project depends on, by what they would be published as.
    locals: HashMap<CanonicalId, Project>,
    lockfile: OnceLock<Result<Lockfile, ReadError>>,
    warnings: Option<WarningSink>,
    /// The dependencies that were warned of: once each.
    warned: Mutex<HashSet<String>>,
}

/// Where the files of a dependency are.
pub(crate) enum Place {
    Package(Arc<Package>),
    Project(Directory),
}

/// The directory of a local dependency.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// The URI of a file in it; `None` if the path leads out.
    pub(crate) fn file_uri(&self, path: &str) -> Option<String> {
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        file_uri(format!("{}{path}", self.0.display()).as_ref()).ok()
    }
}

impl ProjectDependencies {
    /// What names stand for in `project`, if there is one, and in `packages`.
    pub fn new(packages: Arc<Packages>, project: Option<Project>) -> Self {
        let mut locals = HashMap::new();
        if let Some(project) = &project {
            collect_locals(project, &mut locals);
        }
        Self {
            packages,
            project,
            locals,
            lockfile: OnceLock::new(),
            warnings: None,
            warned: Mutex::default(),
        }
    }

    /// Tells `sink` which local dependencies a mirror answers for.
    #[must_use]
    pub fn warnings(mut self, sink: WarningSink) -> Self {
        self.warnings = Some(sink);
        self
    }

    fn project(&self) -> Result<&Project, ReadError> {
        self.project.as_ref().ok_or_else(ReadError::no_project)
    }

    /// The project's `PklProject.deps.json`, checked against what it declares.
    fn lockfile(&self) -> Result<&Lockfile, ReadError> {
        let project = self.project()?;
        self.lockfile.get_or_init(|| self.read_lockfile(project)).as_ref().map_err(Clone::clone)
    }

    fn read_lockfile(&self, project: &Project) -> Result<Lockfile, ReadError> {
        let path = project.directory().ok_or_else(ReadError::no_project)?.join(LOCKFILE);
        let is_needed = |declared: &Declared| match declared {
            Declared::Remote(uri) => !self.packages.is_mirrored(&uri.id),
            Declared::Local(_) => true,
        };
        let text = match std::fs::read_to_string(&path) {
            // If mirrors answer for everything there is nothing to resolve.
            Err(_) if !project.dependencies.values().any(is_needed) => return Ok(Lockfile::default()),
            read => read,
        };
        let uri = format!("file://{}", path.display());
        let lockfile = lockfile_error::read(&path, &uri, text.map(|text| Lockfile::parse(&text)))?;
        for (name, declared) in &project.dependencies {
            self.check(project, name, declared, &lockfile)?;
        }
        Ok(lockfile)
    }

    /// Whether the file knows a dependency, in a version that is high enough.
    fn check(
        &self,
        project: &Project,
        name: &str,
        declared: &Declared,
        lockfile: &Lockfile,
    ) -> Result<(), ReadError> {
        let Some(id) = declared_id(declared) else { return Ok(()) };
        if self.packages.is_mirrored(&id) || self.packages.replaces_local(name, &id) {
            return Ok(());
        }
        match lockfile.get(&id.canonical()) {
            None => Err(lockfile_error::unresolved(&id.to_string())),
            Some(resolved) if resolved.id().version().precedence(id.version()).is_lt() => {
                Err(lockfile_error::outdated(&project.file_uri, &id, resolved.id()))
            }
            Some(_) => Ok(()),
        }
    }

    /// Where the files of a project's dependency are.
    pub(crate) fn place(&self, id: &PackageId) -> Result<Place, ReadError> {
        let package = |id: &PackageId, checksum| {
            self.packages.package(id, checksum).map(Place::Package).map_err(|error| read_error(&error))
        };
        if self.packages.is_mirrored(id) {
            return package(id, None);
        }
        match self.lockfile()?.get(&id.canonical()) {
            Some(Resolved::Remote { id, checksum }) => package(id, checksum.as_ref()),
            Some(Resolved::Local { path, .. }) => {
                let root = self.project()?.directory().ok_or_else(ReadError::no_project)?;
                Ok(Place::Project(Directory(normal(&root.join(path)))))
            }
            None => Err(lockfile_error::unresolved(&id.project_uri())),
        }
    }

    /// What a name stands for that a project declares.
    fn in_project(&self, project: &Project, name: &str) -> Result<String, ReadError> {
        let Some(declared) = project.dependencies.get(name) else {
            let message = format!(
                "Cannot find a dependency named `{name}`, because it is not declared in the current project.\n\nTo fix this, add it to the `dependencies` section of your `PklProject` file, and resolve your dependencies."
            );
            return Err(told(ErrorCode::NotFound, message, None));
        };
        let Some(id) = declared_id(declared) else {
            let message = format!("Dependency `{name}` is a project that does not declare a `package`.");
            return Err(told(ErrorCode::NotFound, message, None));
        };
        if matches!(declared, Declared::Local(_)) && self.packages.replaces_local(name, &id) {
            self.warn(name);
            return Ok(format!("{id}#"));
        }
        self.resolved(&id)
    }

    fn warn(&self, name: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(warn), true) = (&self.warnings, warned.insert(name.to_owned())) {
            warn(name);
        }
    }

    fn resolved(&self, id: &PackageId) -> Result<String, ReadError> {
        if self.packages.is_mirrored(id) {
            return Ok(format!("{id}#"));
        }
        match self.lockfile()?.get(&id.canonical()) {
            Some(resolved) => Ok(format!("{}#", resolved.id().project_uri())),
            None => Err(lockfile_error::unresolved(&id.to_string())),
        }
    }
}

impl Dependencies for ProjectDependencies {
    fn locate(&self, base: &str, name: &str) -> Result<String, ReadError> {
        let (scheme, _) = base.split_once(':').unwrap_or_default();
        let of_package = || {
            let package = base.split_once('#').map_or(base, |(package, _)| package);
            PackageUri::parse(package).map_err(|error| ReadError::InvalidUri(error.to_string()))
        };
        match scheme {
            PACKAGE => {
                let uri = of_package()?;
                let package = self.packages.package(&uri.id, uri.checksum.as_ref());
                let package = package.map_err(|error| read_error(&error))?;
                let found = in_package(&uri.id, &package, name)?;
                // Checked here and not by its URI: one package has one URI, whoever names it.
                if let Some(hash) = &found.checksum {
                    self.packages.package(&found.id, Some(hash)).map_err(|error| read_error(&error))?;
                }
                Ok(format!("{}#", found.id))
            }
            PROJECT_PACKAGE => {
                let id = of_package()?.id;
                if let Some(project) = self.locals.get(&id.canonical())
                    && matches!(self.place(&id)?, Place::Project(_))
                {
                    return match project.dependencies.get(name) {
                        Some(_) => self.in_project(project, name),
                        None => Err(undeclared(&id, name)),
                    };
                }
                match self.place(&id)? {
                    Place::Package(package) => self.resolved(&in_package(&id, &package, name)?.id),
                    Place::Project(_) => Err(lockfile_error::unresolved(&id.to_string())),
                }
            }
            _ => {
                let project = self.project()?;
                self.in_project(project, name)
            }
        }
    }
}

/// One value for several owners.
pub(crate) struct Shared(pub(crate) Arc<ProjectDependencies>);

impl Dependencies for Shared {
    fn locate(&self, base: &str, name: &str) -> Result<String, ReadError> {
        self.0.locate(base, name)
    }
}

/// What a name stands for that a package declares.
fn in_package(id: &PackageId, package: &Package, name: &str) -> Result<PackageUri, ReadError> {
    let dependency = package.dependencies.get(name).ok_or_else(|| undeclared(id, name))?;
    dependency.package().map_err(|error| ReadError::InvalidUri(error.to_string()))
}

fn undeclared(id: &PackageId, name: &str) -> ReadError {
    let message =
        format!("Cannot find dependency named `{name}`, because it was not declared in package `{id}`.");
    told(ErrorCode::NotFound, message, None)
}

fn collect_locals(project: &Project, locals: &mut HashMap<CanonicalId, Project>) {
    for declared in project.dependencies.values() {
        if let (Declared::Local(dependency), Some(id)) = (declared, declared_id(declared)) {
            locals.insert(id.canonical(), (**dependency).clone());
            collect_locals(dependency, locals);
        }
    }
}

/// The package that a dependency is, or would be published as.
fn declared_id(declared: &Declared) -> Option<PackageId> {
    match declared {
        Declared::Remote(uri) => Some(uri.id.clone()),
        Declared::Local(project) => project.package.as_ref().and_then(|package| package.id().ok()),
    }
}

/// A path without `.` and `..`.
pub(crate) fn normal(path: &std::path::Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}
