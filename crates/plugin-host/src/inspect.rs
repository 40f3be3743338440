//! What a plugin is, from its files: manifest and schema, evaluated once and kept by what they are made from.

use crate::error::InstallError;
use crate::installed::Installed;
use crate::launch::is_of;
use crate::manifest::Manifest;
use crate::pkl;
use formwork_forma::extract::ResourceDescriptor;
use formwork_forma::package;
use formwork_plugin::wire::Announcement;
use formwork_secret::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The shape of what is kept; raised when it changes.
const FORMAT: u32 = 3;
/// The most files of a schema, how deep its directories are, and the most bytes of all its files.
const MOST_FILES: usize = 20_000;
const DEEPEST: usize = 16;
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// What a plugin's files say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Inspected {
    pub(crate) manifest: Manifest,
    /// One per type.
    pub(crate) resources: Vec<Arc<ResourceDescriptor>>,
    /// What its process said of itself, if it was asked.
    pub(crate) announcement: Option<Announcement>,
    /// That it said nothing, when it was asked last.
    pub(crate) silence: Option<Silence>,
}

/// A process that did not say what it is. Asking it takes as long each time, which nobody should wait for with every
/// command, so for a while it isn't asked again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Silence {
    /// What was found out.
    said: String,
    /// When, in seconds since 1970.
    since: u64,
}

impl Silence {
    /// For how long a process isn't asked again.
    const LASTS: Duration = Duration::from_secs(300);

    /// What has just been found out.
    pub(crate) fn now(said: String) -> Self {
        Self { said, since: seconds_now() }
    }

    /// What it says for now; `None` if it is time to ask again.
    pub(crate) fn told(&self) -> Option<String> {
        let age = seconds_now().checked_sub(self.since)?;
        let left = Self::LASTS.as_secs().checked_sub(age).filter(|left| *left > 0)?;
        Some(format!(
            "{} (found out {age} s ago; it is asked again in {left} s, or once it is changed)",
            self.said
        ))
    }
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// What is kept of a plugin, with what it was made from.
#[derive(Serialize, Deserialize)]
struct Kept {
    format: u32,
    key: String,
    inspected: Inspected,
}

/// The files of a plugin, whose contents say what it is.
pub(crate) struct Files {
    /// A digest of everything that what is kept depends on.
    key: String,
}

impl Files {
    /// Reads them all.
    ///
    /// # Errors
    /// Something is missing, or more than there may be.
    pub(crate) fn read(installed: &Installed) -> Result<Self, InstallError> {
        let identity = installed.identity()?;
        let path = installed.manifest();
        let manifest = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(InstallError::NoManifest { path });
            }
            read => read.map_err(|source| InstallError::Read { path, source: Arc::new(source) })?,
        };
        let schema = installed.schema();
        if !schema.is_dir() {
            return Err(InstallError::NoSchema { path: schema });
        }
        let mut files = BTreeMap::new();
        let mut left = MOST_BYTES;
        collect(&schema, Path::new(""), 0, &mut left, &mut files)?;
        let mut digest = Sha256::new();
        let mut add = |part: &[u8]| {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        };
        add(&FORMAT.to_be_bytes());
        add(env!("CARGO_PKG_VERSION").as_bytes());
        for (path, text) in package::files() {
            add(path.as_bytes());
            add(text.as_bytes());
        }
        add(installed.directory.as_os_str().as_encoded_bytes());
        add(identity.as_bytes());
        add(&manifest);
        for (path, contents) in &files {
            add(path.as_os_str().as_encoded_bytes());
            add(contents);
        }
        Ok(Self { key: hex(&digest.finalize()) })
    }

    /// What is kept of them, if anything is.
    pub(crate) fn kept(&self, cache: &Path, installed: &Installed) -> Option<Inspected> {
        let text = fs::read(file(cache, installed)).ok()?;
        let kept: Kept = serde_json::from_slice(&text).ok()?;
        (kept.format == FORMAT && kept.key == self.key).then_some(kept.inspected)
    }

    /// Keeps what they say. That it can't be kept costs time and nothing else.
    pub(crate) fn keep(&self, cache: &Path, installed: &Installed, inspected: &Inspected) {
        let kept = Kept { format: FORMAT, key: self.key.clone(), inspected: inspected.clone() };
        if let Err(error) = write(cache, &file(cache, installed), &kept) {
            tracing::debug!(plugin = installed.name, %error, "what the plugin's schema says cannot be kept");
        }
    }
}

/// What a plugin's files say, evaluated.
///
/// # Errors
/// They can't be, or say what they may not.
pub(crate) fn evaluate(installed: &Installed) -> Result<Inspected, InstallError> {
    let manifest = Manifest::read(installed)?;
    if manifest.kind != "resource" {
        return Ok(Inspected { manifest, resources: Vec::new(), announcement: None, silence: None });
    }
    let described = pkl::describe(&installed.schema()).map_err(|reason| InstallError::Schema { reason })?;
    let namespace = manifest.namespace.clone().unwrap_or_default();
    let mut newest: BTreeMap<String, ResourceDescriptor> = BTreeMap::new();
    for resource in described.resources {
        if !is_of(&resource.type_name, &namespace) {
            return Err(InstallError::ForeignType { type_name: resource.type_name, namespace });
        }
        // Of a package with a tree for each version of the provider's API, the newest says what a type is.
        match newest.get(&resource.type_name) {
            Some(other) if !is_newer(&resource, other) => {}
            _ => {
                newest.insert(resource.type_name.clone(), resource);
            }
        }
    }
    let resources = newest.into_values().map(Arc::new).collect();
    Ok(Inspected { manifest, resources, announcement: None, silence: None })
}

/// Whether a descriptor is of a newer version of the provider's API than another: `v1.10` is newer than `v1.9`.
fn is_newer(one: &ResourceDescriptor, other: &ResourceDescriptor) -> bool {
    let numbers = |descriptor: &ResourceDescriptor| -> Vec<u64> {
        let version = descriptor.version.as_deref().unwrap_or_default();
        let parts = version.split(|letter: char| !letter.is_ascii_digit());
        parts.filter_map(|part| part.parse().ok()).collect()
    };
    numbers(one) > numbers(other)
}

fn file(cache: &Path, installed: &Installed) -> PathBuf {
    cache.join(format!("{}.json", installed.name))
}

/// Writes a file whole or not at all.
fn write(cache: &Path, path: &Path, kept: &Kept) -> io::Result<()> {
    fs::create_dir_all(cache)?;
    let mut file = tempfile::NamedTempFile::new_in(cache)?;
    serde_json::to_writer(io::BufWriter::new(&mut file), kept)?;
    file.persist(path)?;
    Ok(())
}

/// The contents of a directory's files, by their paths in it.
fn collect(
    root: &Path,
    within: &Path,
    depth: usize,
    left: &mut u64,
    files: &mut BTreeMap<PathBuf, Vec<u8>>,
) -> Result<(), InstallError> {
    let directory = root.join(within);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| InstallError::Read { path, source: Arc::new(source) }
    };
    if depth > DEEPEST {
        return Err(InstallError::SchemaTooLarge { most: "16 levels of directories" });
    }
    for entry in fs::read_dir(&directory).map_err(failed(&directory))? {
        let entry = entry.map_err(failed(&directory))?;
        let path = within.join(entry.file_name());
        // Not through links: a schema is in its own directory.
        let kind = entry.file_type().map_err(failed(&entry.path()))?;
        if kind.is_dir() {
            collect(root, &path, depth + 1, left, files)?;
        } else if kind.is_file() {
            let size = entry.metadata().map_err(failed(&entry.path()))?.len();
            *left = left.checked_sub(size).ok_or(InstallError::SchemaTooLarge { most: "256 MiB" })?;
            if files.len() == MOST_FILES {
                return Err(InstallError::SchemaTooLarge { most: "20,000 files" });
            }
            files.insert(path, fs::read(entry.path()).map_err(failed(&entry.path()))?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Silence, seconds_now};

    #[test]
    fn a_silence_lasts_for_a_while_and_says_so() {
        let told = Silence::now("nothing came".to_owned()).told();
        assert!(told.is_some_and(|told| {
            told.starts_with("nothing came (found out 0 s ago; it is asked again in 300 s")
        }));
        let at = |since| Silence { said: String::new(), since }.told();
        assert_eq!(at(seconds_now() - 301), None);
        assert_eq!(at(seconds_now() + 3600), None, "a clock that went back keeps nothing for ever");
    }
}
