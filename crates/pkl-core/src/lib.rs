//! The evaluator of the Pkl language.
//!
//! [`Evaluator`] is the way in. How it works inside is described in `ARCHITECTURE.md`.

#![allow(clippy::unnecessary_box_returns, reason = "errors travel boxed, so that every result is small")]
#![allow(clippy::single_match_else, reason = "both cases of a value stand side by side")]

/// The version of the language that is implemented.
pub const LANGUAGE_VERSION: &str = "0.30.2";

mod convert;
mod de;
pub mod error;
mod evaluator;
mod export;
mod heap;
pub mod host;
mod ir;
mod items;
mod lower;
pub mod mutants;
mod native;
pub mod reader;
mod session;
pub mod stdlib;
mod store;
mod value;
mod vm;

pub use de::{DeserializeError, from_tree};
pub use error::{Error, ErrorCode, SourcePlace, TraceFrame};
pub use evaluator::{Evaluator, EvaluatorBuilder, ModuleSource, TraceSink};
pub use host::Limits;
pub use items::Item;
pub use session::{Handle, MemberPlaces, Session};
