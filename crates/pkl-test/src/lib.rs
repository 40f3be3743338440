//! Runs test modules of the Pkl language and reports on them.
//!
//! Nothing here touches a file: [`run`] is given the expected examples and says what is to be written.

pub mod junit;
pub mod report;
mod results;
mod run;

pub use results::{Count, Failure, FailureKind, Group, ModuleResults, TestError};
pub use run::{Expected, RunError, Tested, run};
