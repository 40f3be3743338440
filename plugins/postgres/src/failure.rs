//! What went wrong, in the protocol's codes.

use formwork_plugin::OperationErrorCode::{
    self, AccessDenied, AlreadyExists, InternalFailure, InvalidRequest, NotFound, NotStabilized,
    ServiceUnavailable, Throttling,
};
use std::error::Error as _;
use std::io;
use tokio_postgres::error::DbError;
use tokio_rustls::rustls;

/// Why a call did not do what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It did nothing.
    Refused {
        /// The protocol's code.
        code: OperationErrorCode,
        /// For a person.
        message: String,
    },
    /// The connection was lost when the call had been told to take effect.
    InDoubt {
        /// What happened.
        reason: String,
    },
}

impl Failure {
    pub(crate) fn new(code: OperationErrorCode, message: impl Into<String>) -> Self {
        Self::Refused { code, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(InvalidRequest, message)
    }

    /// The object of an update is not there.
    pub(crate) fn gone(what: &str) -> Self {
        Self::new(NotFound, format!("{what} does not exist"))
    }

    pub(crate) fn is(&self, wanted: OperationErrorCode) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == wanted)
    }

    /// The same failure of an update of something that is there: what does not exist is something that
    /// the declaration refers to.
    pub(crate) fn of_update(self) -> Self {
        match self {
            Self::Refused { code: NotFound, message } => Self::invalid(message),
            other => other,
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        if let Some(said) = error.as_db_error() {
            return Self::new(code_of(said), in_words(said));
        }
        let cause = innermost(&error);
        let message = if cause.is_empty() { error.to_string() } else { format!("{error}: {cause}") };
        Self::new(code_of_client(&error), message)
    }
}

/// The code of what the server says.
fn code_of(said: &DbError) -> OperationErrorCode {
    let state = said.code().code();
    match state {
        // Several transactions change one row of a catalog; the second has to try again.
        "XX000" if said.message().contains("concurrently") => NotStabilized,
        // Two transactions make the same object; the catalog's index notices.
        "23505" if said.schema() == Some("pg_catalog") => AlreadyExists,
        _ => code_of_state(state),
    }
}

/// The table in `docs/reference/plugins/postgres.md`.
fn code_of_state(state: &str) -> OperationErrorCode {
    match state {
        "42P04" | "42P06" | "42P07" | "42710" | "42723" => AlreadyExists,
        "3D000" | "3F000" | "42P01" => NotFound,
        "42501" => AccessDenied,
        "40001" | "40P01" | "55006" | "55P03" => NotStabilized,
        "53300" | "53400" => Throttling,
        // A standby, which may become the primary.
        "25006" => ServiceUnavailable,
        _ => match state.get(..2).unwrap_or_default() {
            "08" | "53" | "57" | "58" => ServiceUnavailable,
            "28" => AccessDenied,
            "40" => NotStabilized,
            "XX" | "F0" => InternalFailure,
            _ => InvalidRequest,
        },
    }
}

fn in_words(said: &DbError) -> String {
    let mut message = said.message().to_owned();
    for (before, more) in [("; ", said.detail()), ("; hint: ", said.hint())] {
        if let Some(more) = more {
            message.push_str(before);
            message.push_str(&more.replace('\n', "; "));
        }
    }
    format!("{message} (SQLSTATE {})", said.code().code())
}

/// The code of what went wrong without a word of the server.
fn code_of_client(error: &tokio_postgres::Error) -> OperationErrorCode {
    let mut cause = error.source();
    while let Some(found) = cause {
        if found.is::<rustls::Error>() {
            return AccessDenied;
        }
        if let Some(io) = found.downcast_ref::<io::Error>() {
            let within = io.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>);
            return if within { AccessDenied } else { ServiceUnavailable };
        }
        cause = found.source();
    }
    match error.to_string().as_str() {
        "authentication error" | "invalid configuration" | "error performing TLS handshake" => AccessDenied,
        "connection closed" | "timeout waiting for server" | "error connecting to server" => {
            ServiceUnavailable
        }
        _ => InternalFailure,
    }
}

fn innermost(error: &tokio_postgres::Error) -> String {
    let mut words = String::new();
    let mut cause = error.source();
    while let Some(found) = cause {
        words = found.to_string();
        cause = found.source();
    }
    words
}

/// Whether the connection is gone, so that the server may not have heard or not have answered.
pub(crate) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        // The server ends the connection; whatever it did not acknowledge may or may not have happened.
        Some(said) => matches!(said.code().code(), "57P01" | "57P02" | "57P03" | "57P05"),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_sqlstate_has_a_code() {
        for (state, code) in [
            ("08006", ServiceUnavailable),
            ("0A000", InvalidRequest),
            ("22023", InvalidRequest),
            ("23502", InvalidRequest),
            ("25006", ServiceUnavailable),
            ("28P01", AccessDenied),
            ("2BP01", InvalidRequest),
            ("3D000", NotFound),
            ("3F000", NotFound),
            ("40001", NotStabilized),
            ("40P01", NotStabilized),
            ("42501", AccessDenied),
            ("42601", InvalidRequest),
            ("42710", AlreadyExists),
            ("42723", AlreadyExists),
            ("42P01", NotFound),
            ("42P04", AlreadyExists),
            ("42P06", AlreadyExists),
            ("42P07", AlreadyExists),
            ("53100", ServiceUnavailable),
            ("53300", Throttling),
            ("54011", InvalidRequest),
            ("55006", NotStabilized),
            ("55P03", NotStabilized),
            ("57014", ServiceUnavailable),
            ("57P03", ServiceUnavailable),
            ("58030", ServiceUnavailable),
            ("P0001", InvalidRequest),
            ("XX001", InternalFailure),
            ("", InvalidRequest),
        ] {
            assert_eq!(code_of_state(state), code, "{state}");
        }
    }
}
