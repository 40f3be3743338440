//! The formae front end.
//!
//! - [`package`]: the `@formae` package, which is part of the program.
//! - [`library`]: what the package's `ext/` modules ask of their host.
//! - [`extract`]: what a plugin's schema package declares.

pub mod extract;
pub mod library;
pub mod package;
