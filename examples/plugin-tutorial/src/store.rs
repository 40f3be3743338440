//! The directory that notes are in.

use crate::note::{Note, TYPE};
use formwork_model::{Json, TypeName};
use formwork_plugin::OperationErrorCode as Code;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

/// Why a call is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { code: Code::InvalidRequest, message: message.into() }
    }
}

impl From<std::io::Error> for Refusal {
    /// The code says whether it may help to call again.
    fn from(error: std::io::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::NotFound => Code::NotFound,
            ErrorKind::AlreadyExists => Code::AlreadyExists,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Code::AccessDenied,
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Code::ServiceUnavailable,
            ErrorKind::InvalidData => Code::InvalidRequest,
            _ => Code::InternalFailure,
        };
        Self { code, message: error.to_string() }
    }
}

/// Notes, each in a file under its name.
pub(crate) struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store of a target. A target that isn't there is an error: it must not look as if all its notes
    /// were gone.
    pub(crate) fn of(type_name: &TypeName, target_config: &Json) -> Result<Self, Refusal> {
        if type_name.as_str() != TYPE {
            return Err(Refusal::invalid(format!("there is no type `{type_name}` here")));
        }
        let directory = target_config.get("Directory").and_then(Json::as_str).map(PathBuf::from);
        match directory.filter(|directory| directory.is_dir()) {
            Some(directory) => Ok(Self { directory }),
            None => Err(Refusal::invalid("`Directory` must name a directory that is there")),
        }
    }

    fn path(&self, note: &Note) -> PathBuf {
        self.directory.join(note.name())
    }

    /// Never overwrites what is there.
    pub(crate) fn create(&self, note: &Note) -> Result<(), Refusal> {
        let mut file = File::create_new(self.path(note))?;
        file.write_all(note.text.as_bytes())?;
        Ok(file.sync_all()?)
    }

    pub(crate) fn read(&self, name: &str) -> Result<Option<Note>, Refusal> {
        let Some(mut note) = Note::new(name, String::new()) else { return Ok(None) };
        match fs::read_to_string(self.path(&note)) {
            Ok(text) => note.text = text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        Ok(Some(note))
    }

    pub(crate) fn update(&self, name: &str, note: &Note) -> Result<(), Refusal> {
        if note.name() != name {
            return Err(Refusal::invalid("the name of a note cannot change"));
        }
        let mut file = File::options().write(true).truncate(true).open(self.path(note))?;
        file.write_all(note.text.as_bytes())?;
        Ok(file.sync_all()?)
    }

    /// A note that is gone counts as deleted.
    pub(crate) fn delete(&self, name: &str) -> Result<(), Refusal> {
        let Some(note) = Note::new(name, String::new()) else { return Ok(()) };
        match fs::remove_file(self.path(&note)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The names of all notes, in order.
    pub(crate) fn names(&self) -> Result<Vec<String>, Refusal> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.directory)? {
            let name = entry?.file_name();
            let note = name.to_str().and_then(|name| Note::new(name, String::new()));
            names.extend(note.map(|note| note.name().to_owned()));
        }
        names.sort();
        Ok(names)
    }
}
