//! The formae front end.
//!
//! - [`package`]: the `@formae` package, which is part of the program.
//! - [`mirror`]: the package in place of what would be downloaded.
//! - [`library`], [`tfvars`]: what the package's `ext/` modules ask of their host.
//! - [`extract`]: what a plugin's schema package declares.

pub mod extract;
pub mod library;
pub mod mirror;
pub mod package;
pub mod tfvars;
