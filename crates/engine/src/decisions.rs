//! What a person decided about effects that can't be found out, checked before it is acted upon.

use crate::BeginError;
use crate::observe::Observer;
use formwork_model::{
    Action, ActorId, Event, EventAction, EventStatus, EventSubject, Failure, NativeId, OperationId, Plan,
    Row, RowId, RowRef, Step, StepId, Stored, Timestamp, TypeCapabilities, TypeName, WireCode,
};
use formwork_store::{Claim, OwnedObject};
use std::collections::BTreeMap;

/// A decision with the properties of the object to adopt.
pub(crate) type Decision = (StepId, Option<(NativeId, Stored)>);

/// Reads the objects to adopt. Refuses what is decided while the call may still take effect:
/// whoever looked then may have looked too early.
pub(crate) async fn read(
    observer: &Observer,
    plan: &Plan,
    rows: &[Row],
    decisions: BTreeMap<StepId, Option<NativeId>>,
) -> Result<Vec<Decision>, BeginError> {
    let mut read = Vec::with_capacity(decisions.len());
    for (id, adopt) in decisions {
        let Some((step, row)) = subject(plan, rows, id) else { continue };
        let Some(intent) = &row.intent else { continue };
        let capabilities = plan.types.get(&intent.type_name).map(|pinned| &pinned.capabilities);
        let until = lands_until(intent.not_after, capabilities);
        if observer.clock.now() < until {
            return Err(BeginError::MayLand { step: id, until });
        }
        let Some(native_id) = adopt else {
            read.push((id, None));
            continue;
        };
        let mut others = rows.iter().filter(|other| other.id != row.id);
        if others.any(|other| other.has(&intent.type_name, &native_id)) {
            return Err(BeginError::NotAdoptable { step: id, failure: Some(taken()) });
        }
        let properties = if capabilities.is_some_and(|found| found.read) {
            let found = observer.adoptable(plan, step, rows, &native_id).await;
            found
                .map_err(|failure| BeginError::NotAdoptable { step: id, failure: Some(failure) })?
                .ok_or(BeginError::NotAdoptable { step: id, failure: None })?
        } else {
            // Nobody can look: the person's word is what there is.
            intent.sent.clone()
        };
        read.push((id, Some((native_id, properties))));
    }
    Ok(read)
}

fn subject<'a>(plan: &'a Plan, rows: &'a [Row], id: StepId) -> Option<(&'a Step, &'a Row)> {
    let step = plan.step(id)?;
    let RowRef::Existing(row) = &step.row else { return None };
    Some((step, rows.iter().find(|other| other.id == *row)?))
}

/// What was decided, for everybody who reads what happened: by whom, about which resource, and when.
pub(crate) fn events(
    plan: &Plan,
    rows: &[Row],
    decisions: &[Decision],
    (operation, actor, now): (&OperationId, &ActorId, Timestamp),
) -> Vec<Event> {
    let event = |(id, adopt): &Decision| {
        let (step, row) = subject(plan, rows, *id)?;
        let native_id = adopt.as_ref().map(|(native_id, _)| native_id.clone());
        let what = if native_id.is_some() { "adopted" } else { "discarded" };
        Some(Event {
            sequence: 0,
            at: now,
            operation: operation.clone(),
            stack: step.stack.clone(),
            subject: Some(EventSubject {
                row: row.id.clone(),
                label: step.label.clone(),
                type_name: row.intent.as_ref().map_or(&step.type_name, |intent| &intent.type_name).clone(),
                step: step.id,
            }),
            action: EventAction::Decide,
            status: EventStatus::Succeeded,
            native_id,
            failure: None,
            attempt: None,
            note: Some(format!("{what} by {actor}")),
        })
    };
    decisions.iter().filter_map(event).collect()
}

/// What the operation will take over: what was decided, and what its plan adopts.
pub(crate) fn claims(plan: &Plan, rows: &[Row], minted: &[RowId], decisions: &[Decision]) -> Vec<Claim> {
    let decided = decisions.iter().filter_map(|(id, adopt)| {
        let (native_id, _) = adopt.as_ref()?;
        let (_, row) = subject(plan, rows, *id)?;
        let type_name = row.intent.as_ref().map(|intent| intent.type_name.clone())?;
        Some(claim(row.id.clone(), native_id, type_name))
    });
    let planned = plan.steps.iter().filter_map(|step| {
        let Action::Adopt { native_id } = &step.action else { return None };
        let row = match &step.row {
            RowRef::Existing(id) => id,
            RowRef::New(number) => minted.get(*number as usize)?,
        };
        Some(claim(row.clone(), native_id, step.type_name.clone()))
    });
    decided.chain(planned).collect()
}

fn claim(row: RowId, native_id: &NativeId, type_name: TypeName) -> Claim {
    Claim { row, object: OwnedObject { native_id: native_id.clone(), type_name } }
}

/// The refusal of a claim, by the step that made it.
pub(crate) fn not_claimed(plan: &Plan, minted: &[RowId], row: &RowId) -> Option<BeginError> {
    let is_its = |step: &&Step| match &step.row {
        RowRef::Existing(id) => id == row,
        RowRef::New(number) => minted.get(*number as usize) == Some(row),
    };
    let takes_over = |step: &&Step| matches!(step.action, Action::Resolve | Action::Adopt { .. });
    let step = plan.steps.iter().filter(takes_over).find(is_its)?.id;
    Some(BeginError::NotAdoptable { step, failure: Some(taken()) })
}

fn taken() -> Failure {
    Failure::new(WireCode::ValidationFailed, "another resource has it")
}

fn lands_until(not_after: Timestamp, capabilities: Option<&TypeCapabilities>) -> Timestamp {
    not_after.plus(capabilities.map_or(0, |found| found.settle_millis))
}
