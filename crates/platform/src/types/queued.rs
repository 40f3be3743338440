//! Runs that were asked for and that a runtime takes up: their status, and cancelling them. Nothing in
//! Formwork carries them out, so what nobody cancels stays `queued` here.

use crate::{
    Act, Extra, Refusal, document::Document, draft::CHANGED_BY, rest::Filter, rewrite::rewrite,
    view::representation,
};
use formwork_model::{Json, WireCode};
use formwork_store::{DomainError, DomainTx};
use serde_json::{Map, json};

pub(super) const STATUS: &str = "status";
const QUEUED: &str = "queued";

/// The status as answers show it.
pub(super) const SHOWN: Extra =
    Extra { name: STATUS, kind: "string", nullable: false, value: |system| of(system, STATUS) };

/// A member of the system part.
pub(super) fn of(system: &Map<String, Json>, name: &str) -> Json {
    system.get(name).cloned().unwrap_or_default()
}

/// Queues a new run.
pub(super) fn queue(system: &mut Map<String, Json>) {
    system.insert(STATUS.to_owned(), json!(QUEUED));
}

/// The filter of lists by status.
pub(super) fn filter(name: &str, value: &str) -> Result<Filter, Refusal> {
    system_filter(&[STATUS], name, value)
}

/// The filter of lists by a member of the system part.
pub(super) fn system_filter(known: &[&'static str], name: &str, value: &str) -> Result<Filter, Refusal> {
    let Some(member) = known.iter().copied().find(|known| *known == name) else {
        let message = format!("Unknown query parameter(s): {name}");
        return Err(Refusal::new(WireCode::ValidationFailed, message));
    };
    let wanted = json!(value);
    Ok(Filter::Test(Box::new(move |document: &Document| document.system.get(member) == Some(&wanted))))
}

/// `POST …/cancel`: nobody takes the run up any more. `word` is how its type spells that.
pub(super) fn cancel(
    tx: &mut dyn DomainTx,
    act: &Act<'_>,
    word: &str,
    over: WireCode,
) -> Result<Json, DomainError> {
    let status = of(&Document::of(&act.object)?.system, STATUS);
    if status != QUEUED {
        let status = status.as_str().unwrap_or_default();
        let message = format!("Run '{}' is {status} and cannot be cancelled.", act.object.id);
        return Err(Refusal::new(over, message).into());
    }
    let cancelled = rewrite(tx, act.key, &act.object, |document| {
        document.system.insert(STATUS.to_owned(), json!(word));
        document.system.insert(CHANGED_BY.to_owned(), act.actor.as_str().into());
    })?;
    representation(act.entry, &cancelled)
}
