//! Where the outputs of modules go: stdout, or files named after the modules.

use super::PklError;
use super::host::normal;
use super::module::Module;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where outputs go.
pub(super) struct Output<'a> {
    place: Place<'a>,
    separator: &'a str,
}

enum Place<'a> {
    /// Stdout; whether something is on it.
    Stdout { begun: bool },
    Files {
        /// The path, with its placeholders.
        template: &'a str,
        format: Option<&'a str>,
        directory: &'a Path,
        /// The files that were opened; whether something is in them.
        begun: BTreeMap<PathBuf, bool>,
        /// The modules that are written, each once.
        modules: BTreeSet<String>,
    },
}

impl<'a> Output<'a> {
    /// To stdout, or to files at `template` in `directory`.
    pub(super) fn new(
        template: Option<&'a str>,
        format: Option<&'a str>,
        separator: &'a str,
        directory: &'a Path,
    ) -> Self {
        let place = match template {
            None => Place::Stdout { begun: false },
            Some(template) => {
                Place::Files { template, format, directory, begun: BTreeMap::new(), modules: BTreeSet::new() }
            }
        };
        Self { place, separator }
    }

    /// Writes a module's output, after what is there.
    ///
    /// # Errors
    /// It can't be written.
    pub(super) fn write(&mut self, module: &Module, bytes: &[u8]) -> Result<(), PklError> {
        match &mut self.place {
            Place::Stdout { begun } => {
                if bytes.is_empty() {
                    return Ok(());
                }
                let separator = if *begun { self.separator } else { "" };
                *begun = true;
                Ok(write_stdout(separator, bytes)?)
            }
            Place::Files { template, format, directory, begun, modules } => {
                if !modules.insert(module.uri().to_owned()) {
                    return Ok(());
                }
                let path = normal(&directory.join(filled(template, module, *format, directory)?));
                append(&path, bytes, self.separator, begun)
            }
        }
    }
}

/// The path with the placeholders of a module filled in. A format that wasn't given has no name.
fn filled(
    template: &str,
    module: &Module,
    format: Option<&str>,
    directory: &Path,
) -> Result<String, PklError> {
    const DIRECTORY: &str = "%{moduleDir}";
    let directory = module.directory_from(directory);
    if directory.is_none() && template.contains(DIRECTORY) {
        return Err(PklError::NoDirectory { module: module.uri().to_owned() });
    }
    let values = [
        (DIRECTORY, directory.map(|path| path.to_string_lossy().into_owned())),
        ("%{moduleName}", Some(module.name())),
        ("%{outputFormat}", format.map(str::to_owned)),
    ];
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    // One pass, so that a name that looks like a placeholder stays a name.
    while let Some(start) = rest.find("%{") {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let known = values.iter().find(|(placeholder, _)| rest.starts_with(placeholder));
        let (text, length) = match known {
            Some((placeholder, Some(value))) => (value.as_str(), placeholder.len()),
            _ => ("%{", 2),
        };
        filled.push_str(text);
        rest = &rest[length..];
    }
    filled.push_str(rest);
    Ok(filled)
}

fn append(
    path: &Path,
    bytes: &[u8],
    separator: &str,
    begun: &mut BTreeMap<PathBuf, bool>,
) -> Result<(), PklError> {
    if path.is_dir() {
        return Err(PklError::IsDirectory { path: path.to_owned() });
    }
    let failed = |source| PklError::Write { path: path.to_owned(), source };
    let before = begun.get(path).copied();
    let mut file = if before.is_some() {
        File::options().append(true).open(path).map_err(failed)?
    } else {
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        File::create(path).map_err(failed)?
    };
    let has_text = before == Some(true);
    if has_text && !bytes.is_empty() {
        file.write_all(format!("{separator}\n").as_bytes()).map_err(failed)?;
    }
    file.write_all(bytes).map_err(failed)?;
    begun.insert(path.to_owned(), has_text || !bytes.is_empty());
    Ok(())
}

/// Writes to stdout. A reader that has gone has had enough.
///
/// # Errors
/// Stdout can't be written.
pub(super) fn write_stdout(separator: &str, bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let mut write = || {
        if !separator.is_empty() {
            writeln!(stdout, "{separator}")?;
        }
        stdout.write_all(bytes)?;
        stdout.flush()
    };
    match write() {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a file of its own, its directories too.
///
/// # Errors
/// It is a directory, or can't be written.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), PklError> {
    append(path, bytes, "", &mut BTreeMap::new())
}
