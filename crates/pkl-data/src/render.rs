//! Renderers: a finished value as text of a format, byte for byte as the official evaluator writes it.
//!
//! Each format has a module with its options and two functions: `value` renders a fragment,
//! `document` a whole file. Converters were applied when the value was exported.

pub mod binary;
pub mod json;
pub mod jsonnet;
pub mod pcf;
pub mod plist;
pub mod properties;
pub mod textproto;
pub mod xml;
pub mod yaml;

mod shape;
mod walk;

/// How much a renderer may write by default: 1 GiB.
pub const DEFAULT_MAX_BYTES: usize = 1 << 30;
