//! The readers that come with the evaluator.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::host::{Listed, ModuleReader, ReadError, Resource, ResourceReader};
use crate::stdlib;

/// `pkl:`: the standard library.
pub(crate) struct LibraryReader;

impl ModuleReader for LibraryReader {
    fn scheme(&self) -> &'static str {
        "pkl"
    }

    fn is_hierarchical(&self) -> bool {
        false
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        let name = uri.strip_prefix("pkl:").unwrap_or(uri);
        stdlib::source(name).map(str::to_owned).ok_or(ReadError::NotFound)
    }
}

/// `file:`: files below a root directory.
#[derive(Clone, Debug, Default)]
pub struct FileReader {
    root: Option<PathBuf>,
}

impl FileReader {
    /// Reads any file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads only files that are, links resolved, below `root`.
    pub fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: Some(root.into()) }
    }

    fn path(&self, uri: &str) -> Result<PathBuf, ReadError> {
        let path = file_path(uri).ok_or_else(|| ReadError::InvalidUri("not a file".to_owned()))?;
        let Some(root) = &self.root else { return Ok(path) };
        let root = root.canonicalize().map_err(|error| io_error(&error))?;
        let real = path.canonicalize().map_err(|error| io_error(&error))?;
        if real.starts_with(root) { Ok(real) } else { Err(ReadError::OutsideRoot) }
    }

    fn list_directory(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        let path = self.path(uri)?;
        let entries = fs::read_dir(path).map_err(|error| io_error(&error))?;
        let mut listed = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| io_error(&error))?;
            let kind = entry.file_type().map_err(|error| io_error(&error))?;
            // Links are not followed.
            if kind.is_symlink() {
                continue;
            }
            if let Ok(name) = entry.file_name().into_string() {
                listed.push(Listed { name, is_directory: kind.is_dir() });
            }
        }
        Ok(listed)
    }
}

/// A file's contents, or the names in a directory.
fn read_file_or_directory(path: &Path) -> Result<Vec<u8>, ReadError> {
    if !path.is_dir() {
        return fs::read(path).map_err(|error| io_error(&error));
    }
    let entries = fs::read_dir(path).map_err(|error| io_error(&error))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names.into_iter().flat_map(|name| [name, "\n".to_owned()]).collect::<String>().into_bytes())
}

fn io_error(error: &std::io::Error) -> ReadError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => ReadError::NotFound,
        _ => ReadError::Failed(error.to_string()),
    }
}

/// The path that a `file:` URI names, with a host or without; `None` for other URIs.
pub fn file_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file:")?;
    let path = match rest.strip_prefix("//") {
        Some(after) => &after[after.find('/')?..],
        None => rest,
    };
    Some(PathBuf::from(percent_decode(path)))
}

/// A part of a URI without its escapes. What is no escape stands for itself.
///
/// ```
/// use pkl_core::reader::percent_decode;
///
/// assert_eq!(percent_decode("two%20birds"), "two birds");
/// assert_eq!(percent_decode("100% of %zz"), "100% of %zz");
/// ```
pub fn percent_decode(text: &str) -> String {
    let (bytes, _) = decoded(text);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A part of a URI without its escapes, if each `%` begins one and they stand for a text.
pub fn percent_decode_strict(text: &str) -> Option<String> {
    let (bytes, is_proper) = decoded(text);
    String::from_utf8(bytes).ok().filter(|_| is_proper)
}

/// The bytes that a text stands for, and whether each of its `%` begins an escape.
fn decoded(text: &str) -> (Vec<u8>, bool) {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (mut decoded, mut is_proper) = (Vec::with_capacity(text.len()), true);
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escape = match after {
            [first, second, ..] if byte == b'%' => digit(first).zip(digit(second)),
            _ => None,
        };
        if let Some((first, second)) = escape {
            decoded.push(first << 4 | second);
            rest = &after[2..];
        } else {
            decoded.push(byte);
            is_proper &= byte != b'%';
        }
    }
    (decoded, is_proper)
}

/// The `file:` URI of a path, which is made absolute.
///
/// # Errors
/// It is relative, and there is no working directory.
pub fn file_uri(path: &Path) -> std::io::Result<String> {
    let absolute = std::path::absolute(path)?;
    let mut uri = String::from("file://");
    for byte in absolute.to_string_lossy().bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte);
        if plain {
            uri.push(char::from(byte));
        } else {
            uri.extend(["%".to_owned(), format!("{byte:02X}")]);
        }
    }
    Ok(uri)
}

impl ModuleReader for FileReader {
    fn scheme(&self) -> &'static str {
        "file"
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        let path = self.path(uri)?;
        if path.is_dir() {
            return Err(ReadError::Failed("IOException: Is a directory".to_owned()));
        }
        fs::read_to_string(path).map_err(|error| io_error(&error))
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        self.list_directory(uri)
    }
}

impl ResourceReader for FileReader {
    fn scheme(&self) -> &'static str {
        "file"
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        match self.path(uri).and_then(|path| read_file_or_directory(&path)) {
            Ok(bytes) => Ok(Some(Resource::Bytes(bytes.into()))),
            Err(ReadError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        self.list_directory(uri)
    }
}

/// `modulepath:`: files in the first of several directories that has them.
#[derive(Clone, Debug)]
pub struct ModulePathReader {
    directories: Vec<PathBuf>,
}

impl ModulePathReader {
    /// Searches these directories in order.
    pub fn new(directories: Vec<PathBuf>) -> Self {
        Self { directories }
    }

    fn find(&self, uri: &str) -> Result<PathBuf, ReadError> {
        let path = uri.strip_prefix("modulepath:").unwrap_or(uri).trim_start_matches('/');
        let path = percent_decode(path);
        if Path::new(&path).components().any(|part| matches!(part, std::path::Component::ParentDir)) {
            return Err(ReadError::NotFound);
        }
        let mut found = self.directories.iter().map(|directory| directory.join(&path));
        found.find(|candidate| candidate.exists()).ok_or(ReadError::NotFound)
    }

    fn list_all(&self, uri: &str) -> Vec<Listed> {
        let path = percent_decode(uri.strip_prefix("modulepath:").unwrap_or(uri).trim_start_matches('/'));
        let mut listed: BTreeMap<String, bool> = BTreeMap::new();
        for directory in &self.directories {
            let Ok(entries) = fs::read_dir(directory.join(&path)) else { continue };
            for entry in entries.flatten() {
                if let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) {
                    listed.entry(name).or_insert(kind.is_dir());
                }
            }
        }
        listed.into_iter().map(|(name, is_directory)| Listed { name, is_directory }).collect()
    }
}

impl ModuleReader for ModulePathReader {
    fn scheme(&self) -> &'static str {
        "modulepath"
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        fs::read_to_string(self.find(uri)?).map_err(|error| io_error(&error))
    }
}

impl ResourceReader for ModulePathReader {
    fn scheme(&self) -> &'static str {
        "modulepath"
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        let bytes = fs::read(self.find(uri)?).map_err(|error| io_error(&error))?;
        Ok(Some(Resource::Bytes(bytes.into())))
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        Ok(self.list_all(uri))
    }
}

/// Values by name, as those of `env:` and `prop:`.
macro_rules! named_values {
    ($(#[$doc:meta])* $name:ident, $scheme:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            values: BTreeMap<String, Arc<str>>,
        }

        impl $name {
            /// Reads these values.
            pub fn new<N: Into<String>, V: Into<Arc<str>>>(values: impl IntoIterator<Item = (N, V)>) -> Self {
                Self { values: values.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
            }
        }

        impl ResourceReader for $name {
            fn scheme(&self) -> &'static str {
                $scheme
            }

            fn is_hierarchical(&self) -> bool {
                false
            }

            fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
                let name = uri.split_once(':').map_or(uri, |(_, name)| name);
                let value = self.values.get(&percent_decode(name));
                Ok(value.map(|value| Resource::Text(Arc::clone(value))))
            }

            fn list(&self, _uri: &str) -> Result<Vec<Listed>, ReadError> {
                let listed = |name: &String| Listed { name: name.clone(), is_directory: false };
                Ok(self.values.keys().map(listed).collect())
            }
        }
    };
}

named_values! {
    /// `env:`: environment variables that the host gives.
    EnvReader, "env"
}

named_values! {
    /// `prop:`: external properties that the host gives.
    PropertyReader, "prop"
}
