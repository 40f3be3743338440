//! Every cell of the table of answers.

use crate::{Answer, Class, classify};
use formwork_model::{
    Concurrency, Failure, ImmutableRule, IntentKind, LookupRule, OperationErrorCode as Code, Replacement,
    RetryRule, SecretKeeping, TypeCapabilities, WireCode, WriteOnlyRule,
};

fn capabilities(retry: RetryRule, replacement: Replacement) -> TypeCapabilities {
    TypeCapabilities {
        read: true,
        list: true,
        retry,
        lookup: LookupRule::None,
        replacement,
        write_only: WriteOnlyRule::Digest,
        on_immutable: ImmutableRule::Replace,
        settle_millis: 0,
        timeout_millis: 1,
        validate: false,
        delete_blockers: false,
        secrets: SecretKeeping::Provider,
        concurrency: Concurrency::Parallel,
        outputs: Vec::new(),
        credential_outputs: Vec::new(),
        iam: None,
    }
}

fn why() -> Failure {
    Failure::new(WireCode::Unknown, "why")
}

fn failed(code: Code, left: Option<&str>) -> Answer {
    Answer::Failure { code, failure: why(), native_id: left.map(Into::into) }
}

fn class(kind: IntentKind, attempt: u32, answer: &Answer) -> Class {
    classify(kind, attempt, answer, &capabilities(RetryRule::ByCode, Replacement::Declared))
}

const CREATE: IntentKind = IntentKind::Create;
const UPDATE: IntentKind = IntentKind::Update;
const DELETES: [IntentKind; 3] = [IntentKind::Delete, IntentKind::Cleanup, IntentKind::Undo];
const KINDS: [IntentKind; 5] = [CREATE, UPDATE, IntentKind::Delete, IntentKind::Cleanup, IntentKind::Undo];
const NOT_MADE: Class = Class::NotMade { retriable: false };
const AGAIN: Class = Class::NotMade { retriable: true };

#[test]
fn failures_of_a_create_mean_what_the_table_says() {
    let first = [
        (Code::NotFound, NOT_MADE),
        (Code::AlreadyExists, NOT_MADE),
        (Code::InvalidRequest, NOT_MADE),
        (Code::AccessDenied, NOT_MADE),
        (Code::Throttling, AGAIN),
        (Code::ServiceUnavailable, Class::Ambiguous),
        (Code::InternalFailure, Class::Ambiguous),
        (Code::NotStabilized, Class::Ambiguous),
    ];
    assert_eq!(first.len(), Code::ALL.len());
    for (code, expected) in first {
        assert_eq!(class(CREATE, 1, &failed(code, None)), expected, "{code}");
        let later = if code == Code::AlreadyExists { Class::Ambiguous } else { expected };
        assert_eq!(class(CREATE, 2, &failed(code, None)), later, "{code}, later");
        assert_eq!(class(CREATE, 1, &failed(code, Some("x"))), Class::Partial("x".into()), "{code}, left");
    }
}

#[test]
fn failures_of_an_update_mean_what_the_table_says() {
    let cells = [
        (Code::NotFound, Class::Refused),
        (Code::AlreadyExists, Class::Refused),
        (Code::InvalidRequest, Class::Refused),
        (Code::AccessDenied, Class::Refused),
        (Code::Throttling, AGAIN),
        (Code::ServiceUnavailable, Class::Ambiguous),
        (Code::InternalFailure, Class::Ambiguous),
        (Code::NotStabilized, Class::Ambiguous),
    ];
    assert_eq!(cells.len(), Code::ALL.len());
    let discovered = capabilities(RetryRule::ByCode, Replacement::Discovered);
    for (code, expected) in cells {
        for attempt in [1, 2] {
            assert_eq!(class(UPDATE, attempt, &failed(code, None)), expected, "{code}");
            assert_eq!(class(UPDATE, attempt, &failed(code, Some("x"))), expected, "{code}, named");
            let half = classify(UPDATE, attempt, &failed(code, Some("x")), &discovered);
            assert_eq!(half, Class::Partial("x".into()), "{code}, half replaced");
            assert_eq!(classify(UPDATE, attempt, &failed(code, None), &discovered), expected, "{code}");
        }
    }
}

#[test]
fn failures_of_a_delete_mean_what_the_table_says() {
    let cells = [
        (Code::NotFound, Class::Done),
        (Code::AlreadyExists, Class::Refused),
        (Code::InvalidRequest, Class::Refused),
        (Code::AccessDenied, Class::Refused),
        (Code::Throttling, AGAIN),
        (Code::ServiceUnavailable, Class::Ambiguous),
        (Code::InternalFailure, Class::Ambiguous),
        (Code::NotStabilized, Class::Ambiguous),
    ];
    assert_eq!(cells.len(), Code::ALL.len());
    for kind in DELETES {
        for (code, expected) in &cells {
            for (attempt, left) in [(1, None), (2, None), (1, Some("x"))] {
                assert_eq!(class(kind, attempt, &failed(*code, left)), *expected, "{kind:?} {code}");
            }
        }
    }
}

#[test]
fn an_answer_that_never_came_is_ambiguous_unless_the_call_never_left() {
    for kind in KINDS {
        assert_eq!(class(kind, 1, &Answer::Deadline), Class::Ambiguous);
        assert_eq!(class(kind, 1, &Answer::Lost { failure: why(), unsent: false }), Class::Ambiguous);
        assert_eq!(class(kind, 1, &Answer::Lost { failure: why(), unsent: true }), AGAIN);
    }
}

#[test]
fn success_is_done_but_a_create_must_name_its_object() {
    let success =
        |native_id: Option<&str>| Answer::Success { native_id: native_id.map(Into::into), properties: None };
    for kind in KINDS {
        assert_eq!(class(kind, 1, &success(Some("x"))), Class::Done);
        let unnamed = if kind == CREATE { Class::Ambiguous } else { Class::Done };
        assert_eq!(class(kind, 1, &success(None)), unnamed, "{kind:?}");
    }
}

#[test]
fn progress_is_polled_but_must_say_with_what() {
    let progress = |request: &str| Answer::InProgress { request_id: request.into(), native_id: None };
    for kind in KINDS {
        assert_eq!(class(kind, 1, &progress("r")), Class::Poll);
        assert_eq!(class(kind, 1, &progress("")), Class::Ambiguous);
    }
}

#[test]
fn a_type_that_is_never_retried_has_nothing_retriable() {
    let never = capabilities(RetryRule::Never, Replacement::Declared);
    for kind in KINDS {
        assert_eq!(classify(kind, 1, &failed(Code::Throttling, None), &never), NOT_MADE);
        let unsent = Answer::Lost { failure: why(), unsent: true };
        assert_eq!(classify(kind, 1, &unsent, &never), NOT_MADE);
    }
}
