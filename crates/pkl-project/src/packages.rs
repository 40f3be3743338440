//! Packages: from a mirror, from the cache, or from the network.

use indexmap::IndexMap;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::archive::{Archive, ArchiveError, LARGEST_ARCHIVE};
use crate::cache::{Cache, Part};
use crate::client::{Client, FetchError};
use crate::contents::Contents;
use crate::metadata::{Dependency, Metadata};
use crate::mirror::Mirror;
use crate::publish::{Artifacts, PublishError};
use crate::uri::{PackageId, Sha256, UriError};

/// The longest metadata, in bytes.
const LONGEST_METADATA: u64 = 4 << 20;

/// Why a package can't be had.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// A URI is none of a package.
    #[error("{0}")]
    Uri(#[from] UriError),
    /// It can't be downloaded.
    #[error("{0}")]
    Fetch(#[from] FetchError),
    /// Its metadata is another one than expected.
    #[error(
        "Cannot download package `{id}` because the computed checksum for package metadata does not match the expected checksum.\n\nComputed checksum: \"{computed}\"\nExpected checksum: \"{expected}\"\nAsset URL: \"{url}\""
    )]
    MetadataChecksum {
        /// The package.
        id: PackageId,
        /// What the metadata hashes to.
        computed: Sha256,
        /// What it should.
        expected: Sha256,
        /// Where it is from.
        url: String,
    },
    /// Its archive is another one than its metadata says.
    #[error(
        "Cannot download package `{id}` because the computed checksum does not match the expected checksum.\n\nComputed checksum: \"{computed}\"\nExpected checksum: \"{expected}\"\nAsset URL: \"{url}\""
    )]
    ArchiveChecksum {
        /// The package.
        id: PackageId,
        /// What the archive hashes to.
        computed: Sha256,
        /// What it should.
        expected: Sha256,
        /// Where it is from.
        url: String,
    },
    /// Its metadata isn't well formed.
    #[error(
        "Received invalid dependency metadata for package `{id}` when making request `GET {url}`:\n{reason}"
    )]
    Metadata {
        /// The package.
        id: PackageId,
        /// Where it is from.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// Its archive can't be used.
    #[error("Cannot use the archive of package `{id}`.\n{source}")]
    Archive {
        /// The package.
        id: PackageId,
        /// Why.
        source: ArchiveError,
    },
    /// The cache can't be read or written.
    #[error("I/O error in the package cache at `{}`.\n{source}", path.display())]
    Cache {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What happened that a person may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A mirror answered for a package, whose checksum was not compared.
    Mirrored(PackageId),
    /// A file in the cache was damaged and is downloaded anew.
    Replaced(PathBuf),
}

/// Who is told of a [`Note`].
pub type NoteSink = Arc<dyn Fn(&Note) + Send + Sync>;

/// A package that can be read.
#[derive(Clone)]
pub struct Package {
    /// What it depends on.
    pub dependencies: IndexMap<String, Dependency>,
    /// Its files.
    pub contents: Arc<dyn Contents>,
    /// Whether a mirror answered for it.
    pub mirrored: bool,
}

/// Gets packages, each once.
pub struct Packages {
    client: Arc<dyn Client>,
    cache: Option<Cache>,
    mirrors: Vec<Arc<dyn Mirror>>,
    notes: Option<NoteSink>,
    loaded: Mutex<HashMap<PackageId, Loaded>>,
    metadata: Mutex<HashMap<PackageId, (Arc<Metadata>, Sha256)>>,
}

impl Packages {
    /// Packages from the network, kept in `cache` or else in memory.
    pub fn new(client: Arc<dyn Client>, cache: Option<Cache>) -> Self {
        Self {
            client,
            cache,
            mirrors: Vec::new(),
            notes: None,
            loaded: Mutex::default(),
            metadata: Mutex::default(),
        }
    }

    /// Asks `mirror` before anything else; the one that was added first counts.
    #[must_use]
    pub fn mirror(mut self, mirror: Arc<dyn Mirror>) -> Self {
        self.mirrors.push(mirror);
        self
    }

    /// Tells `sink` what happens.
    #[must_use]
    pub fn notes(mut self, sink: NoteSink) -> Self {
        self.notes = Some(sink);
        self
    }

    fn note(&self, note: &Note) {
        if let Some(sink) = &self.notes {
            sink(note);
        }
    }

    /// What is at a URL of the web, for modules and resources there.
    pub(crate) fn fetch(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        self.client.get(url, limit)
    }

    /// Whether packages are kept for other evaluations.
    pub fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    /// Whether a mirror answers for a package.
    pub fn is_mirrored(&self, id: &PackageId) -> bool {
        self.mirrors.iter().any(|mirror| mirror.find(id).is_some())
    }

    /// Whether a mirror answers for a local dependency.
    pub fn replaces_local(&self, name: &str, id: &PackageId) -> bool {
        self.mirrors.iter().any(|mirror| mirror.replaces_local(name, id))
    }

    /// Whether a package can be published: it wasn't before, or with the same metadata.
    ///
    /// # Errors
    /// It was published with other contents, or that can't be found out.
    pub fn check_published(&self, artifacts: &Artifacts) -> Result<(), PublishError> {
        let published = match self.client.get(&artifacts.id.metadata_url(), LONGEST_METADATA) {
            Ok(bytes) => Sha256::of(&bytes),
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(Box::new(PackageError::Fetch(error)).into()),
        };
        if published == artifacts.metadata_checksum {
            return Ok(());
        }
        let (id, computed) = (artifacts.id.clone(), artifacts.metadata_checksum.clone());
        Err(PublishError::Published { id, computed, published })
    }

    /// A package, whose metadata must hash to `expected`.
    ///
    /// # Errors
    /// It can't be had.
    pub fn package(&self, id: &PackageId, expected: Option<&Sha256>) -> Result<Arc<Package>, PackageError> {
        let known = self.loaded.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        let loaded = if let Some(loaded) = known {
            loaded
        } else {
            let loaded = match self.mirrored(id) {
                Some(package) => Loaded { package: Arc::new(package), hash: None },
                None => self.load(id, expected)?,
            };
            let mut all = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(id.clone()).or_insert(loaded).clone()
        };
        if let Some(hash) = &loaded.hash {
            check_metadata(id, hash, expected)?;
        }
        Ok(loaded.package)
    }

    fn mirrored(&self, id: &PackageId) -> Option<Package> {
        let mirrored = self.mirrors.iter().find_map(|mirror| mirror.find(id))?;
        self.note(&Note::Mirrored(id.clone()));
        Some(Package { dependencies: mirrored.dependencies, contents: mirrored.contents, mirrored: true })
    }

    fn load(&self, id: &PackageId, expected: Option<&Sha256>) -> Result<Loaded, PackageError> {
        let found = self.find_metadata(id, expected)?;
        // The archive first: metadata in the cache stands for a package that is there.
        let archive = self.archive(id, &found.metadata)?;
        if let Some(bytes) = &found.downloaded {
            self.write(id, Part::Metadata, bytes)?;
        }
        if found.replaces {
            self.note_replaced(id, Part::Metadata);
        }
        let dependencies = found.metadata.dependencies.clone();
        let package = Package { dependencies, contents: Arc::new(archive), mirrored: false };
        Ok(Loaded { package: Arc::new(package), hash: Some(found.hash) })
    }

    /// A package's metadata and what it hashes to, without its archive. Nothing is kept in the cache.
    ///
    /// # Errors
    /// It can't be had.
    pub fn metadata(
        &self,
        id: &PackageId,
        expected: Option<&Sha256>,
    ) -> Result<(Arc<Metadata>, Sha256), PackageError> {
        let known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        if let Some((metadata, hash)) = known {
            check_metadata(id, &hash, expected)?;
            return Ok((metadata, hash));
        }
        let Found { metadata, hash, .. } = self.find_metadata(id, expected)?;
        let found = (metadata, hash);
        self.metadata.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), found.clone());
        Ok(found)
    }

    /// The metadata of the cache if it is sound, or else of the network.
    fn find_metadata(&self, id: &PackageId, expected: Option<&Sha256>) -> Result<Found, PackageError> {
        let cached = self.read(id, Part::Metadata, LONGEST_METADATA)?;
        let replaces = cached.is_some();
        if let Some(bytes) = cached
            && let hash = Sha256::of(&bytes)
            && expected.is_none_or(|expected| *expected == hash)
            && let Ok(metadata) = Metadata::parse(&bytes, id)
        {
            return Ok(Found { metadata: Arc::new(metadata), hash, downloaded: None, replaces: false });
        }
        let url = id.metadata_url();
        let bytes = self.client.get(&url, LONGEST_METADATA)?;
        let hash = Sha256::of(&bytes);
        check_metadata(id, &hash, expected)?;
        let metadata = Metadata::parse(&bytes, id).map_err(|reason| PackageError::Metadata {
            id: id.clone(),
            url,
            reason,
        })?;
        Ok(Found { metadata: Arc::new(metadata), hash, downloaded: Some(bytes), replaces })
    }

    fn archive(&self, id: &PackageId, metadata: &Metadata) -> Result<Archive, PackageError> {
        let expected = &metadata.package_zip_checksums.sha256;
        let cached = self.read(id, Part::Archive, LARGEST_ARCHIVE)?;
        let was_there = cached.is_some();
        if let Some(bytes) = cached
            && Sha256::of(&bytes) == *expected
            && let Ok(archive) = Archive::open(bytes.into())
        {
            return Ok(archive);
        }
        let url = &metadata.package_zip_url;
        let bytes: Arc<[u8]> = self.client.get(url, LARGEST_ARCHIVE)?.into();
        let computed = Sha256::of(&bytes);
        if computed != *expected {
            let (id, url, expected) = (id.clone(), url.clone(), expected.clone());
            return Err(PackageError::ArchiveChecksum { id, computed, expected, url });
        }
        let opened = Archive::open(Arc::clone(&bytes)).and_then(|archive| {
            archive.verify()?;
            Ok(archive)
        });
        let archive = opened.map_err(|source| PackageError::Archive { id: id.clone(), source })?;
        self.write(id, Part::Archive, &bytes)?;
        if was_there {
            self.note_replaced(id, Part::Archive);
        }
        Ok(archive)
    }

    fn note_replaced(&self, id: &PackageId, part: Part) {
        if let Some(cache) = &self.cache {
            self.note(&Note::Replaced(cache.path(id, part)));
        }
    }

    fn read(&self, id: &PackageId, part: Part, limit: u64) -> Result<Option<Vec<u8>>, PackageError> {
        let Some(cache) = &self.cache else { return Ok(None) };
        cache.read(id, part, limit).map_err(|source| {
            let path = cache.path(id, part);
            PackageError::Cache { path, source }
        })
    }

    fn write(&self, id: &PackageId, part: Part, bytes: &[u8]) -> Result<(), PackageError> {
        let Some(cache) = &self.cache else { return Ok(()) };
        cache.write(id, part, bytes).map_err(|source| {
            let path = cache.path(id, part);
            PackageError::Cache { path, source }
        })
    }
}

/// A package that was had before.
#[derive(Clone)]
struct Loaded {
    package: Arc<Package>,
    /// What its metadata hashes to; `None` from a mirror, where no checksum is compared.
    hash: Option<Sha256>,
}

/// Metadata, and where it is from.
struct Found {
    metadata: Arc<Metadata>,
    hash: Sha256,
    /// The bytes, if they aren't from the cache.
    downloaded: Option<Vec<u8>>,
    /// Whether there is something else in the cache.
    replaces: bool,
}

fn check_metadata(id: &PackageId, computed: &Sha256, expected: Option<&Sha256>) -> Result<(), PackageError> {
    match expected {
        Some(expected) if expected != computed => Err(PackageError::MetadataChecksum {
            id: id.clone(),
            computed: computed.clone(),
            expected: expected.clone(),
            url: id.metadata_url(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::{MemoryContents, Offline, PackageUri};

    #[test]
    fn a_checksum_is_compared_though_the_package_was_loaded_without_one() {
        let id = PackageUri::parse("package://example.com/birds@1.0.0").unwrap().id;
        let contents = Arc::new(MemoryContents::default());
        let package = Arc::new(Package { dependencies: IndexMap::new(), contents, mirrored: false });
        let (hash, other) = (Sha256::of(b"birds"), Sha256::of(b"fish"));
        let packages = Packages::new(Arc::new(Offline), None);
        let loaded = |hash: Option<&Sha256>| Loaded { package: Arc::clone(&package), hash: hash.cloned() };
        packages.loaded.lock().unwrap().insert(id.clone(), loaded(Some(&hash)));
        assert!(packages.package(&id, None).is_ok());
        assert!(packages.package(&id, Some(&hash)).is_ok());
        let told = packages.package(&id, Some(&other)).err();
        assert!(matches!(told, Some(PackageError::MetadataChecksum { .. })), "{told:?}");
        packages.loaded.lock().unwrap().insert(id.clone(), loaded(None));
        assert!(packages.package(&id, Some(&other)).is_ok());
    }
}
