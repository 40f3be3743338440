//! The corpus: Pkl programs, each with its expectation in a file beside it.
//!
//! A [`Case`] is one program with the options of its header comment. An [`Engine`] evaluates it once
//! per [`Render`]; what comes out is an [`Outcome`], and the outcomes of a case make an
//! [`Expectation`], the content of its `.expected` file. The format is described for authors in
//! `crates/pkl-core/tests/corpus/README.md`.
//!
//! The [`Oracle`] is the engine that expectations are taken from: the official binary.

mod case;
mod command;
mod escape;
mod expectation;
mod oracle;
mod outcome;
mod packages;
mod report;

pub use case::{Case, CaseError, Options, Render, discover};
pub use command::{CommandError, run, verify};
pub use expectation::{Expectation, ExpectationError};
pub use oracle::{Oracle, OracleError, named_oracle};
pub use outcome::{Engine, Failure, NoVerdict, Outcome, Place, Produced, evaluate};
pub use packages::fill_cache;
