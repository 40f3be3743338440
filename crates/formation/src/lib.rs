//! Formation templates: parse with spans, validate, lower to desired state.
//!
//! ```text
//! bytes ── parse ──► Document ── check ──► Template ── lower ──► Desired
//! ```
//!
//! The rules are those of seed 4 ("Formations"), with the table of `formations-behaviour.md` §2.5
//! for the messages. Every step reports all that is wrong at once, each with its JSON path and its
//! place in the text.
//!
//! **Architecture invariant:** nothing here applies anything, calls out or does I/O. Dependency
//! cycles are the planner's to report; [`Template::graph`] is what it needs for that.

mod builder;
mod check;
mod constraint;
mod document;
mod expression;
mod fill;
mod item;
mod json;
mod limits;
mod lower;
mod metadata;
mod number;
mod parameters;
mod render;
mod report;
mod schema;
mod template;
mod walk;
mod yaml;

pub use check::{Checked, check};
pub use constraint::{Constraints, Pattern};
pub use document::{Document, document_from_json, parse, text_only};
pub use fill::fill_references;
pub use limits::Limits;
pub use lower::{LowerRequest, lower};
pub use metadata::check_static_metadata;
pub use parameters::{
    Supplied, invalid_parameters, missing_parameters, resolved_parameters, unknown_parameters,
};
pub use render::{Color, clean, drawable, render_human, width};
pub use schema::template_schema;
pub use template::{GraphNode, Parameter, Template};
