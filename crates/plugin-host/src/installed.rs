//! What is installed: `<directory>/<name>/v<version>/<name>`, the highest version of each name, from the first
//! directory that has the name.

use crate::error::InstallError;
use pkl_project::Version;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The manifest's file.
pub(crate) const MANIFEST: &str = "formae-plugin.pkl";
/// Where the schema is.
pub(crate) const SCHEMA: &str = "schema/pkl";

/// A plugin's newest version on disk.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub(crate) name: String,
    pub(crate) version: String,
    /// `<directory>/<name>/v<version>`.
    pub(crate) directory: PathBuf,
}

impl Installed {
    pub(crate) fn program(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.directory.join(MANIFEST)
    }

    pub(crate) fn schema(&self) -> PathBuf {
        self.directory.join(SCHEMA)
    }

    /// The program's identity: another program in its place has another.
    ///
    /// # Errors
    /// There is none that could be run.
    pub(crate) fn identity(&self) -> Result<String, InstallError> {
        use std::os::unix::fs::MetadataExt as _;
        let path = self.program();
        let found = match fs::metadata(&path) {
            Ok(found) if found.is_file() => found,
            Ok(_) => return Err(InstallError::NoProgram { path }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(InstallError::NoProgram { path });
            }
            Err(source) => return Err(InstallError::Read { path, source: Arc::new(source) }),
        };
        let mode = found.permissions().mode() & 0o7777;
        if mode & 0o002 != 0 {
            return Err(InstallError::OpenProgram { path, mode });
        }
        let (device, inode) = (found.dev(), found.ino());
        let changed = (found.ctime(), found.ctime_nsec());
        let written = (found.mtime(), found.mtime_nsec());
        let size = found.len();
        Ok(format!("{device}:{inode}:{size}:{written:?}:{changed:?}"))
    }
}

/// What one name is.
pub(crate) type Found = Result<Installed, (String, InstallError)>;

/// The plugins of some directories, by name. A directory that is not there has none.
pub(crate) fn find(directories: &[PathBuf]) -> Vec<Found> {
    let mut by_name: BTreeMap<String, Found> = BTreeMap::new();
    for directory in directories {
        let names = match entries(directory) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                let path = directory.display();
                tracing::warn!(%path, %error, "cannot look for plugins");
                continue;
            }
        };
        for name in names.into_iter().filter(|name| is_name(name)) {
            let place = directory.join(&name);
            if place.is_dir() {
                by_name.entry(name).or_insert_with_key(|name| newest(name, &place));
            }
        }
    }
    by_name.into_values().collect()
}

/// The highest version of a plugin.
fn newest(name: &str, place: &Path) -> Found {
    let failed = |error| (name.to_owned(), error);
    let entries = entries(place)
        .map_err(|source| failed(InstallError::Read { path: place.to_owned(), source: Arc::new(source) }))?;
    let versions = entries.into_iter().filter_map(|entry| {
        let version = Version::parse(entry.strip_prefix('v')?)?;
        place.join(&entry).is_dir().then_some((version, entry))
    });
    let highest = versions.max_by(|(a, _), (b, _)| a.precedence(b));
    let (_, entry) = highest.ok_or_else(|| failed(InstallError::NoVersion { path: place.to_owned() }))?;
    Ok(Installed {
        name: name.to_owned(),
        version: entry.trim_start_matches('v').to_owned(),
        directory: place.join(entry),
    })
}

/// The names in a directory that are texts, sorted.
fn entries(directory: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> =
        fs::read_dir(directory)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names)
}

/// Whether something is called as plugins are.
fn is_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(versions: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        for version in versions {
            let place = directory.path().join(version);
            fs::create_dir_all(&place).expect("a directory");
        }
        directory
    }

    fn found(directories: &[&tempfile::TempDir]) -> Vec<String> {
        let directories: Vec<_> = directories.iter().map(|directory| directory.path().to_owned()).collect();
        let shown = |found: Found| match found {
            Ok(installed) => format!("{} {}", installed.name, installed.version),
            Err((name, error)) => format!("{name}: {}", matches!(error, InstallError::NoVersion { .. })),
        };
        find(&directories).into_iter().map(shown).collect()
    }

    #[test]
    fn the_highest_version_is_taken_as_versions_compare() {
        let directory = directory(&["a/v0.9.0", "a/v0.10.0", "a/v0.10.0-rc.1", "a/0.11.0", "a/vnext"]);
        assert_eq!(found(&[&directory]), ["a 0.10.0"]);
    }

    #[test]
    fn the_first_directory_that_has_a_name_wins() {
        let user = directory(&["a/v0.1.0"]);
        let system = directory(&["a/v9.0.0", "b/v1.0.0"]);
        assert_eq!(found(&[&user, &system]), ["a 0.1.0", "b 1.0.0"]);
    }

    #[test]
    fn what_has_no_version_is_a_fault_and_what_has_another_name_is_nothing() {
        let directory = directory(&["a", "B/v1.0.0", ".c/v1.0.0", "1/v1.0.0"]);
        assert_eq!(found(&[&directory]), ["a: true"]);
        assert!(find(&[directory.path().join("nothing")]).is_empty());
    }
}
