//! The tables in SQL and their versions.

use super::{SqlTables, SqlTx, params};
use crate::StoreError;
use crate::rules::objects_of;
use crate::tables::{RowTables as _, Stored};

/// Where the databases spell the same thing differently.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// Text that sorts by its bytes.
    pub(crate) text: &'static str,
    /// A table that is kept in the order of its primary key.
    pub(crate) clustered: &'static str,
    /// A number that is the primary key, without an index beside the table where that can be.
    pub(crate) serial: &'static str,
}

/// The statements that lead from each format to the next. One that was released never changes.
const MIGRATIONS: [&[&str]; 2] = [FORMAT_1, FORMAT_2];

/// The newest format this program knows.
pub(crate) const KNOWN_FORMAT: u32 = 2;

const META: &str = "CREATE TABLE IF NOT EXISTS meta (key {text} PRIMARY KEY, value {text} NOT NULL)";

const FORMAT_1: &[&str] = &[
    "CREATE TABLE leases (stack {text} PRIMARY KEY, fence BIGINT NOT NULL, operation {text}, owner {text}, \
     since BIGINT, expires_at BIGINT){clustered}",
    "CREATE INDEX leases_operation ON leases (operation) WHERE operation IS NOT NULL",
    "CREATE TABLE operations (id {text} PRIMARY KEY, number BIGINT NOT NULL UNIQUE, finished_at BIGINT, \
     compacted BIGINT NOT NULL, body {text} NOT NULL)",
    "CREATE INDEX operations_open ON operations (number) WHERE finished_at IS NULL",
    "CREATE INDEX operations_ended ON operations (finished_at, id) WHERE compacted = 0",
    "CREATE TABLE operation_stacks (stack {text}, number BIGINT, operation {text} NOT NULL, \
     PRIMARY KEY (stack, number)){clustered}",
    "CREATE TABLE plans (operation {text} PRIMARY KEY, body {text} NOT NULL)",
    "CREATE TABLE saved_plans (hash {text} PRIMARY KEY, project {text} NOT NULL, created_at BIGINT NOT NULL, \
     plan {text} NOT NULL, slots {text} NOT NULL, request {text} NOT NULL)",
    "CREATE TABLE journal (operation {text}, sequence BIGINT, body {text} NOT NULL, \
     PRIMARY KEY (operation, sequence)){clustered}",
    "CREATE TABLE slots (operation {text}, slot {text}, sealed {text} NOT NULL, \
     PRIMARY KEY (operation, slot))",
    "CREATE TABLE rows (id {text} PRIMARY KEY, stack {text} NOT NULL, label {text} NOT NULL, \
     position BIGINT NOT NULL, revision BIGINT NOT NULL, live BIGINT NOT NULL, going BIGINT NOT NULL, \
     refers BIGINT NOT NULL, body {text} NOT NULL)",
    "CREATE INDEX rows_stack ON rows (stack, position, id)",
    "CREATE TABLE row_refs (from_row {text}, to_row {text}, PRIMARY KEY (from_row, to_row)){clustered}",
    "CREATE INDEX row_refs_to ON row_refs (to_row)",
    "CREATE TABLE row_slots (row_id {text}, slot {text}, sealed {text} NOT NULL, \
     PRIMARY KEY (row_id, slot))",
    "CREATE TABLE events (sequence {serial}, operation {text} NOT NULL, body {text} NOT NULL)",
    "CREATE INDEX events_operation ON events (operation, sequence)",
    "CREATE TABLE objects (id {text} PRIMARY KEY, number BIGINT NOT NULL UNIQUE, type {text} NOT NULL, \
     project {text} NOT NULL, doc {text} NOT NULL, version BIGINT NOT NULL, created_at BIGINT NOT NULL, \
     updated_at BIGINT NOT NULL)",
    "CREATE INDEX objects_type ON objects (type, project, number)",
    "CREATE TABLE object_keys (project {text}, type {text}, key {text}, value {text}, object {text} NOT NULL, \
     PRIMARY KEY (project, type, key, value)){clustered}",
    "CREATE INDEX object_keys_object ON object_keys (object)",
    "CREATE TABLE object_links (from_id {text}, field {text}, to_id {text}, \
     PRIMARY KEY (from_id, field, to_id)){clustered}",
    "CREATE INDEX object_links_to ON object_links (to_id)",
    "CREATE TABLE object_effects (token {text} PRIMARY KEY, outcome {text} NOT NULL)",
    "CREATE TABLE audit (number {serial}, project {text} NOT NULL, at BIGINT NOT NULL, \
     actor {text} NOT NULL, action {text} NOT NULL, subject {text} NOT NULL, allowed BIGINT NOT NULL, \
     detail {text} NOT NULL)",
    "CREATE INDEX audit_project ON audit (project, number)",
];

/// Rows are found by their objects; [`index_objects`] fills it.
const FORMAT_2: &[&str] = &[
    "CREATE TABLE row_objects (row_id {text}, native_id {text}, type {text}, \
     PRIMARY KEY (row_id, native_id, type)){clustered}",
    "CREATE INDEX row_objects_native ON row_objects (native_id, type)",
];

/// How many rows are read at a time.
const BATCH: usize = 500;

/// Brings a store to the newest format. To be called within a transaction that no other writer can
/// have at the same time.
pub(crate) fn migrate(tx: &mut dyn SqlTx, dialect: Dialect) -> Stored<()> {
    tx.execute(&spelled(META, dialect), &[])?;
    let found = require_known_format(tx)?;
    let missing = MIGRATIONS.iter().skip(found as usize);
    for statement in missing.copied().flatten() {
        tx.execute(&spelled(statement, dialect), &[])?;
    }
    if found == 1 {
        index_objects(tx)?;
    }
    if found < KNOWN_FORMAT {
        let format = KNOWN_FORMAT.to_string();
        tx.execute(
            "INSERT INTO meta (key, value) VALUES ('format', $1) \
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            params![&format],
        )?;
    }
    Ok(())
}

/// Notes what the rows of a store of the first format are found by. A row that can't be read is
/// passed over: it is a fault of its own wherever it is used.
fn index_objects(tx: &mut dyn SqlTx) -> Stored<()> {
    let mut tables = SqlTables::new(tx);
    let mut last = String::new();
    loop {
        let rows = tables.all(
            "SELECT id, body FROM rows WHERE id > $1 ORDER BY id LIMIT $2",
            params![&last, BATCH],
            |found| Ok((found.text(0)?.to_owned(), super::ledger::row(found))),
        )?;
        let Some((end, _)) = rows.last() else { return Ok(()) };
        last.clone_from(end);
        for row in rows.into_iter().filter_map(|(_, row)| row.ok()) {
            tables.set_objects(&row.id, &objects_of(&row))?;
        }
    }
}

/// The store's format, if this program knows it; 0 for one that has no tables yet.
pub(crate) fn require_known_format(tx: &mut dyn SqlTx) -> Stored<u32> {
    let mut found = Ok(0);
    tx.query("SELECT value FROM meta WHERE key = 'format'", &[], &mut |row| {
        let text = row.text(0)?;
        found = text.parse::<u32>().map_err(|error| StoreError::Unreadable {
            record: "meta format".to_owned(),
            reason: error.to_string(),
        });
        Ok(())
    })?;
    match found? {
        found if found > KNOWN_FORMAT => Err(StoreError::Newer { found, known: KNOWN_FORMAT }),
        found => Ok(found),
    }
}

fn spelled(statement: &str, dialect: Dialect) -> String {
    let Dialect { text, clustered, serial } = dialect;
    statement.replace("{text}", text).replace("{clustered}", clustered).replace("{serial}", serial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_format_is_the_last_migration() {
        assert_eq!(KNOWN_FORMAT as usize, MIGRATIONS.len());
    }
}
