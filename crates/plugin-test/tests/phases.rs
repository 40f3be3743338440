//! A good plugin keeps every phase, and for each phase a wrong one breaks it and no other.

use async_trait::async_trait;
use formwork_model::{
    Catalog, CheckContext, Discovery, Expr, Json, Kind, PropertySchema, Schema, TypeCapabilities, TypeName,
    TypeRules, WriteOnlyRule,
};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, Operation, OperationErrorCode,
    PluginError, ProgressResult, ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};
use formwork_plugin_conformance::lifecycle::{Phase, Scenario, ScenarioReport, run};
use formwork_plugin_conformance::{CloudType, FakeCloud, FakeCloudPlugin};
use formwork_plugin_test::Bench;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

const THING: &str = "Fake::Store::Thing";

/// How a plugin is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    NotAtAll,
    RefusesToCreate,
    ShowsSomethingElse,
    LooksDifferentWhenRead,
    AlwaysSends,
    HidesFromLists,
    RefusesToUpdate,
    NeverReplaces,
    RemembersWhatIsGone,
    KeepsWhatItDeletes,
}

struct Wrong {
    inner: FakeCloudPlugin,
    how: How,
}

impl Wrong {
    fn dressed(&self, mut shown: ProgressResult) -> ProgressResult {
        if self.how == How::ShowsSomethingElse
            && let Some(properties) = &mut shown.resource_properties
        {
            properties["size"] = json!("big");
        }
        shown
    }
}

#[async_trait]
impl ResourcePlugin for Wrong {
    fn namespace(&self) -> &'static str {
        "Fake"
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        if self.how == How::RefusesToCreate {
            return Ok(ProgressResult::failure(Operation::Create, OperationErrorCode::InvalidRequest, "no"));
        }
        Ok(self.dressed(self.inner.create(context, request).await?))
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let (kind, id, prior) =
            (request.resource_type.clone(), request.native_id.clone(), request.prior_properties.clone());
        let mut read = self.inner.read(context, request).await?;
        let is_ours = context.label.is_some();
        if self.how == How::RemembersWhatIsGone && is_ours && read.error_code.is_some() {
            return Ok(ReadResult::present(kind, id, prior.unwrap_or_default()));
        }
        if let Some(properties) = &mut read.resource_properties {
            match self.how {
                How::ShowsSomethingElse => properties["size"] = json!("big"),
                How::LooksDifferentWhenRead if is_ours => properties["size"] = json!(99),
                _ => {}
            }
        }
        Ok(read)
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        if self.how == How::RefusesToUpdate && request.desired_properties.expose()["size"] == 2 {
            return Ok(ProgressResult::failure(Operation::Update, OperationErrorCode::InvalidRequest, "no"));
        }
        Ok(self.dressed(self.inner.update(context, request).await?))
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        if self.how == How::KeepsWhatItDeletes && context.operation.is_some() {
            return Ok(ProgressResult::deleted(request.native_id));
        }
        self.inner.delete(context, request).await
    }

    async fn status(
        &self,
        context: &CallContext,
        request: StatusRequest,
    ) -> Result<ProgressResult, PluginError> {
        self.inner.status(context, request).await
    }

    async fn list(&self, context: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        if self.how == How::HidesFromLists {
            return Ok(ListResult::default());
        }
        self.inner.list(context, request).await
    }
}

struct Thing {
    schema: Arc<Schema>,
    capabilities: TypeCapabilities,
    discovery: Discovery,
}

impl TypeRules for Thing {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn capabilities(&self) -> &TypeCapabilities {
        &self.capabilities
    }

    fn target_namespace(&self) -> Option<&str> {
        Some("Fake")
    }

    fn discovery(&self) -> Option<&Discovery> {
        Some(&self.discovery)
    }

    fn check(&self, _: &Expr, _: &mut CheckContext<'_>) {}
}

struct Things(Arc<Thing>);

impl Catalog for Things {
    fn get(&self, name: &TypeName) -> Option<Arc<dyn TypeRules>> {
        (name.as_str() == THING).then(|| self.0.clone() as Arc<dyn TypeRules>)
    }

    fn names(&self) -> Vec<TypeName> {
        vec![THING.into()]
    }
}

fn things(how: How) -> Things {
    let any = || PropertySchema::new(Kind::Any, "");
    let kind = if how == How::NeverReplaces { any() } else { any().create_only() };
    let properties =
        [("name", any().required()), ("size", any()), ("kind", kind), ("token", any().write_only())];
    let schema = Schema {
        type_name: THING.into(),
        doc: "A thing.".into(),
        properties: properties.into_iter().map(|(name, property)| (name.into(), property)).collect(),
    };
    let write_only = if how == How::AlwaysSends { WriteOnlyRule::AlwaysSend } else { WriteOnlyRule::Digest };
    let capabilities = TypeCapabilities { write_only, ..TypeCapabilities::of_plugin() };
    Things(Arc::new(Thing { schema: Arc::new(schema), capabilities, discovery: Discovery::default() }))
}

fn scenario() -> Scenario {
    let template = |size: i32, kind: &str| {
        let thing = |name: Json, size: i32| {
            let properties = json!({ "name": name, "size": size, "kind": kind, "token": "hush" });
            json!({ "type": THING, "target": "Cloud", "properties": properties })
        };
        json!({ "resources": {
            "Cloud": { "type": "target", "properties": { "namespace": "Fake", "config": { "password": "x" } } },
            "One": thing(json!("one"), size),
            "Two": thing(json!({ "ref": "One" }), 1),
        } })
    };
    Scenario {
        name: "things".to_owned(),
        create: template(1, "a"),
        update: Some(template(2, "a")),
        replace: Some(template(2, "b")),
    }
}

async fn report(how: How) -> ScenarioReport {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let cloud = FakeCloud::start(directory.path().join("cloud.sock")).expect("a socket");
    cloud.define(CloudType::new(THING).write_only(&["token"]));
    let plugin = Wrong { inner: FakeCloudPlugin::new("Fake", cloud.socket()), how };
    let served = vec![(Arc::new(plugin) as Arc<dyn ResourcePlugin>, vec![THING.into()])];
    let bench = Bench::open(Arc::new(things(how)), served).await.expect("it opens");
    let report = run(&bench, &scenario()).await;
    if how != How::KeepsWhatItDeletes {
        assert_eq!(cloud.snapshot().objects.len(), 0, "{report}");
    }
    report
}

#[tokio::test]
async fn a_good_plugin_keeps_every_phase() {
    let report = report(How::NotAtAll).await;
    assert!(report.is_conformant(), "{report}");
    assert_eq!(report.findings.len(), Phase::ALL.len());
    assert!(!report.to_string().contains("not tried"), "{report}");
}

#[tokio::test]
async fn a_wrong_plugin_breaks_its_phase_and_no_other() {
    for (how, phase) in [
        (How::RefusesToCreate, Phase::Create),
        (How::ShowsSomethingElse, Phase::Verify),
        (How::LooksDifferentWhenRead, Phase::Sync),
        (How::AlwaysSends, Phase::Again),
        (How::HidesFromLists, Phase::Discover),
        (How::RefusesToUpdate, Phase::Update),
        (How::NeverReplaces, Phase::Replace),
        (How::RemembersWhatIsGone, Phase::Lost),
        (How::KeepsWhatItDeletes, Phase::Destroy),
    ] {
        let report = report(how).await;
        let broken: BTreeSet<Phase> = report.broken().map(|finding| finding.phase).collect();
        assert_eq!(broken, BTreeSet::from([phase]), "{how:?}:\n{report}");
    }
}
