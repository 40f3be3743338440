//! Prints how long templates of several sizes take: `cargo run --release -p formwork-formation
//! --example lower_bench`.

use formwork_formation::{Limits, LowerRequest, Supplied, check, lower, parse};
use formwork_model::{
    Catalog, Concurrency, ImmutableRule, Kind, LookupRule, PropertySchema, Replacement, RetryRule, Schema,
    SecretKeeping, StackKey, TypeCapabilities, TypeName, TypeRules, WriteOnlyRule,
};
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The one type of the bench: an agent with the fields that its templates use.
struct Agent {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
}

impl TypeRules for Agent {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }
}

struct OneType(Arc<Agent>);

impl Catalog for OneType {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        (name.as_str() == "agent").then(|| self.0.clone() as Arc<dyn TypeRules>)
    }

    fn names(&self) -> Vec<TypeName> {
        vec!["agent".into()]
    }
}

fn one_type() -> OneType {
    let property = |kind| PropertySchema::new(kind, "");
    let properties = [
        ("name", property(Kind::String).required()),
        ("instructions", property(Kind::String)),
        ("ai_provider_id", property(Kind::String)),
        ("max_steps", property(Kind::Integer)),
        ("knowledge_config", property(Kind::Object)),
    ];
    let schema = Schema {
        type_name: "agent".into(),
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
    OneType(Arc::new(Agent { schema: Arc::new(schema), capabilities }))
}

/// A template of agents, each of which refers to two others and uses a parameter.
fn json(count: usize) -> String {
    let mut text = String::from("{\"parameters\": {\"P\": {\"default\": \"p\"}}, \"resources\": {\n");
    for index in 0..count {
        let (one, two) = (index / 2, index / 3);
        let comma = if index == 0 { "" } else { ",\n" };
        let _ = write!(
            text,
            "{comma}  \"R{index}\": {{\"type\": \"agent\", \"properties\": {{\"name\": \"agent {index}\", \
             \"instructions\": {{\"sub\": \"Answer for ${{P}} with ${{R{one}}}\"}}, \"ai_provider_id\": {{\"ref\": \
             \"R{two}\"}}, \"max_steps\": 5, \"knowledge_config\": {{\"limit\": 3}}}}}}"
        );
    }
    text.push_str("\n}}\n");
    text
}

fn yaml(count: usize) -> String {
    let mut text = String::from("parameters:\n  P: { default: p }\nresources:\n");
    for index in 0..count {
        let (one, two) = (index / 2, index / 3);
        let _ = write!(
            text,
            "  R{index}:\n    type: agent\n    properties:\n      name: agent {index}\n      instructions: {{ sub: \
             \"Answer for ${{P}} with ${{R{one}}}\" }}\n      ai_provider_id: {{ ref: R{two} }}\n      max_steps: \
             5\n      knowledge_config:\n        limit: 3\n"
        );
    }
    text
}

/// The processor time of this thread so far, which other load does not distort; wall time where the
/// system does not tell.
fn now() -> Duration {
    static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = spent.as_deref().and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(|| STARTED.elapsed(), Duration::from_nanos)
}

fn median(mut run: impl FnMut() -> [Duration; 3]) -> [Duration; 3] {
    let mut runs: Vec<_> = (0..5).map(|_| run()).collect();
    runs.sort_by_key(|run| run.iter().sum::<Duration>());
    runs[2]
}

fn main() {
    let catalog = one_type();
    for (name, text) in [
        ("json 1000", json(1_000)),
        ("json 10000", json(10_000)),
        ("json 100000", json(100_000)),
        ("yaml 10000", yaml(10_000)),
    ] {
        let limits = Limits { max_bytes: 64 << 20, ..Limits::default() };
        let [parsed, checked, lowered] = median(|| {
            let start = now();
            let document =
                parse("bench", text.as_bytes(), &limits).expect("the bench writes right templates");
            let parsed = now().saturating_sub(start);
            let start = now();
            let template = check(document, &catalog).template.expect("the bench writes right templates");
            let checked = now().saturating_sub(start);
            let start = now();
            let desired = lower(&LowerRequest {
                template: &template,
                supplied: &Supplied::default(),
                stack: "form_1".into(),
                key: StackKey::new("proj_1".into(), "bench"),
                catalog: &catalog,
                strict: true,
            });
            let lowered = now().saturating_sub(start);
            assert!(desired.is_ok(), "the bench writes right templates");
            [parsed, checked, lowered]
        });
        println!(
            "{name:<12} {:>6} KiB   parse {parsed:>9.2?}   check {checked:>9.2?}   lower {lowered:>9.2?}   together {:>9.2?}",
            text.len() / 1024,
            parsed + checked + lowered
        );
    }
}
