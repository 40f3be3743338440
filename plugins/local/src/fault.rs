//! Why a call is refused: a code of the protocol, and words for a person.

use formwork_plugin::OperationErrorCode as Code;
use rustix::io::Errno;
use std::fmt::Display;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What kind of refusal it is.
    pub(crate) code: Code,
    /// Why, without any secret in it.
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// What was asked for makes no sense.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }

    /// Something is not there.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// Something is in the way.
    pub(crate) fn exists(message: impl Into<String>) -> Self {
        Self::new(Code::AlreadyExists, message)
    }

    /// It may not be done.
    pub(crate) fn denied(message: impl Into<String>) -> Self {
        Self::new(Code::AccessDenied, message)
    }

    /// What the system says of an attempt: `cannot {attempt}: {what the system says}`.
    pub(crate) fn system(errno: Errno, attempt: impl Display) -> Self {
        Self::new(code_of(errno), format!("cannot {attempt}: {}", words(errno)))
    }

    /// [`system`](Self::system), for what the standard library brings.
    pub(crate) fn io(error: &std::io::Error, attempt: impl Display) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::system(errno, attempt),
            None => Self::new(Code::InternalFailure, format!("cannot {attempt}: {error}")),
        }
    }
}

/// The protocol's code for an error of the system. `NOT_FOUND` means what is asked for, or the way to
/// it; a full disk is out of service, since it may be emptied.
fn code_of(errno: Errno) -> Code {
    match errno {
        Errno::NOENT | Errno::NOTDIR => Code::NotFound,
        Errno::EXIST => Code::AlreadyExists,
        // A symbolic link, where none is followed.
        Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::LOOP => Code::AccessDenied,
        Errno::NAMETOOLONG | Errno::INVAL | Errno::NOTEMPTY | Errno::ISDIR | Errno::FBIG | Errno::ILSEQ => {
            Code::InvalidRequest
        }
        Errno::NOSPC | Errno::DQUOT | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::STALE => {
            Code::ServiceUnavailable
        }
        Errno::BUSY | Errno::TXTBSY | Errno::AGAIN => Code::NotStabilized,
        _ => Code::InternalFailure,
    }
}

/// What the system says, in its own words.
fn words(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_has_a_code_and_words() {
        for (errno, code) in [
            (Errno::NOENT, Code::NotFound),
            (Errno::ACCESS, Code::AccessDenied),
            (Errno::PERM, Code::AccessDenied),
            (Errno::ROFS, Code::AccessDenied),
            (Errno::NOSPC, Code::ServiceUnavailable),
            (Errno::DQUOT, Code::ServiceUnavailable),
            (Errno::NAMETOOLONG, Code::InvalidRequest),
            (Errno::BUSY, Code::NotStabilized),
            (Errno::IO, Code::InternalFailure),
        ] {
            assert_eq!(Fault::system(errno, "write").code, code, "{errno:?}");
        }
        let fault = Fault::system(Errno::NOSPC, "write `a`");
        assert_eq!(fault.message, "cannot write `a`: No space left on device");
    }
}
