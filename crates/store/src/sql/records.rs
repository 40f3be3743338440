//! Objects, events and audit in SQL.

use super::{Param, SqlRow, SqlTables, decode, encode, params};
use crate::tables::{DUMPED, ObjectTables, RecordTables, Stored};
use crate::{AuditRecord, Link, ListQuery, Page, StoredObject, UniqueKey};
use formwork_model::{ClientToken, Event, Json, OperationId, ProjectId};

/// A project as a column; what is global has none.
fn place(project: Option<&ProjectId>) -> &str {
    project.map_or("", ProjectId::as_str)
}

fn project(column: &str) -> Option<ProjectId> {
    (!column.is_empty()).then(|| column.into())
}

const OBJECT: &str = "id, type, project, doc, version, created_at, updated_at";

fn object(row: &dyn SqlRow) -> Stored<StoredObject> {
    let id = row.text(0)?;
    Ok(StoredObject {
        id: id.to_owned(),
        type_name: row.text(1)?.to_owned(),
        project: project(row.text(2)?),
        doc: decode("object", id, row.text(3)?)?,
        version: row.number(4)?,
        created_at: row.time(5)?,
        updated_at: row.time(6)?,
    })
}

/// Which objects a list is of: a condition with its parameters.
fn wanted(query: &ListQuery) -> (String, Vec<Param<'_>>) {
    let mut condition = "type = $1".to_owned();
    let mut params = vec![Param::from(&query.type_name)];
    if !query.projects.is_empty() {
        let first = params.len() + 1;
        params.extend(query.projects.iter().map(|project| Param::from(project.as_str())));
        let places: Vec<_> = (first..=params.len()).map(|place| format!("${place}")).collect();
        condition = format!("{condition} AND project IN ({})", places.join(", "));
    }
    if let Some(Link { field, to }) = &query.linked {
        let (field_place, to_place) = (params.len() + 1, params.len() + 2);
        params.extend([Param::from(field), Param::from(to)]);
        condition = format!(
            "{condition} AND EXISTS (SELECT 1 FROM object_links l WHERE l.from_id = objects.id \
             AND l.field = ${field_place} AND l.to_id = ${to_place})"
        );
    }
    (condition, params)
}

impl ObjectTables for SqlTables<'_> {
    fn object(&mut self, id: &str) -> Stored<Option<StoredObject>> {
        self.one(
            "SELECT id, type, project, doc, version, created_at, updated_at FROM objects WHERE id = $1",
            params![id],
            object,
        )
    }

    fn insert_object(&mut self, object: &StoredObject) -> Stored<()> {
        self.execute(
            "INSERT INTO objects (id, number, type, project, doc, version, created_at, updated_at) \
             VALUES ($1, (SELECT COALESCE(MAX(number), 0) + 1 FROM objects), $2, $3, $4, $5, $6, $7)",
            params![
                &object.id,
                &object.type_name,
                place(object.project.as_ref()),
                &encode("object", &object.id, &object.doc)?,
                object.version,
                object.created_at,
                object.updated_at,
            ],
        )?;
        Ok(())
    }

    fn update_object(&mut self, object: &StoredObject) -> Stored<()> {
        self.execute(
            "UPDATE objects SET doc = $1, version = $2, updated_at = $3 WHERE id = $4",
            params![
                &encode("object", &object.id, &object.doc)?,
                object.version,
                object.updated_at,
                &object.id
            ],
        )?;
        Ok(())
    }

    fn delete_object(&mut self, id: &str) -> Stored<bool> {
        self.execute("DELETE FROM object_keys WHERE object = $1", params![id])?;
        self.execute("DELETE FROM object_links WHERE from_id = $1", params![id])?;
        Ok(self.execute("DELETE FROM objects WHERE id = $1", params![id])? > 0)
    }

    fn key_owner(
        &mut self,
        project: Option<&ProjectId>,
        type_name: &str,
        key: &UniqueKey,
    ) -> Stored<Option<String>> {
        self.one(
            "SELECT object FROM object_keys WHERE project = $1 AND type = $2 AND key = $3 AND value = $4",
            params![place(project), type_name, &key.key, &key.value],
            |row| Ok(row.text(0)?.to_owned()),
        )
    }

    fn set_keys(&mut self, object: &StoredObject, keys: &[UniqueKey]) -> Stored<()> {
        self.execute("DELETE FROM object_keys WHERE object = $1", params![&object.id])?;
        for UniqueKey { key, value } in keys {
            self.execute(
                "INSERT INTO object_keys (project, type, key, value, object) VALUES ($1, $2, $3, $4, $5)",
                params![place(object.project.as_ref()), &object.type_name, key, value, &object.id],
            )?;
        }
        Ok(())
    }

    fn set_links(&mut self, id: &str, links: &[Link]) -> Stored<()> {
        self.execute("DELETE FROM object_links WHERE from_id = $1", params![id])?;
        for Link { field, to } in links {
            self.execute(
                "INSERT INTO object_links (from_id, field, to_id) VALUES ($1, $2, $3)",
                params![id, field, to],
            )?;
        }
        Ok(())
    }

    fn links_to(&mut self, id: &str, most: usize) -> Stored<Vec<(String, String, String)>> {
        self.all(
            "SELECT l.from_id, o.type, l.field FROM object_links l JOIN objects o ON o.id = l.from_id \
             WHERE l.to_id = $1 ORDER BY l.from_id, l.field LIMIT $2",
            params![id, most],
            |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned(), row.text(2)?.to_owned())),
        )
    }

    fn objects(&mut self, query: &ListQuery) -> Stored<Page<StoredObject>> {
        let (condition, mut params) = wanted(query);
        let total = self.count(&format!("SELECT COUNT(*) FROM objects WHERE {condition}"), &params)?;
        let (limit, offset) = (params.len() + 1, params.len() + 2);
        params.extend([Param::from(query.limit), Param::from(query.offset)]);
        let items = self.all(
            &format!(
                "SELECT {OBJECT} FROM objects WHERE {condition} ORDER BY number LIMIT ${limit} OFFSET ${offset}"
            ),
            &params,
            object,
        )?;
        Ok(Page { items, total })
    }

    fn effect(&mut self, token: &ClientToken) -> Stored<Option<Json>> {
        let id = token.to_string();
        self.one("SELECT outcome FROM object_effects WHERE token = $1", params![&id], |row| {
            decode("effect", &id, row.text(0)?)
        })
    }

    fn put_effect(&mut self, token: &ClientToken, outcome: &Json) -> Stored<()> {
        let id = token.to_string();
        self.execute(
            "INSERT INTO object_effects (token, outcome) VALUES ($1, $2)",
            params![&id, &encode("effect", &id, outcome)?],
        )?;
        Ok(())
    }
}

/// The digest's queries, in the order of [`DUMPED`], with their numbers of columns.
const DUMP: [(usize, &str); DUMPED.len()] = [
    (3, "SELECT stack, CAST(fence AS TEXT), COALESCE(operation, '') FROM leases ORDER BY stack"),
    (1, "SELECT body FROM operations ORDER BY number"),
    (2, "SELECT operation, body FROM plans ORDER BY operation"),
    (1, "SELECT body FROM journal ORDER BY operation, sequence"),
    (3, "SELECT operation, slot, sealed FROM slots ORDER BY operation, slot"),
    (1, "SELECT body FROM rows ORDER BY id"),
    (2, "SELECT from_row, to_row FROM row_refs ORDER BY from_row, to_row"),
    (3, "SELECT row_id, slot, sealed FROM row_slots ORDER BY row_id, slot"),
    (2, "SELECT CAST(sequence AS TEXT), body FROM events ORDER BY sequence"),
    (
        7,
        "SELECT id, type, project, doc, CAST(version AS TEXT), CAST(created_at AS TEXT), \
         CAST(updated_at AS TEXT) FROM objects ORDER BY id",
    ),
    (5, "SELECT project, type, key, value, object FROM object_keys ORDER BY project, type, key, value"),
    (3, "SELECT to_id, from_id, field FROM object_links ORDER BY to_id, from_id, field"),
    (2, "SELECT token, outcome FROM object_effects ORDER BY token"),
    (2, "SELECT stack, operation FROM operation_stacks ORDER BY stack, number"),
];

impl SqlTables<'_> {
    /// The last event that was stored here.
    pub(super) fn last_event(&self) -> Option<u64> {
        self.last_event
    }

    /// The number of the newest event of all.
    pub(super) fn newest_event(&mut self) -> Stored<u64> {
        let newest = self.one("SELECT COALESCE(MAX(sequence), 0) FROM events", &[], |row| row.number(0))?;
        Ok(newest.unwrap_or_default())
    }
}

impl RecordTables for SqlTables<'_> {
    fn append_event(&mut self, event: &Event) -> Stored<u64> {
        let id = event.operation.as_str();
        // The number is a column; in the body it is always 0.
        let body = match event.sequence {
            0 => encode("event of", id, event)?,
            _ => encode("event of", id, &Event { sequence: 0, ..event.clone() })?,
        };
        // Writers take turns, so a number is visible only when all lower ones are: a cursor that
        // passed it has missed nothing. And none is given out while this job runs but by it.
        let before = match self.last_event {
            Some(last) => last,
            None => self.newest_event()?,
        };
        let sequence = before + 1;
        self.execute(
            "INSERT INTO events (operation, body, sequence) VALUES ($1, $2, $3)",
            params![id, &body, sequence],
        )?;
        self.last_event = Some(sequence);
        Ok(sequence)
    }

    fn events(&mut self, operation: &OperationId, after: u64, limit: usize) -> Stored<Vec<Event>> {
        let id = operation.as_str();
        self.all(
            "SELECT sequence, body FROM events WHERE operation = $1 AND sequence > $2 \
             ORDER BY sequence LIMIT $3",
            params![id, after, limit],
            |row| {
                let event: Event = decode("event of", id, row.text(1)?)?;
                Ok(Event { sequence: row.number(0)?, ..event })
            },
        )
    }

    fn append_audit(&mut self, record: &AuditRecord) -> Stored<()> {
        self.execute(
            "INSERT INTO audit (project, at, actor, action, subject, allowed, detail, number) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT COALESCE(MAX(number), 0) + 1 FROM audit))",
            params![
                place(record.project.as_ref()),
                record.at,
                &record.actor,
                &record.action,
                &record.subject,
                record.allowed,
                &encode("audit of", &record.subject, &record.detail)?,
            ],
        )?;
        Ok(())
    }

    fn audit_log(
        &mut self,
        project: Option<&ProjectId>,
        limit: usize,
        offset: usize,
    ) -> Stored<Page<AuditRecord>> {
        let Some(project) = project else {
            let total = self.count("SELECT COUNT(*) FROM audit", &[])?;
            let items = self.all(
                "SELECT project, at, actor, action, subject, allowed, detail FROM audit \
                 ORDER BY number DESC LIMIT $1 OFFSET $2",
                params![limit, offset],
                audit,
            )?;
            return Ok(Page { items, total });
        };
        let id = project.as_str();
        let total = self.count("SELECT COUNT(*) FROM audit WHERE project = $1", params![id])?;
        let items = self.all(
            "SELECT project, at, actor, action, subject, allowed, detail FROM audit \
             WHERE project = $1 ORDER BY number DESC LIMIT $2 OFFSET $3",
            params![id, limit, offset],
            audit,
        )?;
        Ok(Page { items, total })
    }

    fn dump(&mut self, each: &mut dyn FnMut(&str, &[&str])) -> Stored<()> {
        for (table, (columns, sql)) in DUMPED.into_iter().zip(DUMP) {
            self.tx.query(sql, &[], &mut |row| {
                let fields: Vec<_> = (0..columns).map(|column| row.text(column)).collect::<Stored<_>>()?;
                each(table, &fields);
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn audit(row: &dyn SqlRow) -> Stored<AuditRecord> {
    let subject = row.text(4)?;
    Ok(AuditRecord {
        project: project(row.text(0)?),
        at: row.time(1)?,
        actor: row.text(2)?.to_owned(),
        action: row.text(3)?.to_owned(),
        subject: subject.to_owned(),
        allowed: row.flag(5)?,
        detail: decode("audit of", subject, row.text(6)?)?,
    })
}
