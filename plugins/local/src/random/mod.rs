//! Values by chance: drawn once by the system's generator, and kept.

mod id;
mod password;

pub(crate) use id::IdMaker;
pub(crate) use password::PasswordMaker;
