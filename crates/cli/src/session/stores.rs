//! The store that the settings name.

use super::SessionError;
use formwork_config::{Database, Settings};
use formwork_model::InstanceKey;
use formwork_store::{
    MemOptions, MemStore, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, Store,
};
use std::sync::Arc;

/// Opens the store that the settings name.
///
/// # Errors
/// It can't be opened.
pub(super) async fn open(settings: &Settings) -> Result<Arc<dyn Store>, SessionError> {
    Ok(match &settings.database {
        Database::Sqlite(path) => Arc::new(SqliteStore::open(path, &SqliteOptions::default())?),
        Database::Postgres(url) => {
            Arc::new(PostgresStore::open(url.expose(), &PostgresOptions::default()).await?)
        }
    })
}

/// A store for a process that keeps nothing: it checks, or there is nothing to read.
pub(super) fn nowhere() -> Arc<dyn Store> {
    Arc::new(MemStore::new(MemOptions::default()))
}

/// The instance key: of the environment, else the file, made if there is none.
///
/// # Errors
/// It can't be read or made.
pub(super) fn instance_key(settings: &Settings) -> Result<InstanceKey, SessionError> {
    Ok(match &settings.instance_key {
        Some(hex) => InstanceKey::from_hex(hex.expose())?,
        None => InstanceKey::load_or_create(&settings.data_dir.instance_key())?,
    })
}
