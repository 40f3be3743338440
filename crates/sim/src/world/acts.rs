//! Actions: from the operation to the network, and from the network to the provider.

use super::events::Happening;
use super::process::{Awaited, Purpose};
use super::{LEASE_MILLIS, World};
use crate::catalog::Backend;
use crate::provider::{Ask, Call, Mark};
use crate::ready::ready;
use crate::weather::Journey;
use formwork_engine_core::{Act, CallKind, SecretFill, SecretPiece};
use formwork_model::{ClientToken, Json, Lookup, SecretSlots, Stored, Timestamp, as_text, canonical_bytes};
use formwork_store::Store as _;

impl World {
    pub(super) fn start(&mut self, at: usize, act: Act) {
        if !self.alive(at) {
            return;
        }
        match act {
            Act::Call(call) => self.start_call(at, *call),
            Act::Poll { call, request_id, deadline, .. } => {
                self.send(at, Purpose::Call(call), Ask::Poll(request_id), deadline);
            }
            Act::Read(read) => {
                let Some(backend) = Backend::of(&read.type_name) else { return };
                self.send(at, Purpose::Read(read.step), Ask::Read(backend, read.native_id), read.deadline);
            }
            Act::Find(lookup) => {
                let Some(backend) = Backend::of(&lookup.type_name) else { return };
                let deadline = lookup.deadline;
                debug_assert!(
                    !matches!(lookup.lookup, Lookup::Token),
                    "a token is used by repeating the call"
                );
                self.send(at, Purpose::Find(lookup), Ask::List(backend), deadline);
            }
            Act::RequestPermit { step, kind, .. } => {
                let after = self.weather.permit_after();
                self.at(self.now.plus(after), Happening::Permit(at, step, kind));
            }
            Act::SetTimer(timer) => self.at(timer.at, Happening::Timer(at, timer.key)),
            Act::CancelCall(call) => {
                self.processes[at]
                    .awaited
                    .retain(|_, awaited| !matches!(&awaited.purpose, Purpose::Call(id) if *id == call));
            }
            Act::Finish { status, .. } => self.end(at, status),
        }
    }

    /// Starts a call if the lease outlives it; renews the lease if it does not.
    fn start_call(&mut self, at: usize, call: formwork_engine_core::Call) {
        if self.processes[at].guard.expires_at <= call.not_after {
            let process = &mut self.processes[at];
            if ready(process.store.renew(&process.guard, LEASE_MILLIS)).is_err() {
                self.note(format_args!("p{at} can't renew before a call"));
                self.bury(at);
                self.recover_later(at);
                return;
            }
            self.processes[at].guard.expires_at = self.now.plus(LEASE_MILLIS);
        }
        debug_assert!(self.processes[at].guard.expires_at > call.not_after, "leases outlive calls here");
        let Some(backend) = Backend::of(&call.type_name) else { return };
        let secrets = &self.processes[at].secrets;
        let ask = match call.kind {
            CallKind::Create { properties, secrets: fills } => {
                Ask::Create(backend, filled(&properties, &fills, secrets))
            }
            CallKind::Update { native_id, desired, secrets: fills, kept, .. } => {
                Ask::Update(backend, native_id, filled(&desired, &fills, secrets), kept)
            }
            CallKind::Delete { native_id } => Ask::Delete(backend, native_id),
        };
        let generation = self.processes[at]
            .operation
            .row(&call.row)
            .map(|row| row.intent.as_ref().map_or(row.generation, |intent| intent.generation));
        let mark = Mark {
            operation: self.processes[at].id.clone(),
            step: call.id.step,
            kind: call.id.kind,
            attempt: call.id.attempt,
            stack: call.stack,
            row: call.row,
            label: call.label,
            generation: generation.unwrap_or_default(),
        };
        let token = if self.protections.generation_in_token {
            call.token
        } else {
            self.token_without_generation(&mark, &ask)
        };
        let not_after = self.protections.not_after.then_some(call.not_after);
        let message = Call {
            number: self.next_message(),
            sender: at,
            token: Some(token),
            not_after,
            mark: Some(mark),
            ask,
        };
        self.dispatch(at, message, Purpose::Call(call.id), call.not_after);
    }

    fn token_without_generation(&self, mark: &Mark, ask: &Ask) -> ClientToken {
        let sent = match ask {
            Ask::Create(_, properties) | Ask::Update(_, _, properties, _) => canonical_bytes(properties),
            Ask::Delete(_, id) => id.as_str().as_bytes().to_vec(),
            Ask::Poll(_) | Ask::Read(..) | Ask::List(_) => Vec::new(),
        };
        let kind = format!("{:?}", mark.kind);
        ClientToken(self.key.token(&[mark.row.as_str().as_bytes(), kind.as_bytes(), &sent]))
    }

    fn send(&mut self, at: usize, purpose: Purpose, ask: Ask, deadline: Timestamp) {
        let number = self.next_message();
        let message = Call { number, sender: at, token: None, not_after: None, mark: None, ask };
        self.dispatch(at, message, purpose, deadline);
    }

    fn next_message(&mut self) -> u64 {
        self.messages += 1;
        self.messages
    }

    /// Gives a message to the network.
    fn dispatch(&mut self, at: usize, call: Call, purpose: Purpose, deadline: Timestamp) {
        let write = call.ask.is_write().then(|| {
            self.writes += 1;
            self.writes - 1
        });
        let journey = self.weather.journey(self.now, write, &call);
        self.note(format_args!("p{at} sends #{} {:?}", call.number, call.ask));
        self.processes[at].awaited.insert(call.number, Awaited { purpose, given_up: false });
        self.at(deadline.plus(1), Happening::GiveUp(at, call.number));
        let too_late =
            matches!((journey.begins, call.not_after), (Some(begins), Some(last)) if begins > last);
        match journey.begins {
            Some(_) if !too_late => self.at(journey.appears, Happening::Arrive(Box::new(call), journey)),
            Some(_) => self.note(format_args!("#{} comes too late to begin", call.number)),
            None => self.note(format_args!("#{} is lost on its way", call.number)),
        }
        if journey.kills {
            self.crash(at);
        }
    }

    /// A call takes effect.
    pub(super) fn arrive(&mut self, call: &Call, journey: Journey) {
        let before = self.provider.log().len();
        let said = self.provider.take(self.now, call, journey.trouble, journey.polls);
        self.note(format_args!("#{} arrives: {said:?}", call.number));
        for at in before..self.provider.log().len() {
            self.judge_effect(at);
        }
        if journey.kills_on_effect {
            self.crash(call.sender);
        }
        if let Some(heard) = journey.heard {
            self.at(heard, Happening::Hear(call.sender, call.number, said));
        }
    }
}

/// What is really sent: secrets filled in.
fn filled(properties: &Stored, fills: &[SecretFill], secrets: &SecretSlots) -> Json {
    let mut sent = properties.masked();
    for fill in fills {
        let value = match fill.pieces.as_slice() {
            [SecretPiece::Slot(slot)] => secrets.get(slot).map(|secret| secret.expose().clone()),
            pieces => Some(Json::String(
                pieces
                    .iter()
                    .map(|piece| match piece {
                        SecretPiece::Text(text) => text.clone(),
                        // The simulated types answer no secrets.
                        SecretPiece::Output(_) => String::new(),
                        SecretPiece::Slot(slot) => {
                            secrets.get(slot).map(|secret| as_text(secret.expose())).unwrap_or_default()
                        }
                    })
                    .collect(),
            )),
        };
        put(&mut sent, &fill.path, value.unwrap_or(Json::Null));
    }
    sent
}

/// Sets a value at a path, whose parents exist.
fn put(into: &mut Json, path: &formwork_model::Path, value: Json) {
    use formwork_model::Segment;
    let mut place = into;
    for segment in path.segments() {
        place = match (segment, place) {
            (Segment::Key(key), Json::Object(members)) => {
                members.entry(key.to_string()).or_insert(Json::Null)
            }
            (Segment::Index(index), Json::Array(items)) => match items.get_mut(*index) {
                Some(item) => item,
                None => return,
            },
            _ => return,
        };
    }
    *place = value;
}
