//! The files of a project that are published.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pkl_core::reader::PathPattern;

use super::PublishError;
use crate::archive::{ArchiveError, LARGEST_CONTENTS, MOST_ENTRIES};

/// How deep directories may nest.
const DEEPEST: usize = 200;

/// The files below a directory by their paths, without those that a pattern matches, by its path or by its
/// name. Links to directories are not followed.
///
/// # Errors
/// One can't be read or lies elsewhere, there are too many, or a pattern isn't one.
pub(super) fn of(root: &Path, exclude: &[String]) -> Result<BTreeMap<String, Vec<u8>>, PublishError> {
    let pattern = |pattern: &String| {
        let invalid = |reason| PublishError::Pattern { pattern: pattern.clone(), reason };
        PathPattern::new(pattern).map_err(invalid)
    };
    let exclude = exclude.iter().map(pattern).collect::<Result<Vec<_>, _>>()?;
    let real = root.canonicalize().map_err(|source| unreadable(root, source))?;
    let mut walk = Walk { real: &real, exclude, files: BTreeMap::new(), bytes: 0 };
    walk.directory(root, "", 0)?;
    Ok(walk.files)
}

fn unreadable(path: &Path, source: std::io::Error) -> PublishError {
    PublishError::Read { path: path.to_owned(), source }
}

struct Walk<'a> {
    real: &'a Path,
    exclude: Vec<PathPattern>,
    files: BTreeMap<String, Vec<u8>>,
    bytes: u64,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Path, prefix: &str, depth: usize) -> Result<(), PublishError> {
        if depth > DEEPEST {
            return Err(PublishError::TooMany);
        }
        for entry in fs::read_dir(directory).map_err(|source| unreadable(directory, source))? {
            let entry = entry.map_err(|source| unreadable(directory, source))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|source| unreadable(&path, source))?;
            let name = entry
                .file_name()
                .into_string()
                .map_err(|_| unreadable(&path, std::io::Error::other("its name is not UTF-8")))?;
            let inner = format!("{prefix}{name}");
            if kind.is_dir() {
                self.directory(&path, &format!("{inner}/"), depth + 1)?;
            } else if !self.is_excluded(&inner, &name) && path.is_file() {
                self.file(&path, inner)?;
            }
        }
        Ok(())
    }

    fn is_excluded(&self, path: &str, name: &str) -> bool {
        self.exclude.iter().any(|pattern| pattern.matches(path) || pattern.matches(name))
    }

    fn file(&mut self, path: &Path, inner: String) -> Result<(), PublishError> {
        let real = path.canonicalize().map_err(|source| unreadable(path, source))?;
        if !real.starts_with(self.real) {
            return Err(PublishError::Link(path.to_owned()));
        }
        let length = real.metadata().map_err(|source| unreadable(path, source))?.len();
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > LARGEST_CONTENTS {
            return Err(ArchiveError::TooLarge { limit: LARGEST_CONTENTS }.into());
        }
        if self.files.len() == MOST_ENTRIES {
            return Err(PublishError::TooMany);
        }
        let bytes = fs::read(&real).map_err(|source| unreadable(path, source))?;
        self.files.insert(inner, bytes);
        Ok(())
    }
}
