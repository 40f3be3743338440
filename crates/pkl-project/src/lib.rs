//! Projects and packages of the Pkl language: definitions, resolution, the shared cache, archives.
//!
//! Deciding is apart from doing: [`resolve()`] is a function of what packages say, [`Lockfile`] and
//! [`Metadata`] are texts and values, and what touches the disk or the network is in [`Packages`],
//! [`Cache`] and the [`Client`] that the host gives. An evaluator is given [`PackageReader`],
//! [`ProjectPackageReader`] and [`ProjectDependencies`], by [`attach`].

pub mod archive;
mod cache;
mod client;
mod contents;
mod dependencies;
mod error;
mod load;
mod lockfile;
mod metadata;
mod mirror;
mod module_path;
mod packages;
mod project;
mod publish;
mod readers;
mod resolve;
mod settings;
mod uri;
mod version;

pub use cache::{Cache, Part};
pub use client::{Client, FetchError, Offline, Rewriting};
pub use contents::{Contents, DirectoryContents, MemoryContents};
pub use dependencies::{ProjectDependencies, WarningSink};
pub use load::{LoadError, load};
pub use lockfile::{LOCKFILE, Lockfile, LockfileError, Resolved};
pub use metadata::{Checksums, Dependency, Metadata};
pub use mirror::{Mirror, Mirrored};
pub use module_path::{ModulePath, ModulePathError};
pub use packages::{Note, NoteSink, Package, PackageError, Packages};
pub use project::{Declared, PROJECT_FILE, Package as PackageInfo, Project};
pub use publish::{Artifacts, Publication, PublishError, publish};
pub use readers::{PackageReader, ProjectPackageReader, WebReader};
pub use resolve::{Known, ResolveError, Source, resolve};
pub use settings::{ExternalReader, Http, Proxy, Settings, Time};
pub use uri::{AssetUri, CanonicalId, PackageId, PackageUri, Sha256, UriError};
pub use version::Version;

use pkl_core::EvaluatorBuilder;
use pkl_core::reader::FileReader;
use std::sync::Arc;

/// Lets an evaluator read packages, the web, and the dependencies of a project; local ones through
/// `files`.
#[must_use]
pub fn attach(
    builder: EvaluatorBuilder,
    dependencies: Arc<ProjectDependencies>,
    packages: &Arc<Packages>,
    files: FileReader,
) -> EvaluatorBuilder {
    let package = PackageReader::new(Arc::clone(packages));
    let project = ProjectPackageReader::new(Arc::clone(&dependencies), files);
    let (https, http) = (WebReader::https(Arc::clone(packages)), WebReader::http(Arc::clone(packages)));
    builder
        .module_reader(package.clone())
        .resource_reader(package)
        .module_reader(project.clone())
        .resource_reader(project)
        .module_reader(https.clone())
        .resource_reader(https)
        .module_reader(http.clone())
        .resource_reader(http)
        .dependencies(dependencies::Shared(dependencies))
}

/// Resolves a project's dependencies by what packages say. What a mirror answers for is left out.
///
/// # Errors
/// A package can't be had.
pub fn resolve_with(packages: &Packages, project: &Project) -> Result<Lockfile, ResolveError<PackageError>> {
    resolve(project, &mut FromPackages(packages))
}

struct FromPackages<'a>(&'a Packages);

impl Source for FromPackages<'_> {
    type Error = PackageError;

    fn dependencies(&mut self, package: &PackageUri) -> Result<Option<Known>, PackageError> {
        if self.0.is_mirrored(&package.id) {
            return Ok(None);
        }
        let (metadata, checksum) = self.0.metadata(&package.id, package.checksum.as_ref())?;
        Ok(Some(Known { dependencies: metadata.dependencies.clone(), checksum }))
    }
}
