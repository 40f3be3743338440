//! What the provider's log says, from first to last.

use crate::violation::Violation;
use formwork_model::{Json, NativeId, OperationErrorCode as Code};
use formwork_plugin::Operation;
use formwork_plugin_fake_cloud::{Caller, Event, Line, RESOURCE};
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet};

/// What a log is judged by.
#[derive(Default)]
struct Judge<'l> {
    /// The living objects, with the row that made each, and its properties.
    living: BTreeMap<&'l NativeId, (&'l Caller, &'l Map<String, Json>)>,
    /// The object that each call is about.
    about: BTreeMap<u64, &'l NativeId>,
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
                self.about.extend(native_id.as_ref().map(|id| (line.call, id)));
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
            Event::Created { type_name, native_id, caller, properties } => {
                self.created(type_name, native_id, caller);
                self.living.insert(native_id, (caller, properties));
            }
            Event::Updated { native_id, caller, .. } => self.changed(native_id, caller, "updates"),
            Event::Deleted { native_id, caller, .. } => {
                self.changed(native_id, caller, "deletes");
                self.living.remove(native_id);
                self.made.retain(|_, made| *made != native_id);
            }
            Event::Answered { code: Some(code @ (Code::AlreadyExists | Code::InvalidRequest)) }
                if !self.scripted.contains(&line.call) && !self.is_entangled(line.call) =>
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
            let others = self.living.iter().filter(|(_, (other, _))| other.row.as_deref() == Some(row));
            let others: Vec<String> = others.map(|(id, _)| id.to_string()).collect();
            // The type that is made anew before the old object goes has two for a while, and more where the old one
            // did not go.
            if !others.is_empty() && type_name != RESOURCE {
                let label = caller.label.as_deref().unwrap_or_default();
                let detail = format!("`{label}` has `{native_id}` besides `{}`", others.join("`, `"));
                self.found.push(Violation::new("INV-2", detail));
            }
        }
    }

    /// Whether objects of another stack are in the object that a call is about: those its owner can't know of.
    fn is_entangled(&self, call: u64) -> bool {
        let Some(id) = self.about.get(&call) else { return false };
        let stack = |properties: &Map<String, Json>| {
            let name = properties.get("name").and_then(Json::as_str).unwrap_or_default();
            name.split('-').next().unwrap_or_default().to_owned()
        };
        let Some((_, outer)) = self.living.get(id) else { return false };
        let is_in = |properties: &Map<String, Json>| {
            ["parentId", "childId"]
                .iter()
                .any(|name| properties.get(*name).and_then(Json::as_str) == Some(id.as_str()))
        };
        self.living.values().any(|(_, inner)| is_in(inner) && stack(inner) != stack(outer))
    }

    fn changed(&mut self, native_id: &'l NativeId, caller: &'l Caller, how: &str) {
        let Some((owner, _)) = self.living.get(native_id) else { return };
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

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::Timestamp;
    use formwork_plugin_fake_cloud::GRAND_CHILD;

    fn caller(row: &str, token: &str) -> Caller {
        Caller {
            row: Some(row.to_owned()),
            label: Some("G0".to_owned()),
            token: Some(token.to_owned()),
            operation: Some("op".to_owned()),
            attempt: 1,
        }
    }

    fn created(id: &str, row: &str, token: &str) -> Event {
        let (type_name, properties) = (GRAND_CHILD.to_owned(), Map::new());
        Event::Created { type_name, native_id: id.into(), properties, caller: caller(row, token) }
    }

    fn deleted(id: &str, caller: Caller) -> Event {
        Event::Deleted { type_name: GRAND_CHILD.to_owned(), native_id: id.into(), caller }
    }

    fn received(operation: Operation, native_id: Option<&str>, caller: Caller, rule: Option<&str>) -> Event {
        Event::Received {
            operation: Some(operation),
            type_name: GRAND_CHILD.to_owned(),
            native_id: native_id.map(NativeId::from),
            caller,
            rule: rule.map(str::to_owned),
        }
    }

    fn judged(events: Vec<Event>) -> Vec<&'static str> {
        let line = |event| Line { at: Timestamp(0), pid: 1, call: 7, event };
        let lines: Vec<Line> = events.into_iter().map(line).collect();
        judge(&lines).into_iter().map(|violation| violation.invariant).collect()
    }

    #[test]
    fn an_object_made_again_after_it_went_is_all_right() {
        let own = caller("row", "b");
        let events = vec![created("g1", "row", "a"), deleted("g1", own), created("g2", "row", "c")];
        assert_eq!(judged(events), Vec::<&str>::new());
        let by_hand =
            vec![created("g1", "row", "a"), deleted("g1", Caller::default()), created("g2", "row", "a")];
        assert_eq!(judged(by_hand), Vec::<&str>::new(), "somebody took it away");
    }

    #[test]
    fn two_objects_of_one_row_are_found_and_so_are_two_of_one_token() {
        assert_eq!(judged(vec![created("g1", "row", "a"), created("g2", "row", "b")]), ["INV-2"]);
        assert_eq!(judged(vec![created("g1", "row", "a"), created("g2", "other", "a")]), ["INV-2"]);
    }

    #[test]
    fn what_another_row_or_a_person_made_is_left_alone() {
        let events = vec![created("g1", "row", "a"), deleted("g1", caller("other", "b"))];
        assert_eq!(judged(events), ["INV-14"]);
        let Event::Created { type_name, native_id, properties, .. } = created("g1", "row", "a") else {
            panic!("it is one")
        };
        let by_hand = Event::Created { type_name, native_id, properties, caller: Caller::default() };
        assert_eq!(judged(vec![by_hand, deleted("g1", caller("row", "b"))]), ["INV-14"]);
    }

    #[test]
    fn a_call_names_its_object_and_whose_it_is() {
        assert_eq!(judged(vec![received(Operation::Delete, Some(""), caller("row", "a"), None)]), ["INV-1"]);
        assert_eq!(judged(vec![received(Operation::Create, None, Caller::default(), None)]), ["INV-1"]);
        assert_eq!(
            judged(vec![received(Operation::Create, None, caller("row", "a"), None)]),
            Vec::<&str>::new()
        );
    }

    #[test]
    fn a_refusal_that_nobody_wanted_is_a_wrong_order() {
        let refused = || Event::Answered { code: Some(Code::InvalidRequest) };
        let call = |rule| received(Operation::Delete, Some("g1"), caller("row", "a"), rule);
        assert_eq!(judged(vec![call(None), refused()]), ["INV-6"]);
        assert_eq!(judged(vec![call(Some("rule")), refused()]), Vec::<&str>::new());
    }
}
