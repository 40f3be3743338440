//! What the provider's log says, from first to last.

use crate::violation::Violation;
use formwork_model::{NativeId, OperationErrorCode as Code};
use formwork_plugin::Operation;
use formwork_plugin_fake_cloud::{Caller, Event, Line, RESOURCE};
use std::collections::{BTreeMap, BTreeSet};

/// What a log is judged by.
#[derive(Default)]
struct Judge<'l> {
    /// The living objects, with the row that made each.
    living: BTreeMap<&'l NativeId, &'l Caller>,
    /// What each token made, and still is there.
    made: BTreeMap<&'l str, &'l NativeId>,
    /// The calls that a rule of the script counted.
    scripted: BTreeSet<u64>,
    found: Vec<Violation>,
}

/// Everything in a log that must not be in it.
pub(crate) fn judge(lines: &[Line]) -> Vec<Violation> {
    let mut judge = Judge::default();
    for line in lines {
        judge.line(line);
    }
    judge.found
}

impl<'l> Judge<'l> {
    fn line(&mut self, line: &'l Line) {
        match &line.event {
            Event::Received { operation, type_name, native_id, caller, rule } => {
                if rule.is_some() {
                    self.scripted.insert(line.call);
                }
                let needs_id =
                    matches!(operation, Some(Operation::Read | Operation::Update | Operation::Delete));
                if needs_id && native_id.as_ref().is_none_or(|id| id.as_str().is_empty()) {
                    self.found.push(Violation::new("INV-1", format!("call {} names no object", line.call)));
                }
                let writes =
                    matches!(operation, Some(Operation::Create | Operation::Update | Operation::Delete));
                if writes && (caller.row.is_none() || caller.operation.is_none()) {
                    let detail = format!("call {} ({type_name}) is nobody's", line.call);
                    self.found.push(Violation::new("INV-1", detail));
                }
            }
            Event::Created { type_name, native_id, caller, .. } => self.created(type_name, native_id, caller),
            Event::Updated { native_id, caller, .. } => self.changed(native_id, caller, "updates"),
            Event::Deleted { native_id, caller, .. } => {
                self.changed(native_id, caller, "deletes");
                self.living.remove(native_id);
                self.made.retain(|_, made| *made != native_id);
            }
            Event::Answered { code: Some(code @ (Code::AlreadyExists | Code::InvalidRequest)) }
                if !self.scripted.contains(&line.call) =>
            {
                let detail = format!("call {} was refused: {code}", line.call);
                self.found.push(Violation::new("INV-6", detail));
            }
            _ => {}
        }
    }

    fn created(&mut self, type_name: &str, native_id: &'l NativeId, caller: &'l Caller) {
        if let Some(token) = caller.token.as_deref()
            && let Some(before) = self.made.insert(token, native_id)
        {
            let detail = format!("one token made `{before}` and `{native_id}`");
            self.found.push(Violation::new("INV-2", detail));
        }
        if let Some(row) = caller.row.as_deref() {
            let others = self.living.iter().filter(|(_, other)| other.row.as_deref() == Some(row));
            let others: Vec<String> = others.map(|(id, _)| id.to_string()).collect();
            // The type that is made anew before the old object goes has two for a while, and more where the old one
            // did not go.
            if !others.is_empty() && type_name != RESOURCE {
                let label = caller.label.as_deref().unwrap_or_default();
                let detail = format!("`{label}` has `{native_id}` besides `{}`", others.join("`, `"));
                self.found.push(Violation::new("INV-2", detail));
            }
        }
        self.living.insert(native_id, caller);
    }

    fn changed(&mut self, native_id: &'l NativeId, caller: &'l Caller, how: &str) {
        let Some(owner) = self.living.get(native_id) else { return };
        match (owner.row.as_deref(), caller.row.as_deref()) {
            (Some(owner), Some(row)) if owner != row => {
                let detail = format!("`{row}` {how} `{native_id}`, which `{owner}` made");
                self.found.push(Violation::new("INV-14", detail));
            }
            (None, Some(row)) => {
                let detail = format!("`{row}` {how} `{native_id}`, which somebody else made");
                self.found.push(Violation::new("INV-14", detail));
            }
            _ => {}
        }
    }
}
