//! The settings of a person for all uses of the command line: a module that amends `pkl:settings`.

use super::PklError;
use super::environment;
use super::module::has_scheme;
use pkl_core::reader::{FileReader, file_path};
use pkl_core::{Error, ErrorCode, Evaluator, ModuleSource, SourcePlace, from_tree};
use pkl_project::Http;
use serde::Deserialize;
use std::path::Path;

/// What a person has set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Person {
    /// How requests are made.
    #[serde(deserialize_with = "or_default")]
    pub(super) http: Http,
    editor: Option<Editor>,
}

/// What opens places.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Editor {
    url_scheme: String,
}

fn or_default<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Http, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

impl Person {
    /// The settings in the module that is named, else in `~/.pkl/settings.pkl`, if there is one.
    ///
    /// # Errors
    /// They can't be evaluated, or the module is no settings module.
    pub(super) fn load(given: Option<&str>, directory: &Path) -> Result<Self, PklError> {
        let read = |source| PklError::Read { name: "the settings".to_owned(), source };
        let module = match given {
            Some(name) if has_scheme(name) => ModuleSource::Uri(name.to_owned()),
            Some(path) => ModuleSource::file(directory.join(path)).map_err(read)?,
            None => match environment::shared("settings.pkl").filter(|path| path.is_file()) {
                Some(path) => ModuleSource::file(path).map_err(read)?,
                None => return Ok(Self::default()),
            },
        };
        let evaluator =
            Evaluator::builder().files(FileReader::new()).environment(environment::texts()).build();
        let loaded = evaluator.session(&module, |session| {
            let settings = session.module();
            let class = session.class_of(settings)?;
            if &*class.module != "pkl.settings" {
                return Err(no_settings(session.uri(), &class.module));
            }
            let tree = session.export(settings)?;
            from_tree(&tree).map_err(|error| invalid(error.to_string()))
        });
        Ok(loaded?)
    }

    /// An error whose places are shown so that the person's editor opens them.
    pub(super) fn linked(&self, mut error: Error) -> Error {
        if let Some(editor) = &self.editor {
            for frame in &mut error.trace {
                if !frame.place.uri.starts_with("pkl:") {
                    frame.link = Some(editor.link(&frame.place));
                }
            }
        }
        error
    }
}

impl Editor {
    fn link(&self, place: &SourcePlace) -> String {
        let path =
            file_path(&place.uri).map_or_else(|| place.uri.to_string(), |path| path.display().to_string());
        [
            ("%{url}", place.uri.to_string()),
            ("%{path}", path),
            ("%{line}", place.line.to_string()),
            ("%{endLine}", place.end.0.to_string()),
            ("%{column}", place.column.to_string()),
            ("%{endColumn}", place.end.1.to_string()),
        ]
        .iter()
        .fold(self.url_scheme.clone(), |link, (name, value)| link.replace(name, value))
    }
}

fn no_settings(module: &str, name: &str) -> Error {
    let message = format!(
        "Expected `output.value` of module `{module}` to be of type `pkl.settings`, but got type `{name}`."
    );
    let hint = Some("Try adding `amends \"pkl:settings\"` to the module header.".to_owned());
    Error { hint, ..invalid(message) }
}

fn invalid(message: String) -> Error {
    Error { code: ErrorCode::TypeMismatch, message, hint: None, trace: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_has_what_its_form_asks_for() {
        let editor = Editor {
            url_scheme: "e://%{path}:%{line}:%{column}-%{endLine}:%{endColumn} %{url} %{x}".to_owned(),
        };
        let place = SourcePlace {
            uri: "file:///a%20b/c.pkl".into(),
            line: 3,
            column: 7,
            end: (4, 6),
            width: 9,
            text: String::new(),
        };
        assert_eq!(editor.link(&place), "e:///a b/c.pkl:3:7-4:6 file:///a%20b/c.pkl %{x}");
    }
}
