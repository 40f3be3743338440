//! From a failed job over objects to an answer.

use crate::{Refusal, TypeEntry};
use formwork_model::WireCode;
use formwork_store::{DomainError, DomainFailure, StoreError};
use serde_json::json;

/// How a job over objects failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It was refused; nothing was changed.
    Refused(Refusal),
    /// There is no such object; nothing was changed.
    NotFound(Refusal),
    /// The lease is gone; nothing was changed.
    Fenced,
    /// The store failed; with a token the call can be repeated.
    Store(StoreError),
}

impl Failed {
    /// Reads a failure of a job on objects of a type, or of any.
    pub(crate) fn of(failure: DomainFailure, entry: Option<&TypeEntry>) -> Self {
        match failure {
            DomainFailure::Job(error) => Self::of_job(error, entry),
            DomainFailure::Fenced { .. } => Self::Fenced,
            DomainFailure::Store(error) => Self::Store(error),
        }
    }

    fn of_job(error: DomainError, entry: Option<&TypeEntry>) -> Self {
        let noun = entry.map_or("Object", |entry| entry.definition().noun);
        match error {
            DomainError::NotFound { id } => Self::NotFound(match entry {
                Some(entry) => entry.not_found(&id),
                None => not_found(noun, &id),
            }),
            DomainError::VersionConflict { id, expected, found } => Self::Refused(
                Refusal::new(
                    WireCode::VersionConflict,
                    format!(
                        "{noun} '{id}' changed since it was read: it is at version {found}, not {expected}"
                    ),
                )
                .meta(json!({ "expected": expected, "found": found })),
            ),
            DomainError::KeyTaken { key, value, .. } => Self::Refused(
                Refusal::new(
                    WireCode::NameConflict,
                    format!("The {key} '{value}' is already taken in this project"),
                )
                .meta(json!({ "field": key })),
            ),
            DomainError::Refused { code, message, meta } => {
                let code = WireCode::parse(&code).unwrap_or(WireCode::Unknown);
                Self::Refused(Refusal { code, message, meta })
            }
            fault @ DomainError::Fault(_) => Self::Store(StoreError::Object(fault)),
        }
    }
}

/// The refusal of an id that is not there and that no type of its own speaks for.
pub(crate) fn not_found(noun: &str, id: &str) -> Refusal {
    Refusal::new(WireCode::ResourceNotFound, format!("{noun} not found: {id}"))
}
