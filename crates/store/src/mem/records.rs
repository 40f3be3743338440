//! Objects, events and audit in memory.

use super::MemTables;
use super::ledger::{Exists, page};
use super::state::Kept;
use crate::tables::{DUMPED, Lease, ObjectTables, RecordTables, Stored};
use crate::{AuditRecord, Link, ListQuery, Page, StoreError, StoredObject, UniqueKey};
use formwork_model::{ClientToken, Event, Json, OperationId, ProjectId};
use serde::Serialize;
use std::sync::Arc;

/// A project as part of a key; what is global has none.
fn place(project: Option<&ProjectId>) -> String {
    project.map_or_else(String::new, ToString::to_string)
}

impl MemTables<'_> {
    fn change_object(&mut self, id: &str, change: impl FnOnce(&mut Kept)) {
        if let Some(kept) = self.state.objects.get(id) {
            let mut kept = Kept::clone(kept);
            change(&mut kept);
            self.state.objects.insert(id.to_owned(), Arc::new(kept));
        }
    }

    fn links_of(&self, id: &str) -> Vec<Link> {
        self.state.objects.get(id).map(|kept| kept.links.clone()).unwrap_or_default()
    }
}

impl ObjectTables for MemTables<'_> {
    fn object(&mut self, id: &str) -> Stored<Option<StoredObject>> {
        Ok(self.state.objects.get(id).map(|kept| kept.object.clone()))
    }

    fn insert_object(&mut self, object: &StoredObject) -> Stored<()> {
        let state = &mut *self.state;
        if state.objects.get(&object.id).is_some() {
            return Err(Exists::error(&object.id));
        }
        let number = state.object_numbers.next_number();
        state.object_numbers.insert(number, ());
        state.typed.insert((object.type_name.clone(), number), object.id.clone());
        let kept = Kept { number, object: object.clone(), keys: Vec::new(), links: Vec::new() };
        state.objects.insert(object.id.clone(), Arc::new(kept));
        Ok(())
    }

    fn update_object(&mut self, object: &StoredObject) -> Stored<()> {
        self.change_object(&object.id, |kept| kept.object = object.clone());
        Ok(())
    }

    fn delete_object(&mut self, id: &str) -> Stored<bool> {
        let Some(kept) = self.state.objects.get(id).cloned() else { return Ok(false) };
        self.set_keys(&kept.object, &[])?;
        self.set_links(id, &[])?;
        self.state.typed.remove(&(kept.object.type_name.clone(), kept.number));
        self.state.objects.remove(&id.to_owned());
        Ok(true)
    }

    fn key_owner(
        &mut self,
        project: Option<&ProjectId>,
        type_name: &str,
        key: &UniqueKey,
    ) -> Stored<Option<String>> {
        let place = (place(project), type_name.to_owned(), key.clone());
        Ok(self.state.keys.get(&place).cloned())
    }

    fn set_keys(&mut self, object: &StoredObject, keys: &[UniqueKey]) -> Stored<()> {
        let before = self.state.objects.get(&object.id).map(|kept| kept.keys.clone()).unwrap_or_default();
        let at = |key| (place(object.project.as_ref()), object.type_name.clone(), key);
        for key in before {
            self.state.keys.remove(&at(key));
        }
        for key in keys {
            self.state.keys.insert(at(key.clone()), object.id.clone());
        }
        self.change_object(&object.id, |kept| kept.keys = keys.to_vec());
        Ok(())
    }

    fn set_links(&mut self, id: &str, links: &[Link]) -> Stored<()> {
        for Link { field, to } in self.links_of(id) {
            self.state.linkers.remove(&(to, (id.to_owned(), field)));
        }
        for Link { field, to } in links {
            self.state.linkers.insert((to.clone(), (id.to_owned(), field.clone())), ());
        }
        self.change_object(id, |kept| kept.links = links.to_vec());
        Ok(())
    }

    fn links_to(&mut self, id: &str, most: usize) -> Stored<Vec<(String, String, String)>> {
        let id = id.to_owned();
        let linkers = self.state.linkers.under(&id, (String::new(), String::new()));
        let typed = linkers.filter_map(|((from, field), ())| {
            let kept = self.state.objects.get(from)?;
            Some((from.clone(), kept.object.type_name.clone(), field.clone()))
        });
        Ok(typed.take(most).collect())
    }

    fn objects(&mut self, query: &ListQuery) -> Stored<Page<StoredObject>> {
        let all = self.state.typed.under(&query.type_name, 0);
        let all = all.filter_map(|(_, id)| self.state.objects.get(id));
        let wanted = all.filter(|kept| {
            let in_project = query.projects.is_empty()
                || kept.object.project.as_ref().is_some_and(|own| query.projects.contains(own));
            in_project && query.linked.as_ref().is_none_or(|link| kept.links.contains(link))
        });
        let Page { items, total } = page(wanted, query.limit, query.offset);
        Ok(Page { items: items.into_iter().map(|kept| kept.object.clone()).collect(), total })
    }

    fn effect(&mut self, token: &ClientToken) -> Stored<Option<Json>> {
        Ok(self.state.effects.get(token).map(|outcome| Json::clone(outcome)))
    }

    fn put_effect(&mut self, token: &ClientToken, outcome: &Json) -> Stored<()> {
        self.state.effects.insert(*token, Arc::new(outcome.clone()));
        Ok(())
    }
}

impl RecordTables for MemTables<'_> {
    fn append_event(&mut self, event: &Event) -> Stored<u64> {
        let sequence = self.state.events.next_number();
        self.state.operation_events.insert((event.operation.clone(), sequence), ());
        self.state.events.insert(sequence, Arc::new(Event { sequence, ..event.clone() }));
        Ok(sequence)
    }

    fn events(&mut self, operation: &OperationId, after: u64, limit: usize) -> Stored<Vec<Event>> {
        let numbers = self.state.operation_events.under(operation, after.saturating_add(1));
        let events = numbers.filter_map(|(number, ())| self.state.events.get(number));
        Ok(events.take(limit).map(|event| Event::clone(event)).collect())
    }

    fn append_audit(&mut self, record: &AuditRecord) -> Stored<()> {
        let number = self.state.audit.next_number();
        self.state.audit.insert(number, Arc::new(record.clone()));
        Ok(())
    }

    fn audit_log(
        &mut self,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Stored<Page<AuditRecord>> {
        let all = self.state.audit.range(..).rev().map(|(_, record)| record);
        let wanted = all.filter(|record| project.is_none() || record.project.as_ref() == project);
        let Page { items, total } = page(wanted, limit, offset);
        Ok(Page { items: items.into_iter().map(|record| AuditRecord::clone(record)).collect(), total })
    }

    fn dump(&mut self, each: &mut dyn FnMut(&str, &[&str])) -> Stored<()> {
        let state = &self.state;
        let [
            lease,
            operation,
            plan,
            journal,
            slot,
            row,
            reference,
            row_slot,
            event,
            object,
            key,
            link,
            effect,
            of_stack,
        ] = DUMPED;
        for (stack, Lease { fence, holder, .. }) in state.leases.iter() {
            let holder = holder.as_ref().map_or("", |holder| holder.operation.as_str());
            each(lease, &[stack.as_str(), &fence.0.to_string(), holder]);
        }
        for (_, id) in state.numbers.iter() {
            if let Some(known) = state.operations.get(id) {
                each(operation, &[&text(&known.record)?]);
            }
        }
        for (id, body) in state.plans.iter() {
            each(plan, &[id.as_str(), &text(body)?]);
        }
        for (_, entry) in state.journal.iter() {
            each(journal, &[&text(entry)?]);
        }
        for ((id, name), sealed) in state.slots.iter() {
            each(slot, &[id.as_str(), name.as_str(), sealed.as_str()]);
        }
        for (_, body) in state.rows.iter() {
            each(row, &[&text(body)?]);
        }
        for ((from, to), ()) in state.references.iter() {
            each(reference, &[from.as_str(), to.as_str()]);
        }
        for ((id, name), sealed) in state.row_slots.iter() {
            each(row_slot, &[id.as_str(), name.as_str(), sealed.as_str()]);
        }
        for (number, body) in state.events.iter() {
            each(event, &[&number.to_string(), &text(&Event { sequence: 0, ..Event::clone(body) })?]);
        }
        for (id, kept) in state.objects.iter() {
            let StoredObject { type_name, project, doc, version, created_at, updated_at, .. } = &kept.object;
            let project = project.as_ref().map_or("", ProjectId::as_str);
            let (version, created, updated) =
                (version.to_string(), created_at.0.to_string(), updated_at.0.to_string());
            each(object, &[id, type_name, project, &text(doc)?, &version, &created, &updated]);
        }
        for ((project, type_name, UniqueKey { key: name, value }), id) in state.keys.iter() {
            each(key, &[project, type_name, name, value, id]);
        }
        for ((to, (from, field)), ()) in state.linkers.iter() {
            each(link, &[to, from, field]);
        }
        for (token, outcome) in state.effects.iter() {
            each(effect, &[&token.to_string(), &text(outcome)?]);
        }
        for ((stack, _), id) in state.stack_operations.iter() {
            each(of_stack, &[stack.as_str(), id.as_str()]);
        }
        Ok(())
    }
}

/// A record as the other stores write it.
fn text(record: &impl Serialize) -> Stored<String> {
    serde_json::to_string(record)
        .map_err(|error| StoreError::Fault { doing: "wrote a record", source: Box::new(error) })
}
