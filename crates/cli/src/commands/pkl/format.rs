//! `pkl format`: files in the language's common style.

use super::PklError;
use super::module::stdin_text;
use super::output::write_stdout;
use crate::args::PklFormat;
use crate::exit::Exit;
use crate::ui;
use pkl_parser::Diagnostic;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of standard input.
const STDIN: &str = "-";

/// What is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Print {
    /// The formatted texts.
    Texts,
    /// The names of files that differ.
    Names,
    Nothing,
}

pub(super) fn run(arguments: &PklFormat) -> Result<Exit, PklError> {
    if arguments.grammar_version != 2 {
        return Err(PklError::Unsupported {
            what: "`--grammar-version 1`".to_owned(),
            hint: Some("the style of 0.30 is version 2"),
        });
    }
    if arguments.write && arguments.paths.iter().any(|path| path.as_os_str() == STDIN) {
        return Err(PklError::WriteStdin);
    }
    let print = match (arguments.silent, arguments.diff_name_only || arguments.write) {
        (true, _) => Print::Nothing,
        (false, true) => Print::Names,
        (false, false) => Print::Texts,
    };
    let (mut failed, mut differs) = (false, false);
    let mut files = Vec::new();
    for path in &arguments.paths {
        if let Err(error) = collect(path, &mut files) {
            failed = true;
            report(&error, print);
        }
    }
    for path in files {
        match format_one(&path, arguments.write, print) {
            Ok(differed) => differs |= differed,
            Err(FormatError::Pkl(error)) => {
                failed = true;
                report(&error, print);
            }
            Err(FormatError::Syntax { source, diagnostics }) => {
                failed = true;
                if print != Print::Nothing {
                    ui::error::print_syntax(&path.display().to_string(), &source, &diagnostics);
                }
            }
        }
    }
    Ok(match (failed, differs && !arguments.write) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Unformatted,
        (false, false) => Exit::Done,
    })
}

/// Why a file can't be formatted.
enum FormatError {
    Pkl(PklError),
    /// It isn't well formed.
    Syntax {
        source: String,
        diagnostics: Vec<Diagnostic>,
    },
}

impl From<PklError> for FormatError {
    fn from(error: PklError) -> Self {
        Self::Pkl(error)
    }
}

/// Formats a file. Answers whether it differed.
fn format_one(path: &Path, write: bool, print: Print) -> Result<bool, FormatError> {
    let source = if path.as_os_str() == STDIN { stdin_text()? } else { read(path)? };
    let formatted = match pkl_format::format(&source) {
        Ok(formatted) => formatted,
        Err(diagnostics) => return Err(FormatError::Syntax { source, diagnostics }),
    };
    let differs = formatted != source;
    if differs && write {
        replace(path, &formatted).map_err(|source| PklError::Write { path: path.to_owned(), source })?;
    }
    let printed = match print {
        Print::Texts => write_stdout("", formatted.as_bytes()),
        Print::Names if differs => write_stdout("", format!("{}\n", path.display()).as_bytes()),
        Print::Names | Print::Nothing => Ok(()),
    };
    printed.map_err(PklError::Stdout)?;
    Ok(differs)
}

fn read(path: &Path) -> Result<String, PklError> {
    fs::read_to_string(path).map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> PklError {
    PklError::Read { name: path.display().to_string(), source }
}

/// Puts a new text in a file's place at once, so that no crash leaves half of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fresh = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = fs::write(&fresh, text)
        .and_then(|()| fs::set_permissions(&fresh, fs::metadata(&path)?.permissions()))
        .and_then(|()| fs::rename(&fresh, &path));
    if written.is_err() {
        // The first error says more than that of cleaning up.
        let _ = fs::remove_file(&fresh);
    }
    written
}

/// Adds a file, or the Pkl files of a directory and all below it, in the order of their names. Links
/// found in a directory are followed to files only, so that no walk goes in circles.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), PklError> {
    if path.as_os_str() == STDIN || !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut waiting = vec![path.to_owned()];
    while let Some(next) = waiting.pop() {
        let is_link = next.is_symlink() && next != path;
        if !next.is_dir() {
            if is_module(&next) && next.is_file() {
                files.push(next);
            }
        } else if !is_link {
            let entries = fs::read_dir(&next).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            let entries = entries.map_err(|source| unreadable(&next, source))?;
            let mut paths: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
            paths.sort_unstable_by(|one, other| other.cmp(one));
            waiting.extend(paths);
        }
    }
    Ok(())
}

fn is_module(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pkl")
        || path.file_name().is_some_and(|name| name == "PklProject")
}

fn report(error: &PklError, print: Print) {
    if print != Print::Nothing {
        ui::error::print_pkl(error);
    }
}
