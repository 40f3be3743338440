//! The suite passes a plugin that keeps its contracts and names each contract that one breaks.

use crate::support::Fixture;
use async_trait::async_trait;
use formwork_model::{Json, NativeId, OperationErrorCode, TypeName};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, ListRequest, ListResult, Operation, PluginError,
    ProgressResult, ReadRequest, ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};
use formwork_plugin_conformance::conformance::{Case, Contract, Verdict, run};
use formwork_plugin_conformance::{CloudType, FakeCloudPlugin, Rule};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

fn case(kind: &str) -> Case {
    Case::new(kind, json!({"name": "a", "size": 1, "password": "hush"}))
        .update(json!({"name": "a", "size": 2}))
        .siblings(vec![json!({"name": "b"}), json!({"name": "c"})])
        .write_only(&["password"])
        .text("name")
        .patience(Duration::from_secs(5), Duration::from_millis(1))
}

/// A cloud that serves these types and no others.
fn strict(types: &[CloudType]) -> Fixture {
    let fixture = Fixture::new();
    for kind in types {
        fixture.cloud.define(kind.clone());
    }
    fixture.cloud.serve_only_defined();
    fixture
}

fn broken(report: &formwork_plugin_conformance::conformance::Report) -> BTreeSet<Contract> {
    report.broken().map(|finding| finding.contract).collect()
}

#[tokio::test]
async fn the_fake_cloud_keeps_every_contract_and_is_left_empty() {
    let fixture = strict(&[
        CloudType::new("Fake::A").tokens().write_only(&["password"]).defaults_to("zone", 1),
        CloudType::new("Fake::Slow").polls(3).write_only(&["password"]),
    ]);
    let report = run(&fixture.plugin, &[case("Fake::A").tokens(), case("Fake::Slow")]).await;
    assert!(report.is_conformant(), "{report}");
    assert_eq!(report.verdicts(Contract::ProgressEnds).collect::<Vec<_>>(), [&Verdict::Kept]);
    assert_eq!(report.verdicts(Contract::TokenRepeats).collect::<Vec<_>>(), [&Verdict::Kept]);
    assert_eq!(fixture.cloud.snapshot().objects.len(), 0);
}

#[tokio::test]
async fn a_type_that_replaces_on_update_conforms_and_is_left_empty() {
    let fixture = strict(&[CloudType::new("Fake::A").replaces(&["size"]).write_only(&["password"])]);
    let report = run(&fixture.plugin, &[case("Fake::A")]).await;
    assert!(report.is_conformant(), "{report}");
    assert_eq!(fixture.cloud.snapshot().objects.len(), 0);
}

#[tokio::test]
async fn a_token_that_is_claimed_and_not_known_is_found_out() {
    let fixture = strict(&[CloudType::new("Fake::A").write_only(&["password"])]);
    let report = run(&fixture.plugin, &[case("Fake::A").tokens()]).await;
    assert_eq!(broken(&report), BTreeSet::from([Contract::TokenRepeats]), "{report}");
    assert_eq!(fixture.cloud.snapshot().objects.len(), 0, "the second object is deleted too");
}

#[tokio::test]
async fn a_create_that_fails_breaks_one_contract_and_the_rest_is_not_tried() {
    let fixture = strict(&[CloudType::new("Fake::A").write_only(&["password"])]);
    fixture.cloud.script(Rule::on(Operation::Create).refuse(OperationErrorCode::AccessDenied, "no"));
    let report = run(&fixture.plugin, &[case("Fake::A")]).await;
    assert_eq!(broken(&report), BTreeSet::from([Contract::CreateAnswers]));
    insta::assert_snapshot!(report.to_string());
}

#[tokio::test]
async fn a_call_that_never_ends_is_given_up() {
    let fixture = Fixture::new();
    fixture.cloud.define(CloudType::new("Fake::A").polls(u32::MAX));
    let case = case("Fake::A").patience(Duration::from_millis(20), Duration::from_millis(1));
    let report = run(&fixture.plugin, &[case]).await;
    assert!(broken(&report).contains(&Contract::ProgressEnds), "{report}");
}

/// A plugin that breaks one contract on its way to a good one.
struct Broken {
    inner: FakeCloudPlugin,
    how: How,
    reading: AtomicUsize,
    left: AtomicBool,
}

impl Broken {
    fn how_serves(&self, kind: &TypeName) -> bool {
        self.how == How::ServesAnything || kind.as_str() == "Fake::A"
    }

    async fn is_there(&self, context: &CallContext, request: &UpdateRequest) -> Result<bool, PluginError> {
        let read = ReadRequest {
            resource_type: request.resource_type.clone(),
            native_id: request.native_id.clone(),
            target_config: request.target_config.clone(),
            redact_sensitive: false,
            prior_properties: None,
        };
        Ok(self.inner.read(context, read).await?.error_code.is_none())
    }
}

/// A read under way.
struct Reading<'a>(&'a AtomicUsize);

impl<'a> Reading<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }

    fn are_many(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    NoNativeId,
    ForgetsUpdates,
    EndlessPages,
    RepeatsPages,
    NotFoundAsError,
    DeleteOfNothingFails,
    UpdateOfNothingSucceeds,
    NoRequestId,
    AnotherId,
    ShowsSecrets,
    ServesAnything,
    FailsToReach,
    CutsLongTexts,
    LosesLetters,
    CantReadAtOnce,
    DiesOfLeavers,
}

#[async_trait]
impl ResourcePlugin for Broken {
    fn namespace(&self) -> &str {
        self.inner.namespace()
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let (kind, properties) = (request.resource_type.clone(), request.properties.expose().clone());
        if !self.how_serves(&kind) {
            return Ok(ProgressResult::failure(
                Operation::Create,
                OperationErrorCode::InvalidRequest,
                "no type",
            ));
        }
        if !request.target_config.expose().is_object() {
            let code = match self.how {
                How::FailsToReach => OperationErrorCode::ServiceUnavailable,
                _ => OperationErrorCode::InvalidRequest,
            };
            return Ok(ProgressResult::failure(Operation::Create, code, "no configuration"));
        }
        let mut result = self.inner.create(context, request).await?;
        match self.how {
            How::ShowsSecrets => result.resource_properties = Some(properties),
            How::NoNativeId => result.native_id = None,
            How::NoRequestId => {
                result = ProgressResult {
                    request_id: None,
                    ..ProgressResult::in_progress(Operation::Create, "", None)
                };
            }
            _ => {}
        }
        Ok(result)
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let (kind, id) = (request.resource_type.clone(), request.native_id.clone());
        if !self.how_serves(&kind) {
            return Ok(ReadResult::absent(kind, id));
        }
        if self.how == How::DiesOfLeavers && self.left.swap(false, Ordering::SeqCst) {
            return Err(PluginError::Lost { namespace: "Fake".into(), reason: "it died".into() });
        }
        let reading = Reading::begin(&self.reading);
        if self.how == How::CantReadAtOnce {
            tokio::time::sleep(Duration::from_millis(5)).await;
            if reading.are_many() {
                return Err(PluginError::Lost { namespace: "Fake".into(), reason: "too many".into() });
            }
        }
        let mut result = self.inner.read(context, request).await?;
        let text = result.resource_properties.as_mut().and_then(|shown| shown.get_mut("name"));
        if let Some(Json::String(text)) = text {
            match self.how {
                How::CutsLongTexts => *text = text.chars().take(1000).collect(),
                How::LosesLetters => text.retain(|letter| letter.is_ascii()),
                _ => {}
            }
        }
        if self.how == How::AnotherId && result.error_code.is_none() {
            result.native_id = format!("{id}-{id}").as_str().into();
        }
        if self.how == How::NotFoundAsError && result.error_code.is_some() {
            return Err(PluginError::Nonsense { namespace: "Fake".into(), reason: "not found".into() });
        }
        Ok(result)
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let (id, desired) = (request.native_id.clone(), request.desired_properties.expose().clone());
        if self.how == How::DiesOfLeavers {
            self.left.store(true, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.left.store(false, Ordering::SeqCst);
        }
        if self.how == How::ForgetsUpdates && self.is_there(context, &request).await? {
            return Ok(ProgressResult::success(Operation::Update, id, desired));
        }
        let result = self.inner.update(context, request).await?;
        if self.how == How::UpdateOfNothingSucceeds && result.error_code.is_some() {
            return Ok(ProgressResult::success(Operation::Update, id, desired));
        }
        Ok(result)
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let read = ReadRequest {
            resource_type: request.resource_type.clone(),
            native_id: request.native_id.clone(),
            target_config: request.target_config.clone(),
            redact_sensitive: false,
            prior_properties: None,
        };
        let is_gone = self.inner.read(context, read).await?.error_code.is_some();
        if self.how == How::DeleteOfNothingFails && is_gone {
            return Ok(ProgressResult::failure(Operation::Delete, OperationErrorCode::NotFound, "gone"));
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
        let first = request.page_token.is_none();
        let mut page = self.inner.list(context, request).await?;
        match self.how {
            How::EndlessPages => {
                page = ListResult { native_ids: Vec::new(), next_page_token: Some("more".into()) };
            }
            How::RepeatsPages if !first => page.native_ids = vec![NativeId::from("a-1")],
            _ => {}
        }
        Ok(page)
    }
}

#[tokio::test]
async fn each_broken_contract_is_named() {
    for (how, contract) in [
        (How::NoNativeId, Contract::CreateAnswers),
        (How::ForgetsUpdates, Contract::ReadAfterUpdate),
        (How::EndlessPages, Contract::ListIsComplete),
        (How::RepeatsPages, Contract::ListIsComplete),
        (How::NotFoundAsError, Contract::NotFoundIsACode),
        (How::DeleteOfNothingFails, Contract::DeleteIsIdempotent),
        (How::UpdateOfNothingSucceeds, Contract::UpdateOfNothingFails),
        (How::NoRequestId, Contract::ProgressEnds),
        (How::AnotherId, Contract::NativeIdIsStable),
        (How::ShowsSecrets, Contract::WriteOnlyStaysAway),
        (How::ServesAnything, Contract::UnknownTypeFails),
        (How::FailsToReach, Contract::WrongTargetFails),
        (How::CutsLongTexts, Contract::LargeIsKeptOrRefused),
        (How::LosesLetters, Contract::UnicodeIsKeptOrRefused),
        (How::CantReadAtOnce, Contract::ReadsSideBySide),
        (How::DiesOfLeavers, Contract::GivenUpCallsLeaveItAble),
    ] {
        let mut fixture = strict(&[CloudType::new("Fake::A").write_only(&["password"])]);
        if how == How::ServesAnything {
            fixture = Fixture::new();
            fixture.cloud.define(CloudType::new("Fake::A").write_only(&["password"]));
        }
        let plugin = Broken {
            inner: fixture.plugin.clone(),
            how,
            reading: AtomicUsize::new(0),
            left: AtomicBool::new(false),
        };
        let report = run(&plugin, &[case("Fake::A")]).await;
        assert_eq!(broken(&report), BTreeSet::from([contract]), "{report}");
    }
}
