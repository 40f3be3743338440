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

/// The instance key: of the environment, else the file, made if there is none and the store belongs to
/// none yet.
///
/// # Errors
/// It can't be read or made, or it is not the store's.
pub(super) async fn instance_key(
    settings: &Settings,
    store: &dyn Store,
) -> Result<InstanceKey, SessionError> {
    let of_store = formwork_control::key_of_store(&*store.reader()).await?;
    let path = settings.data_dir.instance_key();
    let key = match (&settings.instance_key, of_store) {
        (Some(hex), _) => InstanceKey::from_hex(hex.expose())?,
        (None, None) => InstanceKey::load_or_create(&path)?,
        (None, Some(id)) => {
            InstanceKey::load(&path)?.ok_or(SessionError::KeyLost { path: path.clone(), id })?
        }
    };
    match of_store {
        Some(id) if id != key.id() => {
            let place = match &settings.instance_key {
                Some(_) => format!("the variable `{}`", formwork_config::name::INSTANCE_KEY),
                None => format!("`{}`", path.display()),
            };
            Err(SessionError::WrongKey { place, id, found: key.id() })
        }
        _ => Ok(key),
    }
}
