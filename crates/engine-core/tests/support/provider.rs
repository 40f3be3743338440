//! A provider with a script, and a record of what it was asked.

use formwork_engine_core::{Answer, Call, CallKind, Found, ReadAnswer};
use formwork_model::{
    Failure, IntentKind, Json, Lookup, NativeId, OperationErrorCode, Stored, Timestamp, UniqueValue, WireCode,
};
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};

use super::World;

/// What the provider answers to one call.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It fails without effect.
    Fail(OperationErrorCode),
    /// It fails and leaves this object.
    FailLeaving(OperationErrorCode, &'static str),
    /// It has its effect, and nobody hears of it.
    EffectThenLost,
    /// It has no effect, and nobody hears of it.
    Lost,
    /// It never left.
    Unsent,
    /// It takes this many polls.
    Slow(u32),
    /// It is accepted, and then fails.
    SlowThenFail(u32, OperationErrorCode),
    /// An update makes another object.
    Another(&'static str),
    /// No answer comes at all.
    Silence,
}

/// A provider with a script.
#[derive(Clone, Debug, Default)]
pub struct Provider {
    pub objects: BTreeMap<String, Json>,
    outcomes: BTreeMap<String, Answer>,
    script: BTreeMap<(String, &'static str), VecDeque<Reply>>,
    pending: BTreeMap<String, (u32, Answer)>,
    made: BTreeMap<String, u32>,
    pub log: Vec<String>,
    pub attempts: Vec<(String, Timestamp)>,
}

impl Provider {
    pub fn of(world: &World) -> Self {
        let mut provider = Self::default();
        for row in &world.rows {
            for object in row.current.iter().chain(&row.deposed) {
                provider.objects.insert(object.native_id.to_string(), object.echo.comparable());
            }
        }
        provider
    }

    pub fn on(mut self, label: &str, verb: &'static str, replies: &[Reply]) -> Self {
        self.script.insert((label.to_owned(), verb), replies.iter().cloned().collect());
        self
    }

    pub fn call(&mut self, call: &Call, now: Timestamp) -> Option<Answer> {
        let verb = match (&call.kind, call.id.kind) {
            (_, IntentKind::Undo) => "undo",
            (CallKind::Create { .. }, _) => "create",
            (CallKind::Update { .. }, _) => "update",
            (CallKind::Delete { .. }, IntentKind::Cleanup) => "cleanup",
            (CallKind::Delete { .. }, _) => "delete",
        };
        self.attempts.push((format!("{verb} {}", call.label), now));
        let token = call.token.to_string();
        if let Some(outcome) = self.outcomes.get(&token) {
            return Some(outcome.clone());
        }
        let script = self.script.get_mut(&(call.label.to_string(), verb));
        match script.and_then(VecDeque::pop_front) {
            None => Some(self.effect(call, verb, &token, None)),
            Some(Reply::Fail(code)) => Some(self.refuse(&token, code, None)),
            Some(Reply::FailLeaving(code, left)) => {
                self.objects.insert(left.to_owned(), json!({ "half": true }));
                Some(self.refuse(&token, code, Some(left)))
            }
            Some(Reply::EffectThenLost) => {
                self.effect(call, verb, &token, None);
                Some(lost(false))
            }
            Some(Reply::Lost) => Some(lost(false)),
            Some(Reply::Unsent) => Some(lost(true)),
            Some(Reply::Another(id)) => Some(self.effect(call, verb, &token, Some(id))),
            Some(Reply::Silence) => None,
            Some(Reply::Slow(polls)) => {
                let done = self.effect(call, verb, &token, None);
                Some(self.accept(&token, polls, done))
            }
            Some(Reply::SlowThenFail(polls, code)) => {
                let failed = refusal(code, None);
                Some(self.accept(&token, polls, failed))
            }
        }
    }

    fn accept(&mut self, token: &str, polls: u32, outcome: Answer) -> Answer {
        self.pending.insert(token.to_owned(), (polls, outcome));
        let answer = Answer::InProgress { request_id: token.to_owned(), native_id: None };
        self.outcomes.insert(token.to_owned(), answer.clone());
        answer
    }

    fn refuse(&mut self, token: &str, code: OperationErrorCode, left: Option<&str>) -> Answer {
        let answer = refusal(code, left);
        // What may go better later is not remembered.
        if matches!(code, OperationErrorCode::InvalidRequest | OperationErrorCode::AccessDenied) {
            self.outcomes.insert(token.to_owned(), answer.clone());
        }
        answer
    }

    fn effect(&mut self, call: &Call, verb: &str, token: &str, another: Option<&str>) -> Answer {
        let (native_id, properties) = match &call.kind {
            CallKind::Create { properties, .. } => {
                let count = self.made.entry(call.label.to_string()).or_default();
                *count += 1;
                (format!("{}-{count}", call.label), Some(properties.clone()))
            }
            CallKind::Update { native_id, desired, .. } => {
                (another.map_or_else(|| native_id.to_string(), str::to_owned), Some(desired.clone()))
            }
            CallKind::Delete { native_id } => (native_id.to_string(), None),
        };
        self.log.push(format!("{verb} {native_id}"));
        match &properties {
            Some(properties) => self.objects.insert(native_id.clone(), properties.comparable()),
            None => self.objects.remove(&native_id),
        };
        let properties = properties.map(|properties| Stored::Plain(properties.comparable()));
        let answer = Answer::Success { native_id: Some(native_id.as_str().into()), properties };
        self.outcomes.insert(token.to_owned(), answer.clone());
        answer
    }

    pub fn poll(&mut self, request: &str) -> Answer {
        let Some((polls, outcome)) = self.pending.get_mut(request) else {
            return refusal(OperationErrorCode::NotFound, None);
        };
        if *polls > 1 {
            *polls -= 1;
            return Answer::InProgress { request_id: request.to_owned(), native_id: None };
        }
        self.outcomes.insert(request.to_owned(), outcome.clone());
        outcome.clone()
    }

    pub fn read(&self, native_id: &NativeId) -> ReadAnswer {
        match self.objects.get(native_id.as_str()) {
            Some(properties) => ReadAnswer::Present { properties: properties.clone().into() },
            None => ReadAnswer::Gone,
        }
    }

    pub fn find(&self, lookup: &Lookup) -> Found {
        let found: Vec<_> = match lookup {
            Lookup::ByNativeId(id) => {
                self.objects.iter().filter(|(native_id, _)| **native_id == *id.as_str()).collect()
            }
            Lookup::ByUnique(values) => {
                let matches = |properties: &Json| {
                    values.iter().all(|(path, value)| match value {
                        UniqueValue::Clear(value) => path.get(properties) == Some(value),
                        UniqueValue::Digest(_) => false,
                    })
                };
                self.objects.iter().filter(|(_, properties)| matches(properties)).collect()
            }
            Lookup::Token | Lookup::None => return Found::Unsure { detail: "there is no way".to_owned() },
        };
        match found.as_slice() {
            [] => Found::Nothing,
            [(native_id, properties)] => Found::One {
                native_id: native_id.as_str().into(),
                properties: Stored::Plain((*properties).clone()),
            },
            _ => Found::Unsure { detail: "several match".to_owned() },
        }
    }
}

pub fn failure(code: OperationErrorCode) -> Failure {
    Failure { code: code.as_str().to_owned(), message: format!("provider says {code}"), meta: None }
}

pub fn refusal(code: OperationErrorCode, left: Option<&str>) -> Answer {
    Answer::Failure { code, failure: failure(code), native_id: left.map(NativeId::from) }
}

pub fn lost(unsent: bool) -> Answer {
    Answer::Lost { failure: Failure::new(WireCode::PluginUnavailable, "the plugin is gone"), unsent }
}
