//! The types that the tests know, and short ways to a checked template.
#![allow(dead_code, reason = "each test binary uses its own part")]

use formwork_formation::{Checked, Limits, Supplied, Template, check, parse};
use formwork_model::{
    Catalog, CheckContext, Concurrency, Diagnostic, DiagnosticCode, Diagnostics, Expr, ImmutableRule, Json,
    Kind, LookupRule, Path, PropertySchema, Replacement, RetryRule, Schema, SecretKeeping, TypeCapabilities,
    TypeName, TypeRules, WriteOnlyRule,
};
use indexmap::IndexMap;
use std::sync::Arc;

/// A type made of a schema, and perhaps one rule of its own.
pub(crate) struct TestType {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
    title: Option<&'static str>,
    rule: Option<Rule>,
    target_namespace: Option<&'static str>,
}

type Rule = fn(&Expr, &mut CheckContext<'_>);

impl TypeRules for TestType {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }

    fn title(&self) -> &str {
        self.title.unwrap_or(self.schema.type_name.as_str())
    }

    fn target_namespace(&self) -> Option<&str> {
        self.target_namespace
    }

    fn check(&self, properties: &Expr, context: &mut CheckContext<'_>) {
        if let Some(rule) = self.rule {
            rule(properties, context);
        }
    }
}

impl TestType {
    pub(crate) fn new(name: &str, properties: Vec<(&str, PropertySchema)>) -> Self {
        let schema = Schema {
            type_name: name.into(),
            doc: "".into(),
            properties: properties.into_iter().map(|(name, property)| (name.into(), property)).collect(),
        };
        let capabilities = TypeCapabilities {
            read: true,
            list: false,
            retry: RetryRule::ByCode,
            lookup: LookupRule::None,
            replacement: Replacement::Declared,
            write_only: WriteOnlyRule::Digest,
            on_immutable: ImmutableRule::Replace,
            settle_millis: 0,
            timeout_millis: 1000,
            validate: false,
            delete_blockers: false,
            secrets: SecretKeeping::Provider,
            concurrency: Concurrency::Serial,
            outputs: vec![],
            credential_outputs: vec![],
            iam: None,
        };
        Self { schema: Arc::new(schema), capabilities, title: None, rule: None, target_namespace: None }
    }
}

impl TestType {
    /// One that lives at targets.
    pub(crate) fn at(mut self, namespace: &'static str) -> Self {
        self.target_namespace = Some(namespace);
        self
    }
}

/// The types of one test.
pub(crate) struct TestCatalog(IndexMap<TypeName, Arc<dyn TypeRules>>);

impl Catalog for TestCatalog {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        self.0.get(name).cloned()
    }

    fn names(&self) -> Vec<TypeName> {
        self.0.keys().cloned().collect()
    }
}

impl TestCatalog {
    pub(crate) fn of(types: Vec<TestType>) -> Self {
        Self(
            types
                .into_iter()
                .map(|t| (t.schema.type_name.clone(), Arc::new(t) as Arc<dyn TypeRules>))
                .collect(),
        )
    }
}

/// Types like those of the platform.
pub(crate) fn catalog() -> TestCatalog {
    let property = |kind| PropertySchema::new(kind, "");
    let text = || property(Kind::String);
    let agent = TestType::new(
        "agent",
        vec![
            ("ai_provider_id", text().nullable()),
            ("instructions", text().nullable()),
            ("model", text()),
            ("name", text().required()),
            ("max_steps", property(Kind::Integer).nullable()),
            ("temperature", property(Kind::Number)),
            ("active", property(Kind::Boolean)),
            ("tags", property(Kind::Array)),
            ("knowledge_config", property(Kind::Object)),
            ("mode", text().nullable().one_of(&["fast", "thorough"])),
        ],
    );
    let mut provider = TestType::new(
        "ai_provider",
        vec![
            ("name", text().required()),
            ("provider", text().required().one_of(&["openai", "anthropic", "xai"])),
            ("default_model", text()),
            ("secret_id", text().nullable()),
        ],
    );
    provider.title = Some("AI provider");
    let mut route = TestType::new("model_route", vec![("name", text().required())]);
    route.title = Some("model route");
    let mut tool = TestType::new(
        "tool",
        vec![
            ("name", text().required()),
            ("type", text()),
            ("execute", property(Kind::Object)),
            ("retries", property(Kind::Integer)),
        ],
    );
    tool.rule = Some(urls_begin_with_http);
    let secret =
        TestType::new("secret", vec![("name", text().required()), ("value", text().required().write_only())]);
    let memory = TestType::new("memory", vec![("name", text().required()), ("tags", property(Kind::Any))]);
    let mut webhook = TestType::new("webhook", vec![("name", text().required()), ("url", text())]);
    webhook.capabilities.outputs = vec!["endpoint".into(), "version".into()];
    webhook.capabilities.credential_outputs = vec!["secret".into()];
    let mut channel = TestType::new(
        "channel",
        vec![
            ("name", text().required()),
            ("kind", text()),
            ("agent_id", text()),
            ("access_token", text().write_only()),
        ],
    );
    channel.capabilities.replacement = Replacement::Discovered;
    TestCatalog::of(vec![agent, provider, route, tool, secret, memory, webhook, channel])
}

/// A rule no schema can say: where the URL of a tool is known, it begins with `http`.
fn urls_begin_with_http(properties: &Expr, context: &mut CheckContext<'_>) {
    let at = Path::of(["execute", "url"]);
    let Some(Expr::Plain(Json::String(url))) = properties.at(&at) else { return };
    if !url.starts_with("http") {
        context.report(&at, |path| {
            Diagnostic::error(DiagnosticCode::InvalidValue, path, "`execute.url` must be an http(s) URL")
        });
    }
}

pub(crate) fn checked(text: &str) -> Checked {
    let document = parse("t.yaml", text.as_bytes(), &Limits::default()).expect("the text is right");
    check(document, &catalog())
}

pub(crate) fn template(text: &str) -> Template {
    let checked = checked(text);
    checked.template.unwrap_or_else(|| panic!("{:?}", checked.found))
}

pub(crate) fn supplied<const N: usize>(values: [(&str, &str); N]) -> Supplied {
    Supplied {
        values: values.into_iter().map(|(name, value)| (name.to_owned(), Json::from(value))).collect(),
        is_update: false,
    }
}

/// Path and message of each error.
pub(crate) fn errors(found: &Diagnostics) -> Vec<(String, String)> {
    found.errors().map(|error| (error.path.to_string(), error.message.clone())).collect()
}

/// Path and message of each warning.
pub(crate) fn warnings(found: &Diagnostics) -> Vec<(String, String)> {
    found.warnings().map(|warning| (warning.path.to_string(), warning.message.clone())).collect()
}
