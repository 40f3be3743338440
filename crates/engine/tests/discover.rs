//! Finding what nobody declared.

mod common;

use async_trait::async_trait;
use common::World;
use formwork_engine::{DiscoverRequest, Discoveries, Engine, NoHooks, Registry};
use formwork_model::{
    Catalog, Discovery, Json, Kind, ListParameter, NativeId, Parent, PropertySchema, Schema,
    TypeCapabilities, TypeName, TypeRules,
};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, FilterCondition, LabelConfig, ListRequest, ListResult,
    MatchFilter, OperationErrorCode, PluginError, ProgressResult, ReadRequest, ReadResult, ResourcePlugin,
    UpdateRequest,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const BUCKET: &str = "C::S::Bucket";
const ITEM: &str = "C::S::Item";
const KEY: &str = "C::S::Key";

/// A cloud of buckets, items in them, and keys that can't be listed.
#[derive(Default)]
struct Cloud {
    objects: BTreeMap<(&'static str, String), Json>,
    throttled: Mutex<u32>,
    endless: bool,
    bad_query: bool,
}

impl Cloud {
    fn new(objects: &[(&'static str, &str, Json)]) -> Self {
        let object =
            |(kind, id, value): &(&'static str, &str, Json)| ((*kind, (*id).to_owned()), value.clone());
        Self { objects: objects.iter().map(object).collect(), ..Self::default() }
    }
}

#[async_trait]
impl ResourcePlugin for Cloud {
    fn namespace(&self) -> &'static str {
        "C"
    }

    fn discovery_filters(&self) -> Vec<MatchFilter> {
        let condition =
            FilterCondition { property_path: "$.System".to_owned(), property_value: "true".to_owned() };
        vec![MatchFilter { resource_types: vec![BUCKET.to_owned()], conditions: vec![condition] }]
    }

    fn label_config(&self) -> LabelConfig {
        let query = if self.bad_query { "$.[" } else { "$.Name" };
        LabelConfig { default_query: query.to_owned(), ..LabelConfig::default() }
    }

    async fn list(&self, _: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let kind = request.resource_type.as_str();
        if kind == KEY {
            return Err(PluginError::Lost { namespace: "C".into(), reason: "it died".into() });
        }
        let below = |value: &Json| match request.list_parameters.get("BucketName") {
            Some(name) => value["BucketName"] == *name,
            None => true,
        };
        let of_type = self.objects.iter().filter(|((other, _), value)| *other == kind && below(value));
        let ids: Vec<NativeId> = of_type.map(|((_, id), _)| id.as_str().into()).collect();
        let from: usize = request.page_token.as_deref().unwrap_or("0").parse().expect("our token");
        let until = (from + 2).min(ids.len());
        let next = (until < ids.len()).then(|| until.to_string());
        let next_page_token = if self.endless { Some("0".to_owned()) } else { next };
        Ok(ListResult { native_ids: ids[from..until].to_vec(), next_page_token })
    }

    async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let mut throttled = self.throttled.lock().unwrap_or_else(PoisonError::into_inner);
        if *throttled > 0 {
            *throttled -= 1;
            let absent = ReadResult::absent(request.resource_type, request.native_id);
            return Ok(ReadResult { error_code: Some(OperationErrorCode::Throttling), ..absent });
        }
        let (kind, id) = (request.resource_type, request.native_id);
        let found = self
            .objects
            .iter()
            .find(|((other, other_id), _)| *other == kind.as_str() && *other_id == id.as_str());
        Ok(match found {
            Some((_, Json::Null)) | None => ReadResult::absent(kind, id),
            Some((_, value)) => ReadResult::present(kind, id, value.clone()),
        })
    }

    async fn create(&self, _: &CallContext, _: CreateRequest) -> Result<ProgressResult, PluginError> {
        unreachable!("discovery changes nothing")
    }

    async fn update(&self, _: &CallContext, _: UpdateRequest) -> Result<ProgressResult, PluginError> {
        unreachable!("discovery changes nothing")
    }

    async fn delete(&self, _: &CallContext, _: DeleteRequest) -> Result<ProgressResult, PluginError> {
        unreachable!("discovery changes nothing")
    }
}

struct Rules {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
    discovery: Discovery,
}

impl TypeRules for Rules {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }

    fn discovery(&self) -> Option<&Discovery> {
        Some(&self.discovery)
    }
}

struct Types;

impl Catalog for Types {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        let below = |parent: &str| Parent {
            type_name: parent.into(),
            list_parameters: vec![ListParameter {
                parent_property: "Name".into(),
                parameter: "BucketName".into(),
            }],
        };
        let parent = match name.as_str() {
            ITEM => Some(below(BUCKET)),
            "C::S::Part" => Some(below(KEY)),
            _ => None,
        };
        let mut secret = PropertySchema::new(Kind::String, "");
        secret.hint.opaque = true;
        let properties = [("Secret".into(), secret)].into_iter().collect();
        let schema = Arc::new(Schema { type_name: name.clone(), doc: "".into(), properties });
        Some(Arc::new(Rules {
            schema,
            capabilities: TypeCapabilities::of_plugin(),
            discovery: Discovery { parent },
        }))
    }

    fn names(&self) -> Vec<TypeName> {
        [BUCKET, ITEM, KEY].map(Into::into).to_vec()
    }
}

fn engine(world: &World, cloud: Cloud) -> Arc<Engine> {
    let registry = Registry::new();
    let types = [BUCKET, ITEM, KEY, "C::S::Part"].map(Into::into);
    registry.register(Arc::new(cloud), types).expect("the types are free");
    world.engine_with("owner-1", Arc::new(NoHooks), Arc::new(registry))
}

async fn discover(cloud: Cloud, types: &[&str], managed: &[(&str, &str)]) -> Discoveries {
    let world = World::new();
    let request = DiscoverRequest {
        project: "project".into(),
        actor: "actor".into(),
        target: None,
        types: types.iter().map(|name| (*name).into()).collect(),
        catalog: Arc::new(Types),
        managed: managed.iter().map(|(kind, id)| ((*kind).into(), (*id).into())).collect::<BTreeSet<_>>(),
    };
    engine(&world, cloud).discover(request).await
}

fn labels(found: &Discoveries) -> Vec<&str> {
    found.found.iter().map(|one| one.label.as_str()).collect()
}

fn buckets() -> Vec<(&'static str, &'static str, Json)> {
    vec![
        (BUCKET, "b1", json!({ "Name": "logs", "Secret": "hush" })),
        (BUCKET, "b2", json!({ "Name": "pictures" })),
        (BUCKET, "b3", json!({ "Name": "system", "System": true })),
        (BUCKET, "b4", json!({ "Name": "logs" })),
        (ITEM, "i1", json!({ "BucketName": "logs", "Name": "today" })),
        (ITEM, "i2", json!({ "BucketName": "pictures", "Name": "cat" })),
        (ITEM, "i3", json!({ "BucketName": "system", "Name": "x" })),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_no_row_stands_for_is_found_page_by_page_and_passed_over_where_a_filter_says() {
    let found = discover(Cloud::new(&buckets()), &[BUCKET], &[(BUCKET, "b2")]).await;
    assert_eq!(labels(&found), ["logs", "logs-2"]);
    assert_eq!(found.left_out, []);
    let text = serde_json::to_string(&found.found[0].properties).expect("it serialises");
    assert!(text.contains("logs") && !text.contains("hush"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn children_are_listed_below_each_parent_whether_that_is_asked_for_or_not() {
    let found = discover(Cloud::new(&buckets()), &[ITEM], &[(BUCKET, "b2")]).await;
    // Two buckets have one name, so the plugin names one item twice; it is found once.
    assert_eq!(labels(&found), ["today", "cat", "x"]);
    let parents: Vec<_> = found.found.iter().map(|one| one.parent.clone().expect("it has one").1).collect();
    assert_eq!(parents, ["b1", "b2", "b3"].map(NativeId::from));
}

#[tokio::test(start_paused = true)]
async fn a_type_that_cannot_be_listed_is_left_out_with_what_is_below_it_and_nothing_else() {
    let found = discover(Cloud::new(&buckets()), &["C::S::Part", BUCKET], &[]).await;
    let left_out: Vec<_> =
        found.left_out.iter().map(|one| (one.type_name.as_str(), one.failure.message.as_str())).collect();
    assert_eq!(left_out.len(), 2);
    assert!(left_out[0].0 == KEY && left_out[0].1.contains("it died"), "{left_out:?}");
    assert_eq!(left_out[1], ("C::S::Part", "`C::S::Key`, which it is part of, could not be listed"));
    assert_eq!(labels(&found), ["logs", "pictures", "logs-2"]);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_throttles_is_asked_again_and_what_is_gone_is_left_out() {
    let mut objects = buckets();
    objects.push((BUCKET, "b0", Json::Null));
    let cloud = Cloud { throttled: Mutex::new(2), ..Cloud::new(&objects) };
    let began = tokio::time::Instant::now();
    let found = discover(cloud, &[BUCKET], &[]).await;
    assert_eq!(labels(&found), ["logs", "pictures", "logs-2"]);
    assert_eq!(found.left_out, []);
    assert!(began.elapsed() >= Duration::from_millis(500));
    let cloud = Cloud { throttled: Mutex::new(100), ..Cloud::new(&objects) };
    assert_eq!(discover(cloud, &[BUCKET], &[]).await.left_out[0].failure.code, "THROTTLING");
}

#[tokio::test(start_paused = true)]
async fn pages_without_an_end_and_queries_that_are_none_are_told() {
    let cloud = Cloud { endless: true, ..Cloud::new(&buckets()) };
    let found = discover(cloud, &[BUCKET], &[]).await;
    assert_eq!(found.left_out[0].failure.message, "its pages do not end: one names itself as the next");
    let cloud = Cloud { bad_query: true, ..Cloud::new(&buckets()) };
    let found = discover(cloud, &[BUCKET], &[]).await;
    assert!(found.left_out[0].failure.message.starts_with("`$.[` is no JSONPath: "));
    assert_eq!(found.found, []);
}
