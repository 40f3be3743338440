//! From flags to request bodies.

use super::CommandError;
use super::error::SourceText;
use crate::args::{ParameterArgs, TemplateArgs};
use crate::env_file::EnvFile;
use crate::parameters::{Variables, json_problem, parameters};
use formwork_api::json;
use formwork_formation::drawable;
use formwork_model::{SourceFile, SourceMap};
use formwork_platform::Platform;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The most bytes of a template; the server has the same bound.
const MAX_TEMPLATE: u64 = 16 << 20;
/// The most bytes of an env file.
const MAX_ENV_FILE: u64 = 1 << 20;

/// The template of the flags, with its text to draw places in.
///
/// # Errors
/// The file can't be read, or is empty.
pub(crate) fn template(arguments: &TemplateArgs) -> Result<Option<SourceText>, CommandError> {
    if let Some(text) = &arguments.template {
        return Ok(Some(SourceText { name: "--template".to_owned(), text: text.clone() }));
    }
    let Some(path) = arguments.file() else { return Ok(None) };
    let (name, bytes) = if path.as_os_str() == "-" {
        ("<stdin>".to_owned(), read(io::stdin().lock(), path, MAX_TEMPLATE)?)
    } else {
        let file = File::open(path).map_err(|source| CommandError::Read { path: path.clone(), source })?;
        (path.display().to_string(), read(file, path, MAX_TEMPLATE)?)
    };
    let text = String::from_utf8(bytes).map_err(|error| not_carried(&name, error.as_bytes()))?;
    if text.contains('\0') {
        return Err(not_carried(&name, text.as_bytes()));
    }
    if text.trim().is_empty() {
        return Err(CommandError::Empty { path: path.clone() });
    }
    Ok(Some(SourceText { name, text }))
}

/// The template, which this command can't do without.
///
/// # Errors
/// As [`template`], and where there is none.
pub(crate) fn required_template(arguments: &TemplateArgs) -> Result<SourceText, CommandError> {
    template(arguments)?.ok_or_else(|| {
        CommandError::Argument("a template is needed: give --template-file or --template".to_owned())
    })
}

/// Reads a source to its end.
///
/// # Errors
/// It can't be read, or has more bytes than it may.
pub(super) fn read(source: impl io::Read, path: &Path, limit: u64) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    source
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| CommandError::Read { path: path.to_owned(), source })?;
    if bytes.len() as u64 > limit {
        return Err(CommandError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// Why a file that a JSON request can't carry (it is not UTF-8, or holds U+0000) is no template: the same
/// diagnostic, with its place, that the server would give if it could be shown the bytes.
fn not_carried(name: &str, bytes: &[u8]) -> CommandError {
    let parsed = formwork_formation::parse(name, bytes, &formwork_formation::Limits::default());
    // A credential may stand in the line that is drawn.
    let text = String::from_utf8_lossy(bytes);
    let drawn = drawable(text.trim_start_matches('\u{feff}'), &*Platform::catalog()).into_owned();
    let map = Box::new(SourceMap { files: vec![SourceFile::new(name, drawn)], ..SourceMap::default() });
    CommandError::Encoding { diagnostics: parsed.err().unwrap_or_default(), map }
}

/// The parameters of the flags; `None` if none were given.
///
/// # Errors
/// A parameter or the env file can't be used.
pub(crate) fn parameter_bag(arguments: &ParameterArgs) -> Result<Option<Map<String, Value>>, CommandError> {
    let file = match &arguments.env_file {
        None => EnvFile::default(),
        Some(path) => {
            let opened =
                File::open(path).map_err(|source| CommandError::Read { path: path.clone(), source })?;
            let text = String::from_utf8(read(opened, path, MAX_ENV_FILE)?).map_err(|_| {
                // The bytes may be a secret: neither they nor their place is told.
                let source = io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
                CommandError::Read { path: path.clone(), source }
            })?;
            EnvFile::parse(&text).map_err(|reason| CommandError::EnvFile { path: path.clone(), reason })?
        }
    };
    let process = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let variables = Variables { file: &file, process: &process };
    let given: Vec<&str> = arguments.parameter.iter().map(|given| given.expose().as_str()).collect();
    let all = arguments.parameters.as_ref().map(|given| given.expose().as_str());
    Ok(parameters(&given, all, &variables)?)
}

/// A flag whose text is JSON.
///
/// # Errors
/// It is not JSON; the message has the place, not the text.
pub(crate) fn json_flag(flag: &str, text: &str) -> Result<Value, CommandError> {
    json::parse(text.as_bytes(), json::REQUEST_DEPTH)
        .map_err(|error| CommandError::Argument(format!("`{flag}` is not JSON: {}", json_problem(&error))))
}

/// A body under construction: members that are not given are left out.
#[derive(Default)]
pub(crate) struct Body(Map<String, Value>);

impl Body {
    pub(crate) fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
        self
    }

    pub(crate) fn build(self) -> Value {
        Value::Object(self.0)
    }
}
