//! Keys and certificates.

mod certificate;
mod names;
mod private_key;

pub(crate) use certificate::CertificateMaker;
pub(crate) use private_key::PrivateKeyMaker;

use crate::fault::Fault;
use formwork_plugin::OperationErrorCode;

/// What a library could not do, in words that hold no key.
fn failed(attempt: &str, error: &dyn std::fmt::Display) -> Fault {
    Fault::new(OperationErrorCode::InternalFailure, format!("cannot {attempt}: {error}"))
}
