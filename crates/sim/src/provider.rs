//! The provider: what is really there. Its record survives our crashes, shares nothing with the
//! engine, and is what invariants are judged by.

mod objects;

use crate::catalog::Backend;
use formwork_model::{
    ClientToken, Generation, IntentKind, Json, Label, NativeId, OperationErrorCode, OperationId, Path, RowId,
    StackId, StepId, Timestamp, same,
};
use std::collections::BTreeMap;

pub use objects::SimObject;

/// A call as it travels to the provider.
#[derive(Clone, Debug)]
pub struct Call {
    /// Counts all calls of a run.
    pub number: u64,
    /// Which life of which process sent it.
    pub sender: usize,
    /// What makes a repetition the same call, where the provider knows tokens.
    pub token: Option<ClientToken>,
    /// No effect may begin after this.
    pub not_after: Option<Timestamp>,
    /// What it is for; only the judges look at this.
    pub mark: Option<Mark>,
    /// What is asked.
    pub ask: Ask,
}

/// What an effect was meant for. The provider does not look at it; invariants do.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The operation.
    pub operation: OperationId,
    /// Its step.
    pub step: StepId,
    /// What kind of effect.
    pub kind: IntentKind,
    /// The attempt.
    pub attempt: u32,
    /// The stack.
    pub stack: StackId,
    /// The row.
    pub row: RowId,
    /// The row's label.
    pub label: Label,
    /// The row's generation when the call was sent.
    pub generation: Generation,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Make an object.
    Create(Backend, Json),
    /// Change an object; the paths are those whose values the provider keeps.
    Update(Backend, NativeId, Json, Vec<Path>),
    /// Delete an object.
    Delete(Backend, NativeId),
    /// How does a call go?
    Poll(String),
    /// Read an object.
    Read(Backend, NativeId),
    /// All objects of a type.
    List(Backend),
}

impl Ask {
    /// Whether it may change something.
    pub fn is_write(&self) -> bool {
        matches!(self, Self::Create(..) | Self::Update(..) | Self::Delete(..))
    }
}

/// What the provider says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// Done.
    Done {
        /// The object.
        native_id: NativeId,
        /// What can be read of it; nothing after a delete.
        properties: Option<Json>,
    },
    /// It goes on.
    GoesOn {
        /// What to poll with.
        request_id: String,
        /// The object, if it is named already.
        native_id: Option<NativeId>,
    },
    /// It failed.
    Failed {
        /// The code.
        code: OperationErrorCode,
        /// The object that a create left behind.
        native_id: Option<NativeId>,
    },
    /// The object, as it can be read.
    Present(Json),
    /// There is no such object.
    Gone,
    /// These objects: id, what can be read, and when they were made.
    Listed(Vec<(NativeId, Json, Timestamp)>),
}

/// What goes wrong with a call at the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    #[default]
    None,
    /// It is refused, without effect.
    Refused(OperationErrorCode),
    /// A create fails half-way and names what it left; other calls fail after their effect.
    Half(OperationErrorCode),
    /// It takes effect and says that it failed.
    Denied(OperationErrorCode),
}

/// What happened to an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It came.
    Created(Json),
    /// It changed.
    Updated(Json),
    /// It went.
    Deleted,
}

/// A line of the provider's log.
#[derive(Clone, Debug)]
pub struct Effect {
    /// When.
    pub at: Timestamp,
    /// Which call; `None` for what happened out of band.
    pub call: Option<u64>,
    /// What the call was meant for.
    pub mark: Option<Mark>,
    /// Of which type.
    pub backend: Backend,
    /// Which object.
    pub native_id: NativeId,
    /// What happened to it.
    pub change: Change,
}

/// The provider.
#[derive(Clone, Debug, Default)]
pub struct Provider {
    objects: BTreeMap<NativeId, SimObject>,
    log: Vec<Effect>,
    remembered: BTreeMap<ClientToken, Said>,
    unfinished: BTreeMap<String, (u32, Said)>,
    minted: u64,
}

impl Provider {
    /// The living objects.
    pub fn objects(&self) -> &BTreeMap<NativeId, SimObject> {
        &self.objects
    }

    /// A living object.
    pub fn object(&self, id: &NativeId) -> Option<&SimObject> {
        self.objects.get(id)
    }

    /// All effects, in order.
    pub fn log(&self) -> &[Effect] {
        &self.log
    }

    /// A digest of what is there and what happened, to show that nothing did (INV-5).
    pub fn fingerprint(&self) -> (usize, usize, u64) {
        (self.log.len(), self.objects.len(), self.minted)
    }

    /// Carries a call out.
    pub fn take(&mut self, now: Timestamp, call: &Call, trouble: Trouble, polls: u32) -> Said {
        match &call.ask {
            Ask::Read(backend, id) => self.read(*backend, id, trouble),
            Ask::Poll(request_id) => self.poll(request_id),
            Ask::List(backend) => self.list(*backend),
            Ask::Create(..) | Ask::Update(..) | Ask::Delete(..) => self.write(now, call, trouble, polls),
        }
    }

    fn read(&self, backend: Backend, id: &NativeId, trouble: Trouble) -> Said {
        if let Trouble::Refused(code) = trouble {
            return Said::Failed { code, native_id: None };
        }
        match self.objects.get(id).filter(|object| object.backend == backend) {
            Some(object) => Said::Present(object.readable()),
            None => Said::Gone,
        }
    }

    fn list(&self, backend: Backend) -> Said {
        let of_type = self.objects.iter().filter(|(_, object)| object.backend == backend);
        Said::Listed(of_type.map(|(id, object)| (id.clone(), object.readable(), object.made_at)).collect())
    }

    fn poll(&mut self, request_id: &str) -> Said {
        let Some((polls, then)) = self.unfinished.get_mut(request_id) else {
            return Said::Failed { code: OperationErrorCode::NotFound, native_id: None };
        };
        if *polls > 1 {
            *polls -= 1;
            return Said::GoesOn { request_id: request_id.to_owned(), native_id: None };
        }
        then.clone()
    }

    fn write(&mut self, now: Timestamp, call: &Call, trouble: Trouble, polls: u32) -> Said {
        let token = call.token.filter(|_| knows_tokens(&call.ask));
        let first = token.and_then(|token| self.remembered.get(&token));
        match (trouble, first) {
            // Who knows a token answers it with its outcome before it judges what was sent.
            (Trouble::Refused(OperationErrorCode::InvalidRequest), Some(first)) => return first.clone(),
            (Trouble::Refused(code), _) => return Said::Failed { code, native_id: None },
            (_, Some(first)) => return first.clone(),
            (_, None) => {}
        }
        let done = self.effect(now, call);
        // A denial is a lie, or a loss on the way back: whoever repeats the token hears the truth.
        let is_create = matches!(call.ask, Ask::Create(..));
        let is_denied = matches!(trouble, Trouble::Denied(_)) || !is_create;
        let truth = (trouble != Trouble::None && is_denied).then(|| done.clone());
        let said = match (trouble, done) {
            (Trouble::Half(code), Said::Done { native_id, .. }) if is_create => {
                Said::Failed { code, native_id: Some(native_id) }
            }
            (Trouble::Half(code) | Trouble::Denied(code), Said::Done { .. }) => {
                Said::Failed { code, native_id: None }
            }
            (_, done) => done,
        };
        let had_effect = self.log.last().is_some_and(|effect| effect.call == Some(call.number));
        let said = if polls > 0 && had_effect { self.go_on(said, polls) } else { said };
        if let (Some(token), true) = (token, had_effect) {
            self.remembered.insert(token, truth.unwrap_or_else(|| said.clone()));
        }
        said
    }

    fn go_on(&mut self, then: Said, polls: u32) -> Said {
        self.minted += 1;
        let request_id = format!("request-{}", self.minted);
        // Every other request names its object at once.
        let native_id = match &then {
            Said::Done { native_id, .. } if self.minted.is_multiple_of(2) => Some(native_id.clone()),
            _ => None,
        };
        self.unfinished.insert(request_id.clone(), (polls, then));
        Said::GoesOn { request_id, native_id }
    }

    fn effect(&mut self, now: Timestamp, call: &Call) -> Said {
        match &call.ask {
            Ask::Create(backend, properties) => self.create(now, call, *backend, properties),
            Ask::Update(backend, id, desired, kept) => self.update(now, call, *backend, id, desired, kept),
            Ask::Delete(backend, id) => self.delete(now, call, *backend, id),
            Ask::Poll(_) | Ask::Read(..) | Ask::List(_) => Said::Gone,
        }
    }

    fn create(&mut self, now: Timestamp, call: &Call, backend: Backend, sent: &Json) -> Said {
        let native_id = match (backend, sent.get("name").and_then(Json::as_str)) {
            (Backend::Named, Some(name)) => NativeId::from(name),
            (Backend::Named, None) => {
                return Said::Failed { code: OperationErrorCode::InvalidRequest, native_id: None };
            }
            _ => self.mint(backend),
        };
        if self.objects.contains_key(&native_id) {
            return Said::Failed { code: OperationErrorCode::AlreadyExists, native_id: None };
        }
        self.place(now, call, backend, native_id, objects::filled(sent))
    }

    fn place(&mut self, now: Timestamp, call: &Call, backend: Backend, id: NativeId, all: Json) -> Said {
        let object = SimObject { backend, properties: all.clone(), made_at: now, mark: call.mark.clone() };
        let properties = Some(object.readable());
        self.objects.insert(id.clone(), object);
        self.note(now, call, backend, id.clone(), Change::Created(all));
        Said::Done { native_id: id, properties }
    }

    fn update(
        &mut self,
        now: Timestamp,
        call: &Call,
        backend: Backend,
        id: &NativeId,
        desired: &Json,
        kept: &[Path],
    ) -> Said {
        let Some(object) = self.objects.get(id).filter(|object| object.backend == backend) else {
            return Said::Failed { code: OperationErrorCode::NotFound, native_id: None };
        };
        let properties = object.after_update(desired, kept);
        let moves = !same(&object.properties["zone"], &properties["zone"]);
        if moves && backend.discovers_replacement() {
            let other = self.mint(backend);
            return self.place(now, call, backend, other, properties);
        }
        if moves {
            return Said::Failed { code: OperationErrorCode::InvalidRequest, native_id: None };
        }
        let mut changed = object.clone();
        changed.properties.clone_from(&properties);
        let readable = changed.readable();
        self.objects.insert(id.clone(), changed);
        self.note(now, call, backend, id.clone(), Change::Updated(properties));
        Said::Done { native_id: id.clone(), properties: Some(readable) }
    }

    fn delete(&mut self, now: Timestamp, call: &Call, backend: Backend, id: &NativeId) -> Said {
        let is_there = self.objects.get(id).is_some_and(|object| object.backend == backend);
        if is_there {
            self.objects.remove(id);
            self.note(now, call, backend, id.clone(), Change::Deleted);
        }
        Said::Done { native_id: id.clone(), properties: None }
    }

    fn note(&mut self, at: Timestamp, call: &Call, backend: Backend, native_id: NativeId, change: Change) {
        let (call, mark) = (Some(call.number), call.mark.clone());
        self.log.push(Effect { at, call, mark, backend, native_id, change });
    }

    /// Deletes an object out of band.
    pub fn lose(&mut self, now: Timestamp, id: &NativeId) -> bool {
        let Some(object) = self.objects.remove(id) else { return false };
        let (backend, native_id) = (object.backend, id.clone());
        self.log.push(Effect {
            at: now,
            call: None,
            mark: None,
            backend,
            native_id,
            change: Change::Deleted,
        });
        true
    }

    fn mint(&mut self, backend: Backend) -> NativeId {
        self.minted += 1;
        let short = backend.name().rsplit(':').next().unwrap_or_default().to_lowercase();
        NativeId::from(format!("{short}-{}", self.minted))
    }
}

fn knows_tokens(ask: &Ask) -> bool {
    match ask {
        Ask::Create(backend, _) | Ask::Update(backend, ..) | Ask::Delete(backend, _) => {
            backend.knows_tokens()
        }
        Ask::Poll(_) | Ask::Read(..) | Ask::List(_) => false,
    }
}
