//! Modules as the command line names them.

use super::PklError;
use super::host::{Host, normal};
use pkl_core::ModuleSource;
use pkl_core::reader::{file_path, percent_decode};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The name of standard input.
const STDIN: &str = "-";

/// The URI that a module of standard input has.
pub(super) const STDIN_URI: &str = "repl:text";

/// The longest module that standard input may hold.
const MAX_STDIN: u64 = 64 << 20;

/// A module to evaluate.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) source: ModuleSource,
}

impl Module {
    /// The modules of a command line in the order of their URIs, in which the official command takes
    /// them too. Standard input is read once.
    ///
    /// # Errors
    /// One of them can't be named, or standard input can't be read.
    pub(super) fn all(names: &[String], host: &Host) -> Result<Vec<Self>, PklError> {
        let mut modules = Vec::with_capacity(names.len());
        let mut stdin_read = false;
        for name in names {
            if name == STDIN && std::mem::replace(&mut stdin_read, true) {
                continue;
            }
            let source = if name == STDIN { read_stdin()? } else { named(name, host)? };
            modules.push(Self { source });
        }
        modules.sort_by(|one, other| one.uri().cmp(other.uri()));
        Ok(modules)
    }

    /// The URI of a module that is only named.
    ///
    /// # Errors
    /// It can't be named.
    pub(super) fn uri_of(name: &str, host: &Host) -> Result<String, PklError> {
        if name == STDIN {
            return Err(PklError::Unsupported {
                what: "analysing standard input".to_owned(),
                hint: Some("write the module to a file"),
            });
        }
        match named(name, host)? {
            ModuleSource::Uri(uri) | ModuleSource::Text { uri, .. } => Ok(uri),
        }
    }

    /// The module's URI.
    pub(super) fn uri(&self) -> &str {
        match &self.source {
            ModuleSource::Uri(uri) | ModuleSource::Text { uri, .. } => uri,
        }
    }

    /// Its path, if it is a file.
    pub(super) fn path(&self) -> Option<PathBuf> {
        file_path(self.uri())
    }

    /// The last part of its URI, without the extension.
    pub(super) fn name(&self) -> String {
        let last = self.uri().rsplit(['/', ':', '#']).next().unwrap_or_default();
        let last = percent_decode(last);
        let name = last.rsplit_once('.').map_or(last.as_str(), |(name, _)| name);
        if name.is_empty() { last } else { name.to_owned() }
    }

    /// Its directory as seen from `directory`, if it is a file.
    pub(super) fn directory_from(&self, directory: &Path) -> Option<PathBuf> {
        let path = self.path()?;
        let here = path.parent()?;
        let shared = here.components().zip(directory.components()).take_while(|(a, b)| a == b).count();
        let up = directory.components().skip(shared).map(|_| "..");
        let down = here.components().skip(shared);
        let relative: PathBuf =
            up.map(PathBuf::from).chain(down.map(|part| part.as_os_str().into())).collect();
        Some(if relative.as_os_str().is_empty() { ".".into() } else { relative })
    }
}

/// The module that a path, a URI, or a name in a dependency stands for.
fn named(name: &str, host: &Host) -> Result<ModuleSource, PklError> {
    if let Some(notation) = name.strip_prefix('@') {
        return host.dependency(notation).map(ModuleSource::Uri);
    }
    if has_scheme(name) {
        return Ok(ModuleSource::Uri(name.to_owned()));
    }
    let path = normal(&host.directory.join(name));
    ModuleSource::file(path).map_err(|source| PklError::Read { name: name.to_owned(), source })
}

/// Whether a name of the command line is a URI and no path.
pub(super) fn has_scheme(name: &str) -> bool {
    pkl_core::reader::scheme(name).is_some()
}

fn read_stdin() -> Result<ModuleSource, PklError> {
    Ok(ModuleSource::Text { uri: STDIN_URI.to_owned(), text: stdin_text()? })
}

/// All of standard input.
///
/// # Errors
/// It can't be read, isn't UTF-8 or is too long.
pub(super) fn stdin_text() -> Result<String, PklError> {
    text_of(io::stdin().lock(), MAX_STDIN)
}

/// All of an input. Its length is compared before it is taken as text: the bound may cut a character.
fn text_of(input: impl Read, limit: u64) -> Result<String, PklError> {
    let failed = |source| PklError::Read { name: "standard input".to_owned(), source };
    let mut bytes = Vec::new();
    let length = input.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if length as u64 > limit {
        return Err(PklError::TooLong { limit });
    }
    String::from_utf8(bytes).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(uri: &str) -> Module {
        Module { source: ModuleSource::Uri(uri.to_owned()) }
    }

    #[test]
    fn a_module_is_named_after_the_last_part_of_its_uri() {
        for (uri, name) in [
            ("file:///a/birds.pkl", "birds"),
            ("file:///a/two%20birds.pkl", "two birds"),
            ("file:///a/birds", "birds"),
            ("file:///a/a.b.txt", "a.b"),
            ("pkl:math", "math"),
            ("repl:text", "text"),
        ] {
            assert_eq!(module(uri).name(), name, "{uri}");
        }
    }

    #[test]
    fn an_input_that_is_too_long_is_told_as_such_even_if_a_character_is_cut() {
        assert_eq!(text_of("aéé".as_bytes(), 5).expect("it fits"), "aéé");
        for limit in 0..5 {
            let told = text_of("aéé".as_bytes(), limit);
            assert!(matches!(told, Err(PklError::TooLong { limit: told }) if told == limit), "{limit}");
        }
        let told = text_of(&b"a\xc3"[..], 5);
        assert!(
            matches!(told, Err(PklError::Read { source, .. }) if source.kind() == io::ErrorKind::InvalidData)
        );
    }

    #[test]
    fn a_directory_is_seen_from_another() {
        let from = Path::new("/birds/nest");
        for (uri, directory) in [
            ("file:///birds/nest/a.pkl", Some(".")),
            ("file:///birds/nest/egg/a.pkl", Some("egg")),
            ("file:///birds/a.pkl", Some("..")),
            ("file:///fish/a.pkl", Some("../../fish")),
            ("file:/birds/nest/a.pkl", Some(".")),
            ("file://host/birds/two%20nests/a.pkl", Some("../two nests")),
            ("pkl:math", None),
        ] {
            assert_eq!(module(uri).directory_from(from).as_deref(), directory.map(Path::new), "{uri}");
        }
    }
}
