//! What Pkl reads and writes, byte for byte: numbers, units, text, data formats.
//!
//! Nothing here evaluates anything: a [`Tree`] is a finished value, and everything else is a pure
//! function over text and trees.

pub mod bytes;
pub mod display;
pub mod error;
pub mod identifier;
pub mod literal;
pub mod number;
pub mod read;
pub mod render;
pub mod text;
pub mod tree;
pub mod units;

pub use error::{PathStep, RenderError, RenderErrorCode};
pub use number::Number;
pub use tree::Tree;
