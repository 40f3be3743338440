//! What comes of the log's lines, and what a call does to it. No I/O in here.

use crate::kinds::{Kind, kind, kinds};
use crate::line::{Caller, Event, Line, Write};
use crate::script::{Outcome, Told};
use formwork_model::{Json, NativeId, OperationErrorCode as Code, Timestamp, TypeName, same};
use formwork_plugin::{ListResult, Operation, ProgressResult, ReadResult};
use indexmap::IndexMap;
use serde_json::Map;
use std::collections::BTreeMap;

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its type.
    pub type_name: String,
    /// Its properties, write-only ones included.
    pub properties: Map<String, Json>,
    /// The row that made it; `None` for one that came out of band.
    pub row: Option<String>,
    /// The label of that row.
    pub label: Option<String>,
}

/// What there is, and what is remembered.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The objects, oldest first.
    pub objects: IndexMap<NativeId, Object>,
    /// What each object was from when on; `None` is gone.
    versions: BTreeMap<NativeId, Vec<(Timestamp, Option<Object>)>>,
    /// First outcomes, by client token.
    outcomes: BTreeMap<String, ProgressResult>,
    /// Calls that will take effect, by what is asked for them with.
    pending: BTreeMap<String, Pending>,
    /// How they ended.
    ended: BTreeMap<String, ProgressResult>,
    /// How many calls each rule of the script counted.
    pub(crate) used: BTreeMap<String, u32>,
    pub(crate) calls: u64,
    lines: u64,
}

#[derive(Clone, Debug)]
struct Pending {
    call: u64,
    due: Timestamp,
    type_name: String,
    write: Write,
    caller: Caller,
}

/// A failure before it is given an operation.
type Refusal = (Code, String);

impl State {
    /// Takes a line in.
    pub fn apply(&mut self, line: &Line) {
        self.lines += 1;
        self.calls = self.calls.max(line.call);
        match &line.event {
            Event::Received { rule: Some(rule), .. } => *self.used.entry(rule.clone()).or_default() += 1,
            Event::Created { type_name, native_id, properties, caller } => {
                let object = Object {
                    type_name: type_name.clone(),
                    properties: properties.clone(),
                    row: caller.row.clone(),
                    label: caller.label.clone(),
                };
                self.now_is(line.at, native_id, Some(object));
            }
            Event::Updated { native_id, properties, .. } => {
                if let Some(object) = self.objects.get(native_id) {
                    let object = Object { properties: properties.clone(), ..object.clone() };
                    self.now_is(line.at, native_id, Some(object));
                }
            }
            Event::Deleted { native_id, .. } => self.now_is(line.at, native_id, None),
            Event::Accepted { request_id, due, type_name, write, caller } => {
                let (due, type_name, write) = (*due, type_name.clone(), write.clone());
                let pending = Pending { call: line.call, due, type_name, write, caller: caller.clone() };
                self.pending.insert(request_id.clone(), pending);
            }
            Event::Settled { request_id, token, result } => {
                if let Some(token) = token {
                    self.outcomes.insert(token.clone(), (**result).clone());
                }
                if let Some(request_id) = request_id {
                    self.pending.remove(request_id);
                    self.ended.insert(request_id.clone(), (**result).clone());
                }
            }
            Event::Received { rule: None, .. }
            | Event::Expired
            | Event::Repeated
            | Event::Answered { .. } => {}
        }
    }

    fn now_is(&mut self, at: Timestamp, native_id: &NativeId, object: Option<Object>) {
        self.versions.entry(native_id.clone()).or_default().push((at, object.clone()));
        match object {
            Some(object) => drop(self.objects.insert(native_id.clone(), object)),
            None => drop(self.objects.shift_remove(native_id)),
        }
    }

    /// Whether a call is still to take effect.
    pub fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The next call whose moment has come, with what it does.
    pub(crate) fn due(&self, now: Timestamp) -> Option<(Timestamp, u64, Vec<Event>)> {
        let due = self.pending.iter().filter(|(_, pending)| pending.due <= now);
        let (request_id, pending) = due.min_by_key(|(_, pending)| (pending.due, pending.call))?;
        let Pending { call, due, type_name, write, caller } = pending;
        let mut events = Vec::new();
        let result = match kind(type_name) {
            Some(kind) => self.carry_out(&kind, write, caller, &mut events),
            None => unknown(write.operation(), type_name),
        };
        let token = remembers(type_name, caller).filter(|_| result.error_code.is_none());
        events.push(Event::Settled { request_id: Some(request_id.clone()), token, result: Box::new(result) });
        Some((*due, *call, events))
    }

    /// Carries a call out that changes something: what happens, and what it answers.
    pub(crate) fn write(
        &self,
        type_name: &str,
        write: &Write,
        caller: &Caller,
        outcome: &Outcome,
        now: Timestamp,
    ) -> (Vec<Event>, ProgressResult) {
        let operation = write.operation();
        if let Outcome::Refuse(told) = outcome {
            return (Vec::new(), failure(operation, told, write));
        }
        let Some(kind) = kind(type_name) else { return (Vec::new(), unknown(operation, type_name)) };
        let token = remembers(type_name, caller);
        if let Some(known) = token.as_ref().and_then(|token| self.known(token, operation)) {
            return (vec![Event::Repeated], known);
        }
        if let Outcome::Later { millis } = outcome {
            let request_id = format!("request-{}", self.lines);
            let answer = ProgressResult::in_progress(operation, &request_id, write.native_id().cloned());
            let (due, type_name) = (now.plus(*millis), type_name.to_owned());
            let accepted =
                Event::Accepted { request_id, due, type_name, write: write.clone(), caller: caller.clone() };
            return (vec![accepted], answer);
        }
        let mut events = Vec::new();
        let done = self.carry_out(&kind, write, caller, &mut events);
        // What was refused may be asked for again, and be possible then.
        let token = token.filter(|_| done.error_code.is_none());
        let result = match outcome {
            Outcome::Half(told) if done.error_code.is_none() => {
                let native_id = done.native_id.filter(|_| operation == Operation::Create);
                ProgressResult { native_id, ..failure(operation, told, write) }
            }
            Outcome::Deny(told) if done.error_code.is_none() => failure(operation, told, write),
            Outcome::Huge { megabytes } => {
                let text = "x".repeat(megabytes << 20);
                return (events, ProgressResult { resource_properties: Some(Json::from(text)), ..done });
            }
            _ => done,
        };
        if token.is_some() {
            events.push(Event::Settled { request_id: None, token, result: Box::new(result.clone()) });
        }
        (events, result)
    }

    /// What a token that was seen before stands for.
    fn known(&self, token: &str, operation: Operation) -> Option<ProgressResult> {
        let unfinished =
            self.pending.iter().find(|(_, pending)| pending.caller.token.as_deref() == Some(token));
        match unfinished {
            Some((request_id, pending)) => {
                let native_id = pending.write.native_id().cloned();
                Some(ProgressResult::in_progress(operation, request_id, native_id))
            }
            None => self.outcomes.get(token).cloned(),
        }
    }

    fn carry_out(
        &self,
        kind: &Kind,
        write: &Write,
        caller: &Caller,
        events: &mut Vec<Event>,
    ) -> ProgressResult {
        let done = match write {
            Write::Create { sent } => self.create(kind, sent, caller, events),
            Write::Update { native_id, sent } => self.update(kind, native_id, sent, caller, events),
            Write::Delete { native_id } => self.delete(kind, native_id, caller, events),
        };
        done.unwrap_or_else(|(code, message)| ProgressResult::failure(write.operation(), code, message))
    }

    fn create(
        &self,
        kind: &Kind,
        sent: &Map<String, Json>,
        caller: &Caller,
        events: &mut Vec<Event>,
    ) -> Result<ProgressResult, Refusal> {
        let properties = kind.made_of(sent, None);
        let native_id = match kind.named_by {
            Some(property) => NativeId::from(text(&properties, property)?),
            None => NativeId::from(format!("{}-{}", short(kind.name), self.lines)),
        };
        if self.objects.contains_key(&native_id) {
            return Err((Code::AlreadyExists, format!("`{native_id}` exists already")));
        }
        self.refuse_twin(kind, &properties)?;
        if let Some(property) = kind.parent {
            let parent = text(&properties, property)?;
            if !self.objects.contains_key(&NativeId::from(parent)) {
                return Err((
                    Code::InvalidRequest,
                    format!("`{property}` is `{parent}`, which does not exist"),
                ));
            }
        }
        let result = ProgressResult::success(Operation::Create, native_id.clone(), kind.shown(&properties));
        let (type_name, caller) = (kind.name.to_owned(), caller.clone());
        events.push(Event::Created { type_name, native_id, properties, caller });
        Ok(result)
    }

    fn update(
        &self,
        kind: &Kind,
        native_id: &NativeId,
        sent: &Map<String, Json>,
        caller: &Caller,
        events: &mut Vec<Event>,
    ) -> Result<ProgressResult, Refusal> {
        let missing = || (Code::NotFound, format!("`{native_id}` does not exist"));
        let object = self.object(kind.name, native_id).ok_or_else(missing)?;
        let properties = kind.made_of(sent, Some(&object.properties));
        if let Some(property) = kind.changed_for_good(&object.properties, &properties) {
            return Err((Code::InvalidRequest, format!("`{property}` cannot be changed")));
        }
        let result = ProgressResult::success(Operation::Update, native_id.clone(), kind.shown(&properties));
        let (type_name, native_id, caller) = (kind.name.to_owned(), native_id.clone(), caller.clone());
        events.push(Event::Updated { type_name, native_id, properties, caller });
        Ok(result)
    }

    fn delete(
        &self,
        kind: &Kind,
        native_id: &NativeId,
        caller: &Caller,
        events: &mut Vec<Event>,
    ) -> Result<ProgressResult, Refusal> {
        if self.object(kind.name, native_id).is_some() {
            if let Some(child) = self.children(native_id).next() {
                return Err((Code::InvalidRequest, format!("`{child}` is in `{native_id}`")));
            }
            let (type_name, caller) = (kind.name.to_owned(), caller.clone());
            events.push(Event::Deleted { type_name, native_id: native_id.clone(), caller });
        }
        Ok(ProgressResult::deleted(native_id.clone()))
    }

    /// What is in an object.
    pub fn children<'a>(&'a self, native_id: &'a NativeId) -> impl Iterator<Item = &'a NativeId> {
        let parents: Vec<(&str, &str)> =
            kinds().iter().filter_map(|kind| Some((kind.name, kind.parent?))).collect();
        let is_in = move |object: &Object| {
            let property =
                parents.iter().find(|(name, _)| *name == object.type_name).map(|(_, property)| *property);
            property.is_some_and(|property| {
                object.properties.get(property) == Some(&Json::from(native_id.as_str()))
            })
        };
        self.objects.iter().filter(move |(_, object)| is_in(object)).map(|(id, _)| id)
    }

    fn object(&self, type_name: &str, native_id: &NativeId) -> Option<&Object> {
        self.objects.get(native_id).filter(|object| object.type_name == type_name)
    }

    fn refuse_twin(&self, kind: &Kind, properties: &Map<String, Json>) -> Result<(), Refusal> {
        let Some(unique) = kind.unique else { return Ok(()) };
        let is_twin = |object: &Object| {
            object.type_name == kind.name
                && match (object.properties.get(unique), properties.get(unique)) {
                    (Some(its), Some(own)) => same(its, own),
                    _ => false,
                }
        };
        match self.objects.iter().find(|(_, object)| is_twin(object)) {
            Some((id, _)) => Err((Code::AlreadyExists, format!("`{id}` has the same `{unique}`"))),
            None => Ok(()),
        }
    }

    /// What a read finds, of what there was at a moment.
    pub(crate) fn read(
        &self,
        type_name: &TypeName,
        native_id: &NativeId,
        seen: Timestamp,
        outcome: &Outcome,
    ) -> ReadResult {
        let absent = ReadResult::absent(type_name.clone(), native_id.clone());
        if let Outcome::Refuse(told) | Outcome::Half(told) | Outcome::Deny(told) = outcome {
            return ReadResult { error_code: Some(told.code), ..absent };
        }
        let mut versions = self.versions.get(native_id).into_iter().flatten();
        let version = versions.rfind(|(at, _)| *at <= seen).and_then(|(_, object)| object.as_ref());
        match (version, kind(type_name.as_str())) {
            (Some(object), Some(kind)) if object.type_name == kind.name => {
                let properties = kind.shown(&object.properties);
                ReadResult::present(type_name.clone(), native_id.clone(), properties)
            }
            _ => absent,
        }
    }

    /// How a call goes that was accepted.
    pub(crate) fn status(&self, request_id: &str, outcome: &Outcome) -> ProgressResult {
        let operation = Operation::CheckStatus;
        if let Outcome::Refuse(told) | Outcome::Half(told) | Outcome::Deny(told) = outcome {
            return ProgressResult::failure(operation, told.code, &told.message);
        }
        if let Some(pending) = self.pending.get(request_id) {
            return ProgressResult::in_progress(operation, request_id, pending.write.native_id().cloned());
        }
        let Some(result) = self.ended.get(request_id) else {
            let message = format!("there is no request `{request_id}`");
            return ProgressResult::failure(operation, Code::NotFound, message);
        };
        ProgressResult { operation, ..result.clone() }
    }

    /// A page of the ids of a type, of what there was at a moment.
    pub(crate) fn list(
        &self,
        type_name: &str,
        seen: Timestamp,
        after: Option<&str>,
        size: u32,
    ) -> ListResult {
        let was_there = |versions: &Vec<(Timestamp, Option<Object>)>| {
            let version = versions.iter().rev().find(|(at, _)| *at <= seen);
            version
                .and_then(|(_, object)| object.as_ref())
                .is_some_and(|object| object.type_name == type_name)
        };
        let ids = self.versions.iter().filter(|(_, versions)| was_there(versions)).map(|(id, _)| id);
        let rest: Vec<&NativeId> = ids.filter(|id| after.is_none_or(|after| id.as_str() > after)).collect();
        let size = usize::try_from(size.clamp(1, 100)).unwrap_or(100);
        let native_ids: Vec<NativeId> = rest.iter().take(size).map(|id| (*id).clone()).collect();
        let next_page_token = native_ids.last().filter(|_| rest.len() > size).map(ToString::to_string);
        ListResult { native_ids, next_page_token }
    }

    /// An id that no object has had.
    pub(crate) fn mint(&self, type_name: &str) -> NativeId {
        NativeId::from(format!("{}-{}", short(type_name), self.lines))
    }
}

fn short(type_name: &str) -> String {
    type_name.rsplit("::").next().unwrap_or("object").to_lowercase()
}

fn text<'p>(properties: &'p Map<String, Json>, name: &str) -> Result<&'p str, Refusal> {
    let found = properties.get(name).and_then(Json::as_str);
    found.ok_or_else(|| (Code::InvalidRequest, format!("`{name}` must be a text")))
}

fn unknown(operation: Operation, type_name: &str) -> ProgressResult {
    ProgressResult::failure(operation, Code::InvalidRequest, format!("there is no type `{type_name}`"))
}

/// A failure that the script wants. Providers quote what they were sent; so does this one.
fn failure(operation: Operation, told: &Told, write: &Write) -> ProgressResult {
    let password =
        write.sent().and_then(|sent| sent.get("password")).and_then(Json::as_str).unwrap_or_default();
    ProgressResult::failure(operation, told.code, told.message.replace("{password}", password))
}

/// The token that a call's outcome is kept under, if its type knows tokens.
fn remembers(type_name: &str, caller: &Caller) -> Option<String> {
    caller.token.clone().filter(|_| kind(type_name).is_some_and(|kind| kind.knows_tokens()))
}
