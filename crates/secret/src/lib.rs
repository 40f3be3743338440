//! Secret values, keyed digests, sealing and redaction.
//!
//! **Architecture invariant:** nothing here stores anything, except that
//! [`InstanceKey::load_or_create`] may write the key file itself. A [`Secret`] cannot be printed,
//! serialised or compared with `==`; a [`Digest`] compares in constant time; [`InstanceKey`] is the
//! only thing that can make digests, tokens and sealed blobs.

mod compare;
mod digest;
mod draw;
mod hex;
mod key;
mod key_file;
mod key_id;
mod random;
mod redact;
mod sealed;
mod secret;
mod wipe;

pub use compare::{AsBytes, constant_time_eq};
pub use digest::Digest;
pub use draw::{Draw, SystemDraw};
pub use hex::{HexError, hex};
pub use key::InstanceKey;
pub use key_file::KeyError;
pub use key_id::KeyId;
pub use random::random_bytes;
pub use redact::Redactor;
pub use sealed::{OpenError, Sealed};
pub use secret::Secret;
pub use wipe::Wipe;
