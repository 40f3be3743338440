//! What is in a package: files by their paths, wherever they are kept.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkl_core::host::{Listed, ReadError};

/// The largest file of a package that is read.
pub(crate) const LARGEST_FILE: u64 = 64 << 20;

/// The files of a package. Paths begin with a slash.
pub trait Contents: Send + Sync {
    /// A file's bytes, or the names in a directory, a line each.
    ///
    /// # Errors
    /// There is none, or it can't be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError>;

    /// What is in a directory; its path ends with a slash.
    ///
    /// # Errors
    /// There is none, or it can't be read.
    fn list(&self, path: &str) -> Result<Vec<Listed>, ReadError>;
}

/// The names in a directory as a program reads them.
pub(crate) fn names(mut listed: Vec<Listed>) -> Vec<u8> {
    listed.sort_by(|one, other| one.name.cmp(&other.name));
    listed.into_iter().flat_map(|listed| [listed.name, "\n".to_owned()]).collect::<String>().into_bytes()
}

/// What is in the directory `path` of files by their paths, without their first slash.
pub(crate) fn list_paths<T>(files: &BTreeMap<String, T>, path: &str) -> Result<Vec<Listed>, ReadError> {
    let inside = path.trim_start_matches('/');
    let mut listed = BTreeMap::new();
    let from = (Bound::Included(inside), Bound::Unbounded);
    let paths = files.range::<str, _>(from).map(|(file, _)| file.as_str());
    for file in paths.map_while(|file| file.strip_prefix(inside)) {
        match file.split_once('/') {
            Some((directory, _)) => listed.insert(directory, true),
            None => listed.insert(file, false),
        };
    }
    if listed.is_empty() && !inside.is_empty() {
        return Err(ReadError::NotFound);
    }
    let entry = |(name, is_directory): (&str, bool)| Listed { name: name.to_owned(), is_directory };
    Ok(listed.into_iter().map(entry).collect())
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryContents {
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryContents {
    /// These files, by their paths without a slash at the start.
    pub fn new<P: Into<String>, B: Into<Arc<[u8]>>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        Self { files: files.into_iter().map(|(path, bytes)| (path.into(), bytes.into())).collect() }
    }
}

impl Contents for MemoryContents {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match self.files.get(path.trim_start_matches('/')) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => self.list(&format!("{}/", path.trim_end_matches('/'))).map(names),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<Listed>, ReadError> {
        list_paths(&self.files, path)
    }
}

/// Files in a directory. Links out of it aren't followed.
#[derive(Clone, Debug)]
pub struct DirectoryContents {
    root: PathBuf,
}

impl DirectoryContents {
    /// The files below a directory.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn locate(&self, path: &str) -> Result<PathBuf, ReadError> {
        let relative = Path::new(path.trim_start_matches('/'));
        if relative.components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
            return Err(ReadError::NotFound);
        }
        let root = self.root.canonicalize().map_err(|error| read_error(&error))?;
        let real = self.root.join(relative).canonicalize().map_err(|error| read_error(&error))?;
        if real.starts_with(root) { Ok(real) } else { Err(ReadError::OutsideRoot) }
    }
}

impl Contents for DirectoryContents {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let real = self.locate(path)?;
        if real.is_dir() {
            return self.list(&format!("{}/", path.trim_end_matches('/'))).map(names);
        }
        let length = real.metadata().map_err(|error| read_error(&error))?.len();
        if length > LARGEST_FILE {
            return Err(ReadError::Failed(format!("The file is longer than {LARGEST_FILE} bytes.")));
        }
        fs::read(real).map_err(|error| read_error(&error))
    }

    fn list(&self, path: &str) -> Result<Vec<Listed>, ReadError> {
        let directory = fs::read_dir(self.locate(path)?).map_err(|error| read_error(&error))?;
        let mut listed = Vec::new();
        for entry in directory {
            let entry = entry.map_err(|error| read_error(&error))?;
            let kind = entry.file_type().map_err(|error| read_error(&error))?;
            if let (false, Ok(name)) = (kind.is_symlink(), entry.file_name().into_string()) {
                listed.push(Listed { name, is_directory: kind.is_dir() });
            }
        }
        Ok(listed)
    }
}

pub(crate) fn read_error(error: &io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ReadError::NotFound,
        _ => ReadError::Failed(error.to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_have_directories() {
        let files = MemoryContents::new([("a.pkl", &b"1"[..]), ("d/b.pkl", b"2"), ("d/e/c.pkl", b"3")]);
        assert_eq!(files.read("/d/b.pkl").unwrap(), b"2");
        assert_eq!(files.read("/d").unwrap(), b"b.pkl\ne\n");
        assert_eq!(files.read("/").unwrap(), b"a.pkl\nd\n");
        assert_eq!(files.read("/x"), Err(ReadError::NotFound));
        assert_eq!(files.list("/x/"), Err(ReadError::NotFound));
    }

    #[test]
    fn a_directory_is_not_left() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("in");
        fs::create_dir(&inside).unwrap();
        fs::write(directory.path().join("secret"), "x").unwrap();
        fs::write(inside.join("a"), "1").unwrap();
        std::os::unix::fs::symlink("../secret", inside.join("link")).unwrap();
        let contents = DirectoryContents::new(&inside);
        assert_eq!(contents.read("/a").unwrap(), b"1");
        assert_eq!(contents.read("/../secret"), Err(ReadError::NotFound));
        assert_eq!(contents.read("/link"), Err(ReadError::OutsideRoot));
    }
}
