//! Packages that were downloaded, kept in a directory that all evaluators of Pkl share.
//!
//! A package's two files are in `package-2/<host>/<path>@<version>/`. A file is written beside, as a
//! whole, and renamed into its place: what is there is complete, however a process ends, and two
//! processes that write the same file do no harm to each other.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::uri::PackageId;

/// What files that are being written are called, with something random after it.
const UNFINISHED: &str = "pkl-project-";
/// After how long somebody who was writing a file has certainly given up.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A directory of packages.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

/// One of the two files of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The metadata.
    Metadata,
    /// The archive.
    Archive,
}

impl Cache {
    /// The cache in a directory, which needn't exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where a file of a package is kept.
    pub fn path(&self, id: &PackageId, part: Part) -> PathBuf {
        let mut path = self.root.join("package-2").join(id.authority().replace(':', "(3a)"));
        let version = format!("@{}", id.version());
        path.push(format!("{}{version}", id.path().trim_start_matches('/')));
        let extension = match part {
            Part::Metadata => "json",
            Part::Archive => "zip",
        };
        path.push(format!("{}{version}.{extension}", id.name()));
        path
    }

    /// A file of a package, if it is there and no longer than `limit`.
    ///
    /// # Errors
    /// It is there and can't be read.
    pub fn read(&self, id: &PackageId, part: Part, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(id, part);
        match fs::metadata(&path) {
            Ok(found) if found.len() > limit => Ok(None),
            Ok(_) => fs::read(&path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a file of a package, in place of what is there.
    ///
    /// # Errors
    /// It can't be written; what was there is unchanged.
    pub fn write(&self, id: &PackageId, part: Part, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(id, part);
        let directory = path.parent().expect("the path has several parts");
        fs::create_dir_all(directory)?;
        let unfinished = self.root.join("tmp");
        fs::create_dir_all(&unfinished)?;
        remove_abandoned(&unfinished);
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut file = builder.tempfile_in(&unfinished)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Removes what processes left that were killed while they wrote.
fn remove_abandoned(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        let modified = entry.metadata().and_then(|found| found.modified());
        let old =
            modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > ABANDONED));
        if ours && old {
            // Somebody else may have removed it, which is as good.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::uri::PackageUri;

    fn id(uri: &str) -> PackageId {
        PackageUri::parse(uri).unwrap().id
    }

    #[test]
    fn files_are_where_other_evaluators_look_for_them() {
        let cache = Cache::new("/c");
        let path = |uri| cache.path(&id(uri), Part::Archive).to_string_lossy().into_owned();
        assert_eq!(
            path("package://example.com/a/birds@1.0.0+b"),
            "/c/package-2/example.com/a/birds@1.0.0+b/birds@1.0.0+b.zip"
        );
        assert_eq!(path("package://h:80/x@1.0.0"), "/c/package-2/h(3a)80/x@1.0.0/x@1.0.0.zip");
    }

    #[test]
    fn what_was_abandoned_is_removed_and_what_is_being_written_stays() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path());
        let unfinished = directory.path().join("tmp");
        fs::create_dir(&unfinished).unwrap();
        let files = ["pkl-project-old", "pkl-project-new", "of-another"];
        for name in files {
            fs::write(unfinished.join(name), "x").unwrap();
        }
        let long_ago = SystemTime::now() - 2 * ABANDONED;
        for name in ["pkl-project-old", "of-another"] {
            let file = fs::File::options().append(true).open(unfinished.join(name)).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        let birds = id("package://example.com/birds@1.0.0");
        cache.write(&birds, Part::Metadata, b"{}").unwrap();
        assert_eq!(cache.read(&birds, Part::Metadata, 10).unwrap().as_deref(), Some(&b"{}"[..]));
        assert_eq!(cache.read(&birds, Part::Metadata, 1).unwrap(), None, "too long is not there");
        let left: Vec<_> = files.into_iter().filter(|name| unfinished.join(name).exists()).collect();
        assert_eq!(left, ["pkl-project-new", "of-another"]);
    }
}
