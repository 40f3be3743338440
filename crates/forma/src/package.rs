//! The `@formae` package: its files, and a reader that answers for them.

use pkl_core::host::{Listed, ModuleReader, ReadError};

/// The package's version.
pub const VERSION: &str = "0.89.0";

/// The scheme under which the files are read where no package is: `formae:/formae.pkl`.
pub const SCHEME: &str = "formae";

macro_rules! files {
    ($($path:literal)*) => { &[$(($path, include_str!(concat!("../pkl/", $path)))),*] };
}

/// The files by their paths in the package, sorted.
static FILES: &[(&str, &str)] = files! {
    "PklProject"
    "debug/debug.pkl"
    "ext/URI.pkl"
    "ext/bcrypt.pkl"
    "ext/crypto.pkl"
    "ext/random.pkl"
    "ext/terraform.pkl"
    "extractor.pkl"
    "forma.pkl"
    "formae.pkl"
    "internal/catalog.pkl"
    "internal/config.pkl"
    "internal/frames.pkl"
    "internal/instants.pkl"
    "internal/library.pkl"
    "internal/properties.pkl"
    "internal/render.pkl"
    "internal/types.pkl"
    "plugin-manifest.pkl"
};

/// The package's files by their paths, sorted.
pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied()
}

/// A file of the package by its path.
pub fn file(path: &str) -> Option<&'static str> {
    let position = FILES.binary_search_by_key(&path, |(path, _)| path).ok()?;
    Some(FILES[position].1)
}

/// Whether this package answers for the package at a URI: whether the URI's last part is `formae@…`.
///
/// ```
/// use formwork_forma::package::answers;
///
/// assert!(answers("package://example.org/pkl/formae/formae@0.85.0"));
/// assert!(answers("package://example.org/formae@0.85.0::sha256:abc#/forma.pkl"));
/// assert!(!answers("package://example.org/formae@1/aws@0.1.0"));
/// ```
pub fn answers(uri: &str) -> bool {
    let Some(rest) = uri.strip_prefix("package://") else { return false };
    let path = rest.split('#').next().unwrap_or(rest);
    path.rsplit('/').next().is_some_and(|last| last.starts_with("formae@")) && path.contains('/')
}

/// Reads the package's files under [`SCHEME`].
#[derive(Clone, Copy, Debug, Default)]
pub struct PackageReader;

impl PackageReader {
    fn path(uri: &str) -> Result<&str, ReadError> {
        uri.strip_prefix("formae:/")
            .map(|path| path.trim_start_matches('/'))
            .ok_or_else(|| ReadError::InvalidUri(format!("`{uri}` must begin with `formae:/`.")))
    }
}

impl ModuleReader for PackageReader {
    fn scheme(&self) -> &str {
        SCHEME
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        file(Self::path(uri)?).map(str::to_owned).ok_or(ReadError::NotFound)
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        let directory = Self::path(uri)?;
        let mut listed: Vec<Listed> = Vec::new();
        for rest in files().filter_map(|(path, _)| path.strip_prefix(directory)) {
            let (name, is_directory) = match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            };
            if listed.last().is_none_or(|last| last.name != name) {
                listed.push(Listed { name: name.to_owned(), is_directory });
            }
        }
        Ok(listed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use std::path::Path;

    fn found(directory: &Path, prefix: &str, paths: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() {
                found(&entry.path(), &format!("{name}/"), paths);
            } else {
                paths.push(name);
            }
        }
    }

    #[test]
    fn every_file_of_the_directory_is_in_the_program() {
        let mut paths = Vec::new();
        found(&Path::new(env!("CARGO_MANIFEST_DIR")).join("pkl"), "", &mut paths);
        paths.sort();
        assert_eq!(files().map(|(path, _)| path).collect::<Vec<_>>(), paths);
    }

    #[test]
    fn the_version_is_that_of_the_project_file() {
        assert!(file("PklProject").unwrap().contains(&format!("version = \"{VERSION}\"")));
    }

    #[test]
    fn directories_are_listed_once() {
        let listed = PackageReader.list("formae:/").unwrap();
        let names: Vec<(&str, bool)> =
            listed.iter().map(|listed| (listed.name.as_str(), listed.is_directory)).collect();
        assert!(names.contains(&("ext", true)) && names.contains(&("formae.pkl", false)));
        assert_eq!(names.iter().filter(|(name, _)| *name == "internal").count(), 1);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert_eq!(PackageReader.read("formae:/nothing.pkl"), Err(ReadError::NotFound));
        assert!(matches!(PackageReader.read("formae:nothing.pkl"), Err(ReadError::InvalidUri(_))));
    }
}
