//! Being a reader's process.

use crate::message::{Kind, MessageError, Request, Response, Spec, ToReader, read_request};
use pkl_core::host::{ModuleReader, ReadError, Resource, ResourceReader};
use std::io::{self, Read, Write};

/// Why an evaluator is no longer answered.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// What it sends is no request.
    #[error("the evaluator does not keep to the protocol: {0}")]
    Message(#[from] MessageError),
    /// It doesn't take answers.
    #[error("the evaluator does not take answers: {0}")]
    Output(#[from] io::Error),
}

/// What is answered for.
#[derive(Default)]
pub struct Served {
    modules: Vec<Box<dyn ModuleReader>>,
    resources: Vec<Box<dyn ResourceReader>>,
}

impl Served {
    /// Answers for the modules of this reader's scheme too.
    #[must_use]
    pub fn module_reader(mut self, reader: impl ModuleReader + 'static) -> Self {
        self.modules.push(Box::new(reader));
        self
    }

    /// Answers for the resources of this reader's scheme too.
    #[must_use]
    pub fn resource_reader(mut self, reader: impl ResourceReader + 'static) -> Self {
        self.resources.push(Box::new(reader));
        self
    }

    fn module(&self, uri: &str) -> Option<&dyn ModuleReader> {
        let scheme = scheme(uri);
        self.modules.iter().map(|reader| &**reader).find(|reader| reader.scheme() == scheme)
    }

    fn resource(&self, uri: &str) -> Option<&dyn ResourceReader> {
        let scheme = scheme(uri);
        self.resources.iter().map(|reader| &**reader).find(|reader| reader.scheme() == scheme)
    }

    fn spec(&self, kind: Kind, scheme: &str) -> Option<Spec> {
        let is_hierarchical = match kind {
            Kind::Module => self.module(scheme)?.is_hierarchical(),
            Kind::Resource => self.resource(scheme)?.is_hierarchical(),
        };
        // Who can't list says so when asked.
        Some(Spec { scheme: scheme.to_owned(), is_hierarchical, is_globbable: true })
    }

    fn answer(&self, request: &Request) -> Response {
        match request {
            Request::Describe { kind, scheme } => {
                Response::Described { kind: *kind, spec: self.spec(*kind, scheme) }
            }
            Request::Read { kind: Kind::Module, uri } => {
                let text = self.module(uri).ok_or(ReadError::NotFound).and_then(|reader| reader.read(uri));
                Response::Text(text.map_err(|error| told(&error)))
            }
            Request::Read { kind: Kind::Resource, uri } => {
                let read = self.resource(uri).ok_or(ReadError::NotFound).and_then(|reader| reader.read(uri));
                let bytes = read.and_then(|resource| match resource {
                    Some(Resource::Text(text)) => Ok(text.as_bytes().to_vec()),
                    Some(Resource::Bytes(bytes) | Resource::Found { bytes, .. }) => Ok(bytes.to_vec()),
                    None => Err(ReadError::NotFound),
                });
                Response::Bytes(bytes.map_err(|error| told(&error)))
            }
            Request::List { kind, uri } => {
                let elements = match kind {
                    Kind::Module => self.module(uri).map(|reader| reader.list(uri)),
                    Kind::Resource => self.resource(uri).map(|reader| reader.list(uri)),
                };
                let elements = elements.unwrap_or(Err(ReadError::NotFound));
                Response::Elements { kind: *kind, elements: elements.map_err(|error| told(&error)) }
            }
        }
    }
}

/// The scheme of a URI; a scheme by itself is one.
fn scheme(uri: &str) -> &str {
    uri.split(':').next().unwrap_or(uri)
}

fn told(error: &ReadError) -> String {
    error.to_string()
}

/// Answers an evaluator until it says that it is done, or ends.
///
/// # Errors
/// It sends what is no request, or takes no answers.
pub fn serve(served: &Served, input: &mut impl Read, output: &mut impl Write) -> Result<(), ServeError> {
    while let Some(ToReader::Request { id, request }) = read_request(input)? {
        served.answer(&request).write(id, output)?;
    }
    Ok(())
}
