//! What happens while it is not known whether a call had an effect (architecture §3, "Ambiguous
//! creates").

use crate::answer::object_of;
use crate::facts::Key;
use crate::live::State;
use crate::operation::Operation;
use crate::{Act, Found, LookupCall, SecretFill, SecretPiece, Timer, TimerKey, backoff};
use formwork_model::{
    Action, Attempt, Certainty, Entry, Failure, InputLeaf, IntentKind, Lookup, LookupRule, NativeId, Object,
    OpenIntent, OperationErrorCode, Outcome, RetryRule, Schema, Segment, Step, StepId, Stored, StoredLeaf,
    Timestamp, WireCode, same,
};
use std::collections::BTreeMap;

impl Operation {
    /// The outcome of a call is not known. `answered`: the provider said so itself, so nothing of
    /// the call is still on its way.
    pub(crate) fn doubt(&mut self, now: Timestamp, key: Key, failure: Failure, answered: bool) {
        let Some(track) = self.facts.track(key) else { return };
        let Some(intent) = self.intent(key) else { return };
        let again = self.repeats(key, intent);
        let settle = self.called_capabilities(key).map_or(0, |capabilities| capabilities.settle_millis);
        let may_land = !answered && now < intent.not_after.plus(settle) && !track.in_doubt;
        let landed = now.max(intent.not_after).plus(settle);
        let soon = now.plus(backoff::pause(&self.limits, self.seed, key, track.retries + track.doubts));
        let resolve_at = match intent.kind {
            _ if again => soon,
            IntentKind::Create if findable(intent) && track.doubts < self.limits.lookups => landed,
            // Nothing can be found out, but what its object refers to must not go before it can no
            // longer come.
            _ if may_land => landed,
            _ => {
                self.end_in_doubt(now, key, failure);
                return;
            }
        };
        self.put_in_doubt(now, key, resolve_at, failure);
    }

    fn put_in_doubt(&mut self, now: Timestamp, key: Key, resolve_at: Timestamp, failure: Failure) {
        let number = self.facts.track(key).map_or(0, |track| track.attempt);
        let number = number.max(self.intent(key).map_or(0, |intent| intent.attempt));
        let attempt = Attempt { step: key.step, kind: self.kind(key), number };
        self.record(now, Entry::Ambiguous { attempt, resolve_at, failure: failure.clone() });
        self.set_live(now, key, State::Doubt);
        self.tell_waiting(now, key, Some(failure), "whether it had an effect is not known yet");
        let timer = Timer { key: TimerKey::Resolve(key.step, attempt.kind), at: resolve_at };
        self.out.then.push(Act::SetTimer(timer));
    }

    /// Whether the same call is to be made again, in order to find out.
    fn repeats(&self, key: Key, intent: &OpenIntent) -> bool {
        let wanted = is_made(intent) || !self.is_stopped(key);
        wanted && self.may_repeat(key, intent) && self.may_try_again(key)
    }

    /// Whether the same call may be made again though its outcome is not known: the provider knows
    /// its token, or it is idempotent, and the type may be called again at all.
    fn may_repeat(&self, key: Key, intent: &OpenIntent) -> bool {
        let by_code = self.called_capabilities(key).is_some_and(|found| found.retry == RetryRule::ByCode);
        let earlier = self.step(key.step).is_some_and(|step| step.action == Action::Resolve);
        match intent.kind {
            // A type that is never called again by itself is called again where a person runs a
            // failed deploy again: that is what its token is for (seed 4, "The handler protocol").
            IntentKind::Create | IntentKind::Update => {
                let once = earlier && self.facts.track(key).is_none_or(|track| track.calls == 0);
                intent.lookup == Lookup::Token
                    && (by_code || once)
                    && (!earlier || self.refill(key.step, &intent.sent).is_some())
            }
            // Deletes are idempotent by contract (seed 3, "Delete").
            IntentKind::Delete | IntentKind::Cleanup | IntentKind::Undo => by_code,
        }
    }

    pub(crate) fn on_timer(&mut self, now: Timestamp, timer: TimerKey) {
        match timer {
            TimerKey::Retry(step, kind) => {
                let key = Key::of(step, kind);
                if matches!(self.state(key), Some(State::Backoff)) {
                    self.take_live(key);
                    self.again.insert(key);
                }
            }
            TimerKey::Poll(step, kind) => {
                let key = Key::of(step, kind);
                if matches!(self.state(key), Some(State::PollPause)) {
                    self.poll(now, key);
                }
            }
            TimerKey::Resolve(step, kind) => {
                let key = Key::of(step, kind);
                if matches!(self.state(key), Some(State::Doubt)) {
                    self.resolve(now, key);
                }
            }
        }
    }

    /// The moment has come to find out.
    fn resolve(&mut self, now: Timestamp, key: Key) {
        self.take_live(key);
        let Some(intent) = self.intent(key) else { return };
        if self.repeats(key, intent) {
            self.again.insert(key);
        } else if intent.kind == IntentKind::Create && findable(intent) && self.may_look(key) {
            self.find(now, key);
        } else {
            let failure = self.last_failure(key);
            self.end_in_doubt(now, key, failure);
        }
    }

    /// Whether there is a lookup left; the doubt that leads to it is counted already.
    fn may_look(&self, key: Key) -> bool {
        self.facts.track(key).is_none_or(|track| track.doubts <= self.limits.lookups)
    }

    fn find(&mut self, now: Timestamp, key: Key) {
        let Some(intent) = self.intent(key) else { return };
        let timeout = self.called_capabilities(key).map_or(0, |capabilities| capabilities.timeout_millis);
        // A create on a row that has an object was planned, and guarded, because that one is gone.
        let creates = self.step(key.step).is_some_and(|step| step.action == Action::Create);
        let current = self.row_of(key.step).and_then(|row| row.current.as_ref()).filter(|_| creates);
        let call = LookupCall {
            step: key.step,
            row: self.row_of(key.step).map_or_else(|| "".into(), |row| row.id.clone()),
            type_name: intent.type_name.clone(),
            target: intent.target.clone(),
            lookup: match &intent.native_id {
                Some(named) => Lookup::ByNativeId(named.clone()),
                None => intent.lookup.clone(),
            },
            sent: intent.sent.clone(),
            gone: current.map(|object| object.native_id.clone()),
            deadline: now.plus(timeout),
        };
        self.set_live(now, key, State::Finding);
        self.out.then.push(Act::Find(Box::new(call)));
    }

    pub(crate) fn on_found(&mut self, now: Timestamp, step: StepId, found: Found) {
        let key = Key::forward(step);
        if !matches!(self.state(key), Some(State::Finding)) {
            return;
        }
        self.take_live(key);
        match found {
            Found::One { native_id, properties } => {
                self.settle_present(now, key, native_id, Some(properties));
            }
            Found::Nothing => self.found_nothing(now, key),
            Found::Unsure { detail } => {
                let failure = Failure::new(WireCode::OutcomeUnknown, detail);
                self.end_in_doubt(now, key, failure);
            }
            Found::Failed { failure } => {
                let doubts = self.facts.track(key).map_or(0, |track| track.doubts);
                if doubts < self.limits.lookups {
                    let pause = backoff::pause(&self.limits, self.seed, key, doubts);
                    self.put_in_doubt(now, key, now.plus(pause), failure);
                } else {
                    self.end_in_doubt(now, key, failure);
                }
            }
        }
    }

    /// The call had no effect: it may be made again.
    fn found_nothing(&mut self, now: Timestamp, key: Key) {
        let failure = self.last_failure(key);
        let by_code = self.called_capabilities(key).is_some_and(|found| found.retry == RetryRule::ByCode);
        if self.step(key.step).is_some_and(|step| step.action == Action::Resolve) {
            self.settle(now, key, Outcome::NoOp);
        } else if by_code && self.may_try_again(key) && !self.is_stopped(key) {
            self.back_off(now, key, failure);
        } else {
            self.settle(now, key, Outcome::Failed { failure });
        }
    }

    /// Until when an earlier call of a delete, one that was never answered, may still remove what
    /// bears the same id: an object that was made under it after the delete counted as done. `None`
    /// if nothing of the kind can come: the provider mints ids or knows the call's token.
    pub(crate) fn delete_may_land_until(&self, now: Timestamp, key: Key) -> Option<Timestamp> {
        let track = self.facts.track(key)?;
        let capabilities = self.called_capabilities(key)?;
        let ids_return = matches!(capabilities.lookup, LookupRule::ByNativeId(_) | LookupRule::None);
        let until = track.may_land_until.plus(capabilities.settle_millis);
        let unanswered = track.may_land_until > Timestamp::default();
        (ids_return && unanswered && until > now).then_some(until)
    }

    /// Gives up finding out: a person decides about a create, an observation about anything else.
    pub(crate) fn end_in_doubt(&mut self, now: Timestamp, key: Key, failure: Failure) {
        if self.kind(key) != IntentKind::Create {
            self.settle(now, key, Outcome::Uncertain { failure });
            return;
        }
        let Some(step) = self.step(key.step) else { return };
        let message = format!("Whether `{}` was created is not known: {}", step.label, failure.message);
        // A code that the provider chose says more to a person than that the outcome is unknown.
        let code = if is_generic(&failure.code) {
            WireCode::OutcomeUnknown.as_str().to_owned()
        } else {
            failure.code
        };
        let unknown = Failure { code, message, meta: failure.meta };
        self.settle(now, key, Outcome::Unknown { failure: unknown });
    }

    pub(crate) fn last_failure(&self, key: Key) -> Failure {
        let failure = self.facts.track(key).and_then(|track| track.failure.as_deref().cloned());
        failure.unwrap_or_else(|| Failure::new(WireCode::OutcomeUnknown, "The outcome is not known."))
    }

    /// A person knows better: the object is this one, or there is none.
    fn settle_as_decided(&mut self, now: Timestamp, key: Key, adopt: Option<(NativeId, Stored)>) {
        let resolves = self.step(key.step).is_some_and(|step| step.action == Action::Resolve);
        match adopt {
            Some((native_id, properties)) => self.settle_adopted(now, key, native_id, properties),
            None if resolves => self.settle(now, key, Outcome::NoOp),
            None => {
                let failure = self.last_failure(key);
                self.settle(now, key, Outcome::Failed { failure });
            }
        }
    }

    /// A person says that this is the object of the unanswered call. Where it is visibly not as the call
    /// sent it, it may be another's: it counts as what it is seen to be, so that the next plan shows
    /// and repairs the difference, and as uncertain, so that what can't be seen is sent again.
    fn settle_adopted(&mut self, now: Timestamp, key: Key, native_id: NativeId, seen: Stored) {
        let Some(intent) = self.intent(key) else { return };
        let Some(pinned) = self.pinned(&intent.type_name) else {
            return self.settle_present(now, key, native_id, Some(seen));
        };
        let sent = as_seen(&pinned.schema, &intent.sent, &seen);
        let differs = !same(&sent.comparable(), &intent.sent.comparable());
        let deposes = self.replaces(key, &native_id);
        let certainty = if differs { Certainty::Uncertain } else { Certainty::Certain };
        let object = Object { sent, ..object_of(intent, native_id, Some(seen), certainty) };
        self.settle(now, key, Outcome::Present { object: Box::new(object), deposes });
    }

    /// What fills the secrets in when an earlier operation's call is made again: that operation's
    /// plaintexts are gone, but where the declaration still holds the same secret, this one has it.
    /// `None` if a plaintext is missing.
    pub(crate) fn refill(&self, resolve: StepId, sent: &Stored) -> Option<Vec<SecretFill>> {
        let row = &self.step(resolve)?.row;
        let mut held = BTreeMap::new();
        for step in self.plan.steps.iter().filter(|step| step.row == *row) {
            let Some(inputs) = &step.inputs else { continue };
            inputs.for_each_leaf(&mut |_, leaf| {
                if let InputLeaf::Secret { slot, digest } = leaf {
                    held.insert(digest.hex(), slot.clone());
                }
            });
        }
        let mut fills = Some(Vec::new());
        sent.for_each_leaf(&mut |path, leaf| {
            let (StoredLeaf::Sealed { digest, .. } | StoredLeaf::Digest(digest)) = leaf else { return };
            match (held.get(&digest.hex()), &mut fills) {
                (Some(slot), Some(fills)) => fills
                    .push(SecretFill { path: path.clone(), pieces: vec![SecretPiece::Slot(slot.clone())] }),
                _ => fills = None,
            }
        });
        fills
    }

    /// Settles an effect of an earlier operation whose outcome is not known.
    pub(crate) fn resolve_earlier(&mut self, now: Timestamp, step: &Step) {
        let key = Key::forward(step.id);
        let Some(intent) = self.row_for(&step.row).and_then(|row| row.intent.clone()) else {
            return self.settle(now, key, Outcome::NoOp);
        };
        if intent.kind == IntentKind::Create
            && let Some(adopt) = self.decisions.remove(&step.id)
        {
            return self.settle_as_decided(now, key, adopt);
        }
        let failure = Failure::new(
            WireCode::OutcomeUnknown,
            format!("Operation `{}` ended before its outcome was known.", intent.operation),
        );
        if intent.kind == IntentKind::Create
            && let Some(request_id) = &intent.request_id
        {
            self.go_on_polling(now, key, &intent, request_id.clone());
        } else if self.may_repeat(key, &intent) && intent.kind != IntentKind::Undo && is_made(&intent) {
            self.again.insert(key);
        } else if intent.kind == IntentKind::Create && findable(&intent) {
            let settle = self.called_capabilities(key).map_or(0, |capabilities| capabilities.settle_millis);
            self.put_in_doubt(now, key, now.max(intent.not_after.plus(settle)), failure);
        } else if intent.kind == IntentKind::Create {
            self.end_in_doubt(now, key, failure);
        } else {
            // Whatever became of the object, it can be seen; it must not pass for unchanged.
            let current = self.row_for(&step.row).and_then(|row| row.current.clone());
            let object = current.map(|mut object| {
                object.certainty = match object.certainty {
                    Certainty::Tainted => Certainty::Tainted,
                    Certainty::Certain | Certainty::Uncertain => Certainty::Uncertain,
                };
                Box::new(object)
            });
            self.settle(now, key, Outcome::Recorded { object });
        }
    }

    fn go_on_polling(&mut self, now: Timestamp, key: Key, intent: &OpenIntent, request_id: String) {
        let attempt = Attempt { step: key.step, kind: intent.kind, number: intent.attempt };
        let deadline = now.plus(self.limits.poll_most_millis);
        let native_id = intent.native_id.clone();
        self.record(now, Entry::Accepted { attempt, request_id, native_id, poll_at: now, deadline });
        self.poll(now, key);
    }
}

/// What was sent, as far as what is there says otherwise. Secrets, and what only a create takes, need
/// not be shown.
fn as_seen(schema: &Schema, sent: &Stored, seen: &Stored) -> Stored {
    let Some(members) = sent.members() else { return sent.clone() };
    let shown = members.into_iter().filter_map(|(name, member)| {
        let hint = schema.property(&name).map(|property| &property.hint);
        if hint.is_some_and(|hint| hint.write_only || hint.opaque) {
            return Some((name, member));
        }
        match seen.child(&Segment::Key(name.clone())) {
            Some(there) if same(&there.comparable(), &member.comparable()) => Some((name, member)),
            Some(there) => Some((name, there)),
            None => hint.is_some_and(|hint| hint.create_only).then_some((name, member)),
        }
    });
    Stored::object(shown.collect())
}

/// Whether a create's object can be looked for.
fn findable(intent: &OpenIntent) -> bool {
    intent.native_id.is_some() || matches!(intent.lookup, Lookup::ByNativeId(_) | Lookup::ByUnique(_))
}

fn is_made(intent: &OpenIntent) -> bool {
    matches!(intent.kind, IntentKind::Create | IntentKind::Update)
}

/// Whether a failure's code is the protocol's or our own, not one that the provider chose.
fn is_generic(code: &str) -> bool {
    let own = [
        WireCode::OutcomeUnknown,
        WireCode::RequestTimeout,
        WireCode::InternalError,
        WireCode::PluginUnavailable,
        WireCode::Canceled,
        WireCode::Unknown,
    ];
    own.iter().any(|own| own.as_str() == code)
        || OperationErrorCode::ALL.iter().any(|own| own.as_str() == code)
}
