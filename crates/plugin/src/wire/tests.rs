//! What goes over the wire comes out as it went in, and what makes no sense is refused.

use super::{Announcement, pb};
use crate::{
    CallContext, CreateRequest, DeleteBlocker, DeleteRequest, FilterCondition, LabelConfig, ListRequest,
    ListResult, MatchFilter, Operation, OperationErrorCode, PluginError, PluginType, ProgressResult,
    PropertyProblem, RateLimitConfig, RateLimitScope, ReadRequest, ReadResult, StatusRequest, UpdateRequest,
    ValidateRequest,
};
use formwork_model::{
    ClientToken, Fence, ImmutableRule, Json, LookupRule, NativeId, Path, Secret, StepId, Timestamp,
    TypeCapabilities, TypeName, WireCode,
};
use prost::Message;
use serde_json::json;

fn context() -> CallContext {
    CallContext {
        operation: Some("op".into()),
        step: Some(StepId(7)),
        stack: Some("stack".into()),
        row: Some("row".into()),
        label: Some("label".into()),
        token: Some(ClientToken([0xab; 32])),
        attempt: 3,
        ..CallContext::observing("proj".into(), "ada".into(), Timestamp(1_234_567_890_123))
    }
}

/// Values in which something is lost where numbers become floats, or members are sorted.
fn tricky() -> Json {
    serde_json::from_str(
        r#"{"z":18446744073709551615,"a":-9223372036854775808,"f":1.0,"i":1,"e":1e300,"n":null,"t":"ü\u0000","l":[[],{}]}"#,
    )
    .expect("JSON")
}

fn secret() -> Secret<Json> {
    Secret::new(tricky())
}

fn over_the_wire<M: Message + Default>(message: &M) -> M {
    M::decode(message.encode_to_vec().as_slice()).expect("a message")
}

fn same(secret: &Secret<Json>, value: &Json) {
    assert_eq!(secret.expose().to_string(), value.to_string());
}

#[test]
fn a_create_arrives_as_it_was_sent() {
    let sent = CreateRequest {
        resource_type: "NS::A::B".into(),
        properties: secret(),
        target_config: Secret::new(json!({"token": "canary"})),
        secret_paths: vec![Path::of(["t"]), Path::of(["l"]).index(0)],
    };
    let message = over_the_wire(&pb::CreateRequest::from((&context(), sent.clone())));
    assert!(!format!("{message:?}").contains("canary"));
    let (asked, got) = <(CallContext, CreateRequest)>::try_from(message).expect("a request");
    assert_eq!(asked, context());
    assert_eq!((got.resource_type, got.secret_paths), (sent.resource_type, sent.secret_paths));
    same(&got.properties, &tricky());
    same(&got.target_config, &json!({"token": "canary"}));
}

#[test]
fn the_lease_stays_at_home() {
    let fenced = CallContext { fence: Some(Fence(1)), ..context() };
    let message = pb::CallContext::from(&fenced);
    assert_eq!(CallContext::try_from(Some(message)).expect("a context"), context());
}

#[test]
fn an_update_arrives_as_it_was_sent() {
    let sent = UpdateRequest {
        resource_type: "NS::A::B".into(),
        native_id: "id".into(),
        prior_properties: json!({"a": 1}),
        desired_properties: secret(),
        patch_document: Secret::new(json!([{"op": "remove", "path": "/a"}])),
        target_config: Secret::new(json!({})),
        secret_paths: vec![Path::root()],
        kept_paths: vec![Path::of(["k"])],
    };
    let message = over_the_wire(&pb::UpdateRequest::from((&context(), sent.clone())));
    let (_, got) = <(CallContext, UpdateRequest)>::try_from(message).expect("a request");
    assert_eq!((got.native_id, got.prior_properties), (sent.native_id, sent.prior_properties));
    assert_eq!((got.secret_paths, got.kept_paths), (sent.secret_paths, sent.kept_paths));
    same(&got.desired_properties, &tricky());
    same(&got.patch_document, sent.patch_document.expose());
}

#[test]
fn the_other_requests_arrive_as_they_were_sent() {
    let read = ReadRequest {
        resource_type: "T".into(),
        native_id: "id".into(),
        target_config: secret(),
        redact_sensitive: true,
        prior_properties: Some(tricky()),
    };
    let message = over_the_wire(&pb::ReadRequest::from((&context(), read)));
    let (_, got) = <(CallContext, ReadRequest)>::try_from(message).expect("a request");
    assert!(got.redact_sensitive);
    assert_eq!(got.prior_properties, Some(tricky()));

    let delete = DeleteRequest { resource_type: "T".into(), native_id: "id".into(), target_config: secret() };
    let message = over_the_wire(&pb::DeleteRequest::from((&context(), delete)));
    let (_, got) = <(CallContext, DeleteRequest)>::try_from(message).expect("a request");
    assert_eq!(got.native_id, "id".into());

    let status = StatusRequest {
        resource_type: "T".into(),
        request_id: "r".into(),
        native_id: Some("id".into()),
        target_config: secret(),
    };
    let message = over_the_wire(&pb::StatusRequest::from((&context(), status)));
    let (_, got) = <(CallContext, StatusRequest)>::try_from(message).expect("a request");
    assert_eq!((got.request_id.as_str(), got.native_id), ("r", Some("id".into())));

    let list = ListRequest {
        resource_type: "T".into(),
        target_config: secret(),
        page_token: Some("p".to_owned()),
        page_size: 100,
        list_parameters: [("VpcId".to_owned(), tricky())].into(),
    };
    let message = over_the_wire(&pb::ListRequest::from((&context(), list)));
    let (_, got) = <(CallContext, ListRequest)>::try_from(message).expect("a request");
    assert_eq!((got.page_token.as_deref(), got.page_size), (Some("p"), 100));
    assert_eq!(got.list_parameters["VpcId"], tricky());

    let objects: Vec<(TypeName, NativeId)> = vec![("T".into(), "1".into()), ("U".into(), "2".into())];
    let message = over_the_wire(&pb::DeleteBlockersRequest::from((&context(), objects.as_slice())));
    let (_, got) = <(CallContext, Vec<_>)>::try_from(message).expect("a request");
    assert_eq!(got, objects);

    let validate = ValidateRequest { resource_type: "T".into(), label: "l".into(), properties: secret() };
    let got = ValidateRequest::try_from(over_the_wire(&pb::ValidateRequest::from(validate)));
    same(&got.expect("a request").properties, &tricky());
}

#[test]
fn results_come_back_as_they_were_given() {
    let mut results = vec![
        ProgressResult::success(Operation::Create, "id".into(), tricky()),
        ProgressResult::deleted("id".into()),
        ProgressResult::in_progress(Operation::Update, "r", None),
    ];
    let codes = OperationErrorCode::ALL.iter();
    results.extend(codes.map(|code| ProgressResult::failure(Operation::CheckStatus, *code, "no")));
    results.push(ProgressResult {
        failure_code: Some("OWN".to_owned()),
        failure_meta: Some(json!({"why": 1})),
        ..ProgressResult::failure(Operation::Read, OperationErrorCode::NotFound, "gone")
    });
    for result in results {
        let message = over_the_wire(&pb::ProgressResponse::from(Ok(result.clone())));
        assert_eq!(message.into_outcome("NS", 1), Ok(result));
    }

    let found = ReadResult::present("T".into(), "id".into(), tricky());
    let message = over_the_wire(&pb::ReadResponse::from(Ok(found.clone())));
    assert_eq!(message.into_outcome("NS", 1), Ok(found));
    let gone = ReadResult::absent("T".into(), "id".into());
    assert_eq!(pb::ReadResponse::from(Ok(gone.clone())).into_outcome("NS", 1), Ok(gone));

    let page = ListResult { native_ids: vec!["1".into()], next_page_token: Some("p".to_owned()) };
    assert_eq!(pb::ListResponse::from(Ok(page.clone())).into_outcome("NS", 1), Ok(page));

    let blocked =
        vec![DeleteBlocker { resource_type: "T".into(), native_id: "1".into(), reason: "in use".to_owned() }];
    let message = pb::DeleteBlockersResponse::from(Ok(blocked.clone()));
    assert_eq!(message.into_outcome("NS", 1), Ok(blocked));

    let wrong = vec![PropertyProblem { path: Path::of(["a"]).index(2), message: "odd".to_owned() }];
    assert_eq!(pb::ValidateResponse::from(Ok(wrong.clone())).into_outcome("NS", 1), Ok(wrong));
}

#[test]
fn the_unexpected_comes_back_as_it_was_given() {
    let namespace = "NS".to_owned();
    for error in [
        PluginError::Failed {
            code: WireCode::ValidationFailed,
            message: "no".to_owned(),
            meta: json!({"a": 1}),
        },
        PluginError::Unavailable { namespace: namespace.clone(), reason: "no network".to_owned() },
        PluginError::Lost { namespace: namespace.clone(), reason: "it died".to_owned() },
        PluginError::Deadline { namespace: namespace.clone(), millis: 5 },
        PluginError::Nonsense { namespace: namespace.clone(), reason: "odd".to_owned() },
    ] {
        let message = over_the_wire(&pb::ReadResponse::from(Err(error.clone())));
        assert_eq!(message.into_outcome(&namespace, 5), Err(error));
    }
    let fenced = pb::ReadResponse::from(Err(PluginError::Fenced)).into_outcome(&namespace, 5);
    assert!(matches!(fenced, Err(PluginError::Lost { .. })), "another process has no lease: {fenced:?}");
}

fn nonsense(message: pb::ProgressResponse) -> String {
    match message.into_outcome("NS", 1) {
        Err(PluginError::Nonsense { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

fn response(result: pb::ProgressResult) -> pb::ProgressResponse {
    pb::ProgressResponse { outcome: Some(pb::progress_response::Outcome::Result(result)) }
}

#[test]
fn an_answer_that_says_nothing_is_refused_without_being_quoted() {
    let good =
        || pb::ProgressResult::from(ProgressResult::success(Operation::Create, "id".into(), json!({})));
    let cases = [
        pb::ProgressResponse::default(),
        response(pb::ProgressResult::default()),
        response(pb::ProgressResult { operation_status: 99, ..good() }),
        response(pb::ProgressResult { error_code: Some(0), ..good() }),
        response(pb::ProgressResult { resource_properties: Some(b"{canary".to_vec()), ..good() }),
        response(pb::ProgressResult { resource_properties: Some(vec![0xff]), ..good() }),
        response(pb::ProgressResult { resource_properties: Some(vec![b'['; 10_000]), ..good() }),
        pb::ProgressResponse {
            outcome: Some(pb::progress_response::Outcome::Failure(pb::CallFailure::default())),
        },
    ];
    let reasons: Vec<_> = cases.into_iter().map(nonsense).collect();
    insta::assert_snapshot!(reasons.join("\n"), @r"
    `outcome` is not set
    `operation` is not set
    `operation_status` has the value 99, which means nothing
    `error_code` is not set
    `resource_properties` is not JSON: a mistake at line 1, column 2
    `resource_properties` is not JSON: a mistake at line 1, column 1
    `resource_properties` is not JSON: a mistake at line 1, column 128
    `failure.kind` is not set
    ");
}

#[test]
fn an_announcement_arrives_as_it_was_made() {
    let unusual = TypeCapabilities {
        read: false,
        lookup: LookupRule::ByUnique(vec![Path::of(["name"]), Path::of(["zone"])]),
        on_immutable: ImmutableRule::Refuse { message: "no {field}".into() },
        timeout_millis: 1,
        outputs: vec!["Arn".into()],
        ..TypeCapabilities::of_plugin()
    };
    let by_id = TypeCapabilities {
        lookup: LookupRule::ByNativeId(Path::of(["name"])),
        on_immutable: ImmutableRule::Replace,
        ..TypeCapabilities::of_plugin()
    };
    let token = TypeCapabilities { lookup: LookupRule::Token, ..TypeCapabilities::of_plugin() };
    let made = Announcement {
        namespace: "NS".to_owned(),
        name: "ns".to_owned(),
        version: "1.2.3".to_owned(),
        types: vec![
            PluginType { name: "NS::A::B".into(), capabilities: unusual },
            PluginType { name: "NS::A::C".into(), capabilities: by_id },
            PluginType { name: "NS::A::D".into(), capabilities: token },
            PluginType::new("NS::A::E"),
        ],
        rate_limit: RateLimitConfig {
            scope: RateLimitScope::Namespace,
            max_requests_per_second_for_namespace: 10,
        },
        discovery_filters: vec![MatchFilter {
            resource_types: vec!["NS::A::B".to_owned()],
            conditions: vec![FilterCondition {
                property_path: "$.a".to_owned(),
                property_value: "1".to_owned(),
            }],
        }],
        label_config: LabelConfig {
            default_query: "$.Name".to_owned(),
            resource_overrides: [("NS::A::C".to_owned(), "$.Id".to_owned())].into(),
        },
    };
    let message = over_the_wire(&made.clone().into_message("canary".to_owned()));
    assert_eq!((message.protocol, message.token.as_str()), (super::PROTOCOL, "canary"));
    assert!(!format!("{message:?}").contains("canary"));
    assert_eq!(Announcement::try_from(message).expect("an announcement"), made);
}

#[test]
fn a_type_that_says_nothing_is_as_most_are() {
    let message = pb::PluginType { name: "NS::A::B".to_owned(), capabilities: None };
    assert_eq!(PluginType::try_from(message).expect("a type"), PluginType::new("NS::A::B"));
}
