//! `POSTGRES::Server::Database`.

use super::common::{set_comment, set_owner, text_of};
use super::settings::{self, Settings};
use super::{CreateFailure, Kind, precious};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, Text, add};
use async_trait::async_trait;
use formwork_model::{Json, LookupRule, Path, TypeCapabilities};
use serde::Deserialize;

pub(crate) struct Database;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    name: Name,
    owner: Option<Name>,
    template: Option<Name>,
    encoding: Option<Text>,
    collation: Option<Text>,
    character_type: Option<Text>,
    tablespace: Option<Name>,
    connection_limit: Option<i32>,
    allow_connections: Option<bool>,
    is_template: Option<bool>,
    settings: Option<Settings>,
    comment: Option<Text>,
}

impl Properties {
    fn object(&self) -> String {
        format!("DATABASE {}", self.name.quoted())
    }

    fn create(&self) -> String {
        let mut sql = format!("CREATE {}", self.object());
        let names = [("OWNER", &self.owner), ("TEMPLATE", &self.template), ("TABLESPACE", &self.tablespace)];
        for (keyword, name) in names {
            if let Some(name) = name {
                add(&mut sql, format_args!(" {keyword} {}", name.quoted()));
            }
        }
        let texts = [
            ("ENCODING", &self.encoding),
            ("LC_COLLATE", &self.collation),
            ("LC_CTYPE", &self.character_type),
        ];
        for (keyword, text) in texts {
            if let Some(text) = text {
                add(&mut sql, format_args!(" {keyword} {}", text.literal()));
            }
        }
        sql + &self.options(&[])
    }

    /// The options that CREATE and ALTER DATABASE have in common, but for those that are so already.
    fn options(&self, same: &[&str]) -> String {
        let options = [
            ("connectionLimit", "CONNECTION LIMIT", self.connection_limit.map(|limit| limit.to_string())),
            ("allowConnections", "ALLOW_CONNECTIONS", self.allow_connections.map(|allow| allow.to_string())),
            ("isTemplate", "IS_TEMPLATE", self.is_template.map(|is| is.to_string())),
        ];
        let new = options.into_iter().filter(|(name, ..)| !same.contains(name));
        new.filter_map(|(_, keyword, value)| Some(format!(" {keyword} {}", value?))).collect()
    }

    /// What is done in a transaction.
    async fn complete(
        &self,
        session: &Session,
        change: &Change<'_>,
        current: Option<&Json>,
    ) -> Result<(), Failure> {
        let object = self.object();
        let wanted = change.wanted("settings", self.settings.clone(), Settings::new());
        settings::set(session, &object, wanted, current).await?;
        set_comment(session, &object, change, self.comment.as_ref(), current).await
    }
}

#[async_trait]
impl Kind for Database {
    fn name(&self) -> &'static str {
        "POSTGRES::Server::Database"
    }

    fn parts(&self) -> usize {
        1
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["name", "encoding", "collation", "characterType"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        let lookup = LookupRule::ByNativeId(Path::of(["name"]));
        // Copying a template may take its time.
        let by_name = TypeCapabilities { lookup, timeout_millis: 300_000, ..TypeCapabilities::of_plugin() };
        precious(by_name, "a database")
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared: Properties = read(change.desired)?;
        let id = Id::of([declared.name.as_str()]);
        // Nobody may be connected to the template, and our own idle connections needn't be.
        let template = declared.template.as_ref().map_or("template1", Name::as_str);
        session.pool().close_idle(template);
        session.run_alone(&declared.create()).await?;
        match declared.complete(session, change, None).await {
            Ok(()) => Ok(id),
            Err(failure) => Err(CreateFailure::Left(id, failure)),
        }
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        let query = format!(
            "SELECT json_build_object('name', d.datname, 'owner', pg_get_userbyid(d.datdba), \
               'encoding', pg_encoding_to_char(d.encoding), 'collation', d.datcollate, \
               'characterType', d.datctype, 'connectionLimit', d.datconnlimit, \
               'tablespace', (SELECT t.spcname FROM pg_tablespace AS t WHERE t.oid = d.dattablespace), \
               'allowConnections', d.datallowconn, 'isTemplate', d.datistemplate, \
               'settings', {}, \
               'comment', shobj_description(d.oid, 'pg_database'), \
               'system', CASE WHEN d.datistemplate THEN true END)::text \
             FROM pg_database AS d WHERE d.datname = $1",
            settings::query("0", "d.oid")
        );
        session.json(&query, &[&id.part(0)]).await
    }

    async fn respell(
        &self,
        session: &Session,
        _id: &Id,
        found: &mut Json,
        declared: &Json,
    ) -> Result<(), Failure> {
        settings::respell(found, declared);
        let other = text_of(Some(declared), "encoding").map(str::to_owned);
        let same = "SELECT WHERE pg_char_to_encoding($1::text::name) = pg_char_to_encoding($2::text::name)";
        if let (Some(one), Some(other)) = (text_of(Some(found), "encoding"), other)
            && session.any(same, &[&one, &other]).await?
        {
            found["encoding"] = other.into();
        }
        Ok(())
    }

    async fn update(
        &self,
        session: &Session,
        id: &Id,
        current: &Json,
        change: &Change<'_>,
    ) -> Result<(), Failure> {
        let declared: Properties = read(change.desired)?;
        let same: Vec<_> = ["connectionLimit", "allowConnections", "isTemplate"]
            .into_iter()
            .filter(|name| change.desired.get(*name) == current.get(*name))
            .collect();
        let options = declared.options(&same);
        if !options.is_empty() {
            session.run(&format!("ALTER {} WITH{options}", declared.object())).await?;
        }
        set_owner(session, &declared.object(), declared.owner.as_ref(), Some(current)).await?;
        declared.complete(session, change, Some(current)).await?;
        match &declared.tablespace {
            Some(tablespace) if text_of(Some(current), "tablespace") != Some(tablespace.as_str()) => {
                session.pool().close_idle(id.part(0));
                let sql = format!("ALTER {} SET TABLESPACE {}", declared.object(), tablespace.quoted());
                session.run_alone(&sql).await
            }
            _ => Ok(()),
        }
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        if !session.any("SELECT FROM pg_database WHERE datname = $1", &[&id.part(0)]).await? {
            return Ok(());
        }
        let name = Name::try_from(id.part(0).to_owned()).map_err(Failure::invalid)?;
        session.pool().close_idle(id.part(0));
        session.run_alone(&format!("DROP DATABASE IF EXISTS {}", name.quoted())).await
    }

    fn list(&self) -> &'static str {
        "SELECT ARRAY[datname::text] AS parts, NULL AS parent FROM pg_database"
    }
}
