//! `modulepath:` where archives may stand among the directories.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkl_core::host::{Listed, ModuleReader, ReadError, Resource, ResourceReader};
use pkl_core::reader::{ModulePathReader, percent_decode};

use crate::archive::{Archive, ArchiveError, LARGEST_ARCHIVE};
use crate::contents::Contents as _;

const SCHEME: &str = "modulepath";

/// Files in the first of several directories and archives that has them.
#[derive(Clone)]
pub struct ModulePath {
    roots: Arc<[Root]>,
}

enum Root {
    Directory(ModulePathReader),
    Archive(Archive),
}

/// Why an archive can't be searched.
#[derive(Debug, thiserror::Error)]
#[error("Cannot use the archive `{}` as module path.\n{reason}", path.display())]
pub struct ModulePathError {
    path: PathBuf,
    reason: Reason,
}

#[derive(Debug, thiserror::Error)]
enum Reason {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("{0}")]
    Archive(#[from] ArchiveError),
}

impl ModulePath {
    /// Searches these in order: a file is an archive, everything else is taken for a directory.
    ///
    /// # Errors
    /// A file is no archive that is accepted.
    pub fn open(paths: &[PathBuf]) -> Result<Self, ModulePathError> {
        let root = |path: &PathBuf| {
            if !path.is_file() {
                return Ok(Root::Directory(ModulePathReader::new(vec![path.clone()])));
            }
            let opened = archive(path).map(Root::Archive);
            opened.map_err(|reason| ModulePathError { path: path.clone(), reason })
        };
        Ok(Self { roots: paths.iter().map(root).collect::<Result<_, _>>()? })
    }

    /// What the first root has that has something.
    fn first<T>(&self, read: impl FnMut(&Root) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let mut answers = self.roots.iter().map(read);
        answers.find(|answer| !matches!(answer, Err(ReadError::NotFound))).unwrap_or(Err(ReadError::NotFound))
    }
}

/// The archive in a file.
fn archive(path: &Path) -> Result<Archive, Reason> {
    if fs::metadata(path)?.len() > LARGEST_ARCHIVE {
        return Err(ArchiveError::TooLarge { limit: LARGEST_ARCHIVE }.into());
    }
    Ok(Archive::open(fs::read(path)?.into())?)
}

/// The path that a URI names.
fn path_of(uri: &str) -> String {
    percent_decode(uri.strip_prefix("modulepath:").unwrap_or(uri))
}

impl ModuleReader for ModulePath {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        self.first(|root| match root {
            Root::Directory(directory) => ModuleReader::read(directory, uri),
            Root::Archive(archive) => crate::readers::text(archive.read(&path_of(uri))?),
        })
    }
}

impl ResourceReader for ModulePath {
    fn scheme(&self) -> &'static str {
        SCHEME
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        self.first(|root| match root {
            Root::Directory(directory) => ResourceReader::read(directory, uri),
            Root::Archive(archive) => Ok(Some(Resource::Bytes(archive.read(&path_of(uri))?.into()))),
        })
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        let mut listed: BTreeMap<String, bool> = BTreeMap::new();
        for root in &*self.roots {
            let found = match root {
                Root::Directory(directory) => ResourceReader::list(directory, uri),
                Root::Archive(archive) => archive.list(&path_of(uri)),
            };
            for Listed { name, is_directory } in found.unwrap_or_default() {
                listed.entry(name).or_insert(is_directory);
            }
        }
        Ok(listed.into_iter().map(|(name, is_directory)| Listed { name, is_directory }).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::archive::pack;

    fn text(path: &ModulePath, uri: &str) -> Result<String, ReadError> {
        ModuleReader::read(path, uri)
    }

    #[test]
    fn the_first_that_has_a_file_counts() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("lib")).unwrap();
        fs::write(at("lib/both.pkl"), "of the directory").unwrap();
        fs::write(at("lib/own.pkl"), "own").unwrap();
        let files = [("both.pkl", &b"of the archive"[..]), ("a b/deep.pkl", b"deep"), ("../x", b"")];
        fs::write(at("good.zip"), pack(files[..2].iter().copied()).unwrap()).unwrap();
        fs::write(at("bad.zip"), pack(files).unwrap()).unwrap();
        fs::write(at("none.jar"), "no archive").unwrap();
        let path = ModulePath::open(&[at("missing"), at("good.zip"), at("lib")]).unwrap();
        assert_eq!(text(&path, "modulepath:/both.pkl").unwrap(), "of the archive");
        assert_eq!(text(&path, "modulepath:/own.pkl").unwrap(), "own");
        assert_eq!(text(&path, "modulepath:/a%20b/deep.pkl").unwrap(), "deep");
        assert_eq!(text(&path, "modulepath:/absent.pkl"), Err(ReadError::NotFound));
        assert_eq!(text(&path, "modulepath:/../good.zip"), Err(ReadError::NotFound));
        let names: Vec<String> = ResourceReader::list(&path, "modulepath:/")
            .unwrap()
            .into_iter()
            .map(|listed| listed.name)
            .collect();
        assert_eq!(names, ["a b", "both.pkl", "own.pkl"]);
        let other = ModulePath::open(&[at("lib"), at("good.zip")]).unwrap();
        assert_eq!(text(&other, "modulepath:/both.pkl").unwrap(), "of the directory");
        for refused in ["bad.zip", "none.jar"] {
            let told = ModulePath::open(&[at(refused)]).err().unwrap().to_string();
            assert!(told.starts_with("Cannot use the archive `") && told.contains(refused), "{told}");
        }
    }
}
