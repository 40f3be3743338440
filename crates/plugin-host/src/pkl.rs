//! Manifests and schemas, evaluated. `@formae` is the package in this program, wherever it stands; what else a schema
//! depends on must be in its own directory.

use formwork_forma::extract::{self, ExtractError, PackageDescriptor, SchemaPackage};
use formwork_forma::package::PackageReader;
use pkl_core::host::{Dependencies, ReadError};
use pkl_core::reader::FileReader;
use pkl_core::{ErrorCode, Evaluator, Limits, ModuleSource, from_tree};
use serde::de::DeserializeOwned;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// How long an evaluation may take, and how much memory.
const TIME: Duration = Duration::from_secs(120);
const MEMORY: usize = 2 << 30;

/// What a manifest at a path says.
///
/// # Errors
/// Why it can't be evaluated, in words.
pub(crate) fn manifest<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let module = ModuleSource::file(path).map_err(|error| error.to_string())?;
    let evaluator = evaluator(path.parent().unwrap_or(path));
    let tree = evaluator.evaluate_module(&module).map_err(|error| said(&error))?;
    from_tree(&tree).map_err(|error| error.to_string())
}

/// What the schema in a directory declares.
///
/// # Errors
/// Why it can't be evaluated, in words.
pub(crate) fn describe(directory: &Path) -> Result<PackageDescriptor, String> {
    let package = SchemaPackage { directory: directory_uri(directory), formae: "formae:/".to_owned() };
    extract::describe(&evaluator(directory), &package).map_err(|error| match error {
        ExtractError::Evaluate(error) => said(&error),
        ExtractError::Shape { .. } => crate::launch::chain(&error),
    })
}

/// Reads files below a directory and nothing else.
pub(crate) fn evaluator(directory: &Path) -> Evaluator {
    let builder = Evaluator::builder()
        .files(FileReader::below(directory))
        .module_reader(PackageReader)
        .dependencies(Formae)
        .limits(Limits { time: Some(TIME), memory: MEMORY, ..Limits::default() });
    formwork_forma::library::add_to(builder).build()
}

/// An evaluation's error: what is wrong, and the place in the plugin's own files.
fn said(error: &pkl_core::Error) -> String {
    let message = error.message.trim();
    let place = error.trace.iter().map(|frame| &frame.place).find(|place| place.uri.starts_with("file:"));
    let place = place.map(|place| format!(" ({}:{})", place.uri.trim_start_matches("file://"), place.line));
    let text = message.lines().collect::<Vec<_>>().join(" ");
    crate::escape::shown(&format!("{text}{}", place.unwrap_or_default()), 1000)
}

/// The URI of a directory, with a slash at its end.
pub(crate) fn directory_uri(directory: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in directory.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri.push('/');
    uri
}

/// `@formae`, and no other dependency.
struct Formae;

impl Dependencies for Formae {
    fn locate(&self, _base: &str, name: &str) -> Result<String, ReadError> {
        if name == "formae" {
            return Ok("formae:".to_owned());
        }
        let name = crate::escape::shown(name, 80);
        let message =
            format!("There is no dependency `{name}`: a plugin's schema has `@formae` and its own modules.");
        Err(ReadError::Told { code: ErrorCode::NotFound, message, hint: None })
    }
}
