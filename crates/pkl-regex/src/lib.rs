//! Regular expressions with the syntax and the meaning of Java's `java.util.regex`, Unicode classes on.
//!
//! A pattern becomes a small program ([`Regex::new`]) that a backtracking machine runs over a `&str`.
//! The machine has its own stack, so no pattern and no text can overflow ours, and every run is held
//! to a [`Budget`] of steps and time: a pattern that explodes ends with a [`LimitError`].
//!
//! Text is matched by code points; positions are byte offsets. What Java has and this has not:
//! character names (`\N{…}`), canonical equivalence, and matches that cut a surrogate pair in half.

mod ast;
mod budget;
mod compile;
mod error;
mod exec;
mod fold;
mod parse;
mod regex;
mod replacement;
mod set;
mod unicode;

pub use budget::{Budget, LimitError};
pub use error::SyntaxError;
pub use fold::upper as to_upper_case;
pub use regex::{Match, Matches, Regex};
pub use replacement::ReplacementError;
