//! The formae front end.
//!
//! - [`package`]: the `@formae` package, which is part of the program.
//! - [`mirror`]: the package in place of what would be downloaded.
//! - [`library`], [`tfvars`]: what the package's `ext/` modules ask of their host.
//! - [`extract`]: what a plugin's schema package declares.
//! - [`evaluate`]: what a module declares, as a [`Forma`]; [`wire`]: the same from JSON.

mod desire;
pub mod extract;
mod forma;
pub mod library;
mod lower;
pub mod mirror;
pub mod package;
pub mod tfvars;
pub mod wire;

pub use desire::{DesireRequest, desired, stack_id};
pub use forma::{Description, Forma, Named, Policy, Resource, Stack, Target, TypeSchema};
pub use lower::{FormaError, FormaRequest, Invalid, evaluate, properties};
