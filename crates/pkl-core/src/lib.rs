//! The evaluator of the Pkl language.

mod convert;
pub mod error;
mod evaluator;
mod export;
mod heap;
pub mod host;
mod ir;
mod lower;
#[cfg_attr(not(feature = "mutants"), expect(unreachable_pub, dead_code, reason = "switch points only"))]
pub mod mutants;
mod native;
pub mod reader;
mod session;
pub mod stdlib;
mod store;
mod value;
mod vm;

pub use error::{Error, ErrorCode, SourcePlace, TraceFrame};
pub use evaluator::{Evaluator, EvaluatorBuilder, ModuleSource, TraceSink};
pub use host::Limits;
pub use session::{Handle, MemberPlaces, Session};
