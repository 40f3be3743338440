//! The evaluator of the Pkl language.

pub mod error;
mod heap;
pub mod host;
mod ir;
mod lower;
mod native;
pub mod reader;
pub mod stdlib;
mod store;
mod value;
mod vm;
