//! One connection in use by one call, and the transaction that the call is.

use crate::expression::TypeText;
use crate::failure::{Failure, is_lost};
use crate::pool::Pool;
use crate::sql::Name;
use formwork_model::Json;
use formwork_plugin::OperationErrorCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

/// A parameter of a statement.
pub(crate) type Param<'a> = &'a (dyn ToSql + Sync);

/// What a statement has at least, so that a call that is almost over still fails by its own end.
const SHORTEST: Duration = Duration::from_millis(100);

/// How long the server may take to hear that a statement is to be cancelled.
const CANCEL: Duration = Duration::from_secs(5);

/// Whether the server has been told to let something take effect and has not answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Doubt(Arc<AtomicBool>);

impl Doubt {
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn settle(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A connection in a transaction. If it is dropped there, the connection is closed, which rolls the
/// transaction back.
pub(crate) struct Session {
    pool: Arc<Pool>,
    database: String,
    /// Taken when it goes back to the pool.
    client: Option<Client>,
    permit: Option<OwnedSemaphorePermit>,
    deadline: Instant,
    doubt: Doubt,
}

impl Session {
    pub(crate) fn new(
        pool: Arc<Pool>,
        database: &str,
        client: Client,
        permit: OwnedSemaphorePermit,
        deadline: Instant,
        doubt: Doubt,
    ) -> Self {
        let (client, permit) = (Some(client), Some(permit));
        Self { pool, database: database.to_owned(), client, permit, deadline, doubt }
    }

    fn client(&self) -> &Client {
        self.client.as_ref().expect("a session has its connection until it ends")
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Begins the transaction; no statement of it takes longer than the call has.
    pub(crate) async fn begin(&self) -> Result<(), tokio_postgres::Error> {
        let millis = self.left().as_millis();
        let begin =
            format!("BEGIN; SET LOCAL statement_timeout TO {millis}; SET LOCAL search_path TO pg_catalog");
        self.client().batch_execute(&begin).await
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(SHORTEST).min(Duration::from_secs(86_400))
    }

    /// Commits, and gives the connection back.
    pub(crate) async fn commit(mut self) -> Result<(), Failure> {
        self.decisive("COMMIT").await?;
        self.give_back();
        Ok(())
    }

    /// Rolls back, and gives the connection back.
    pub(crate) async fn roll_back(mut self) -> Result<(), Failure> {
        self.client().batch_execute("ROLLBACK").await?;
        self.give_back();
        Ok(())
    }

    fn give_back(&mut self) {
        if let Some(client) = self.client.take() {
            self.pool.give_back(std::mem::take(&mut self.database), client);
        }
        drop(self.permit.take());
    }

    /// Runs a statement that PostgreSQL has outside of transactions only, and begins the next
    /// transaction. What was done before is committed.
    pub(crate) async fn run_alone(&self, sql: &str) -> Result<(), Failure> {
        let millis = self.left().as_millis();
        self.decisive("COMMIT").await?;
        self.client().batch_execute(&format!("SET statement_timeout TO {millis}")).await?;
        self.doubt.open();
        let outcome = self.client().execute(sql, &[]).await;
        self.settle(outcome.err())?;
        self.client().batch_execute("RESET statement_timeout").await?;
        self.begin().await.map_err(Failure::from)
    }

    async fn decisive(&self, sql: &str) -> Result<(), Failure> {
        self.doubt.open();
        let outcome = self.client().batch_execute(sql).await;
        self.settle(outcome.err())
    }

    fn settle(&self, error: Option<tokio_postgres::Error>) -> Result<(), Failure> {
        let Some(error) = error else {
            self.doubt.settle();
            return Ok(());
        };
        if is_lost(&error) {
            let reason = format!("the connection was lost before the server confirmed the change ({error})");
            return Err(Failure::InDoubt { reason });
        }
        self.doubt.settle();
        Err(error.into())
    }

    /// Runs one statement without parameters. Two at once are a syntax error.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), Failure> {
        self.client().execute(sql, &[]).await?;
        Ok(())
    }

    /// Runs a query.
    pub(crate) async fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Failure> {
        Ok(self.client().query(sql, params).await?)
    }

    /// The text in the first column of the first row.
    pub(crate) async fn text(&self, sql: &str, params: &[Param<'_>]) -> Result<Option<String>, Failure> {
        match self.rows(sql, params).await?.first() {
            Some(row) => Ok(row.try_get(0)?),
            None => Ok(None),
        }
    }

    /// Whether a query has a row.
    pub(crate) async fn any(&self, sql: &str, params: &[Param<'_>]) -> Result<bool, Failure> {
        Ok(!self.rows(sql, params).await?.is_empty())
    }

    /// The JSON in the first column of the first row; members that are null are left out.
    pub(crate) async fn json(&self, sql: &str, params: &[Param<'_>]) -> Result<Option<Json>, Failure> {
        let Some(text) = self.text(sql, params).await? else { return Ok(None) };
        let mut json: Json = serde_json::from_str(&text)
            .map_err(|error| Failure::new(OperationErrorCode::InternalFailure, error.to_string()))?;
        without_nulls(&mut json);
        Ok(Some(json))
    }

    /// Waits until no other call of ours changes the same thing: PostgreSQL fails one of two
    /// transactions that change a row of its catalogs at once.
    pub(crate) async fn alone_with(&self, thing: &str) -> Result<(), Failure> {
        let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 8245936452318752))";
        self.rows(lock, &[&thing]).await.map(drop)
    }

    /// Looks unqualified names up in a schema, besides `pg_catalog`, until [`Session::names_in_full`].
    pub(crate) async fn names_in(&self, schema: &Name) -> Result<(), Failure> {
        self.run(&format!("SET LOCAL search_path TO {}", schema.quoted())).await
    }

    /// Looks unqualified names up in `pg_catalog` only.
    pub(crate) async fn names_in_full(&self) -> Result<(), Failure> {
        self.run("SET LOCAL search_path TO pg_catalog").await
    }

    /// What PostgreSQL calls these types without their limits, which a function's arguments don't have.
    pub(crate) async fn type_names(&self, types: &[&TypeText]) -> Result<Vec<String>, Failure> {
        let texts: Vec<&str> = types.iter().map(|text| text.as_str()).collect();
        let read =
            "SELECT array_agg(t::regtype::oid ORDER BY n) FROM unnest($1::text[]) WITH ORDINALITY AS g(t, n)";
        let rows = self.rows(read, &[&texts]).await?;
        let oids: Option<Vec<u32>> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
        let oids = oids.unwrap_or_default();
        self.named(&oids, &vec![-1; oids.len()]).await
    }

    /// What PostgreSQL calls these types, which are looked up where unqualified names are. What is
    /// answered can be part of a statement: PostgreSQL has read it as one type name.
    pub(crate) async fn canonical_types(&self, types: &[&TypeText]) -> Result<Vec<String>, Failure> {
        if types.is_empty() {
            return Ok(Vec::new());
        }
        let texts: Vec<&str> = types.iter().map(|text| text.as_str()).collect();
        self.rows("SELECT t::regtype::oid FROM unnest($1::text[]) AS g(t)", &[&texts]).await?;
        // Each of them is a type name and nothing else, or the query before had failed.
        let nulls: Vec<_> = texts.iter().map(|text| format!("NULL::{text}")).collect();
        let described = self.client().prepare(&format!("SELECT {}", nulls.join(", "))).await?;
        let columns = described.columns();
        let oids: Vec<u32> = columns.iter().map(|column| column.type_().oid()).collect();
        let modifiers: Vec<i32> = columns.iter().map(tokio_postgres::Column::type_modifier).collect();
        self.named(&oids, &modifiers).await
    }

    /// The names of types, whole but for those of `pg_catalog`.
    async fn named(&self, oids: &[u32], modifiers: &[i32]) -> Result<Vec<String>, Failure> {
        let path = self.text("SELECT current_setting('search_path')", &[]).await?.unwrap_or_default();
        self.names_in_full().await?;
        let named = "SELECT format_type(o, nullif(m, -1)) FROM unnest($1::oid[], $2::integer[]) \
            WITH ORDINALITY AS g(o, m, n) ORDER BY n";
        let rows = self.rows(named, &[&oids, &modifiers]).await?;
        self.rows("SELECT set_config('search_path', $1, true)", &[&path]).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        // A statement that still runs would hold its locks until it is over.
        let (cancel, tls) = (client.cancel_token(), self.pool.tls.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = tokio::time::timeout(CANCEL, cancel.cancel_query(tls)).await;
            });
        }
    }
}

fn without_nulls(json: &mut Json) {
    match json {
        Json::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(without_nulls);
        }
        Json::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}
