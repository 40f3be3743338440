//! `POSTGRES::Database::Extension`.

use super::common::text_of;
use super::{CreateFailure, Kind, found_by};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, Text, add};
use async_trait::async_trait;
use formwork_model::{Json, TypeCapabilities};
use serde::Deserialize;

pub(crate) struct Extension;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    database: Name,
    name: Name,
    schema: Option<Name>,
    version: Option<Text>,
    cascade: Option<bool>,
}

#[async_trait]
impl Kind for Extension {
    fn name(&self) -> &'static str {
        "POSTGRES::Database::Extension"
    }

    fn parts(&self) -> usize {
        2
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["database", "name"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        found_by(&["database", "name"])
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared: Properties = read(change.desired)?;
        let mut sql = format!("CREATE EXTENSION {}", declared.name.quoted());
        // Where nothing is declared, it goes where PostgreSQL's own default is, and that is not `pg_catalog`,
        // where names are looked up here.
        let schema = declared.schema.as_ref().map_or_else(|| "public".to_owned(), Name::quoted);
        let fixed = "SELECT FROM pg_available_extension_versions WHERE name = $1 AND schema IS NOT NULL";
        if declared.schema.is_some() || !session.any(fixed, &[&declared.name.as_str()]).await? {
            add(&mut sql, format_args!(" SCHEMA {schema}"));
        }
        if let Some(version) = &declared.version {
            add(&mut sql, format_args!(" VERSION {}", version.literal()));
        }
        if declared.cascade == Some(true) {
            sql.push_str(" CASCADE");
        }
        session.run(&sql).await?;
        Ok(Id::of([declared.database.as_str(), declared.name.as_str()]))
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        let query = "SELECT json_build_object('database', current_database(), 'name', e.extname, \
              'schema', (SELECT n.nspname FROM pg_namespace AS n WHERE n.oid = e.extnamespace), \
              'version', e.extversion, 'system', CASE WHEN e.extname = 'plpgsql' THEN true END)::text \
            FROM pg_extension AS e WHERE e.extname = $1";
        session.json(query, &[&id.part(1)]).await
    }

    async fn update(
        &self,
        session: &Session,
        _id: &Id,
        current: &Json,
        change: &Change<'_>,
    ) -> Result<(), Failure> {
        let declared: Properties = read(change.desired)?;
        let name = declared.name.quoted();
        match &declared.version {
            Some(version) if text_of(Some(current), "version") != Some(version.as_str()) => {
                session.run(&format!("ALTER EXTENSION {name} UPDATE TO {}", version.literal())).await?;
            }
            _ => {}
        }
        match &declared.schema {
            Some(schema) if text_of(Some(current), "schema") != Some(schema.as_str()) => {
                session.run(&format!("ALTER EXTENSION {name} SET SCHEMA {}", schema.quoted())).await
            }
            _ => Ok(()),
        }
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        let name = Name::try_from(id.part(1).to_owned()).map_err(Failure::invalid)?;
        session.run(&format!("DROP EXTENSION IF EXISTS {}", name.quoted())).await
    }

    fn list(&self) -> &'static str {
        "SELECT ARRAY[extname::text] AS parts, NULL AS parent FROM pg_extension"
    }
}
