//! A process as the readers of an evaluator.

use crate::message::{Kind, Request, Response, Spec};
use crate::process::{Process, ProcessError};
use pkl_core::ErrorCode;
use pkl_core::host::{Listed, ModuleReader, ReadError, Resource, ResourceReader};
use std::sync::Arc;

/// Modules of one scheme, read by a process.
#[derive(Clone)]
pub struct ExternalModuleReader(Reader);

/// Resources of one scheme, read by a process.
#[derive(Clone)]
pub struct ExternalResourceReader(Reader);

#[derive(Clone)]
struct Reader {
    kind: Kind,
    scheme: String,
    process: Arc<Process>,
}

impl ExternalModuleReader {
    /// Reads modules of this scheme by this process.
    pub fn new(scheme: impl Into<String>, process: Arc<Process>) -> Self {
        Self(Reader { kind: Kind::Module, scheme: scheme.into(), process })
    }
}

impl ExternalResourceReader {
    /// Reads resources of this scheme by this process.
    pub fn new(scheme: impl Into<String>, process: Arc<Process>) -> Self {
        Self(Reader { kind: Kind::Resource, scheme: scheme.into(), process })
    }
}

impl Reader {
    fn spec(&self) -> Result<Spec, ReadError> {
        let spec = self.process.spec(self.kind, &self.scheme).map_err(|error| failed(&error))?;
        spec.ok_or_else(|| {
            let kind = if self.kind == Kind::Module { "module" } else { "resource" };
            let message = format!("External {kind} reader does not support scheme `{}`.", self.scheme);
            ReadError::Told { code: ErrorCode::Unreadable, message, hint: None }
        })
    }

    fn is_hierarchical(&self) -> bool {
        // Who can't say so can't read either, and reading says why.
        self.spec().is_ok_and(|spec| spec.is_hierarchical)
    }

    fn ask(&self, request: &Request) -> Result<Response, ReadError> {
        self.spec()?;
        self.process.ask(request).map_err(|error| failed(&error))
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        if !self.spec()?.is_globbable {
            return Err(ReadError::NotGlobbable);
        }
        match self.ask(&Request::List { kind: self.kind, uri: uri.to_owned() })? {
            Response::Elements { kind, elements } if kind == self.kind => {
                elements.map_err(|error| own(&error))
            }
            _ => Err(other()),
        }
    }
}

/// What a reader says went wrong, as the official evaluator shows it.
fn own(error: &str) -> ReadError {
    ReadError::Failed(format!("IOException: {error}"))
}

fn failed(error: &ProcessError) -> ReadError {
    ReadError::Failed(error.to_string())
}

fn other() -> ReadError {
    ReadError::Failed("The external reader answered another request.".to_owned())
}

impl ModuleReader for ExternalModuleReader {
    fn scheme(&self) -> &str {
        &self.0.scheme
    }

    fn is_hierarchical(&self) -> bool {
        self.0.is_hierarchical()
    }

    fn read(&self, uri: &str) -> Result<String, ReadError> {
        match self.0.ask(&Request::Read { kind: Kind::Module, uri: uri.to_owned() })? {
            Response::Text(text) => text.map_err(|error| own(&error)),
            _ => Err(other()),
        }
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        self.0.list(uri)
    }
}

impl ResourceReader for ExternalResourceReader {
    fn scheme(&self) -> &str {
        &self.0.scheme
    }

    fn is_hierarchical(&self) -> bool {
        self.0.is_hierarchical()
    }

    fn read(&self, uri: &str) -> Result<Option<Resource>, ReadError> {
        match self.0.ask(&Request::Read { kind: Kind::Resource, uri: uri.to_owned() })? {
            Response::Bytes(bytes) => {
                bytes.map(|bytes| Some(Resource::Bytes(bytes.into()))).map_err(|error| own(&error))
            }
            _ => Err(other()),
        }
    }

    fn list(&self, uri: &str) -> Result<Vec<Listed>, ReadError> {
        self.0.list(uri)
    }
}
