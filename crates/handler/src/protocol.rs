//! What is sent to a handler and what it may answer (seed 4, "The handler protocol").

use crate::failure::{Effect, Reason};
use crate::transport::Reply;
use bytes::Bytes;
use formwork_model::{Json, NativeId, Path, Segment};
use hyper::StatusCode;
use serde::Serialize;
use serde_json::Map;

/// The longest id that a handler may give a resource, in bytes.
pub const LONGEST_ID: usize = 2048;

/// A member of an answer that a handler gave in JSON.
type Answer = Map<String, Json>;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequestType {
    Create,
    Update,
    Delete,
    Validate,
    Read,
}

impl RequestType {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Validate => "validate",
            Self::Read => "read",
        }
    }
}

/// A request's body; the order of its members is the wire's.
#[derive(Serialize)]
pub(crate) struct Body<'a> {
    pub(crate) request_type: RequestType,
    pub(crate) resource_type: &'a str,
    pub(crate) logical_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) physical_resource_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) properties: Option<&'a Json>,
}

impl Body<'_> {
    /// The bytes that are signed and sent.
    pub(crate) fn bytes(&self) -> Bytes {
        let bytes = serde_json::to_vec(self).expect("text keys and JSON values always serialise");
        bytes.into()
    }
}

/// The object that a reply holds.
///
/// # Errors
/// A reply that is not 2xx, or whose body is no JSON object. An empty body counts as an empty
/// object.
pub(crate) fn accepted(reply: &Reply) -> Result<Answer, Reason> {
    if !reply.status.is_success() {
        return Err(refused(reply));
    }
    // Something was done, but who can say what?
    let unclear = |detail: &str| Reason { detail: detail.to_owned(), effect: Effect::Unknown };
    if reply.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Answer::new());
    }
    match serde_json::from_slice(&reply.body) {
        Ok(value) if holds_nul(&value) => Err(unclear("response body held the character U+0000")),
        Ok(Json::Object(answer)) => Ok(answer),
        Ok(_) => Err(unclear("response body was not a JSON object")),
        Err(_) => Err(unclear("response body was not JSON")),
    }
}

/// Whether U+0000, which not every store can keep, stands in a text.
fn holds_nul(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains('\0'),
        Json::Array(items) => items.iter().any(holds_nul),
        Json::Object(members) => {
            members.iter().any(|(name, member)| name.contains('\0') || holds_nul(member))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

fn refused(reply: &Reply) -> Reason {
    let status = reply.status;
    let body: Option<Answer> = serde_json::from_slice(&reply.body).ok();
    let message = body
        .as_ref()
        .and_then(|body| body.get("message"))
        .and_then(Json::as_str)
        .filter(|message| !message.trim().is_empty());
    let number = status.as_u16();
    let detail = match message {
        Some(message) => format!("{message} (HTTP {number})"),
        None if status.is_redirection() => format!("HTTP {number}, and redirects are not followed"),
        None => format!("HTTP {number}"),
    };
    // A handler that refuses says so with a 4xx, or with a 5xx and a message. A 5xx without one
    // may come from something between us, and so may a redirect that follows a deed. Who was not
    // believed was not heard, and what is there already may be our own, made by an earlier request.
    let heard = ![StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::CONFLICT].contains(&status);
    let is_error = status.is_client_error() || status.is_server_error();
    // These come from whatever stands between us, with a message too: the handler may be at it.
    let gave_up = matches!(number, 408 | 499 | 502 | 504);
    let effect = match status {
        _ if gave_up => Effect::Unknown,
        _ if is_error && message.is_some() && heard => Effect::Refused,
        _ if status.is_client_error() || is_error && message.is_some() => Effect::None,
        StatusCode::MOVED_PERMANENTLY | StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => {
            Effect::None
        }
        _ => Effect::Unknown,
    };
    Reason { detail, effect }
}

/// What a create or an update made.
#[derive(Debug, PartialEq)]
pub(crate) struct Made {
    pub(crate) id: NativeId,
    pub(crate) outputs: Answer,
}

/// The answer to a create or an update.
pub(crate) fn made(mut answer: Answer) -> Result<Made, Reason> {
    let unclear = |detail: &str| Reason { detail: detail.to_owned(), effect: Effect::Unknown };
    let id = answer.get("physical_resource_id").and_then(Json::as_str).filter(|id| !id.is_empty());
    let Some(id) = id else {
        return Err(unclear("response did not carry a `physical_resource_id`"));
    };
    if id.len() > LONGEST_ID || id.contains(char::is_control) {
        return Err(unclear("response carried a `physical_resource_id` that is no usable id"));
    }
    Ok(Made { id: NativeId::from(id), outputs: outputs(&mut answer) })
}

/// What a read found.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    Present { properties: Answer, outputs: Answer },
    Nothing,
}

/// The answer to a read.
pub(crate) fn found(mut answer: Answer, asked: &NativeId) -> Result<Found, Reason> {
    let unclear = |detail: &str| Reason { detail: detail.to_owned(), effect: Effect::None };
    match answer.get("exists") {
        Some(Json::Bool(true)) => {}
        Some(Json::Bool(false)) => return Ok(Found::Nothing),
        _ => return Err(unclear("response did not say whether the resource `exists`")),
    }
    let other = answer.get("physical_resource_id").is_some_and(|id| id != asked.as_str());
    if other {
        return Err(unclear("response was about another `physical_resource_id`"));
    }
    let outputs = outputs(&mut answer);
    match answer.remove("properties") {
        Some(Json::Object(properties)) => Ok(Found::Present { properties, outputs }),
        _ => Err(unclear("response did not carry `properties`")),
    }
}

/// The outputs that can be addressed: those that are texts (seed 4, "What each optional
/// capability buys").
fn outputs(answer: &mut Answer) -> Answer {
    match answer.remove("outputs") {
        Some(Json::Object(mut outputs)) => {
            outputs.retain(|_, value| value.is_string());
            outputs
        }
        _ => Answer::new(),
    }
}

/// What a validation found wrong: a place below the properties, and a message.
pub(crate) fn problems(answer: &Answer) -> Result<Vec<(Path, String)>, Reason> {
    let entries = match answer.get("errors") {
        None => return Ok(Vec::new()),
        Some(Json::Array(entries)) => entries,
        Some(_) => {
            let detail = "response `errors` was not an array".to_owned();
            return Err(Reason { detail, effect: Effect::None });
        }
    };
    let problem = |entry: &Json| {
        let message = entry.get("message")?.as_str()?;
        let path = entry.get("path").and_then(Json::as_str).unwrap_or_default();
        Some((property_path(path), message.to_owned()))
    };
    Ok(entries.iter().filter_map(problem).collect())
}

/// A path as handlers write it (`properties.tags[0].name`), from the properties.
fn property_path(text: &str) -> Path {
    let mut path = Path::root();
    for (number, part) in text.split('.').enumerate() {
        let (name, indices) = part.split_once('[').unwrap_or((part, ""));
        if !name.is_empty() && (number > 0 || name != "properties") {
            path.push(Segment::Key(name.into()));
        }
        for index in indices.split('[') {
            if let Some(index) = index.strip_suffix(']').and_then(|index| index.parse().ok()) {
                path.push(Segment::Index(index));
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(status: u16, body: &str) -> Reply {
        let status = StatusCode::from_u16(status).expect("a status");
        Reply { status, body: Bytes::copy_from_slice(body.as_bytes()) }
    }

    fn answer(value: Json) -> Answer {
        match value {
            Json::Object(answer) => answer,
            _ => panic!("an object"),
        }
    }

    #[test]
    fn a_body_has_its_members_in_the_order_of_the_wire() {
        let properties = json!({ "name": "Support WhatsApp", "kind": "whatsapp" });
        let body = Body {
            request_type: RequestType::Update,
            resource_type: "channel",
            logical_id: "SupportChannel",
            project_id: Some("proj_1"),
            physical_resource_id: Some("chan_1"),
            properties: Some(&properties),
        };
        let text = String::from_utf8(body.bytes().to_vec()).expect("UTF-8");
        insta::assert_snapshot!(text, @r#"{"request_type":"update","resource_type":"channel","logical_id":"SupportChannel","project_id":"proj_1","physical_resource_id":"chan_1","properties":{"name":"Support WhatsApp","kind":"whatsapp"}}"#);
        let bare = Body { project_id: None, physical_resource_id: None, properties: None, ..body };
        let text = String::from_utf8(bare.bytes().to_vec()).expect("UTF-8");
        insta::assert_snapshot!(text, @r#"{"request_type":"update","resource_type":"channel","logical_id":"SupportChannel"}"#);
    }

    #[test]
    fn every_refusal_has_its_text_and_says_whether_anything_may_have_happened() {
        let shown: Vec<_> = [
            reply(422, r#"{"message": "the number is taken"}"#),
            reply(409, r#"{"message": "it is there already"}"#),
            reply(404, ""),
            reply(400, r#"{"message": 7}"#),
            reply(401, r#"{"message": " "}"#),
            reply(500, r#"{"message": "the carrier refuses"}"#),
            reply(500, "<html>"),
            reply(502, r#"["message"]"#),
            reply(301, ""),
            reply(302, ""),
            reply(303, ""),
            reply(307, ""),
            reply(308, r#"{"message": "elsewhere"}"#),
            reply(304, ""),
            reply(200, "<html>"),
            reply(200, "[]"),
            reply(200, "null"),
            reply(200, "{} {}"),
            reply(200, r#"{"outputs": {"a": ["\u0000"]}}"#),
        ]
        .iter()
        .map(|reply| {
            let Reason { detail, effect } = accepted(reply).expect_err("refused");
            format!("{effect:?}: {detail}")
        })
        .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        Refused: the number is taken (HTTP 422)
        None: it is there already (HTTP 409)
        None: HTTP 404
        None: HTTP 400
        None: HTTP 401
        Refused: the carrier refuses (HTTP 500)
        Unknown: HTTP 500
        Unknown: HTTP 502
        None: HTTP 301, and redirects are not followed
        Unknown: HTTP 302, and redirects are not followed
        Unknown: HTTP 303, and redirects are not followed
        None: HTTP 307, and redirects are not followed
        None: elsewhere (HTTP 308)
        Unknown: HTTP 304, and redirects are not followed
        Unknown: response body was not JSON
        Unknown: response body was not a JSON object
        Unknown: response body was not a JSON object
        Unknown: response body was not JSON
        Unknown: response body held the character U+0000
        ");
    }

    #[test]
    fn an_empty_body_is_an_empty_object() {
        for body in ["", " \n", "{}"] {
            assert_eq!(accepted(&reply(204, body)), Ok(Answer::new()));
        }
    }

    #[test]
    fn what_was_made_needs_a_usable_id_and_keeps_only_texts_as_outputs() {
        let made_of = |value| made(answer(value));
        let outputs = json!({ "url": "u", "port": 1, "none": null });
        assert_eq!(
            made_of(json!({ "physical_resource_id": "c1", "outputs": outputs })),
            Ok(Made { id: "c1".into(), outputs: answer(json!({ "url": "u" })) })
        );
        assert!(made_of(json!({ "physical_resource_id": "c1", "outputs": [1] })).is_ok());
        let none = "response did not carry a `physical_resource_id`";
        for value in [json!({}), json!({ "physical_resource_id": "" }), json!({ "physical_resource_id": 7 })]
        {
            let reason = made_of(value).expect_err("no id");
            assert_eq!((reason.detail.as_str(), reason.effect), (none, Effect::Unknown));
        }
        let unusable = "response carried a `physical_resource_id` that is no usable id";
        for id in ["x".repeat(LONGEST_ID + 1), "a\nb".to_owned()] {
            let reason = made_of(json!({ "physical_resource_id": id })).expect_err("no usable id");
            assert_eq!(reason.detail, unusable);
        }
    }

    #[test]
    fn a_read_must_say_whether_the_resource_exists_and_what_it_is() {
        let found_in = |value| found(answer(value), &"c1".into());
        assert_eq!(found_in(json!({ "exists": false })), Ok(Found::Nothing));
        let present = json!({ "exists": true, "physical_resource_id": "c1", "properties": { "a": 1 } });
        let properties = answer(json!({ "a": 1 }));
        assert_eq!(found_in(present), Ok(Found::Present { properties, outputs: Answer::new() }));
        let shown: Vec<_> = [
            json!({}),
            json!({ "exists": "yes" }),
            json!({ "exists": true }),
            json!({ "exists": true, "properties": [] }),
            json!({ "exists": true, "physical_resource_id": "c2", "properties": {} }),
        ]
        .map(|value| found_in(value).expect_err("refused").detail)
        .into();
        insta::assert_snapshot!(shown.join("\n"), @r"
        response did not say whether the resource `exists`
        response did not say whether the resource `exists`
        response did not carry `properties`
        response did not carry `properties`
        response was about another `physical_resource_id`
        ");
    }

    #[test]
    fn problems_have_paths_from_the_properties_and_a_message() {
        let errors = json!({ "errors": [
            { "path": "properties.kind", "message": "no such kind" },
            { "path": "tags[0].name", "message": "too long" },
            { "message": "not verified" },
            { "path": "properties", "message": "all of it" },
            { "path": "properties.properties[1][2]", "message": "odd" },
            { "path": "x" },
            "nothing",
        ]});
        let shown: Vec<_> = problems(&answer(errors))
            .expect("problems")
            .into_iter()
            .map(|(path, message)| format!("{path}: {message}"))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        kind: no such kind
        tags[0].name: too long
        : not verified
        : all of it
        properties[1][2]: odd
        ");
        assert_eq!(problems(&Answer::new()), Ok(Vec::new()));
        let reason = problems(&answer(json!({ "errors": "none" }))).expect_err("refused");
        assert_eq!(reason.detail, "response `errors` was not an array");
    }
}
