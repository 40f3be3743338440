//! `POSTGRES::Database::Schema`.

use super::common::{set_comment, set_owner};
use super::{CreateFailure, Kind, found_by, precious};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, Text};
use async_trait::async_trait;
use formwork_model::{Json, TypeCapabilities};
use serde::Deserialize;

pub(crate) struct Schema;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    database: Name,
    name: Name,
    owner: Option<Name>,
    comment: Option<Text>,
}

impl Properties {
    fn object(&self) -> String {
        format!("SCHEMA {}", self.name.quoted())
    }
}

#[async_trait]
impl Kind for Schema {
    fn name(&self) -> &'static str {
        "POSTGRES::Database::Schema"
    }

    fn parts(&self) -> usize {
        2
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["database", "name"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        precious(found_by(&["database", "name"]), "a schema")
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared: Properties = read(change.desired)?;
        let owner = declared.owner.as_ref().map(|owner| format!(" AUTHORIZATION {}", owner.quoted()));
        session.run(&format!("CREATE {}{}", declared.object(), owner.unwrap_or_default())).await?;
        set_comment(session, &declared.object(), change, declared.comment.as_ref(), None).await?;
        Ok(Id::of([declared.database.as_str(), declared.name.as_str()]))
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        let query = "SELECT json_build_object('database', current_database(), 'name', n.nspname, \
              'owner', pg_get_userbyid(n.nspowner), 'comment', obj_description(n.oid, 'pg_namespace'), \
              'system', CASE WHEN n.nspname LIKE 'pg\\_%' OR n.nspname = 'information_schema' THEN true END)::text \
            FROM pg_namespace AS n WHERE n.nspname = $1";
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
        set_owner(session, &declared.object(), declared.owner.as_ref(), Some(current)).await?;
        set_comment(session, &declared.object(), change, declared.comment.as_ref(), Some(current)).await
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        let name = Name::try_from(id.part(1).to_owned()).map_err(Failure::invalid)?;
        session.run(&format!("DROP SCHEMA IF EXISTS {}", name.quoted())).await
    }

    fn list(&self) -> &'static str {
        // Those of temporary tables come and go.
        "SELECT ARRAY[nspname::text] AS parts, NULL AS parent FROM pg_namespace \
         WHERE nspname NOT LIKE 'pg\\_temp\\_%' AND nspname NOT LIKE 'pg\\_toast\\_temp\\_%'"
    }
}
