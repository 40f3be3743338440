//! The store in PostgreSQL keeps the contract.
#![expect(clippy::unwrap_used, reason = "tests")]

use async_trait::async_trait;
use formwork_store::contract::World;
use formwork_store::testing::TestPostgres;
use formwork_store::{PostgresOptions, PostgresStore, Store, StoreError};
use std::sync::Arc;
use std::time::Duration;

struct Database {
    address: String,
    store: Arc<dyn Store>,
}

async fn open(address: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(address, &PostgresOptions::default()).await
}

/// The server is started where its waiting stops nobody.
async fn fresh_database() -> Option<String> {
    tokio::task::spawn_blocking(|| TestPostgres::shared().map(TestPostgres::fresh_database)).await.unwrap()
}

async fn world() -> Option<Box<dyn World>> {
    let address = fresh_database().await?;
    let store = Arc::new(open(&address).await.unwrap());
    Some(Box::new(Database { address, store }))
}

#[async_trait]
impl World for Database {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopen(&self) -> Arc<dyn Store> {
        Arc::new(open(&self.address).await.unwrap())
    }

    async fn pass(&self, millis: u64) {
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }

    async fn damage_operation(&self, id: &str) -> bool {
        let damage = format!("UPDATE formwork.operations SET body = '{{half' WHERE id = '{id}'");
        tamper(&self.address, damage).await;
        true
    }
}

formwork_store::contract_suite!(world);

/// Runs statements beside the store.
async fn tamper(address: &str, statements: impl Into<String>) {
    let (address, statements) = (address.to_owned(), statements.into());
    let run = move || {
        let mut client = postgres::Client::connect(&address, postgres::NoTls).unwrap();
        client.batch_execute(&statements).unwrap();
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_can_make_the_schema_at_once() {
    let Some(address) = fresh_database().await else { return };
    let (first, second, third) = tokio::join!(open(&address), open(&address), open(&address));
    assert!(first.is_ok() && second.is_ok() && third.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_format_is_refused() {
    let Some(address) = fresh_database().await else { return };
    drop(open(&address).await.unwrap());
    tamper(&address, "UPDATE formwork.meta SET value = '99' WHERE key = 'format'").await;
    assert!(matches!(open(&address).await, Err(StoreError::Newer { found: 99, .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_comes_back() {
    let Some(address) = fresh_database().await else { return };
    let store = open(&address).await.unwrap();
    store.compact(formwork_model::Timestamp(0), 1).await.unwrap();
    tamper(
        &address,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    .await;
    let mut attempts = 0;
    while store.compact(formwork_model::Timestamp(0), 1).await.is_err() {
        attempts += 1;
        assert!(attempts < 20, "it never came back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut attempts = 0;
    while store.reader().object("x").await.is_err() {
        attempts += 1;
        assert!(attempts < 20, "its readers never came back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
