//! The record: objects, remembered tokens, unfinished calls, and the log. No I/O in here.

use super::log::{LogLine, Moment};
use super::script::{Behaviour, Outcome, Rule, behaviour};
use super::types::CloudType;
use super::wire::{Ask, Reply, What};
use formwork_model::{Json, NativeId, OperationErrorCode, Timestamp, same};
use formwork_plugin::{ListResult, Operation, OperationStatus, ProgressResult, ReadResult};
use indexmap::IndexMap;
use serde_json::Map;
use std::collections::BTreeMap;

/// An object of the fake cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct CloudObject {
    /// Its type.
    pub type_name: String,
    /// Its properties, write-only ones included.
    pub properties: Json,
    /// The row whose call made it; `None` for one that was put there.
    pub row: Option<String>,
}

/// What there is, and all that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The living objects, oldest first.
    pub objects: IndexMap<NativeId, CloudObject>,
    /// The log.
    pub log: Vec<LogLine>,
}

#[derive(Debug, Default)]
pub(super) struct Record {
    types: BTreeMap<String, CloudType>,
    /// Whether types that it wasn't told of are refused.
    pub(super) only_defined: bool,
    pub(super) rules: Vec<Rule>,
    pub(super) objects: IndexMap<NativeId, CloudObject>,
    remembered: BTreeMap<String, Remembered>,
    unfinished: BTreeMap<String, Unfinished>,
    pub(super) log: Vec<LogLine>,
    calls: u64,
    minted: u64,
}

/// What a client token stands for.
#[derive(Clone, Debug)]
enum Remembered {
    Done(Box<ProgressResult>),
    Unfinished(String),
}

#[derive(Clone, Debug)]
struct Unfinished {
    polls: u32,
    native_id: Option<NativeId>,
    then: ProgressResult,
}

/// A failure before it is given an operation.
type Refusal = (OperationErrorCode, String);

impl Record {
    pub(super) fn define(&mut self, kind: CloudType) {
        self.types.insert(kind.name.clone(), kind);
    }

    fn kind(&self, name: &str) -> CloudType {
        self.types.get(name).cloned().unwrap_or_else(|| CloudType::new(name))
    }

    /// Notes the arrival of a call; answers its number and how it is to go.
    pub(super) fn receive(&mut self, ask: &Ask, now: Timestamp) -> (u64, Behaviour) {
        self.calls += 1;
        let call = self.calls;
        self.note(now, call, ask, Moment::Received);
        let label = ask.label.as_deref();
        (call, behaviour(&mut self.rules, ask.what.operation(), ask.type_name.as_str(), label))
    }

    pub(super) fn note(&mut self, at: Timestamp, call: u64, ask: &Ask, moment: Moment) {
        self.log.push(LogLine {
            at,
            call,
            operation: ask.what.operation(),
            type_name: ask.type_name.to_string(),
            row: ask.row.clone(),
            label: ask.label.clone(),
            token: ask.token.map(|token| token.to_string()),
            attempt: ask.attempt,
            moment,
        });
    }

    /// Notes what happened to an object without a call.
    pub(super) fn note_out_of_band(&mut self, at: Timestamp, type_name: &str, moment: Moment) {
        self.log.push(LogLine {
            at,
            call: 0,
            operation: None,
            type_name: type_name.to_owned(),
            row: None,
            label: None,
            token: None,
            attempt: 0,
            moment,
        });
    }

    /// Carries a call out; `None` if it came too late and nobody waits for its answer any more.
    pub(super) fn carry_out(
        &mut self,
        call: u64,
        ask: &Ask,
        behaviour: &Behaviour,
        now: Timestamp,
    ) -> Option<Reply> {
        let kind = self.kind(ask.type_name.as_str());
        match &ask.what {
            What::Read { native_id } => Some(Reply::Read(self.read(&kind, ask, native_id, behaviour))),
            What::Status { request_id } => Some(Reply::Progress(self.status(request_id, behaviour))),
            What::List { page_token, page_size } => {
                Some(Reply::List(self.list(&kind.name, page_token.as_deref(), *page_size)))
            }
            What::Create { .. } | What::Update { .. } | What::Delete { .. } => {
                if kind.honours_deadline && now > ask.deadline {
                    self.note(now, call, ask, Moment::Expired);
                    return None;
                }
                Some(Reply::Progress(self.write(&kind, call, ask, behaviour, now)))
            }
        }
    }

    fn write(
        &mut self,
        kind: &CloudType,
        call: u64,
        ask: &Ask,
        behaviour: &Behaviour,
        now: Timestamp,
    ) -> ProgressResult {
        let operation = ask.what.operation().unwrap_or(Operation::Update);
        if let Outcome::Refused { code, message } = &behaviour.outcome {
            return ProgressResult::failure(operation, *code, message);
        }
        if self.only_defined && !self.types.contains_key(&kind.name) {
            let message = format!("there is no type `{}`", kind.name);
            return ProgressResult::failure(operation, OperationErrorCode::InvalidRequest, message);
        }
        let token = ask.token.filter(|_| kind.tokens).map(|token| token.to_string());
        if let Some(known) = token.as_ref().and_then(|token| self.remembered.get(token)).cloned() {
            self.note(now, call, ask, Moment::Repeated);
            return self.repeat(operation, known);
        }
        let done = match self.take_effect(kind, call, ask, now) {
            Ok(done) => done,
            Err((code, message)) => return ProgressResult::failure(operation, code, message),
        };
        let result = dressed(done, operation, &behaviour.outcome);
        self.answer_or_go_on(kind, behaviour, token, operation, result)
    }

    fn repeat(&self, operation: Operation, known: Remembered) -> ProgressResult {
        match known {
            Remembered::Done(result) => *result,
            Remembered::Unfinished(request_id) => match self.unfinished.get(&request_id) {
                Some(unfinished) if unfinished.polls > 0 => {
                    ProgressResult::in_progress(operation, request_id, unfinished.native_id.clone())
                }
                Some(unfinished) => unfinished.then.clone(),
                None => ProgressResult::failure(
                    operation,
                    OperationErrorCode::InternalFailure,
                    "the request was forgotten",
                ),
            },
        }
    }

    fn answer_or_go_on(
        &mut self,
        kind: &CloudType,
        behaviour: &Behaviour,
        token: Option<String>,
        operation: Operation,
        result: ProgressResult,
    ) -> ProgressResult {
        let polls = behaviour.polls.unwrap_or(kind.polls);
        if polls == 0 {
            if let Some(token) = token {
                self.remembered.insert(token, Remembered::Done(Box::new(result.clone())));
            }
            return result;
        }
        self.minted += 1;
        let request_id = format!("request-{}", self.minted);
        let native_id = result.native_id.clone();
        if let Some(token) = token {
            self.remembered.insert(token, Remembered::Unfinished(request_id.clone()));
        }
        let unfinished = Unfinished { polls, native_id: native_id.clone(), then: result };
        self.unfinished.insert(request_id.clone(), unfinished);
        ProgressResult::in_progress(operation, request_id, native_id)
    }

    fn take_effect(
        &mut self,
        kind: &CloudType,
        call: u64,
        ask: &Ask,
        now: Timestamp,
    ) -> Result<ProgressResult, Refusal> {
        match &ask.what {
            What::Create { properties } => self.create(kind, call, ask, properties, now),
            What::Update { native_id, desired, kept } => {
                self.update(kind, call, ask, (native_id, desired, kept), now)
            }
            What::Delete { native_id } => Ok(self.delete(kind, call, ask, native_id, now)),
            What::Read { .. } | What::Status { .. } | What::List { .. } => {
                Err((OperationErrorCode::InternalFailure, "not a write".to_owned()))
            }
        }
    }

    fn create(
        &mut self,
        kind: &CloudType,
        call: u64,
        ask: &Ask,
        sent: &Json,
        now: Timestamp,
    ) -> Result<ProgressResult, Refusal> {
        let properties = filled(kind, sent)?;
        let native_id = match &kind.named_by {
            Some(property) => match properties.get(property).and_then(Json::as_str) {
                Some(name) => NativeId::from(name),
                None => return Err(invalid(format!("`{property}` must be a text"))),
            },
            None => self.mint(kind),
        };
        if self.objects.contains_key(&native_id) {
            return Err((OperationErrorCode::AlreadyExists, format!("`{native_id}` exists already")));
        }
        self.refuse_twin(kind, None, &properties)?;
        let properties = Json::Object(properties);
        let object = CloudObject {
            type_name: kind.name.clone(),
            properties: properties.clone(),
            row: ask.row.clone(),
        };
        self.objects.insert(native_id.clone(), object);
        let shown = shown(kind, &properties);
        self.note(now, call, ask, Moment::Created { native_id: native_id.clone(), properties });
        Ok(ProgressResult::success(Operation::Create, native_id, shown))
    }

    fn update(
        &mut self,
        kind: &CloudType,
        call: u64,
        ask: &Ask,
        (native_id, desired, kept): (&NativeId, &Json, &[String]),
        now: Timestamp,
    ) -> Result<ProgressResult, Refusal> {
        let Some(object) = self.objects.get(native_id).filter(|object| object.type_name == kind.name) else {
            return Err((OperationErrorCode::NotFound, format!("`{native_id}` does not exist")));
        };
        let before = object.properties.clone();
        let mut properties = filled(kind, desired)?;
        for property in kind.write_only.iter().chain(kept) {
            if let (false, Some(own)) = (properties.contains_key(property), before.get(property)) {
                properties.insert(property.clone(), own.clone());
            }
        }
        let changed = |name: &String| !same_at(&before, &properties, name);
        if let Some(property) = kind.create_only.iter().find(|name| changed(name)) {
            return Err(invalid(format!("`{property}` cannot be changed")));
        }
        let replaced = kind.replaces.iter().any(changed);
        self.refuse_twin(kind, Some(native_id), &properties)?;
        let properties = Json::Object(properties);
        let shown = shown(kind, &properties);
        let id = if replaced { self.mint(kind) } else { native_id.clone() };
        let object = CloudObject {
            type_name: kind.name.clone(),
            properties: properties.clone(),
            row: ask.row.clone(),
        };
        self.objects.insert(id.clone(), object);
        let moment = if replaced {
            Moment::Created { native_id: id.clone(), properties }
        } else {
            Moment::Updated { native_id: id.clone(), properties }
        };
        self.note(now, call, ask, moment);
        Ok(ProgressResult::success(Operation::Update, id, shown))
    }

    fn delete(
        &mut self,
        kind: &CloudType,
        call: u64,
        ask: &Ask,
        native_id: &NativeId,
        now: Timestamp,
    ) -> ProgressResult {
        let is_there = self.objects.get(native_id).is_some_and(|object| object.type_name == kind.name);
        if is_there {
            self.objects.shift_remove(native_id);
            self.note(now, call, ask, Moment::Deleted { native_id: native_id.clone() });
        }
        let result = ProgressResult::success(Operation::Delete, native_id.clone(), Json::Null);
        ProgressResult { resource_properties: None, ..result }
    }

    fn read(&self, kind: &CloudType, ask: &Ask, native_id: &NativeId, behaviour: &Behaviour) -> ReadResult {
        let found = self.objects.get(native_id).filter(|object| object.type_name == kind.name);
        let code = match &behaviour.outcome {
            Outcome::Usual if found.is_some() => None,
            Outcome::Usual => Some(OperationErrorCode::NotFound),
            Outcome::Refused { code, .. }
            | Outcome::Half { code, .. }
            | Outcome::DoneButDenied { code, .. } => Some(*code),
        };
        ReadResult {
            resource_type: ask.type_name.clone(),
            native_id: native_id.clone(),
            resource_properties: found
                .filter(|_| code.is_none())
                .map(|object| shown(kind, &object.properties)),
            error_code: code,
            secret_digests: Vec::new(),
        }
    }

    fn status(&mut self, request_id: &str, behaviour: &Behaviour) -> ProgressResult {
        let operation = Operation::CheckStatus;
        if let Outcome::Refused { code, message } = &behaviour.outcome {
            return ProgressResult::failure(operation, *code, message);
        }
        let Some(unfinished) = self.unfinished.get_mut(request_id) else {
            let message = format!("there is no request `{request_id}`");
            return ProgressResult::failure(operation, OperationErrorCode::NotFound, message);
        };
        unfinished.polls = unfinished.polls.saturating_sub(1);
        if unfinished.polls > 0 {
            return ProgressResult::in_progress(operation, request_id, unfinished.native_id.clone());
        }
        ProgressResult { operation, ..unfinished.then.clone() }
    }

    fn list(&self, type_name: &str, page_token: Option<&str>, page_size: u32) -> ListResult {
        let size = usize::try_from(page_size.clamp(1, 100)).unwrap_or(100);
        let ids = self.objects.iter().filter(|(_, object)| object.type_name == type_name);
        // A token is the last id of its page. If that object is gone, the page starts over, so that
        // nothing is left out.
        let start = page_token.and_then(|last| ids.clone().position(|(id, _)| id.as_str() == last));
        let rest: Vec<_> = ids.skip(start.map_or(0, |at| at + 1)).map(|(id, _)| id.clone()).collect();
        let more = rest.len() > size;
        let native_ids: Vec<_> = rest.into_iter().take(size).collect();
        let next_page_token = native_ids.last().filter(|_| more).map(ToString::to_string);
        ListResult { native_ids, next_page_token }
    }

    fn refuse_twin(
        &self,
        kind: &CloudType,
        own: Option<&NativeId>,
        properties: &Map<String, Json>,
    ) -> Result<(), Refusal> {
        if kind.unique.is_empty() {
            return Ok(());
        }
        let twin = self.objects.iter().find(|(id, object)| {
            Some(*id) != own
                && object.type_name == kind.name
                && kind.unique.iter().all(|name| same_at(&object.properties, properties, name))
        });
        match twin {
            Some((id, _)) => Err((
                OperationErrorCode::AlreadyExists,
                format!("`{id}` has the same `{}`", kind.unique.join("`, `")),
            )),
            None => Ok(()),
        }
    }

    pub(super) fn mint(&mut self, kind: &CloudType) -> NativeId {
        self.minted += 1;
        let short = kind.name.rsplit("::").next().unwrap_or("object").to_lowercase();
        NativeId::from(format!("{short}-{}", self.minted))
    }

    pub(super) fn mint_for(&mut self, type_name: &str) -> NativeId {
        let kind = self.kind(type_name);
        self.mint(&kind)
    }
}

/// The result of an effect as the script wants it told.
fn dressed(done: ProgressResult, operation: Operation, outcome: &Outcome) -> ProgressResult {
    match outcome {
        Outcome::Usual | Outcome::Refused { .. } => done,
        Outcome::Half { code, message } => {
            let native_id = done.native_id.filter(|_| operation == Operation::Create);
            ProgressResult { native_id, ..ProgressResult::failure(operation, *code, message) }
        }
        Outcome::DoneButDenied { code, message } => ProgressResult::failure(operation, *code, message),
    }
}

fn filled(kind: &CloudType, sent: &Json) -> Result<Map<String, Json>, Refusal> {
    let Json::Object(sent) = sent else { return Err(invalid("the properties must be an object".to_owned())) };
    let mut properties = sent.clone();
    for (name, value) in &kind.defaults {
        if !properties.contains_key(name) {
            properties.insert(name.clone(), value.clone());
        }
    }
    Ok(properties)
}

fn shown(kind: &CloudType, properties: &Json) -> Json {
    let mut shown = properties.clone();
    if let Some(members) = shown.as_object_mut() {
        members.retain(|name, _| !kind.write_only.contains(name));
    }
    shown
}

fn same_at(before: &Json, after: &Map<String, Json>, name: &str) -> bool {
    match (before.get(name), after.get(name)) {
        (Some(before), Some(after)) => same(before, after),
        (None, None) => true,
        _ => false,
    }
}

fn invalid(message: String) -> Refusal {
    (OperationErrorCode::InvalidRequest, message)
}

/// The code that an answer carries.
pub(super) fn code_of(reply: &Reply) -> Option<OperationErrorCode> {
    match reply {
        Reply::Progress(result) if result.operation_status == OperationStatus::Failure => result.error_code,
        Reply::Read(result) => result.error_code,
        Reply::Progress(_) | Reply::List(_) => None,
    }
}
