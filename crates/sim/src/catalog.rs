//! The types of the simulated world: one per kind of backend that the engine must cope with.

use formwork_model::{
    Catalog, Concurrency, ImmutableRule, Kind, LookupRule, Path, PropertySchema, Replacement, RetryRule,
    Schema, SecretKeeping, TypeCapabilities, TypeName, TypeRules, WriteOnlyRule,
};
use indexmap::IndexMap;
use std::sync::Arc;

/// The kinds of backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Backend {
    /// Like the platform's own types: client tokens, one step at a time, nothing immutable changes.
    Platform,
    /// A plugin whose objects carry a property to find them by, which its provider does not keep
    /// unique.
    Tagged,
    /// A plugin whose objects are named by the caller; replaced by deleting first.
    Named,
    /// A plugin whose objects can't be found.
    Blind,
    /// A plugin with client tokens whose calls go on for a while.
    Slow,
    /// A signed handler: never retried, never read, decides itself when to replace.
    Handler,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Platform, Self::Tagged, Self::Named, Self::Blind, Self::Slow, Self::Handler];

    /// The name of its type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Tagged => "Sim::Tagged",
            Self::Named => "Sim::Named",
            Self::Blind => "Sim::Blind",
            Self::Slow => "Sim::Slow",
            Self::Handler => "Custom::Handler",
        }
    }

    /// The backend of a type.
    pub fn of(type_name: &TypeName) -> Option<Self> {
        Self::ALL.into_iter().find(|backend| backend.name() == type_name.as_str())
    }

    /// Its type.
    pub fn type_name(self) -> TypeName {
        TypeName::from(self.name())
    }

    /// Whether its provider knows client tokens.
    pub fn knows_tokens(self) -> bool {
        matches!(self, Self::Platform | Self::Slow | Self::Handler)
    }

    /// Whether it decides during an update that a change needs another object.
    pub fn discovers_replacement(self) -> bool {
        self == Self::Handler
    }

    /// Whether the property `zone` may change at all.
    pub fn zone_may_change(self) -> bool {
        self != Self::Platform
    }

    /// Whether objects can be read.
    pub fn reads(self) -> bool {
        self != Self::Handler
    }

    /// How long after the last moment at which an effect may begin it may still appear.
    pub fn settle_millis(self) -> u64 {
        match self {
            Self::Platform | Self::Handler => 0,
            Self::Tagged | Self::Named | Self::Blind | Self::Slow => 700,
        }
    }

    /// How long one call may take.
    pub fn timeout_millis(self) -> u64 {
        match self {
            Self::Platform => 5_000,
            _ => 10_000,
        }
    }

    fn capabilities(self) -> TypeCapabilities {
        TypeCapabilities {
            read: self.reads(),
            list: self != Self::Handler,
            retry: if self == Self::Handler { RetryRule::Never } else { RetryRule::ByCode },
            lookup: match self {
                Self::Platform | Self::Slow | Self::Handler => LookupRule::Token,
                Self::Tagged => LookupRule::ByUnique(vec![Path::of(["name"])]),
                Self::Named => LookupRule::ByNativeId(Path::of(["name"])),
                Self::Blind => LookupRule::None,
            },
            replacement: match self {
                Self::Handler => Replacement::Discovered,
                _ => Replacement::Declared,
            },
            write_only: WriteOnlyRule::Digest,
            on_immutable: match self {
                Self::Platform => ImmutableRule::Refuse { message: "`{field}` cannot change".into() },
                Self::Named => ImmutableRule::ReplaceDeleteFirst,
                _ => ImmutableRule::Replace,
            },
            settle_millis: self.settle_millis(),
            timeout_millis: self.timeout_millis(),
            validate: false,
            delete_blockers: false,
            secrets: match self {
                Self::Platform | Self::Slow => SecretKeeping::Provider,
                _ => SecretKeeping::Ledger,
            },
            concurrency: match self {
                Self::Platform => Concurrency::Serial,
                _ => Concurrency::Parallel,
            },
            outputs: Vec::new(),
            credential_outputs: Vec::new(),
            iam: None,
        }
    }

    fn schema(self) -> Schema {
        let zone = PropertySchema::new(Kind::Integer, "Where it is.");
        // A handler's replacement is discovered: no property of it is declared immutable.
        let zone = if self.discovers_replacement() { zone } else { zone.create_only() };
        let properties = [
            ("name", PropertySchema::new(Kind::String, "What it is called.").required()),
            ("size", PropertySchema::new(Kind::Integer, "How large it is.")),
            ("zone", zone),
            ("note", PropertySchema::new(Kind::String, "Free text.")),
            ("colour", PropertySchema::new(Kind::String, "Filled in by the provider.").default("grey")),
            ("uses", PropertySchema::new(Kind::Array, "Native ids of others.")),
            ("knows", PropertySchema::new(Kind::Array, "Sizes of others.")),
            ("password", PropertySchema::new(Kind::String, "A secret.").write_only()),
        ];
        Schema {
            type_name: self.type_name(),
            doc: "A type of the simulated world.".into(),
            properties: properties
                .into_iter()
                .map(|(name, property)| (Arc::from(name), property))
                .collect::<IndexMap<_, _>>(),
        }
    }
}

/// A type of the simulated world.
#[derive(Debug)]
struct SimType {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
}

impl TypeRules for SimType {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }
}

/// The types of the simulated world.
#[derive(Debug)]
pub struct SimCatalog(IndexMap<TypeName, Arc<SimType>>);

impl Default for SimCatalog {
    fn default() -> Self {
        Self(
            Backend::ALL
                .into_iter()
                .map(|backend| {
                    let rules =
                        SimType { schema: Arc::new(backend.schema()), capabilities: backend.capabilities() };
                    (backend.type_name(), Arc::new(rules))
                })
                .collect(),
        )
    }
}

impl Catalog for SimCatalog {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        let rules: Arc<dyn TypeRules> = self.0.get(name)?.clone();
        Some(rules)
    }

    fn names(&self) -> Vec<TypeName> {
        self.0.keys().cloned().collect()
    }
}
