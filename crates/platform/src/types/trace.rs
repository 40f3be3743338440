//! `trace`: the steps that an agent took: a record that the routes make, reported by the runtime
//! that runs agents (`formations-behaviour.md` §7.10).

use super::reported::{self, purge};
use crate::{Act, Definition, Extra, PlatformType, Refusal, view::representation};
use formwork_model::{ImmutableRule, Json, Kind, PropertySchema, WireCode};
use formwork_store::{DomainError, DomainTx, Link, ListQuery, StoredObject};
use serde_json::json;

pub(super) struct Trace;

/// How many traces one tree shows.
const MOST: usize = 1000;

impl PlatformType for Trace {
    fn define(&self) -> Definition {
        let text = |doc: &'static str| PropertySchema::new(Kind::String, doc);
        Definition {
            name: "trace",
            title: "trace",
            noun: "Trace",
            id_prefix: "trace",
            doc: "The steps that an agent took, as its runtime reports them.",
            properties: vec![
                ("agent_id", text("The agent.").required().refers_to("agent")),
                ("parent_trace_id", text("The trace it was called from.").nullable().refers_to("trace")),
                ("root_trace_id", text("The trace that all began with.").nullable().refers_to("trace")),
                ("steps", PropertySchema::new(Kind::Array, "The steps, in order.").nullable()),
                ("metadata", PropertySchema::new(Kind::Object, "Anything else about it.").nullable()),
            ],
            // A trace is never changed, so the rule never applies.
            on_immutable: ImmutableRule::Replace,
            srn_type: "trace",
            dependents: &[],
            route: &reported::TRACE,
        }
    }

    fn act(&self, tx: &mut dyn DomainTx, act: Act<'_>) -> Result<Json, DomainError> {
        match act.operation {
            reported::PURGE_TRACE => purge(tx, &act, &["steps"]),
            _ => tree(tx, &act),
        }
    }

    fn extras(&self) -> &'static [Extra] {
        &reported::EXTRAS
    }
}

/// A trace with the traces that were called from it, level by level. The answer is a flat list with
/// depths, so that no depth of calls makes it too deep to read.
fn tree(tx: &mut dyn DomainTx, act: &Act<'_>) -> Result<Json, DomainError> {
    let mut pending = vec![(0_usize, act.object.clone())];
    let mut nodes = Vec::new();
    while let Some((depth, trace)) = pending.pop() {
        if nodes.len() == MOST {
            let message =
                format!("The tree has more than {MOST} traces: ask for the tree of one of its parts.");
            return Err(Refusal::new(WireCode::ValidationFailed, message).into());
        }
        let below = called_from(tx, &trace)?;
        pending.extend(below.into_iter().rev().map(|child| (depth + 1, child)));
        nodes.push(json!({ "depth": depth, "trace": representation(act.entry, &trace)? }));
    }
    Ok(json!({ "trace_id": act.object.id, "nodes": nodes }))
}

fn called_from(tx: &mut dyn DomainTx, trace: &StoredObject) -> Result<Vec<StoredObject>, DomainError> {
    let query = ListQuery {
        type_name: "trace".to_owned(),
        projects: trace.project.iter().cloned().collect(),
        linked: Some(Link { field: "parent_trace_id".to_owned(), to: trace.id.clone() }),
        limit: MOST,
        offset: 0,
    };
    Ok(tx.list(&query)?.items)
}
