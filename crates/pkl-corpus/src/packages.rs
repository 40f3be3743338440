//! Packages of a case, written down as the cache that all evaluators of Pkl share keeps them.
//!
//! A package is a directory `<host>/<path>@<version>`; what its metadata says beyond the usual is in a file
//! `<host>/<path>@<version>.json` beside it.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Cursor, Write as _};
use std::path::Path;

/// Writes the packages below a directory into a cache, and tells of each what its metadata hashes to: so
/// must files say that are written by hand.
///
/// # Errors
/// A package can't be read, its metadata isn't an object, or the cache can't be written.
pub fn fill_cache(packages: &Path, cache: &Path) -> io::Result<Vec<(String, String)>> {
    let mut hashes = Vec::new();
    for path in package_paths(packages, "")? {
        let package = Package { packages, path: &path };
        let (archive, metadata) = (package.archive()?, package.metadata(0)?);
        let directory = cache.join("package-2").join(&path);
        fs::create_dir_all(&directory)?;
        fs::write(directory.join(format!("{}.zip", package.name())), archive)?;
        fs::write(directory.join(format!("{}.json", package.name())), &metadata)?;
        hashes.push((format!("package://{path}"), hash(metadata.as_bytes())));
    }
    Ok(hashes)
}

struct Package<'a> {
    packages: &'a Path,
    /// Its directory below that: `<host>/<path>@<version>`.
    path: &'a str,
}

impl Package<'_> {
    /// The last part of its path.
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The archive: files are stored as they are, so that its bytes don't depend on who packs them.
    fn archive(&self) -> io::Result<Vec<u8>> {
        let root = self.packages.join(self.path);
        let time = zip::DateTime::from_date_and_time(1980, 2, 1, 0, 0, 0).map_err(io::Error::other)?;
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(time);
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for path in files(&root, "")? {
            zip.start_file(&path, options)?;
            zip.write_all(&fs::read(root.join(&path))?)?;
        }
        Ok(zip.finish()?.into_inner())
    }

    /// The metadata. `depth` is how many packages led here: they must not need each other in a circle.
    fn metadata(&self, depth: usize) -> io::Result<String> {
        let invalid = || io::Error::other(format!("`{}` has no proper metadata", self.path));
        let (name, version) = self.name().split_once('@').filter(|_| depth < 10).ok_or_else(invalid)?;
        let mut metadata = json!({
            "name": name,
            "packageUri": format!("package://{}", self.path),
            "version": version,
            "packageZipUrl": format!("https://{}.zip", self.path),
            "packageZipChecksums": { "sha256": hash(&self.archive()?) },
            "dependencies": {},
            "authors": [],
        });
        for (key, value) in self.said()? {
            metadata[key] = value;
        }
        let dependencies = metadata["dependencies"].as_object_mut().ok_or_else(invalid)?;
        for dependency in dependencies.values_mut() {
            if let Value::String(uri) = dependency {
                let path = uri.strip_prefix("package://").ok_or_else(invalid)?;
                let hash = hash(Package { path, ..*self }.metadata(depth + 1)?.as_bytes());
                *dependency = json!({ "uri": uri, "checksums": { "sha256": hash } });
            }
        }
        Ok(metadata.to_string())
    }

    /// What the file beside the package says.
    fn said(&self) -> io::Result<Map<String, Value>> {
        let path = self.packages.join(format!("{}.json", self.path));
        match fs::read(path) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Map::new()),
            Err(error) => Err(error),
        }
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The names in a directory, sorted.
fn names(directory: &Path) -> io::Result<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names = fs::read_dir(directory)?.map(name).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

/// The paths of all packages below a directory.
fn package_paths(directory: &Path, prefix: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for name in names(directory)? {
        let (path, inner) = (directory.join(&name), format!("{prefix}{name}"));
        match name.contains('@') {
            true if path.is_dir() => found.push(inner),
            false => found.extend(package_paths(&path, &format!("{inner}/"))?),
            true => {}
        }
    }
    Ok(found)
}

/// The paths of all files below a directory.
fn files(directory: &Path, prefix: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for name in names(directory)? {
        let (path, inner) = (directory.join(&name), format!("{prefix}{name}"));
        if path.is_dir() {
            found.extend(files(&path, &format!("{inner}/"))?);
        } else {
            found.push(inner);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_know_what_their_dependencies_hash_to() {
        let (from, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for package in ["birds@1.0.0", "fruit@1.0.0"] {
            fs::create_dir_all(from.path().join("a.b").join(package)).unwrap();
            fs::write(from.path().join("a.b").join(package).join("m.pkl"), "x = 1").unwrap();
        }
        let needs = r#"{ "dependencies": { "fruit": "package://a.b/fruit@1.0.0" }, "license": "MIT" }"#;
        fs::write(from.path().join("a.b/birds@1.0.0.json"), needs).unwrap();
        let hashes = fill_cache(from.path(), cache.path()).unwrap();
        assert_eq!(hashes, fill_cache(from.path(), cache.path()).unwrap());
        let (birds, fruit) = (&hashes[0], &hashes[1]);
        assert_eq!(
            (birds.0.as_str(), fruit.0.as_str()),
            ("package://a.b/birds@1.0.0", "package://a.b/fruit@1.0.0")
        );
        let kept = cache.path().join("package-2/a.b/birds@1.0.0");
        let metadata: Value =
            serde_json::from_slice(&fs::read(kept.join("birds@1.0.0.json")).unwrap()).unwrap();
        assert_eq!(metadata["dependencies"]["fruit"]["checksums"]["sha256"], fruit.1.as_str());
        assert_eq!(metadata["license"], "MIT");
        let archive = hash(&fs::read(kept.join("birds@1.0.0.zip")).unwrap());
        assert_eq!(metadata["packageZipChecksums"]["sha256"], archive.as_str());
    }
}
