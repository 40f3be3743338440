//! What follows from an answer.

use crate::facts::{End, Key, Phase};
use crate::live::State;
use crate::operation::Operation;
use crate::{Act, Answer, CallId, Class, Timer, TimerKey, classify};
use formwork_model::{
    Action, Attempt, Certainty, Entry, Failure, IntentKind, Lookup, NativeId, Object, OpenIntent,
    OperationErrorCode as Code, Outcome, Stored, Timestamp, TypeCapabilities, WireCode,
};

impl Operation {
    /// An answer is judged by how far its step is: the answer of an earlier attempt still counts if
    /// it says that the effect happened, and nothing counts once the step is over.
    pub(crate) fn on_answer(&mut self, now: Timestamp, call: CallId, answer: Answer) {
        let key = Key::of(call.step, call.kind);
        let Some(track) = self.facts.track(key) else { return };
        if self.kind(key) != call.kind || call.attempt > track.attempt {
            return;
        }
        let late = call.attempt < track.attempt;
        match &track.phase {
            Phase::Settled(ending) if ending.how == End::Unknown => self.succeeded_late(now, key, answer),
            Phase::Waiting | Phase::Settled(_) => {}
            // The later call of a delete is still under way, and would remove what comes after.
            Phase::Calling | Phase::Accepted { .. } if late && deletes(call.kind) => {}
            Phase::Calling if !late => self.conclude(now, key, answer),
            Phase::Accepted { .. } if !late => self.on_status(now, key, answer),
            Phase::Doubtful { .. } if !late => {
                if self.class(key, &answer) != Class::Ambiguous {
                    self.conclude(now, key, answer);
                }
            }
            _ => self.succeeded_late(now, key, answer),
        }
    }

    fn class(&self, key: Key, answer: &Answer) -> Class {
        let Some(capabilities) = self.called_capabilities(key) else { return Class::Ambiguous };
        let track = self.facts.track(key);
        // A first call is the first, however often its guard's read had to be repeated. What
        // resolves an earlier intent is never the first.
        let earlier = self.step(key.step).is_some_and(|step| step.action == Action::Resolve);
        let attempt = track.map_or(1, |track| track.calls.max(1)) + u32::from(earlier);
        classify(self.kind(key), attempt, answer, capabilities)
    }

    /// The capabilities of the type that was called.
    pub(crate) fn called_capabilities(&self, key: Key) -> Option<&TypeCapabilities> {
        let called = self.intent(key).and_then(|intent| self.pinned(&intent.type_name));
        called.or_else(|| self.pinned(&self.step(key.step)?.type_name)).map(|pinned| &pinned.capabilities)
    }

    /// Takes the answer of the current attempt.
    fn conclude(&mut self, now: Timestamp, key: Key, answer: Answer) {
        let answer = self.plain(key, answer);
        match self.class(key, &answer) {
            Class::Done => self.succeed(now, key, answer),
            Class::Poll => self.accept(now, key, answer),
            Class::Partial(native_id) => self.partial(now, key, native_id, failure_of(answer)),
            Class::NotMade { retriable } => {
                let certain = code_of(&answer) == Some(Code::InvalidRequest);
                self.not_made(now, key, retriable, certain, failure_of(answer));
            }
            Class::Refused if self.is_proof_of_absence(key, &answer) => {
                let failure = self.vanished(key, failure_of(answer));
                self.settle(now, key, Outcome::Failed { failure });
            }
            Class::Refused => {
                let certain = code_of(&answer) == Some(Code::InvalidRequest);
                self.not_made(now, key, false, certain, failure_of(answer));
            }
            Class::Ambiguous => {
                let answered = !matches!(answer, Answer::Lost { .. } | Answer::Deadline);
                self.doubt(now, key, failure_of(answer), answered);
            }
        }
    }

    /// Whether an answer to an update says that its object is gone. Where the type can be read, a
    /// look tells more: what was not found might be something that the update refers to.
    fn is_proof_of_absence(&self, key: Key, answer: &Answer) -> bool {
        let blind = self.called_capabilities(key).is_some_and(|capabilities| !capabilities.read);
        blind && self.kind(key) == IntentKind::Update && code_of(answer) == Some(Code::NotFound)
    }

    /// The failure of an update whose object is gone; its code tells `fold` so.
    fn vanished(&self, key: Key, failure: Failure) -> Failure {
        let label = self.step(key.step).map_or("", |step| step.label.as_str());
        let message =
            format!("`{label}` was deleted outside, and the next plan makes it again: {}", failure.message);
        Failure { code: Code::NotFound.as_str().to_owned(), message, meta: failure.meta }
    }

    /// A failed update that names its own object, or a create that was named before, in plain
    /// terms.
    fn plain(&self, key: Key, answer: Answer) -> Answer {
        let known = self.intent(key).and_then(|intent| intent.native_id.clone());
        match answer {
            Answer::Failure { code, failure, native_id: Some(named) }
                if known.as_ref() == Some(&named) && self.kind(key) == IntentKind::Update =>
            {
                Answer::Failure { code, failure, native_id: None }
            }
            Answer::Success { native_id: None, properties } => {
                Answer::Success { native_id: known, properties }
            }
            other => other,
        }
    }

    /// Takes the answer of a poll: a poll that came to nothing is repeated, anything else is
    /// classified as the call's.
    fn on_status(&mut self, now: Timestamp, key: Key, answer: Answer) {
        let kind = self.kind(key);
        match answer {
            Answer::Lost { .. } | Answer::Deadline | Answer::Failure { code: Code::Throttling, .. } => {
                self.poll_later(now, key);
            }
            Answer::InProgress { request_id, native_id } => {
                let known = self.intent(key).map(|intent| (&intent.request_id, &intent.native_id));
                let news = known.is_some_and(|(request, object)| {
                    request.as_deref() != Some(&request_id) || (native_id.is_some() && *object != native_id)
                });
                if news && !request_id.is_empty() {
                    self.accept(now, key, Answer::InProgress { request_id, native_id });
                } else {
                    self.poll_later(now, key);
                }
            }
            Answer::Failure { code, failure, native_id: None } if kind == IntentKind::Create => {
                match self.intent(key).and_then(|intent| intent.native_id.clone()) {
                    Some(named) => self.partial(now, key, named, failure),
                    // The provider no longer knows the request: that says nothing of its outcome.
                    None if code == Code::NotFound => self.doubt(now, key, failure, true),
                    None => self.conclude(now, key, Answer::Failure { code, failure, native_id: None }),
                }
            }
            Answer::Failure { code: Code::NotFound, failure, .. } if kind == IntentKind::Update => {
                self.doubt(now, key, failure, true);
            }
            answer => self.conclude(now, key, answer),
        }
    }

    fn accept(&mut self, now: Timestamp, key: Key, answer: Answer) {
        let Answer::InProgress { request_id, native_id } = answer else { return };
        let Some(track) = self.facts.track(key) else { return };
        let attempt = Attempt { step: key.step, kind: self.kind(key), number: track.attempt };
        let poll_at = now.plus(self.limits.poll_millis);
        let deadline = match track.phase {
            Phase::Accepted { deadline, .. } => deadline,
            _ => now.plus(self.limits.poll_most_millis),
        };
        self.record(now, Entry::Accepted { attempt, request_id, native_id, poll_at, deadline });
        self.tell_waiting(now, key, None, "the provider works on it");
        self.poll_later(now, key);
    }

    pub(crate) fn poll_later(&mut self, now: Timestamp, key: Key) {
        self.set_live(now, key, State::PollPause);
        let timer =
            Timer { key: TimerKey::Poll(key.step, self.kind(key)), at: now.plus(self.limits.poll_millis) };
        self.out.then.push(Act::SetTimer(timer));
    }

    pub(crate) fn poll(&mut self, now: Timestamp, key: Key) {
        let Some(track) = self.facts.track(key) else { return };
        let Phase::Accepted { request_id, deadline, .. } = &track.phase else { return };
        let (request_id, deadline, attempt) = (request_id.clone(), *deadline, track.attempt);
        if now >= deadline {
            self.take_live(key);
            let failure = Failure::new(WireCode::RequestTimeout, "The provider did not finish in time.");
            self.doubt(now, key, failure, true);
            return;
        }
        let Some(intent) = self.intent(key) else { return };
        let timeout = self.called_capabilities(key).map_or(0, |capabilities| capabilities.timeout_millis);
        let act = Act::Poll {
            call: CallId { step: key.step, kind: self.kind(key), attempt },
            type_name: intent.type_name.clone(),
            target: intent.target.clone(),
            request_id,
            deadline: now.plus(timeout),
        };
        self.set_live(now, key, State::Polling);
        self.out.then.push(act);
    }

    /// Takes an answer that comes too late to be waited for, but says that the effect happened.
    fn succeeded_late(&mut self, now: Timestamp, key: Key, answer: Answer) {
        if self.intent(key).is_some() && self.class(key, &answer) == Class::Done {
            let answer = self.plain(key, answer);
            self.succeed(now, key, answer);
        }
    }

    fn succeed(&mut self, now: Timestamp, key: Key, answer: Answer) {
        let (native_id, properties) = match answer {
            Answer::Success { native_id, properties } => (native_id, properties),
            _ => (None, None),
        };
        let Some(intent) = self.intent(key) else { return };
        match (intent.kind, native_id.or_else(|| intent.native_id.clone())) {
            (IntentKind::Create | IntentKind::Update, Some(native_id)) => {
                self.settle_present(now, key, native_id, properties);
            }
            (_, Some(_)) => {
                let Some(native_id) = intent.native_id.clone() else { return };
                match self.delete_may_land_until(now, key) {
                    Some(until) => self.delete_again(now, key, until),
                    None => self.settle(now, key, Outcome::Absent { native_id }),
                }
            }
            // Every intent but a create's names its object.
            (_, None) => {}
        }
    }

    /// The effect happened: the row has this object now. If it is another object than before, the
    /// one before is deposed (seed 4, "Replacement").
    pub(crate) fn settle_present(
        &mut self,
        now: Timestamp,
        key: Key,
        native_id: NativeId,
        properties: Option<Stored>,
    ) {
        let Some(intent) = self.intent(key) else { return };
        let deposes = self.replaces(key, &native_id);
        let object = object_of(intent, native_id, properties, Certainty::Certain);
        self.settle(now, key, Outcome::Present { object: Box::new(object), deposes });
    }

    /// Whether a step's object takes the place of another. A create on a row that has an object was
    /// planned, and guarded, because that one is gone.
    pub(crate) fn replaces(&self, key: Key, native_id: &NativeId) -> bool {
        let before = self.row_of(key.step).and_then(|row| row.current.as_ref());
        let replaces = self.step(key.step).is_some_and(|step| step.action != Action::Create);
        replaces && before.is_some_and(|before| before.native_id != *native_id)
    }

    fn partial(&mut self, now: Timestamp, key: Key, native_id: NativeId, failure: Failure) {
        let Some(intent) = self.intent(key) else { return };
        let object = object_of(intent, native_id, None, Certainty::Tainted);
        self.settle(now, key, Outcome::Partial { object: Box::new(object), failure });
    }

    /// The call had no effect, which says nothing of an earlier attempt whose outcome is not known.
    /// `certain`: the request itself was refused; a provider that knows its token would have told
    /// of what came of it before.
    fn not_made(&mut self, now: Timestamp, key: Key, retriable: bool, certain: bool, failure: Failure) {
        let resolves = self.step(key.step).is_some_and(|step| step.action == Action::Resolve);
        let in_doubt = resolves || self.facts.track(key).is_some_and(|track| track.in_doubt);
        let creates = self.kind(key) == IntentKind::Create;
        let certain = certain && creates && self.intent(key).is_some_and(|own| own.lookup == Lookup::Token);
        if in_doubt && (retriable || creates && !certain) {
            self.doubt(now, key, failure, true);
        } else if in_doubt && !certain {
            self.end_in_doubt(now, key, failure);
        } else if retriable && self.may_try_again(key) && !self.is_stopped(key) {
            self.back_off(now, key, failure);
        } else if resolves {
            self.settle(now, key, Outcome::NoOp);
        } else {
            self.settle(now, key, Outcome::Failed { failure });
        }
    }

    /// Whether there is an attempt left.
    pub(crate) fn may_try_again(&self, key: Key) -> bool {
        let made = self.facts.track(key).map_or(0, |track| track.calls.max(track.retries + 1));
        made < self.limits.attempts
    }
}

fn deletes(kind: IntentKind) -> bool {
    matches!(kind, IntentKind::Delete | IntentKind::Cleanup | IntentKind::Undo)
}

/// The object that an intent made.
pub(crate) fn object_of(
    intent: &OpenIntent,
    native_id: NativeId,
    properties: Option<Stored>,
    certainty: Certainty,
) -> Object {
    Object {
        native_id,
        type_name: intent.type_name.clone(),
        target: intent.target.clone(),
        deletion_policy: intent.deletion_policy,
        sent: intent.sent.clone(),
        echo: properties.unwrap_or_else(|| intent.sent.clone()),
        observed: None,
        certainty,
    }
}

fn code_of(answer: &Answer) -> Option<Code> {
    match answer {
        Answer::Failure { code, .. } => Some(*code),
        _ => None,
    }
}

/// What to show a person of an answer that is no success.
fn failure_of(answer: Answer) -> Failure {
    match answer {
        Answer::Failure { failure, .. } | Answer::Lost { failure, .. } => failure,
        Answer::Deadline => Failure::new(WireCode::RequestTimeout, "No answer came in time."),
        Answer::Success { .. } => {
            Failure::new(WireCode::InternalError, "The provider reported success without naming the object.")
        }
        Answer::InProgress { .. } => {
            Failure::new(WireCode::InternalError, "The provider works on it without saying how to ask.")
        }
    }
}
