//! Readers of what is in packages and projects, for an evaluator.

use std::sync::Arc;

use pkl_core::host::{Listed, ModuleReader, ReadError, Resource, ResourceReader};
use pkl_core::reader::FileReader;

use crate::contents::Contents;
use crate::dependencies::{Place, ProjectDependencies};
use crate::packages::Packages;
use crate::uri::{AssetUri, PACKAGE, PROJECT_PACKAGE};

/// The longest module or resource of the web that is read.
const LONGEST_DOCUMENT: u64 = 64 << 20;

/// `package:`: files of packages.
#[derive(Clone)]
pub struct PackageReader {
    packages: Arc<Packages>,
}

impl PackageReader {
    /// Reads from these packages.
    pub fn new(packages: Arc<Packages>) -> Self {
        Self { packages }
    }

    fn open(&self, uri: &str) -> Result<(Arc<dyn Contents>, String), ReadError> {
        let asset = AssetUri::parse(uri).map_err(|error| ReadError::InvalidUri(error.to_string()))?;
        let package = self.packages.package(&asset.package.id, asset.package.checksum.as_ref());
        let package = package.map_err(|error| crate::error::read_error(&error))?;
        Ok((Arc::clone(&package.contents), asset.path))
    }
}

/// `projectpackage:`: files of a project's dependencies.
#[derive(Clone)]
pub struct ProjectPackageReader {
    dependencies: Arc<ProjectDependencies>,
    files: FileReader,
}

impl ProjectPackageReader {
    /// Reads from these dependencies, local ones through `files`.
    pub fn new(dependencies: Arc<ProjectDependencies>, files: FileReader) -> Self {
        Self { dependencies, files }
    }

    fn open(&self, uri: &str) -> Result<(Place, String), ReadError> {
        let asset = AssetUri::parse(uri).map_err(|error| ReadError::InvalidUri(error.to_string()))?;
        let place = self.dependencies.place(&asset.package.id)?;
        Ok((place, asset.path))
    }
}

/// A module's text.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| ReadError::Failed(error.to_string()))
}

/// A module can't be a directory.
fn read_module(contents: &dyn Contents, path: &str) -> Result<String, ReadError> {
    match contents.list(&format!("{}/", path.trim_end_matches('/'))) {
        Ok(_) => Err(ReadError::Failed("IOException: Is a directory".to_owned())),
        Err(_) => text(contents.read(path)?),
    }
}

impl ModuleReader for PackageReader {
    fn scheme(&self) -> &'static str {
        PACKAGE
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        let (contents, path) = self.open(uri)?;
        read_module(&*contents, &path)
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        let (contents, path) = self.open(uri)?;
        contents.list(&path)
    }
}

impl ResourceReader for PackageReader {
    fn scheme(&self) -> &'static str {
        PACKAGE
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        let (contents, path) = self.open(uri)?;
        found(contents.read(&path))
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        ModuleReader::list(self, uri)
    }
}

fn found(read: Result<Vec<u8>, ReadError>) -> Result<Option<Resource>, ReadError> {
    match read {
        Ok(bytes) => Ok(Some(Resource::Bytes(bytes.into()))),
        Err(ReadError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

impl ModuleReader for ProjectPackageReader {
    fn scheme(&self) -> &'static str {
        PROJECT_PACKAGE
    }

    fn other_uri(&self, uri: &str) -> Option<String> {
        match self.open(uri).ok()? {
            (Place::Project(directory), path) => directory.file_uri(&path),
            (Place::Package(_), _) => None,
        }
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        match self.open(uri)? {
            (Place::Package(package), path) => read_module(&*package.contents, &path),
            (Place::Project(directory), path) => {
                ModuleReader::read(&self.files, &directory.file_uri(&path).ok_or(ReadError::NotFound)?)
            }
        }
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        match self.open(uri)? {
            (Place::Package(package), path) => package.contents.list(&path),
            (Place::Project(directory), path) => {
                ModuleReader::list(&self.files, &directory.file_uri(&path).ok_or(ReadError::NotFound)?)
            }
        }
    }
}

impl ResourceReader for ProjectPackageReader {
    fn scheme(&self) -> &'static str {
        PROJECT_PACKAGE
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        match self.open(uri)? {
            (Place::Package(package), path) => found(package.contents.read(&path)),
            (Place::Project(directory), path) => {
                let Some(file) = directory.file_uri(&path) else { return Ok(None) };
                let resource = ResourceReader::read(&self.files, &file)?;
                // A program sees where the file is.
                Ok(resource.map(|resource| match resource {
                    Resource::Bytes(bytes) => {
                        Resource::Found { uri: file.replacen("file://", "file:", 1).into(), bytes }
                    }
                    other => other,
                }))
            }
        }
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        ModuleReader::list(self, uri)
    }
}

/// `https:` or `http:`: modules and resources of the web.
#[derive(Clone)]
pub struct WebReader {
    scheme: &'static str,
    packages: Arc<Packages>,
}

impl WebReader {
    /// Reads what the client of these packages reaches by `https:`.
    pub fn https(packages: Arc<Packages>) -> Self {
        Self { scheme: "https", packages }
    }

    /// Reads what the client of these packages reaches by `http:`.
    pub fn http(packages: Arc<Packages>) -> Self {
        Self { scheme: "http", packages }
    }
}

impl ModuleReader for WebReader {
    fn scheme(&self) -> &str {
        self.scheme
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        let fetched = self.packages.fetch(uri, LONGEST_DOCUMENT);
        text(fetched.map_err(|error| ReadError::Failed(format!("IOException: {error}")))?)
    }
}

impl ResourceReader for WebReader {
    fn scheme(&self) -> &str {
        self.scheme
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        match self.packages.fetch(uri, LONGEST_DOCUMENT) {
            Ok(bytes) => Ok(Some(Resource::Bytes(bytes.into()))),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(ReadError::Failed(format!("IOException: {error}"))),
        }
    }
}
