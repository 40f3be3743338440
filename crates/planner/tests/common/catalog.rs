//! The types of the tests, one per way a backend can be.

use formwork_model::{
    Catalog, Concurrency, EdgeKind, FieldHint, ImmutableRule, IndexBy, Kind, ListParameter, LookupRule,
    NestedHints, NestedKey, Parent, Path, PropertySchema, Replacement, RetryRule, Schema, SecretKeeping,
    TypeCapabilities, TypeName, TypeRules, UpdateMethod, WriteOnlyRule,
};
use std::sync::Arc;

struct Rules {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
    parent: Option<Parent>,
}

impl TypeRules for Rules {
    fn parent(&self) -> Option<&Parent> {
        self.parent.as_ref()
    }

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

/// A type that says how what is within its properties is treated, as those of plugins do.
fn deep() -> Schema {
    let hint = |set: &dyn Fn(&mut FieldHint)| {
        let mut hint = NestedKey::plain().hint.clone();
        set(&mut hint);
        hint
    };
    let by_id = || UpdateMethod::EntitySet(IndexBy(Path::of(["id"])));
    let mut within = NestedHints::default();
    for list in ["", "bag", "rules", "zones.*"] {
        let names = |name: &'static str| list.split('.').filter(|name| !name.is_empty()).chain([name]);
        within.insert(names("fixed"), hint(&|hint| hint.create_only = true));
        within.insert(names("mode"), hint(&|hint| hint.has_provider_default = true));
        within.insert(names("token"), hint(&|hint| hint.write_only = true));
        within.insert(names("text"), hint(&|hint| hint.format = Some("json".into())));
        within.insert(names("list"), hint(&|hint| hint.update_method = UpdateMethod::Array));
        within.insert(names("whole"), hint(&|hint| hint.update_method = UpdateMethod::Atomic));
    }
    within.insert(["rules"], hint(&|hint| hint.update_method = by_id()));
    let within = Some(Box::new(within));
    let set = hint(&|_| ());
    let plain = || PropertySchema { within: Some(Box::default()), hint: set.clone(), ..any() };
    let mut properties = vec![
        ("name", plain()),
        ("spec", PropertySchema { within: within.clone(), ..plain() }),
        ("bags", PropertySchema { within: within.clone(), ..plain() }),
        ("rows", PropertySchema { within, ..plain() }),
        ("text", plain()),
        ("always", plain()),
        ("must", plain().required()),
    ];
    properties[3].1.hint.update_method = by_id();
    properties[4].1.hint.format = Some("json".into());
    properties[5].1.hint.required_on_update = true;
    let properties = properties.into_iter().map(|(name, property)| (name.into(), property)).collect();
    Schema { type_name: "deep".into(), doc: "A test type.".into(), properties }
}

/// A part of a `doc`, whose name it carries.
fn part() -> Arc<Rules> {
    let mapping = ListParameter { parent_property: "name".into(), parameter: "of".into() };
    let parent = Parent { type_name: "doc".into(), list_parameters: vec![mapping] };
    let properties = [("of".into(), any()), ("name".into(), any())].into_iter().collect();
    let schema = Schema { type_name: "part".into(), doc: "A test type.".into(), properties };
    Arc::new(Rules { schema: Arc::new(schema), capabilities: ordinary(), parent: Some(parent) })
}

/// A type whose references are of all kinds.
fn user() -> Arc<Rules> {
    let edge = |kind| {
        let mut property = any();
        property.hint.edge_kind = kind;
        property
    };
    let mut within = NestedHints::default();
    within.insert(["through"], FieldHint { edge_kind: EdgeKind::AttachesTo, ..FieldHint::default() });
    let properties = [
        ("on", edge(EdgeKind::Dependency)),
        ("through", edge(EdgeKind::AttachesTo)),
        ("with", edge(EdgeKind::RuntimeDependency)),
        ("spec", PropertySchema { within: Some(Box::new(within)), ..any() }),
        ("name", any()),
    ];
    let properties = properties.into_iter().map(|(name, property)| (name.into(), property)).collect();
    let schema = Schema { type_name: "user".into(), doc: "A test type.".into(), properties };
    Arc::new(Rules { schema: Arc::new(schema), capabilities: ordinary(), parent: None })
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
            Arc::new(Rules { schema: Arc::new(schema), capabilities, parent: None })
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
            Arc::new(Rules { schema: Arc::new(deep()), capabilities: ordinary(), parent: None }),
            part(),
            user(),
        ])
    }

    /// The rules of a type of the tests.
    pub fn rules(&self, name: &str) -> Arc<dyn TypeRules> {
        self.get(&name.into()).expect("the tests name types of this catalog")
    }
}
