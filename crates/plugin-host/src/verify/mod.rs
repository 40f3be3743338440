//! What is wrong with a plugin's manifest and schema: all of it at once, each mistake with its place.
//!
//! [`Plugins::load`](crate::Plugins::load) stops at the first mistake, since one is enough for a plugin to be of no
//! use. Who writes a plugin wants them all, so here each fact is asked for by itself.

mod facts;
mod judge;
mod manifest;

use crate::installed::{MANIFEST, SCHEMA};
use crate::pkl;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The most modules of a schema, and how deep its directories are.
const MOST_MODULES: usize = 20_000;
const DEEPEST: usize = 16;

/// What a plugin's files were found to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The types that the schema declares, sorted.
    pub types: Vec<String>,
    /// What is wrong, by place.
    pub mistakes: Vec<Mistake>,
}

/// Something that is wrong with a plugin's files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// The file, from the plugin's directory.
    pub file: String,
    /// Line and column, counted from one, if it has a place in the file.
    pub place: Option<(u32, u32)>,
    /// What is wrong, in words for a person.
    pub message: String,
}

/// Why nothing can be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// There is no plugin.
    #[error("`{}` is no plugin's directory: it has neither `{MANIFEST}` nor `{SCHEMA}`", .0.display())]
    NoPlugin(PathBuf),
    /// A directory can't be read.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The schema is too large.
    #[error("the schema has more than {0}")]
    TooLarge(&'static str),
}

/// Looks at a plugin's manifest and schema, in the directory of its source or in that of an installed version. No
/// process is started.
///
/// # Errors
/// [`VerifyError`] if there is nothing to look at. That a file says something wrong is no error but a [`Mistake`].
pub fn verify(directory: &Path) -> Result<Verified, VerifyError> {
    let read = |source| VerifyError::Read { path: directory.to_owned(), source };
    let directory = fs::canonicalize(directory).map_err(read)?;
    let (has_manifest, has_schema) = (directory.join(MANIFEST).is_file(), directory.join(SCHEMA).is_dir());
    if !has_manifest && !has_schema {
        return Err(VerifyError::NoPlugin(directory));
    }
    let mut mistakes = BTreeSet::new();
    let root = Root::new(&directory);
    let namespace = manifest::check(&root, &mut mistakes);
    let mut types = Vec::new();
    if has_schema {
        let facts = facts::gather(&root, &modules(&directory.join(SCHEMA))?, &mut mistakes);
        judge::judge(&facts, namespace.as_deref(), &mut mistakes);
        types = facts.types();
        if mistakes.is_empty()
            && let Err(reason) = pkl::describe(&directory.join(SCHEMA))
        {
            // What only the whole shows, such as a module that can't be imported by its name.
            mistakes.insert(Mistake::of_file(SCHEMA, reason));
        }
    } else {
        mistakes.insert(Mistake::of_file(SCHEMA, "the directory of the schema is missing"));
    }
    Ok(Verified { types, mistakes: mistakes.into_iter().collect() })
}

impl Mistake {
    fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place: None, message: message.into() }
    }
}

/// The plugin's directory, by which places are named.
struct Root {
    directory: PathBuf,
    uri: String,
}

impl Root {
    fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), uri: pkl::directory_uri(directory) }
    }

    /// The file of a URI, from this directory; `None` for one elsewhere.
    fn file(&self, uri: &str) -> Option<String> {
        let file = uri.strip_prefix(&self.uri)?;
        Some(decoded(file))
    }

    /// What a failed evaluation says, at the innermost place in the plugin's own files.
    fn mistake(&self, otherwise: &str, error: &pkl_core::Error) -> Mistake {
        let own = error.trace.iter().find_map(|frame| Some((self.file(&frame.place.uri)?, &frame.place)));
        let lines = error.message.trim().lines().chain(error.hint.as_deref());
        let message = crate::escape::shown(&lines.collect::<Vec<_>>().join(" "), 1000);
        match own {
            Some((file, place)) => Mistake { file, place: Some((place.line, place.column)), message },
            None => Mistake::of_file(otherwise, message),
        }
    }
}

/// A path out of a URI.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        let hexadecimal = more.get(..2).filter(|_| *first == b'%').and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(hexadecimal.unwrap_or(*first));
        rest = if hexadecimal.is_some() { &more[2..] } else { more };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The modules below a directory, by their paths in it, sorted. Links are not followed.
fn modules(directory: &Path) -> Result<Vec<String>, VerifyError> {
    let mut found = Vec::new();
    collect(directory, "", 0, &mut found)?;
    found.sort_unstable();
    Ok(found)
}

fn collect(root: &Path, within: &str, depth: usize, found: &mut Vec<String>) -> Result<(), VerifyError> {
    let path = root.join(within);
    let failed = |source| VerifyError::Read { path: path.clone(), source };
    if depth > DEEPEST {
        return Err(VerifyError::TooLarge("16 levels of directories"));
    }
    for entry in fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // A name that is no text can't be imported.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type().map_err(failed)?;
        let inner = if within.is_empty() { name.clone() } else { format!("{within}/{name}") };
        if kind.is_dir() {
            collect(root, &inner, depth + 1, found)?;
        } else if kind.is_file() && Path::new(&name).extension().is_some_and(|ending| ending == "pkl") {
            if found.len() == MOST_MODULES {
                return Err(VerifyError::TooLarge("20,000 modules"));
            }
            found.push(inner);
        }
    }
    Ok(())
}
