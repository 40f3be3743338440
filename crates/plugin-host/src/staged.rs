//! A plugin that is not installed, put where one would be: a plugin directory of its own, for as long as it is tried.

use crate::installed::{MANIFEST, SCHEMA};
use crate::pkl;
use serde::Deserialize;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// A plugin directory with one plugin. It is removed with this.
#[derive(Debug)]
pub struct Staged {
    place: TempDir,
    /// The plugin's directory that was named, or found by its program.
    pub source: PathBuf,
    /// The plugin's name.
    pub name: String,
    /// The plugin's version.
    pub version: String,
}

/// Why a plugin can't be put up.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Something can't be read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is no manifest.
    #[error("there is no `{MANIFEST}` in `{}`{}", path.display(), if *above { " or above it" } else { "" })]
    NoManifest {
        /// Where it should be.
        path: PathBuf,
        /// Whether the directories above were looked at, too.
        above: bool,
    },
    /// The manifest doesn't say what the plugin is.
    #[error("the manifest `{}` cannot be used: {reason}", path.display())]
    Manifest {
        /// Where it is.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no program.
    #[error("the program `{name}` of the plugin in `{}` is not there", path.display())]
    NoProgram {
        /// What it is called.
        name: String,
        /// Where the plugin is.
        path: PathBuf,
    },
}

/// What of a manifest says where a plugin is put.
#[derive(Deserialize)]
struct Named {
    name: String,
    version: String,
}

impl Staged {
    /// Puts up a plugin from the directory of its source or of an installed version, or from its program, which is
    /// below such a directory. Of a source, the program is the one that was built last, unless it is named.
    ///
    /// # Errors
    /// [`StageError`]: something of it is missing.
    pub fn of(path: &Path, program: Option<&Path>) -> Result<Self, StageError> {
        let path = canonical(path)?;
        let (source, program) = if path.is_dir() {
            (path, program.map(canonical).transpose()?)
        } else {
            let above = path.ancestors().skip(1).find(|above| above.join(MANIFEST).is_file());
            let missing = || StageError::NoManifest { path: directory_of(&path), above: true };
            (above.ok_or_else(missing)?.to_owned(), Some(path))
        };
        let manifest = source.join(MANIFEST);
        if !manifest.is_file() {
            return Err(StageError::NoManifest { path: source, above: false });
        }
        let said: Result<Named, String> = pkl::manifest(&manifest);
        let Named { name, version } =
            said.map_err(|reason| StageError::Manifest { path: manifest.clone(), reason })?;
        let Some(program) = program.or_else(|| built(&source, &name)) else {
            return Err(StageError::NoProgram { name, path: source });
        };
        Self::put_up(source, name, version, &program)
    }

    fn put_up(source: PathBuf, name: String, version: String, program: &Path) -> Result<Self, StageError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StageError::Io { path, source }
        };
        let place = tempfile::Builder::new().prefix("formwork-try-").tempdir().map_err(failed(&source))?;
        let within = place.path().join(&name).join(format!("v{version}"));
        fs::create_dir_all(&within).map_err(failed(&within))?;
        fs::copy(source.join(MANIFEST), within.join(MANIFEST)).map_err(failed(&within))?;
        let schema = source.join(SCHEMA);
        if schema.is_dir() {
            let link = within.join(SCHEMA);
            fs::create_dir_all(directory_of(&link)).map_err(failed(&link))?;
            symlink(&schema, &link).map_err(failed(&link))?;
        }
        let link = within.join(&name);
        symlink(program, &link).map_err(failed(&link))?;
        Ok(Self { place, source, name, version })
    }

    /// The plugin directory.
    pub fn directory(&self) -> &Path {
        self.place.path()
    }
}

fn canonical(path: &Path) -> Result<PathBuf, StageError> {
    fs::canonicalize(path).map_err(|source| StageError::Io { path: path.to_owned(), source })
}

fn directory_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

/// The program of a plugin: beside its manifest, as it is installed; else the one that Cargo built last, for the
/// plugin alone or for the workspace that it is in.
fn built(source: &Path, name: &str) -> Option<PathBuf> {
    let installed = source.join(name);
    if installed.is_file() {
        return Some(installed);
    }
    let profiles =
        |above: &Path| ["release", "debug"].map(|profile| above.join("target").join(profile).join(name));
    let when = |path: &PathBuf| {
        fs::metadata(path).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    source.ancestors().find_map(|above| {
        let built = profiles(above).into_iter().filter(|path| path.is_file());
        built.max_by_key(when)
    })
}
