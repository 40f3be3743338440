//! What SQLite and PostgreSQL have in common: one text of SQL, one schema, one way to group
//! commits.
//!
//! The SQL here is what both understand. Parameters are `$1`, `$2`, … and stand in that order: to
//! SQLite such a parameter is a name, numbered by its first appearance.

mod ledger;
mod operations;
mod records;
mod schema;
mod store;
mod worker;

pub use store::SqlStore;

pub(crate) use schema::{Dialect, migrate, require_known_format};
pub(crate) use store::{SqlReader, readers};
pub(crate) use worker::{Connection, Control};

use crate::StoreError;
use crate::tables::Stored;
use formwork_model::{Timestamp, Unreadable, is_storable, read_stored};
use serde::{Serialize, de::DeserializeOwned};

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Param<'a> {
    Text(&'a str),
    Int(i64),
    Null,
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Param<'_> {
    /// Counters and limits: more than `i64::MAX` of anything is as good as that.
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Param<'_> {
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Param<'_> {
    fn from(yes: bool) -> Self {
        Self::Int(i64::from(yes))
    }
}

impl From<Timestamp> for Param<'_> {
    fn from(at: Timestamp) -> Self {
        Self::Int(at.0)
    }
}

impl<'a, T: Into<Param<'a>>> From<Option<T>> for Param<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Param::Null, Into::into)
    }
}

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::sql::Param::from($value)),*]
    };
}
use params;

/// A row of a result.
pub(crate) trait SqlRow {
    fn maybe_text(&self, column: usize) -> Stored<Option<&str>>;
    fn maybe_int(&self, column: usize) -> Stored<Option<i64>>;
}

impl dyn SqlRow + '_ {
    fn text(&self, column: usize) -> Stored<&str> {
        self.maybe_text(column).map(Option::unwrap_or_default)
    }

    /// A counter.
    fn number(&self, column: usize) -> Stored<u64> {
        Ok(self.maybe_int(column)?.map_or(0, |number| u64::try_from(number).unwrap_or_default()))
    }

    fn flag(&self, column: usize) -> Stored<bool> {
        Ok(self.maybe_int(column)?.is_some_and(|number| number != 0))
    }

    fn time(&self, column: usize) -> Stored<Timestamp> {
        Ok(Timestamp(self.maybe_int(column)?.unwrap_or_default()))
    }
}

/// Statements within one transaction.
pub(crate) trait SqlTx {
    /// Runs a statement without a result; answers how many rows it changed.
    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Stored<u64>;

    /// Runs a query and passes its rows.
    fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn SqlRow) -> Stored<()>,
    ) -> Stored<()>;

    /// The clock that leases run by.
    fn now(&mut self) -> Stored<Timestamp>;
}

/// The tables, in SQL.
pub(crate) struct SqlTables<'a> {
    tx: &'a mut dyn SqlTx,
    /// The clock, read once per job.
    now: Option<Timestamp>,
    /// The last event that the job stored.
    last_event: Option<u64>,
}

impl<'a> SqlTables<'a> {
    pub(crate) fn new(tx: &'a mut dyn SqlTx) -> Self {
        Self { tx, now: None, last_event: None }
    }

    fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Stored<u64> {
        self.tx.execute(sql, params)
    }

    fn all<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        mut read: impl FnMut(&dyn SqlRow) -> Stored<T>,
    ) -> Stored<Vec<T>> {
        let mut found = Vec::new();
        self.tx.query(sql, params, &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn one<T>(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        read: impl FnMut(&dyn SqlRow) -> Stored<T>,
    ) -> Stored<Option<T>> {
        self.all(sql, params, read).map(|found| found.into_iter().next())
    }

    fn count(&mut self, sql: &str, params: &[Param<'_>]) -> Stored<usize> {
        let count = self.one(sql, params, |row| row.number(0))?.unwrap_or_default();
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

/// A record as compact JSON. What can't be read again must not be written (INV-18).
fn encode(kind: &str, id: &str, record: &impl Serialize) -> Stored<String> {
    let unreadable = |reason: String| StoreError::Unreadable { record: format!("{kind} {id}"), reason };
    let text = serde_json::to_string(record).map_err(|error| unreadable(error.to_string()))?;
    if !is_storable(&text) {
        return Err(unreadable(Unreadable::TooDeep.to_string()));
    }
    Ok(text)
}

/// A record from its JSON. A damaged one affects nothing but itself.
fn decode<T: DeserializeOwned>(kind: &str, id: &str, text: &str) -> Stored<T> {
    read_stored(text)
        .map_err(|error| StoreError::Unreadable { record: format!("{kind} {id}"), reason: error.to_string() })
}

/// A sealed value from its text.
fn unseal(kind: &str, id: &str, text: &str) -> Stored<formwork_model::Sealed> {
    formwork_model::Sealed::parse(text)
        .map_err(|error| StoreError::Unreadable { record: format!("{kind} {id}"), reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_model::STORED_DEPTH;
    use serde_json::json;

    #[test]
    fn what_could_not_be_read_again_is_not_written() {
        let deep = (0..=STORED_DEPTH).fold(json!(1), |inner, _| json!([inner]));
        let wide = json!(vec![json!({}); 2 * STORED_DEPTH]);
        assert!(encode("row", "r", &wide).is_ok());
        assert!(matches!(encode("row", "r", &deep), Err(StoreError::Unreadable { .. })));
        let text = encode("row", "r", &deep[0]).unwrap();
        assert_eq!(decode::<formwork_model::Json>("row", "r", &text).unwrap(), deep[0]);
    }
}
