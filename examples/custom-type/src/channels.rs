//! The channels themselves: what the handler is for.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The kinds of channel that exist.
const KINDS: [&str; 3] = ["whatsapp", "discord", "sms"];
/// What is passed on and never kept where it could be read.
const CREDENTIAL: &str = "access_token";

/// A channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// Whose it is.
    pub project: String,
    /// What its template calls it.
    pub logical_id: String,
    /// What it is, without its credential.
    pub properties: Map<String, Value>,
}

/// All channels, and what was answered to requests that are done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Channels {
    pub(crate) live: BTreeMap<String, Channel>,
    next: u64,
    /// By idempotency key.
    answered: BTreeMap<String, Answer>,
}

/// An answer: a status and a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// A request, as the protocol has it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Request {
    #[serde(rename = "request_type")]
    pub(crate) operation: String,
    #[serde(default)]
    pub(crate) logical_id: String,
    #[serde(default)]
    pub(crate) project_id: String,
    #[serde(default)]
    pub(crate) physical_resource_id: String,
    #[serde(default)]
    pub(crate) properties: Map<String, Value>,
}

impl Answer {
    fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    pub(crate) fn refused(status: u16, message: impl Into<String>) -> Self {
        Self { status, body: json!({ "message": message.into() }) }
    }
}

impl Channels {
    /// Does what is asked for. A request that was done before is answered with the same result;
    /// one that was refused may succeed when it comes again, so it is not remembered.
    pub(crate) fn answer(&mut self, request: &Request, key: &str) -> Answer {
        let changes = matches!(request.operation.as_str(), "create" | "update" | "delete");
        if let Some(answer) = self.answered.get(key).filter(|_| changes) {
            return answer.clone();
        }
        let answer = self.act(request);
        if changes && answer.status == 200 {
            self.answered.insert(key.to_owned(), answer.clone());
        }
        answer
    }

    fn act(&mut self, request: &Request) -> Answer {
        match request.operation.as_str() {
            "create" => self.create(request),
            "update" => self.update(request),
            "delete" => {
                self.live.remove(&request.physical_resource_id);
                Answer::ok(json!({}))
            }
            "read" => self.read(&request.physical_resource_id),
            "validate" => Answer::ok(json!({ "errors": problems(&request.properties) })),
            other => Answer::refused(400, format!("there is no request type '{other}'")),
        }
    }

    fn create(&mut self, request: &Request) -> Answer {
        if let Some(problem) = problems(&request.properties).first() {
            return Answer::refused(422, problem["message"].as_str().unwrap_or_default());
        }
        self.next += 1;
        let id = format!("chan_{}", self.next);
        let mut properties = request.properties.clone();
        properties.remove(CREDENTIAL);
        let channel = Channel {
            project: request.project_id.clone(),
            logical_id: request.logical_id.clone(),
            properties,
        };
        self.live.insert(id.clone(), channel);
        Answer::ok(json!({ "physical_resource_id": id, "outputs": outputs(&id) }))
    }

    /// The kind of a channel cannot be changed in place: it gets another id, and the old one lives
    /// until it is deleted.
    fn update(&mut self, request: &Request) -> Answer {
        let id = &request.physical_resource_id;
        let Some(channel) = self.live.get_mut(id).filter(|found| found.project == request.project_id) else {
            return Answer::refused(404, format!("there is no channel '{id}'"));
        };
        let kind = request.properties.get("kind");
        if kind.is_some() && kind != channel.properties.get("kind") {
            return self.replace(request);
        }
        for (name, value) in request.properties.iter().filter(|(name, _)| *name != CREDENTIAL) {
            channel.properties.insert(name.clone(), value.clone());
        }
        Answer::ok(json!({ "physical_resource_id": id, "outputs": outputs(id) }))
    }

    /// Makes a new channel of an update.
    pub(crate) fn replace(&mut self, request: &Request) -> Answer {
        self.create(request)
    }

    fn read(&self, id: &str) -> Answer {
        let Some(channel) = self.live.get(id) else { return Answer::ok(json!({ "exists": false })) };
        Answer::ok(json!({
            "exists": true,
            "physical_resource_id": id,
            "properties": channel.properties,
            "outputs": outputs(id),
        }))
    }
}

fn outputs(id: &str) -> Value {
    json!({ "inbox_url": format!("https://channels.example/{id}"), "shards": 1 })
}

/// What a JSON Schema can't know: which kinds this platform has at the moment.
fn problems(properties: &Map<String, Value>) -> Vec<Value> {
    let kind = properties.get("kind").and_then(Value::as_str);
    let unknown = kind.filter(|kind| !KINDS.contains(kind));
    let problem = |kind| json!({ "path": "properties.kind", "message": format!("there is no kind of channel '{kind}'") });
    unknown.map(problem).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(request_type: &str, id: &str, properties: &Value) -> Request {
        serde_json::from_value(json!({
            "request_type": request_type, "logical_id": "C", "project_id": "p",
            "physical_resource_id": id, "properties": properties,
        }))
        .expect("a request")
    }

    #[test]
    fn a_repeated_create_makes_one_channel() {
        let mut channels = Channels::default();
        let create = request("create", "", &json!({ "name": "a", "access_token": "t" }));
        let first = channels.answer(&create, "k1");
        assert_eq!(channels.answer(&create, "k1"), first);
        assert_eq!(channels.live.len(), 1);
        assert_eq!(channels.live["chan_1"].properties.get("access_token"), None);
        assert_ne!(channels.answer(&create, "k2"), first);
    }

    #[test]
    fn a_refused_request_is_tried_again() {
        let mut channels = Channels::default();
        let update = request("update", "chan_1", &json!({ "name": "b" }));
        assert_eq!(channels.answer(&update, "k").status, 404);
        channels.answer(&request("create", "", &json!({ "name": "a" })), "k1");
        assert_eq!(channels.answer(&update, "k").status, 200);
    }

    #[test]
    fn another_kind_is_another_channel_and_deleting_twice_is_fine() {
        let mut channels = Channels::default();
        channels.answer(&request("create", "", &json!({ "kind": "sms" })), "k1");
        let answer = channels.answer(&request("update", "chan_1", &json!({ "kind": "discord" })), "k2");
        assert_eq!(answer.body["physical_resource_id"], "chan_2");
        assert_eq!(channels.live.len(), 2);
        for key in ["k3", "k4"] {
            assert_eq!(channels.answer(&request("delete", "chan_1", &json!({})), key).status, 200);
        }
        assert_eq!(
            channels.answer(&request("read", "chan_1", &json!({})), "k5").body,
            json!({ "exists": false })
        );
    }
}
