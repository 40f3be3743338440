//! `POSTGRES::Database::Table`.

mod change;
mod declared;
mod found;
mod widening;

use super::common::{set_comment, set_owner};
use super::{CreateFailure, Kind, found_by, precious};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, qualified};
use async_trait::async_trait;
use declared::Properties;
use formwork_model::{Json, TypeCapabilities};

pub(crate) struct Table;

#[async_trait]
impl Kind for Table {
    fn name(&self) -> &'static str {
        "POSTGRES::Database::Table"
    }

    fn parts(&self) -> usize {
        3
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["database", "schema", "name"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        // An index of a large table takes its time.
        let capabilities =
            TypeCapabilities { timeout_millis: 300_000, ..found_by(&["database", "schema", "name"]) };
        precious(capabilities, "a table")
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared: Properties = read(change.desired)?;
        declared.check()?;
        let table = declared.table();
        session.names_in(&declared.schema).await?;
        let types = declared.types(session).await?;
        let unlogged = if declared.unlogged == Some(true) { "UNLOGGED " } else { "" };
        session.run(&format!("CREATE {unlogged}{}", declared.create(&table, &types))).await?;
        session.names_in_full().await?;
        change::complete(session, &declared, change).await?;
        let object = format!("TABLE {table}");
        set_owner(session, &object, declared.owner.as_ref(), None).await?;
        set_comment(session, &object, change, declared.comment.as_ref(), None).await?;
        Ok(Id::of([declared.database.as_str(), declared.schema.as_str(), declared.name.as_str()]))
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        match found::oid_of(session, id.part(1), id.part(2)).await? {
            Some(oid) => found::by_oid(session, oid).await,
            None => Ok(None),
        }
    }

    async fn respell(
        &self,
        session: &Session,
        _id: &Id,
        found: &mut Json,
        declared: &Json,
    ) -> Result<(), Failure> {
        found::respell(session, found, declared).await
    }

    async fn update(
        &self,
        session: &Session,
        _id: &Id,
        current: &Json,
        change: &Change<'_>,
    ) -> Result<(), Failure> {
        let declared: Properties = read(change.desired)?;
        declared.check()?;
        change::change(session, &declared, current, change).await?;
        let object = format!("TABLE {}", declared.table());
        set_owner(session, &object, declared.owner.as_ref(), Some(current)).await?;
        set_comment(session, &object, change, declared.comment.as_ref(), Some(current)).await
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        if found::oid_of(session, id.part(1), id.part(2)).await?.is_none() {
            return Ok(());
        }
        let name = |at| Name::try_from(id.part(at).to_owned()).map_err(Failure::invalid);
        session.run(&format!("DROP TABLE IF EXISTS {}", qualified(&name(1)?, &name(2)?))).await
    }

    fn list(&self) -> &'static str {
        // Ordinary tables that somebody made: not those of PostgreSQL, of extensions, or of partitions.
        "SELECT ARRAY[n.nspname::text, c.relname::text] AS parts, n.nspname::text AS parent \
         FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
         WHERE c.relkind = 'r' AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\\_%' \
         AND n.nspname <> 'information_schema' AND NOT EXISTS (SELECT FROM pg_depend AS d \
           WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')"
    }
}
