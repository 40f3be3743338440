//! What a plugin says of itself.

use super::value::{WireError, present, said};
use super::{PROTOCOL, path, pb};
use crate::{
    FilterCondition, LabelConfig, MatchFilter, PluginType, RateLimitConfig, RateLimitScope, ResourcePlugin,
};
use formwork_model::{
    Concurrency, ImmutableRule, LookupRule, Replacement, RetryRule, SecretKeeping, TypeCapabilities,
    WriteOnlyRule,
};
use serde::{Deserialize, Serialize};

/// What a plugin's process says of itself, but for the token: that is compared and forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Announcement {
    /// The first segment of its types.
    pub namespace: String,
    /// Its name; empty if it doesn't say.
    pub name: String,
    /// Its version; empty if it doesn't say.
    pub version: String,
    /// The types that it serves.
    pub types: Vec<PluginType>,
    /// How many calls per second the provider bears.
    pub rate_limit: RateLimitConfig,
    /// Which found resources discovery passes over.
    pub discovery_filters: Vec<MatchFilter>,
    /// How found resources get their labels.
    pub label_config: LabelConfig,
}

impl Announcement {
    /// What a plugin says of itself.
    pub fn of(plugin: &dyn ResourcePlugin, name: &str, version: &str) -> Self {
        Self {
            namespace: plugin.namespace().to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            types: plugin.types(),
            rate_limit: plugin.rate_limit(),
            discovery_filters: plugin.discovery_filters(),
            label_config: plugin.label_config(),
        }
    }

    /// As a message, with the token that the process was given.
    pub fn into_message(self, token: String) -> pb::Announcement {
        pb::Announcement {
            protocol: PROTOCOL,
            token,
            namespace: self.namespace,
            name: self.name,
            version: self.version,
            types: self.types.iter().map(Into::into).collect(),
            rate_limit: Some(pb::RateLimit {
                max_requests_per_second_for_namespace: self.rate_limit.max_requests_per_second_for_namespace,
            }),
            discovery_filters: self.discovery_filters.into_iter().map(Into::into).collect(),
            label_config: Some(pb::LabelConfig {
                default_query: self.label_config.default_query,
                resource_overrides: self.label_config.resource_overrides.into_iter().collect(),
            }),
        }
    }
}

/// Versions and tokens are compared by whoever asked.
impl TryFrom<pb::Announcement> for Announcement {
    type Error = WireError;

    fn try_from(message: pb::Announcement) -> Result<Self, WireError> {
        let labels = message.label_config.unwrap_or_default();
        let limit = message.rate_limit.unwrap_or_default().max_requests_per_second_for_namespace;
        Ok(Self {
            namespace: said("namespace", message.namespace)?,
            name: message.name,
            version: message.version,
            types: message.types.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            rate_limit: RateLimitConfig {
                scope: RateLimitScope::Namespace,
                max_requests_per_second_for_namespace: limit,
            },
            discovery_filters: message.discovery_filters.into_iter().map(Into::into).collect(),
            label_config: LabelConfig {
                default_query: labels.default_query,
                resource_overrides: labels.resource_overrides.into_iter().collect(),
            },
        })
    }
}

impl From<MatchFilter> for pb::MatchFilter {
    fn from(filter: MatchFilter) -> Self {
        let condition = |condition: FilterCondition| pb::FilterCondition {
            property_path: condition.property_path,
            property_value: condition.property_value,
        };
        Self {
            resource_types: filter.resource_types,
            conditions: filter.conditions.into_iter().map(condition).collect(),
        }
    }
}

impl From<pb::MatchFilter> for MatchFilter {
    fn from(filter: pb::MatchFilter) -> Self {
        let condition = |condition: pb::FilterCondition| FilterCondition {
            property_path: condition.property_path,
            property_value: condition.property_value,
        };
        Self {
            resource_types: filter.resource_types,
            conditions: filter.conditions.into_iter().map(condition).collect(),
        }
    }
}

impl From<&PluginType> for pb::PluginType {
    fn from(plugin_type: &PluginType) -> Self {
        Self { name: plugin_type.name.to_string(), capabilities: Some((&plugin_type.capabilities).into()) }
    }
}

impl TryFrom<pb::PluginType> for PluginType {
    type Error = WireError;

    fn try_from(message: pb::PluginType) -> Result<Self, WireError> {
        let capabilities = message.capabilities.unwrap_or_default().try_into()?;
        Ok(Self { name: said("types.name", message.name)?, capabilities })
    }
}

/// Both directions of an enum of which the first value is "not said".
macro_rules! rule_enum {
    ($name:ident of $field:literal { $($variant:ident)* }) => {
        impl From<$name> for pb::$name {
            fn from(rule: $name) -> Self {
                match rule { $($name::$variant => Self::$variant,)* }
            }
        }

        impl pb::$name {
            /// The rule; `usual` if the message doesn't say.
            fn read(value: i32, usual: $name) -> Result<$name, WireError> {
                match Self::try_from(value) {
                    Ok(Self::Unspecified) => Ok(usual),
                    $(Ok(Self::$variant) => Ok($name::$variant),)*
                    Err(_) => Err(WireError::Unknown { field: $field, value }),
                }
            }
        }
    };
}

rule_enum! { RetryRule of "capabilities.retry" { ByCode Never } }
rule_enum! { Replacement of "capabilities.replacement" { Declared Discovered } }
rule_enum! { WriteOnlyRule of "capabilities.write_only" { Digest AlwaysSend } }
rule_enum! { SecretKeeping of "capabilities.secrets" { Provider Ledger } }
rule_enum! { Concurrency of "capabilities.concurrency" { Serial Parallel } }

impl From<&TypeCapabilities> for pb::TypeCapabilities {
    fn from(capabilities: &TypeCapabilities) -> Self {
        let texts = |texts: &[std::sync::Arc<str>]| texts.iter().map(ToString::to_string).collect();
        // Not what authorises the type: that is for the host to say.
        Self {
            read: Some(capabilities.read),
            list: Some(capabilities.list),
            retry: pb::RetryRule::from(capabilities.retry).into(),
            lookup: lookup(&capabilities.lookup),
            replacement: pb::Replacement::from(capabilities.replacement).into(),
            write_only: pb::WriteOnlyRule::from(capabilities.write_only).into(),
            on_immutable: Some(immutable(&capabilities.on_immutable)),
            settle_millis: Some(capabilities.settle_millis),
            timeout_millis: Some(capabilities.timeout_millis),
            validate: Some(capabilities.validate),
            delete_blockers: Some(capabilities.delete_blockers),
            secrets: pb::SecretKeeping::from(capabilities.secrets).into(),
            concurrency: pb::Concurrency::from(capabilities.concurrency).into(),
            outputs: texts(&capabilities.outputs),
            credential_outputs: texts(&capabilities.credential_outputs),
        }
    }
}

fn lookup(rule: &LookupRule) -> Option<pb::LookupRule> {
    use pb::lookup_rule::Rule;
    let rule = match rule {
        LookupRule::None => return None,
        LookupRule::Token => Rule::Token(true),
        LookupRule::ByNativeId(path) => Rule::ByNativeId(path.into()),
        LookupRule::ByUnique(paths) => Rule::ByUnique(pb::Paths { paths: path::to_wire(paths) }),
    };
    Some(pb::LookupRule { rule: Some(rule) })
}

fn immutable(rule: &ImmutableRule) -> pb::ImmutableRule {
    use pb::immutable_rule::Rule;
    let rule = match rule {
        ImmutableRule::Refuse { message } => Rule::Refuse(message.to_string()),
        ImmutableRule::Replace => Rule::Replace(true),
        ImmutableRule::ReplaceDeleteFirst => Rule::ReplaceDeleteFirst(true),
    };
    pb::ImmutableRule { rule: Some(rule) }
}

impl TryFrom<pb::TypeCapabilities> for TypeCapabilities {
    type Error = WireError;

    fn try_from(message: pb::TypeCapabilities) -> Result<Self, WireError> {
        let usual = Self::of_plugin();
        let texts = |texts: Vec<String>| texts.into_iter().map(Into::into).collect();
        Ok(Self {
            read: message.read.unwrap_or(usual.read),
            list: message.list.unwrap_or(usual.list),
            retry: pb::RetryRule::read(message.retry, usual.retry)?,
            lookup: message.lookup.map_or(Ok(usual.lookup), read_lookup)?,
            replacement: pb::Replacement::read(message.replacement, usual.replacement)?,
            write_only: pb::WriteOnlyRule::read(message.write_only, usual.write_only)?,
            on_immutable: message.on_immutable.map_or(Ok(usual.on_immutable), read_immutable)?,
            settle_millis: message.settle_millis.unwrap_or(usual.settle_millis),
            timeout_millis: message.timeout_millis.unwrap_or(usual.timeout_millis),
            validate: message.validate.unwrap_or(usual.validate),
            delete_blockers: message.delete_blockers.unwrap_or(usual.delete_blockers),
            secrets: pb::SecretKeeping::read(message.secrets, usual.secrets)?,
            concurrency: pb::Concurrency::read(message.concurrency, usual.concurrency)?,
            outputs: texts(message.outputs),
            credential_outputs: texts(message.credential_outputs),
            iam: None,
        })
    }
}

fn read_lookup(message: pb::LookupRule) -> Result<LookupRule, WireError> {
    use pb::lookup_rule::Rule;
    Ok(match present("capabilities.lookup.rule", message.rule)? {
        Rule::Token(true) => LookupRule::Token,
        Rule::Token(false) => LookupRule::None,
        Rule::ByNativeId(path) => LookupRule::ByNativeId(path.try_into()?),
        Rule::ByUnique(paths) => LookupRule::ByUnique(path::from_wire(paths.paths)?),
    })
}

fn read_immutable(message: pb::ImmutableRule) -> Result<ImmutableRule, WireError> {
    use pb::immutable_rule::Rule;
    let field = "capabilities.on_immutable.rule";
    Ok(match present(field, message.rule)? {
        Rule::Refuse(message) => ImmutableRule::Refuse { message: message.into() },
        Rule::Replace(true) => ImmutableRule::Replace,
        Rule::ReplaceDeleteFirst(true) => ImmutableRule::ReplaceDeleteFirst,
        Rule::Replace(false) | Rule::ReplaceDeleteFirst(false) => {
            return Err(WireError::Invalid { field, expected: "`true`, if it is set" });
        }
    })
}
