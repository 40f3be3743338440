//! What an engine is told once, at its start.

use formwork_engine_core::Limits;
use formwork_model::OwnerId;

/// What an engine is told once, at its start.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Who this process is, as leases name it.
    pub owner: OwnerId,
    /// For how long leases are taken; they are renewed after a third of it.
    pub lease_millis: u64,
    /// The bounds of each operation.
    pub limits: Limits,
    /// How long a step waits for a plugin that is not there before it fails by name (INV-17).
    pub missing_plugin_millis: u64,
    /// How many operations may run at once.
    pub max_operations: usize,
}

impl EngineOptions {
    /// The usual values, for this process.
    pub fn new(owner: OwnerId) -> Self {
        Self {
            owner,
            lease_millis: 15_000,
            limits: Limits::default(),
            missing_plugin_millis: 10_000,
            max_operations: 256,
        }
    }
}
