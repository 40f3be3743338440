//! Readers: JSON and YAML as trees, for `pkl:json` and `pkl:yaml`.
//!
//! An object becomes a `Dynamic`, or a `Mapping` if that is asked for; an array a `Listing`.
//! Converters are applied by the evaluator, from the leaves up.

pub mod json;
pub mod yaml;
