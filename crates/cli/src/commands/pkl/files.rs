//! The files of `output.files`: written into one directory, and nowhere else.

use super::PklError;
use super::host::normal;
use super::output::write_stdout;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A directory that files are written into.
pub(super) struct Files {
    directory: PathBuf,
    /// The module that wrote each file.
    written: BTreeMap<PathBuf, String>,
}

impl Files {
    /// Writes into `directory`, which is absolute.
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: normal(directory), written: BTreeMap::new() }
    }

    /// Writes the files of a module in their order. All of their places are checked before one is written.
    ///
    /// # Errors
    /// One of them can't be written, or not there.
    pub(super) fn write(&mut self, module: &str, files: &[(String, Vec<u8>)]) -> Result<(), PklError> {
        let mut targets = Vec::with_capacity(files.len());
        for (entry, bytes) in files {
            let path = self.target(module, entry)?;
            targets.push((path, bytes));
        }
        for (path, bytes) in targets {
            put(&path, bytes).map_err(|source| PklError::Write { path: path.clone(), source })?;
            write_stdout("", format!("{}\n", shown(&path)).as_bytes())?;
            self.written.insert(path, module.to_owned());
        }
        Ok(())
    }

    /// The path of an entry, if it may be written.
    fn target(&self, module: &str, entry: &str) -> Result<PathBuf, PklError> {
        let path = normal(&self.directory.join(entry));
        let (entry, module) = (entry.to_owned(), module.to_owned());
        let inside = path != self.directory && path.starts_with(&self.directory) && !entry.contains('\0');
        let real = if inside { self.is_really_inside(&path) } else { Ok(false) };
        match real {
            Err(source) => return Err(PklError::Write { path, source }),
            Ok(false) => {
                return Err(PklError::Outside { entry, module, path, directory: self.directory.clone() });
            }
            Ok(true) => {}
        }
        if path.is_dir() {
            return Err(PklError::EntryIsDirectory { entry, module, path });
        }
        match self.written.get(&path) {
            Some(other) if *other != module => {
                Err(PklError::WrittenTwice { entry, module, other: other.clone(), path })
            }
            _ => Ok(path),
        }
    }

    /// Whether what is there of a path is inside of the directory once links are followed.
    fn is_really_inside(&self, path: &Path) -> io::Result<bool> {
        let root = match self.directory.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            root => root?,
        };
        for part in path.ancestors().take_while(|part| *part != self.directory) {
            match part.symlink_metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
                // A link to nothing can't be judged, and what is written would appear where it leads.
                Ok(_) => return Ok(part.canonicalize().is_ok_and(|real| real.starts_with(root))),
            }
        }
        Ok(true)
    }
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, bytes)
}

/// The path as seen from where the command was called, if it is below.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    below.as_deref().unwrap_or(path).display().to_string()
}
