//! From what the provider says to what the operation hears.

use super::World;
use super::process::Purpose;
use crate::catalog::Backend;
use crate::provider::Said;
use crate::ready::ready;
use formwork_engine_core::{Answer, Found, Input, LookupCall, ReadAnswer};
use formwork_model::{
    Failure, Json, Lookup, NativeId, OperationErrorCode, Stored, Timestamp, UniqueValue, digest_of, same,
};
use formwork_store::Store as _;
use std::collections::BTreeSet;

impl World {
    /// An answer reaches a process.
    pub(super) fn heard(&mut self, at: usize, number: u64, said: Said) -> Option<Input> {
        if !self.alive(at) {
            return None;
        }
        let awaited = self.processes[at].awaited.remove(&number)?;
        match awaited.purpose {
            Purpose::Call(call) => Some(Input::Answered { call, answer: answer(said) }),
            // A late read or lookup has been answered for; nobody waits for it.
            Purpose::Read(_) | Purpose::Find(_) if awaited.given_up => None,
            Purpose::Read(step) => Some(Input::ReadDone { step, answer: read_answer(said) }),
            Purpose::Find(lookup) => {
                let found = self.find(&lookup, said);
                Some(Input::LookupDone { step: lookup.step, found })
            }
        }
    }

    /// A process gives up on an answer. The answer of a call may still come; it is late then.
    pub(super) fn given_up(&mut self, at: usize, number: u64) -> Option<Input> {
        if !self.alive(at) {
            return None;
        }
        let awaited = self.processes[at].awaited.get_mut(&number)?;
        if awaited.given_up {
            return None;
        }
        awaited.given_up = true;
        match &awaited.purpose {
            Purpose::Call(call) => Some(Input::Answered { call: *call, answer: Answer::Deadline }),
            Purpose::Read(step) => {
                let answer = ReadAnswer::Failed { code: None, failure: failure("DEADLINE") };
                Some(Input::ReadDone { step: *step, answer })
            }
            Purpose::Find(lookup) => {
                let found = Found::Failed { failure: failure("DEADLINE") };
                Some(Input::LookupDone { step: lookup.step, found })
            }
        }
    }

    /// Exactly one object that no row owns and that is provably ours.
    fn find(&self, lookup: &LookupCall, said: Said) -> Found {
        let listed = match said {
            Said::Listed(listed) => listed,
            Said::Failed { code, .. } => return Found::Failed { failure: failure(code.as_str()) },
            _ => return Found::Failed { failure: failure("NONSENSE") },
        };
        let mut owned = self.owned();
        if let Some(gone) = &lookup.gone {
            owned.remove(gone);
        }
        if let Lookup::ByNativeId(id) = &lookup.lookup
            && owned.contains(id)
        {
            return Found::Unsure { detail: format!("`{id}` belongs to another resource") };
        }
        let matching: Vec<_> = listed
            .into_iter()
            .filter(|(id, properties, _)| !owned.contains(id) && self.matches(&lookup.lookup, id, properties))
            .collect();
        match matching.as_slice() {
            [] => Found::Nothing,
            [(id, properties, made_at)] if *made_at >= self.intent_began(lookup) => {
                Found::One { native_id: id.clone(), properties: Stored::Plain(properties.clone()) }
            }
            [(id, ..)] => Found::Unsure { detail: format!("`{id}` is older than the call") },
            several => Found::Unsure { detail: format!("{} objects match", several.len()) },
        }
    }

    fn matches(&self, lookup: &Lookup, id: &NativeId, properties: &Json) -> bool {
        match lookup {
            Lookup::ByNativeId(wanted) => wanted == id,
            Lookup::ByUnique(wanted) => wanted.iter().all(|(path, value)| {
                let Some(found) = path.get(properties) else { return false };
                match value {
                    UniqueValue::Clear(wanted) => same(wanted, found),
                    UniqueValue::Digest(wanted) => digest_of(&self.key, found) == *wanted,
                }
            }),
            Lookup::Token | Lookup::None => false,
        }
    }

    /// When the call whose object is looked for was made: nothing older can be its.
    fn intent_began(&self, lookup: &LookupCall) -> Timestamp {
        let row = ready(self.store.reader().row(&lookup.row)).ok().flatten();
        let timeout = Backend::of(&lookup.type_name).map_or(0, Backend::timeout_millis);
        row.and_then(|row| row.intent).map_or(Timestamp(i64::MAX), |intent| {
            let timeout = i64::try_from(timeout).unwrap_or(i64::MAX);
            Timestamp(intent.not_after.0.saturating_sub(timeout))
        })
    }

    /// The objects that rows own.
    pub(crate) fn owned(&self) -> BTreeSet<NativeId> {
        self.ledger()
            .iter()
            .flat_map(|row| row.current.iter().chain(&row.deposed))
            .map(|object| object.native_id.clone())
            .collect()
    }
}

fn answer(said: Said) -> Answer {
    match said {
        Said::Done { native_id, properties } => {
            Answer::Success { native_id: Some(native_id), properties: properties.map(Stored::Plain) }
        }
        Said::GoesOn { request_id, native_id } => Answer::InProgress { request_id, native_id },
        Said::Failed { code, native_id } => {
            Answer::Failure { code, failure: failure(code.as_str()), native_id }
        }
        Said::Present(_) | Said::Gone | Said::Listed(_) => {
            Answer::Lost { failure: failure("NONSENSE"), unsent: false }
        }
    }
}

fn read_answer(said: Said) -> ReadAnswer {
    match said {
        Said::Present(properties) => ReadAnswer::Present { properties: Stored::Plain(properties) },
        Said::Gone | Said::Failed { code: OperationErrorCode::NotFound, .. } => ReadAnswer::Gone,
        Said::Failed { code, .. } => ReadAnswer::Failed { code: Some(code), failure: failure(code.as_str()) },
        Said::Done { .. } | Said::GoesOn { .. } | Said::Listed(_) => {
            ReadAnswer::Failed { code: None, failure: failure("NONSENSE") }
        }
    }
}

fn failure(code: &str) -> Failure {
    Failure { code: code.to_owned(), message: format!("the simulated provider said {code}"), meta: None }
}
