//! What is published of a project: an archive of its files, the metadata, and what both hash to.

mod files;
mod inside;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::archive::{ArchiveError, pack};
use crate::lockfile::{Lockfile, Resolved};
use crate::metadata::{Checksums, Dependency, Metadata};
use crate::packages::PackageError;
use crate::project::{Declared, Package, Project};
use crate::uri::{CanonicalId, PackageId, Sha256, UriError};

/// The files that are published of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifacts {
    /// The package.
    pub id: PackageId,
    /// Its name, for display.
    pub name: String,
    /// Its version, as the project says it.
    pub version: String,
    /// The archive.
    pub archive: Vec<u8>,
    /// What the archive hashes to.
    pub archive_checksum: Sha256,
    /// The metadata.
    pub metadata: String,
    /// What the metadata hashes to.
    pub metadata_checksum: Sha256,
}

/// Why a project can't be published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// It doesn't say as what.
    #[error("No package was declared in project `{0}`.\n\nAdd a `package` section to the PklProject file.")]
    NoPackage(String),
    /// Its package has no proper URI.
    #[error("{0}")]
    Uri(#[from] UriError),
    /// It depends on a project that isn't published along with it.
    #[error(
        "Cannot package project `{project}` because it depends on local project `{dependency}`, which is not included for packaging.\n\nProvide both projects as arguments to the `pkl project package` command.\n\nExample: `pkl project package \"{project}\" \"{dependency}\"`",
        project = project.display(), dependency = dependency.display()
    )]
    NotIncluded {
        /// The project.
        project: PathBuf,
        /// What it depends on.
        dependency: PathBuf,
    },
    /// Its lockfile doesn't say which version of a dependency is meant.
    #[error(
        "Cannot package project `{project}` because its `PklProject.deps.json` does not have `{id}`.\n\nRun `pkl project resolve`; with `--no-mirror`, if a mirror answers for the package.",
        project = project.display()
    )]
    Unresolved {
        /// The project.
        project: PathBuf,
        /// The dependency.
        id: PackageId,
    },
    /// Its lockfile and those of others make it depend on itself.
    #[error("Local project dependencies cannot be circular.\n\nCycle:\n{}", crate::load::drawn(.0))]
    Cycle(Vec<String>),
    /// A module names a path that won't be in the package.
    #[error("{0}")]
    Outside(Box<pkl_core::Error>),
    /// A file isn't in the project but behind a link.
    #[error("`{}` is a link that leads out of the project.", .0.display())]
    Link(PathBuf),
    /// There are more files than a package may have.
    #[error("The project has more files than a package may have.")]
    TooMany,
    /// What says which files are left out is no pattern.
    #[error("Invalid glob pattern `{pattern}` in `exclude`: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        reason: String,
    },
    /// A file can't be read.
    #[error("I/O error reading `{}`.\n{source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The archive would not be accepted.
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    /// It was published before, with other contents.
    #[error(
        "Package `{id}` was already published with different contents.\n\nComputed checksum: \"{computed}\"\nPublished checksum: \"{published}\"\n\nGive it another version, or leave this check out by `--skip-publish-check`."
    )]
    Published {
        /// The package.
        id: PackageId,
        /// What the metadata hashes to now.
        computed: Sha256,
        /// What the published metadata hashes to.
        published: Sha256,
    },
    /// What is published can't be found out.
    #[error("{0}")]
    Check(#[from] Box<PackageError>),
}

/// A project to publish, with what was resolved for it.
pub struct Publication {
    /// The project.
    pub project: Project,
    /// Its directory.
    pub root: PathBuf,
    /// Its `PklProject.deps.json`.
    pub lockfile: Lockfile,
}

/// Prepares projects, each after the local projects that it depends on, and gives what is published of
/// them in their order.
///
/// # Errors
/// The first one that can't be published.
pub fn publish(publications: &[Publication]) -> Result<Vec<Artifacts>, PublishError> {
    let mut publisher = Publisher { publications, done: HashMap::new(), underway: Vec::new() };
    let ids = publications.iter().map(|publication| publisher.publish(publication));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let prepared = |id: CanonicalId| publisher.done.get(&id).cloned();
    Ok(ids.into_iter().filter_map(prepared).collect())
}

struct Publisher<'a> {
    publications: &'a [Publication],
    done: HashMap<CanonicalId, Artifacts>,
    /// The projects that wait for what they depend on, by the URIs of their definitions.
    underway: Vec<String>,
}

impl Publisher<'_> {
    /// Prepares a project, unless that was done. What it declares is no circle, or it would not have been loaded; what
    /// the lockfiles say may be one.
    fn publish(&mut self, publication: &Publication) -> Result<CanonicalId, PublishError> {
        let project = &publication.project;
        let package = project.package.as_ref();
        let package = package.ok_or_else(|| PublishError::NoPackage(project.file_uri.clone()))?;
        let id = package.id()?;
        if !self.done.contains_key(&id.canonical()) {
            if let Some(start) = self.underway.iter().position(|uri| *uri == project.file_uri) {
                return Err(PublishError::Cycle(self.underway.split_off(start)));
            }
            self.underway.push(project.file_uri.clone());
            let dependencies = self.dependencies(publication)?;
            self.underway.pop();
            let artifacts = artifacts(&id, package, project, &publication.root, dependencies)?;
            self.done.insert(id.canonical(), artifacts);
        }
        Ok(id.canonical())
    }

    fn dependencies(&mut self, of: &Publication) -> Result<IndexMap<String, Dependency>, PublishError> {
        let mut dependencies = IndexMap::new();
        for (name, declared) in &of.project.dependencies {
            let dependency = match declared {
                Declared::Remote(uri) => self.locked(of, &uri.id)?,
                Declared::Local(local) => {
                    let package = local.package.as_ref();
                    let package = package.ok_or_else(|| PublishError::NoPackage(local.file_uri.clone()))?;
                    let id = package.id()?;
                    match of.lockfile.get(&id.canonical()) {
                        Some(Resolved::Local { .. }) => self.local(of, local)?,
                        _ => self.locked(of, &id)?,
                    }
                }
            };
            dependencies.insert(name.clone(), dependency);
        }
        Ok(dependencies)
    }

    fn locked(&mut self, of: &Publication, id: &PackageId) -> Result<Dependency, PublishError> {
        match of.lockfile.get(&id.canonical()) {
            Some(Resolved::Remote { id, checksum }) => Ok(dependency(id, checksum.clone())),
            Some(Resolved::Local { path, .. }) => {
                let root = crate::dependencies::normal(&of.root.join(path));
                self.included(of, &root)
            }
            None => Err(PublishError::Unresolved { project: of.root.clone(), id: id.clone() }),
        }
    }

    fn local(&mut self, of: &Publication, local: &Project) -> Result<Dependency, PublishError> {
        match local.directory() {
            Some(root) => self.included(of, &root),
            None => Err(PublishError::NoPackage(local.file_uri.clone())),
        }
    }

    /// A project that is published along with the one that needs it.
    fn included(&mut self, of: &Publication, root: &Path) -> Result<Dependency, PublishError> {
        let publications = self.publications;
        let not_included =
            || PublishError::NotIncluded { project: of.root.clone(), dependency: root.to_owned() };
        let found = publications.iter().find(|publication| publication.root == *root);
        let id = self.publish(found.ok_or_else(not_included)?)?;
        let prepared = self.done.get(&id).ok_or_else(not_included)?;
        Ok(dependency(&prepared.id, Some(prepared.metadata_checksum.clone())))
    }
}

fn dependency(id: &PackageId, checksum: Option<Sha256>) -> Dependency {
    Dependency { uri: id.to_string(), checksums: checksum.map(|sha256| Checksums { sha256 }) }
}

fn artifacts(
    id: &PackageId,
    package: &Package,
    project: &Project,
    root: &Path,
    dependencies: IndexMap<String, Dependency>,
) -> Result<Artifacts, PublishError> {
    let files = files::of(root, &package.exclude)?;
    for (path, bytes) in &files {
        inside::check(root, path, bytes)?;
    }
    let archive = pack(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())))?;
    let archive_checksum = Sha256::of(&archive);
    let metadata = Metadata {
        name: package.name.clone(),
        package_uri: id.to_string(),
        version: package.version.clone(),
        package_zip_url: package.package_zip_url.clone(),
        package_zip_checksums: Checksums { sha256: archive_checksum.clone() },
        dependencies,
        source_code_url_scheme: package.source_code_url_scheme.clone(),
        source_code: package.source_code.clone(),
        documentation: package.documentation.clone(),
        license: package.license.clone(),
        license_text: package.license_text.clone(),
        authors: package.authors.clone(),
        issue_tracker: package.issue_tracker.clone(),
        description: package.description.clone(),
        annotations: project.annotations.clone(),
    }
    .to_json();
    let metadata_checksum = Sha256::of(metadata.as_bytes());
    let (name, version) = (package.name.clone(), package.version.clone());
    Ok(Artifacts { id: id.clone(), name, version, archive, archive_checksum, metadata, metadata_checksum })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::uri::PackageUri;

    fn uri(name: &str) -> PackageUri {
        PackageUri::parse(&format!("package://a.b/{name}@1.0.0")).unwrap()
    }

    /// A project that declares a package, which its lockfile says is the project beside it.
    fn publication(root: &Path, name: &str, needs: &str) -> Publication {
        let package = serde_json::json!({
            "name": name, "baseUri": format!("package://a.b/{name}"), "version": "1.0.0",
            "packageZipUrl": "https://a.b/x.zip", "authors": [], "apiTests": [], "exclude": [],
            "uri": uri(name).id.to_string(),
        });
        let project = Project {
            file_uri: format!("file:///{name}/PklProject"),
            package: Some(serde_json::from_value(package).unwrap()),
            tests: Vec::new(),
            settings: Settings::default(),
            dependencies: [(needs.to_owned(), Declared::Remote(uri(needs)))].into(),
            annotations: Vec::new(),
        };
        let (id, path) = (uri(needs).id, format!("../{needs}"));
        let resolved = [(id.canonical().to_string(), Resolved::Local { id, path })].into();
        Publication { project, root: root.join(name), lockfile: Lockfile { resolved } }
    }

    #[test]
    fn lockfiles_that_make_a_circle_are_refused() {
        let root = Path::new("/projects");
        let circle = [publication(root, "a", "b"), publication(root, "b", "c"), publication(root, "c", "b")];
        let Err(PublishError::Cycle(uris)) = publish(&circle) else { panic!("it is a circle") };
        assert_eq!(uris, ["file:///b/PklProject", "file:///c/PklProject"]);
    }
}
