//! What a plugin says of itself (seed 3, "Configuration methods").

use formwork_model::{TypeCapabilities, TypeName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Ours: a type that a plugin serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PluginType {
    /// Its name.
    pub name: TypeName,
    /// How the engine may treat it.
    pub capabilities: TypeCapabilities,
}

impl PluginType {
    /// A type as most are: see [`TypeCapabilities::of_plugin`].
    pub fn new(name: impl Into<TypeName>) -> Self {
        Self { name: name.into(), capabilities: TypeCapabilities::of_plugin() }
    }
}

/// How many calls per second a provider bears.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct RateLimitConfig {
    /// What shares the limit.
    pub scope: RateLimitScope,
    /// Calls per second over all types of the namespace; 0 is no limit.
    pub max_requests_per_second_for_namespace: u32,
}

/// What shares a rate limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RateLimitScope {
    /// All types of the plugin's namespace.
    #[default]
    Namespace,
}

impl Default for RateLimitConfig {
    /// No limit.
    fn default() -> Self {
        Self { scope: RateLimitScope::Namespace, max_requests_per_second_for_namespace: 0 }
    }
}

/// Resources that match all conditions are passed over by discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct MatchFilter {
    /// The types it is for.
    pub resource_types: Vec<String>,
    /// What must hold.
    pub conditions: Vec<FilterCondition>,
}

/// One condition of a [`MatchFilter`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct FilterCondition {
    /// A JSONPath expression (RFC 9535).
    pub property_path: String,
    /// The expected value; empty asks only whether there is one.
    pub property_value: String,
}

/// How found resources get their labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LabelConfig {
    /// A JSONPath expression for all types.
    pub default_query: String,
    /// Expressions for single types.
    pub resource_overrides: BTreeMap<String, String>,
}
