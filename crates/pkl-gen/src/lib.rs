//! Random well-formed Pkl programs, and the comparison of what two evaluators make of them.

mod choices;
mod generate;

pub use choices::Choices;
pub use generate::program;
