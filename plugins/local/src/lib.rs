//! The `LOCAL` plugin: files, random values, keys and certificates below one directory of this machine.
//!
//! A target names the directory, its root. Types of the file system stand in it under their paths; what
//! has no provider that would keep it (random values, keys, certificates) is a record in `.formwork/`
//! below the root, which only the plugin's user can read.
//!
//! **Architecture invariant:** files are reached by `confined` alone, which never leaves the root. No
//! result of a call holds a secret, except a read that is told not to redact.

mod confined;
mod fault;
mod fields;
mod fs;
mod kept;
mod local_type;
mod plugin;
mod random;
mod records;
mod target;
mod tls;

pub use plugin::{LocalPlugin, NAMESPACE, root_id};
