//! `plugin init`: the source of a new plugin, whole or not at all.

use super::PluginError;
use crate::args::PluginInit;
use crate::commands::CommandError;
use crate::exit::Exit;
use crate::ui::{json, text};
use formwork_plugin_scaffold::{Name, Source, files};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn run(arguments: &PluginInit) -> Result<Exit, CommandError> {
    let name = Name::parse(&arguments.name).map_err(PluginError::Name)?;
    let name = match &arguments.namespace {
        Some(namespace) => name.with_namespace(namespace).map_err(PluginError::Name)?,
        None => name,
    };
    let source = match &arguments.checkout {
        Some(directory) => Source::Checkout(checkout(directory)?),
        None => Source::Repository,
    };
    let directory = arguments.output_dir.clone().unwrap_or_else(|| PathBuf::from(name.as_str()));
    write(&name, &source, &directory)?;
    let shown = directory.display().to_string();
    let quoted = shlex::try_quote(&shown).map_or_else(|_| shown.clone(), std::borrow::Cow::into_owned);
    json::print_text(&text::lines(&format!(
        "made the plugin `{}` with the types of `{}` in {shown}\n\n  cd {quoted}\n  formwork plugin verify-schema .\n  \
         cargo build\n  formwork plugin test .\n",
        name.as_str(),
        name.namespace(),
    )))?;
    Ok(Exit::Done)
}

fn checkout(directory: &Path) -> Result<PathBuf, CommandError> {
    let root = fs::canonicalize(directory)
        .map_err(|source| CommandError::Read { path: directory.to_owned(), source })?;
    if root.join("crates/plugin/Cargo.toml").is_file() {
        return Ok(root);
    }
    Err(PluginError::NoCheckout(directory.to_owned()).into())
}

/// Writes the files beside where they go, and moves them there at once: an empty directory gives way to them, and
/// nothing else does.
fn write(name: &Name, source: &Source, directory: &Path) -> Result<(), CommandError> {
    let failed = |source| CommandError::Write { path: directory.to_owned(), source };
    let parent = match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(failed)?;
    let made = tempfile::Builder::new().prefix(".formwork-plugin-").tempdir_in(parent).map_err(failed)?;
    for file in files(name, source) {
        let path = made.path().join(&file.path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).map_err(failed)?;
        }
        fs::write(&path, &file.text).map_err(failed)?;
    }
    // A directory for temporary files is for its owner alone; a source need not be.
    fs::set_permissions(made.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).map_err(failed)?;
    match fs::rename(made.path(), directory) {
        Ok(()) => {
            // What was made is elsewhere now, so that there is nothing to remove.
            let _ = made.keep();
            Ok(())
        }
        Err(error) if is_taken(&error) => Err(PluginError::Occupied(directory.to_owned()).into()),
        Err(error) => Err(failed(error)),
    }
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory
    )
}
