//! How a call is made: the permit, the intent, the call.

use crate::facts::Key;
use crate::inputs::{Prepared, comparable_part, digest_part};
use crate::live::{Errand, State};
use crate::operation::Operation;
use crate::{Act, Call, CallId, CallKind};
use formwork_model::{
    Action, ClientToken, Entry, Failure, IntentKind, Lookup, LookupRule, NativeId, Object, OpenIntent,
    Outcome, PinnedType, Row, Schema, Step, Stored, Timestamp, TypeCapabilities, UniqueValue, WireCode,
    canonical_bytes, sha256_hex,
};
use std::sync::Arc;

impl Operation {
    pub(crate) fn on_permit(&mut self, now: Timestamp, key: Key) {
        if !matches!(self.state(key), Some(State::Permit(_))) {
            return;
        }
        let Some(State::Permit(errand)) = self.take_live(key) else { return };
        self.issue(now, key, *errand);
    }

    /// Makes a call that was put off.
    pub(crate) fn dispatch_again(&mut self, now: Timestamp, key: Key) {
        let plan = Arc::clone(&self.plan);
        let Some(step) = plan.step(key.step) else { return };
        // A step that repeats an earlier operation's call has no call of its own yet.
        if key.undo || !self.resumes_earlier(step) {
            let Some(track) = self.facts.track(key).filter(|track| track.is_open()) else { return };
            if track.calls == 0 && !key.undo {
                self.carry_out(now, &plan, step);
                return;
            }
        }
        let errand = match (self.kind(key), self.intent(key)) {
            (IntentKind::Delete | IntentKind::Cleanup | IntentKind::Undo, Some(intent)) => {
                intent.native_id.clone().map(Errand::Delete)
            }
            (IntentKind::Undo, None) => self.made_by(key.step).map(Errand::Delete),
            (_, Some(intent)) if step.action == Action::Resolve => {
                let fills = self.refill(key.step, &intent.sent).unwrap_or_default();
                Some(Errand::Repeat(Prepared { sent: intent.sent.clone(), fills, ..Prepared::default() }))
            }
            _ => match self.prepare(step) {
                Ok(prepared) => Some(Errand::Send(prepared)),
                Err(failure) => return self.fail(now, key, failure),
            },
        };
        match errand {
            Some(errand) => self.request_permit(now, key, errand),
            None => self.fail(now, key, missing_object(step)),
        }
    }

    fn resumes_earlier(&self, step: &Step) -> bool {
        step.action == Action::Resolve && self.row_for(&step.row).is_some_and(|row| row.intent.is_some())
    }

    fn issue(&mut self, now: Timestamp, key: Key, errand: Errand) {
        let plan = Arc::clone(&self.plan);
        let Some(step) = plan.step(key.step) else { return };
        let (intent, call) = match self.compose(now, key, step, errand) {
            Ok(composed) => composed,
            Err(failure) => return self.fail(now, key, failure),
        };
        let attempt = intent.attempt;
        let row = call.row.clone();
        self.record(now, Entry::Intent { row: row.clone(), intent: Box::new(intent) });
        self.tell_started(now, key, &row, attempt);
        self.set_live(now, key, State::Calling);
        self.out.then.push(Act::Call(Box::new(call)));
    }

    fn compose(
        &self,
        now: Timestamp,
        key: Key,
        step: &Step,
        errand: Errand,
    ) -> Result<(OpenIntent, Call), Failure> {
        let row = self.row_for(&step.row).ok_or_else(|| missing_object(step))?;
        let kind = self.kind(key);
        let earlier = self.intent(key);
        let object = acted_on(row, kind, &errand);
        if object.is_none() && kind != IntentKind::Create {
            return Err(missing_object(step));
        }
        let type_name = match (earlier, object) {
            (Some(earlier), _) => &earlier.type_name,
            (None, Some(object)) => &object.type_name,
            (None, None) => &step.type_name,
        };
        let pinned = self.pinned(type_name).or_else(|| self.pinned(&step.type_name));
        let PinnedType { schema, capabilities } = pinned.ok_or_else(|| missing_object(step))?;
        let native_id = object.map(|object| object.native_id.clone());
        let sent = match &errand {
            Errand::Send(prepared) | Errand::Repeat(prepared) => prepared.sent.clone(),
            Errand::Delete(_) => Stored::empty_object(),
        };
        let target = match (earlier, object) {
            (Some(earlier), _) => &earlier.target,
            (None, Some(object)) => &object.target,
            (None, None) => &step.target,
        };
        let generation = earlier.map_or(row.generation, |earlier| earlier.generation);
        let fresh = || self.token(row, step, key, native_id.as_ref(), &sent);
        let last = self.facts.track(key).map_or(0, |track| track.attempt);
        let before = earlier.map_or(0, |earlier| earlier.attempt);
        let intent = OpenIntent {
            operation: self.id.clone(),
            step: step.id,
            kind,
            attempt: last.max(before) + 1,
            generation,
            token: earlier.map_or_else(fresh, |earlier| earlier.token),
            not_after: now.plus(capabilities.timeout_millis),
            lookup: earlier
                .map_or_else(|| lookup(kind, capabilities, &sent), |earlier| earlier.lookup.clone()),
            type_name: type_name.clone(),
            target: target.clone(),
            deletion_policy: earlier.map_or(step.deletion_policy, |earlier| earlier.deletion_policy),
            sent,
            native_id,
            request_id: None,
        };
        let call = Call {
            id: CallId { step: step.id, kind, attempt: intent.attempt },
            row: row.id.clone(),
            label: step.label.clone(),
            stack: step.stack.clone(),
            type_name: intent.type_name.clone(),
            target: intent.target.clone(),
            token: intent.token,
            not_after: intent.not_after,
            kind: ask(kind, object, schema, errand),
        };
        Ok((intent, call))
    }

    /// `HMAC(row id ‖ generation ‖ action ‖ digest(sent))`: the same call again has the same token,
    /// any other call has another.
    fn token(
        &self,
        row: &Row,
        step: &Step,
        key: Key,
        native_id: Option<&NativeId>,
        sent: &Stored,
    ) -> ClientToken {
        let generation = row.generation.0.to_be_bytes();
        let action = if key.undo { "undo" } else { step.action.name() };
        let sent = sha256_hex(&canonical_bytes(&sent.comparable()));
        let object = native_id.map_or("", NativeId::as_str);
        let parts: [&[u8]; 5] =
            [row.id.as_str().as_bytes(), &generation, action.as_bytes(), sent.as_bytes(), object.as_bytes()];
        ClientToken(self.key.token(&parts))
    }

    /// Ends a step that can't go on: with a failure, or, if an earlier call of it may have had an
    /// effect, with that doubt.
    pub(crate) fn fail(&mut self, now: Timestamp, key: Key, failure: Failure) {
        if self.facts.track(key).is_some_and(|track| track.in_doubt) {
            self.end_in_doubt(now, key, failure);
        } else {
            self.settle(now, key, Outcome::Failed { failure });
        }
    }
}

/// The object that a call acts on; none for a create.
fn acted_on<'r>(row: &'r Row, kind: IntentKind, errand: &Errand) -> Option<&'r Object> {
    match errand {
        Errand::Delete(native_id) => {
            row.current.iter().chain(&row.deposed).find(|object| object.native_id == *native_id)
        }
        Errand::Send(_) | Errand::Repeat(_) if kind == IntentKind::Update => row.current.as_ref(),
        Errand::Send(_) | Errand::Repeat(_) => None,
    }
}

fn ask(kind: IntentKind, object: Option<&Object>, schema: &Arc<Schema>, errand: Errand) -> CallKind {
    match (errand, object) {
        (Errand::Delete(native_id), _) => CallKind::Delete { native_id },
        (Errand::Send(prepared) | Errand::Repeat(prepared), Some(object)) if kind == IntentKind::Update => {
            CallKind::Update {
                native_id: object.native_id.clone(),
                prior: prepared.observed.unwrap_or_else(|| object.echo.clone()),
                sent: object.sent.clone(),
                schema: Arc::clone(schema),
                desired: prepared.sent,
                secrets: prepared.fills,
                kept: prepared.kept,
            }
        }
        (Errand::Send(prepared) | Errand::Repeat(prepared), _) => {
            CallKind::Create { properties: prepared.sent, secrets: prepared.fills }
        }
    }
}

/// How the object can be found if the outcome stays unknown.
fn lookup(kind: IntentKind, capabilities: &TypeCapabilities, sent: &Stored) -> Lookup {
    match (&capabilities.lookup, kind) {
        (LookupRule::Token, _) => Lookup::Token,
        (LookupRule::ByNativeId(path), IntentKind::Create) => match comparable_part(sent, path) {
            Some(serde_json::Value::String(id)) => Lookup::ByNativeId(NativeId::new(id)),
            _ => Lookup::None,
        },
        (LookupRule::ByUnique(paths), IntentKind::Create) => {
            let values = paths.iter().map(|path| {
                let value = match digest_part(sent, path) {
                    Some(digest) => UniqueValue::Digest(digest),
                    None => UniqueValue::Clear(comparable_part(sent, path)?),
                };
                Some((path.clone(), value))
            });
            // Some of the properties alone would find what is not ours.
            values.collect::<Option<Vec<_>>>().map_or(Lookup::None, Lookup::ByUnique)
        }
        _ => Lookup::None,
    }
}

fn missing_object(step: &Step) -> Failure {
    let message = format!("The ledger no longer names the object of `{}`.", step.label);
    Failure::new(WireCode::InternalError, message)
}
