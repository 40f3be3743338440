//! Custom resource types (seed 4, "Custom Resource Types"): the registration file, and each
//! registered type as a plugin whose calls are signed HTTP requests to its handler.
//!
//! ```text
//! file ──CustomTypes::load──► types ─┬─► Catalog   what templates may declare
//!                                    └─► plugins   one ResourcePlugin per type
//! ```
//!
//! **Architecture invariant:** no environment variable is read here and nothing is ever sent twice.
//! A request that failed says whether it may have had an effect; what follows from that is the
//! engine's business.

mod custom_type;
mod endpoint;
mod failure;
mod known;
mod nullable;
mod plugin;
mod protocol;
mod registration;
mod shape;
mod signature;
mod transport;
mod violation;

pub use known::Known;
pub use plugin::Now;
pub use protocol::LONGEST_ID;
pub use registration::{Problem, RegistrationError, Surroundings};
pub use signature::{IDEMPOTENCY_HEADER, SIGNATURE_HEADER, signature};
pub use transport::LARGEST_ANSWER;

use custom_type::CustomType;
use endpoint::Scheme;
use formwork_model::{Catalog, TypeName, TypeRules};
use formwork_plugin::ResourcePlugin;
use plugin::HandlerPlugin;
use std::sync::Arc;
use transport::Transport;

/// The registered types, in the order of their file. The default is none.
#[derive(Clone, Debug, Default)]
pub struct CustomTypes {
    types: Arc<[Arc<CustomType>]>,
}

impl CustomTypes {
    fn of(types: Vec<CustomType>) -> Self {
        Self { types: types.into_iter().map(Arc::new).collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// A plugin for each type. `now` gives the time that signatures carry.
    pub fn plugins(&self, now: &Now) -> Vec<(TypeName, Arc<dyn ResourcePlugin>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let needs_tls = self.types.iter().any(|custom| custom.handler.endpoint.scheme == Scheme::Https);
        let transport = if needs_tls { Transport::new() } else { Transport::trusting([]) };
        let plugin = |custom: &Arc<CustomType>| {
            let (transport, now) = (transport.clone(), Arc::clone(now));
            let plugin = HandlerPlugin { custom: Arc::clone(custom), transport, now };
            (custom.name.clone(), Arc::new(plugin) as Arc<dyn ResourcePlugin>)
        };
        self.types.iter().map(plugin).collect()
    }
}

impl Catalog for CustomTypes {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        let found = self.types.iter().find(|custom| custom.name == *name)?;
        Some(Arc::clone(found) as Arc<dyn TypeRules>)
    }

    fn names(&self) -> Vec<TypeName> {
        self.types.iter().map(|custom| custom.name.clone()).collect()
    }
}
