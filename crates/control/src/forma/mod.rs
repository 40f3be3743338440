//! Formae: infrastructure that typed code declares, over as many stacks as it names.
//!
//! A forma's stacks are records of their own, made with their first resource and gone with their last. Its targets
//! belong to the project: they are rows of one stack, which every other may refer to.

mod apply;
mod destroy;
mod inventory;
mod ready;
mod stacks;
mod targets;

/// Stacks, as resource names spell their type.
pub(crate) const SRN_TYPE: &str = "stack";

pub use apply::{AppliedForma, ApplyForma};
pub use destroy::DestroyForma;
pub use inventory::{InventoryResource, InventoryStack, InventoryTarget};
pub use ready::PlannedForma;
pub(crate) use stacks::{STACK, emptied};
