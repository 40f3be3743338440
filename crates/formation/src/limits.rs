//! How much a template may be.

use formwork_model::INPUT_DEPTH;

/// The bounds of one template. What is beyond them is refused with `input-too-large`, before it
/// costs memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of text.
    pub max_bytes: usize,
    /// The deepest nesting of arrays and objects.
    pub max_depth: usize,
    /// The most values, counted after YAML aliases were expanded.
    pub max_nodes: usize,
    /// The most resources.
    pub max_resources: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 16 << 20,
            // One less than the request that brings it.
            max_depth: INPUT_DEPTH - 1,
            max_nodes: 2_000_000,
            max_resources: 100_000,
        }
    }
}
