//! The types of the tests, one per way a backend can be.

use formwork_model::{
    Catalog, Concurrency, ImmutableRule, IndexBy, Kind, LookupRule, Path, PropertySchema, Replacement,
    RetryRule, Schema, SecretKeeping, TypeCapabilities, TypeName, TypeRules, UpdateMethod, WriteOnlyRule,
};
use std::sync::Arc;

struct Rules {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
}

impl TypeRules for Rules {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }
}

/// The types of the tests.
pub struct TestCatalog(Vec<Arc<Rules>>);

impl Catalog for TestCatalog {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        let rules = self.0.iter().find(|rules| rules.schema.type_name == *name)?;
        Some(rules.clone())
    }

    fn names(&self) -> Vec<TypeName> {
        self.0.iter().map(|rules| rules.schema.type_name.clone()).collect()
    }
}

/// Capabilities of an ordinary type: readable, replaced where it must be.
pub fn ordinary() -> TypeCapabilities {
    TypeCapabilities {
        read: true,
        list: true,
        retry: RetryRule::ByCode,
        lookup: LookupRule::Token,
        replacement: Replacement::Declared,
        write_only: WriteOnlyRule::Digest,
        on_immutable: ImmutableRule::Replace,
        settle_millis: 0,
        timeout_millis: 1000,
        validate: false,
        delete_blockers: false,
        secrets: SecretKeeping::Ledger,
        concurrency: Concurrency::Serial,
        outputs: Vec::new(),
        credential_outputs: Vec::new(),
        iam: None,
    }
}

fn any() -> PropertySchema {
    PropertySchema::new(Kind::Any, "A value.")
}

fn collection(method: UpdateMethod) -> PropertySchema {
    let mut property = PropertySchema::new(Kind::Array, "A collection.");
    property.hint.update_method = method;
    property
}

impl TestCatalog {
    pub fn new() -> Self {
        let properties: Vec<(&str, PropertySchema)> = vec![
            ("name", any()),
            ("value", any()),
            ("fixed", any().create_only()),
            ("token", any().write_only()),
            ("mode", any().default("auto")),
            ("tags", collection(UpdateMethod::Set)),
            ("rules", collection(UpdateMethod::EntitySet(IndexBy(Path::of(["id"]))))),
            ("list", collection(UpdateMethod::Array)),
            ("whole", collection(UpdateMethod::Atomic)),
            ("must", any().required()),
        ];
        let rules = |name: &str, capabilities: TypeCapabilities| {
            let properties =
                properties.iter().map(|(name, schema)| ((*name).into(), schema.clone())).collect();
            let schema = Schema { type_name: name.into(), doc: "A test type.".into(), properties };
            Arc::new(Rules { schema: Arc::new(schema), capabilities })
        };
        let refuse = ImmutableRule::Refuse {
            message: "{field} is immutable: '{native_id}' has {current}, not {declared}".into(),
        };
        Self(vec![
            rules("doc", ordinary()),
            rules("cut", TypeCapabilities { on_immutable: ImmutableRule::ReplaceDeleteFirst, ..ordinary() }),
            rules("stiff", TypeCapabilities { on_immutable: refuse, ..ordinary() }),
            rules(
                "custom",
                TypeCapabilities {
                    replacement: Replacement::Discovered,
                    write_only: WriteOnlyRule::AlwaysSend,
                    ..ordinary()
                },
            ),
            rules("target", TypeCapabilities { read: false, ..ordinary() }),
            rules("blind", TypeCapabilities { read: false, secrets: SecretKeeping::Provider, ..ordinary() }),
        ])
    }

    /// The rules of a type of the tests.
    pub fn rules(&self, name: &str) -> Arc<dyn TypeRules> {
        self.get(&name.into()).expect("the tests name types of this catalog")
    }
}
