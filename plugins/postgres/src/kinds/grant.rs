//! `POSTGRES::Database::Grant`: what a role may do with an object.

use super::acl::{Granting, Held, Privilege, grantee_oid};
use super::{CreateFailure, Kind, found_by};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, Text, qualified};
use async_trait::async_trait;
use formwork_model::{Json, TypeCapabilities};
use formwork_plugin::OperationErrorCode;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct Grant;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    database: Name,
    object_type: ObjectType,
    schema: Option<Name>,
    object: Name,
    arguments: Option<Text>,
    role: Name,
    privileges: Vec<Privilege>,
    grantable: Option<Vec<Privilege>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum ObjectType {
    Database,
    Schema,
    Table,
    Sequence,
    Function,
    Type,
}

impl ObjectType {
    const ALL: [Self; 6] =
        [Self::Database, Self::Schema, Self::Table, Self::Sequence, Self::Function, Self::Type];

    fn keyword(self) -> &'static str {
        match self {
            Self::Database => "DATABASE",
            Self::Schema => "SCHEMA",
            Self::Table => "TABLE",
            Self::Sequence => "SEQUENCE",
            Self::Function => "FUNCTION",
            Self::Type => "TYPE",
        }
    }

    fn of(keyword: &str) -> Result<Self, Failure> {
        let found = Self::ALL.into_iter().find(|kind| kind.keyword() == keyword);
        found.ok_or_else(|| Failure::invalid(format!("there are no grants on a `{keyword}`")))
    }

    fn is_in_schema(self) -> bool {
        !matches!(self, Self::Database | Self::Schema)
    }

    /// The catalog: its table, and its columns for the access list and the owner; and by which letter
    /// `acldefault` knows the type.
    fn catalog(self) -> (&'static str, &'static str, &'static str, char) {
        match self {
            Self::Database => ("pg_database", "datacl", "datdba", 'd'),
            Self::Schema => ("pg_namespace", "nspacl", "nspowner", 'n'),
            Self::Table => ("pg_class", "relacl", "relowner", 'r'),
            Self::Sequence => ("pg_class", "relacl", "relowner", 's'),
            Self::Function => ("pg_proc", "proacl", "proowner", 'f'),
            Self::Type => ("pg_type", "typacl", "typowner", 'T'),
        }
    }

    /// Finds an object by schema, name and arguments.
    fn lookup(self) -> &'static str {
        match self {
            Self::Database => {
                "SELECT oid, '' FROM pg_database WHERE datname = $2 AND $1::text || $3::text = ''"
            }
            Self::Schema => {
                "SELECT oid, '' FROM pg_namespace WHERE nspname = $2 AND $1::text || $3::text = ''"
            }
            Self::Table => {
                "SELECT c.oid, '' FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                 WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND $3 = ''"
            }
            Self::Sequence => {
                "SELECT c.oid, '' FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                 WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind = 'S' AND $3 = ''"
            }
            Self::Function => {
                "SELECT p.oid, oidvectortypes(p.proargtypes) FROM pg_proc AS p WHERE p.oid = \
                 to_regprocedure(quote_ident($1) || '.' || quote_ident($2) || '(' || $3::text || ')')"
            }
            Self::Type => {
                "SELECT t.oid, '' FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace \
                 WHERE n.nspname = $1 AND t.typname = $2 AND $3 = ''"
            }
        }
    }
}

/// An object and a role, found.
struct Found {
    kind: ObjectType,
    oid: u32,
    grantee: u32,
    /// A function's arguments in PostgreSQL's spelling.
    arguments: String,
    granting: Granting,
}

/// What is looked for.
struct Key<'a> {
    kind: ObjectType,
    schema: &'a str,
    object: &'a str,
    arguments: &'a str,
    role: &'a str,
}

impl<'a> Key<'a> {
    fn of_id(id: &'a Id) -> Result<Self, Failure> {
        let kind = ObjectType::of(id.part(1))?;
        Ok(Self { kind, schema: id.part(2), object: id.part(3), arguments: id.part(4), role: id.part(5) })
    }

    fn words(&self) -> String {
        let dot = if self.schema.is_empty() { "" } else { "." };
        format!("the {} `{}{dot}{}`", self.kind.keyword().to_lowercase(), self.schema, self.object)
    }

    /// Finds object and role.
    async fn find(&self, session: &Session) -> Result<Result<Found, String>, Failure> {
        let Key { kind, schema, object, arguments, role } = *self;
        let rows = session.rows(kind.lookup(), &[&schema, &object, &arguments]).await?;
        let Some(row) = rows.first() else { return Ok(Err(self.words())) };
        let (oid, arguments): (u32, String) = (row.try_get(0)?, row.try_get(1)?);
        let Some(grantee) = grantee_oid(session, role).await? else {
            return Ok(Err(format!("the role `{role}`")));
        };
        let name = |text: &str| Name::try_from(text.to_owned()).map_err(Failure::invalid);
        let place = if kind == ObjectType::Function {
            // Spelled by PostgreSQL, with quotes where they are needed.
            session.text("SELECT $1::oid::regprocedure::text", &[&oid]).await?.unwrap_or_default()
        } else if kind.is_in_schema() {
            qualified(&name(schema)?, &name(object)?)
        } else {
            name(object)?.quoted()
        };
        let granting = Granting {
            before: String::new(),
            object: format!("{} {place}", kind.keyword()),
            grantee: name(role)?,
        };
        Ok(Ok(Found { kind, oid, grantee, arguments, granting }))
    }
}

impl Found {
    async fn held(&self, session: &Session) -> Result<Held, Failure> {
        let (table, acl, owner, letter) = self.kind.catalog();
        self.query(session, &format!("coalesce(o.{acl}, acldefault('{letter}', o.{owner}))"), table).await
    }

    /// What the role has on any such object that nobody granted or revoked anything on.
    async fn held_by_default(&self, session: &Session) -> Result<Held, Failure> {
        let (table, _, owner, letter) = self.kind.catalog();
        self.query(session, &format!("acldefault('{letter}', o.{owner})"), table).await
    }

    async fn query(&self, session: &Session, acl: &str, table: &str) -> Result<Held, Failure> {
        let sql = format!(
            "SELECT a.privilege_type, bool_or(a.is_grantable) FROM {table} AS o, aclexplode({acl}) AS a \
             WHERE o.oid = $1 AND a.grantee = $2 GROUP BY 1"
        );
        Held::query(session, &sql, &[&self.oid, &self.grantee]).await
    }

    /// Makes what is held what is wanted.
    async fn change(&self, session: &Session, wanted: &Held) -> Result<(), Failure> {
        let held = self.held(session).await?;
        self.granting.change(session, &held, wanted).await?;
        self.granting.check(&self.held(session).await?, wanted)
    }
}

impl Properties {
    fn key(&self) -> Result<Key<'_>, Failure> {
        let kind = self.object_type;
        let schema = self.schema.as_ref().map_or("", Name::as_str);
        let arguments = self.arguments.as_ref().map_or("", Text::as_str);
        if kind.is_in_schema() == schema.is_empty() {
            let only = if kind.is_in_schema() { "must be given" } else { "must not be given" };
            return Err(Failure::invalid(format!("`schema` {only} for a `{}`", kind.keyword())));
        }
        if kind == ObjectType::Database && self.object != self.database {
            return Err(Failure::invalid("`object` must be the `database` itself"));
        }
        if kind != ObjectType::Function && !arguments.is_empty() {
            return Err(Failure::invalid("`arguments` are for a `FUNCTION` only"));
        }
        Ok(Key { kind, schema, object: self.object.as_str(), arguments, role: self.role.as_str() })
    }

    fn held(&self) -> Result<Held, Failure> {
        Held::declared(&self.privileges, self.grantable.as_deref())
    }
}

#[async_trait]
impl Kind for Grant {
    fn name(&self) -> &'static str {
        "POSTGRES::Database::Grant"
    }

    fn parts(&self) -> usize {
        6
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["database", "objectType", "schema", "object", "arguments", "role"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        found_by(&["database", "objectType", "object", "role"])
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared: Properties = read(change.desired)?;
        let (key, wanted) = (declared.key()?, declared.held()?);
        let missing = |what| Failure::new(OperationErrorCode::NotFound, format!("{what} does not exist"));
        let found = key.find(session).await?.map_err(missing)?;
        session.alone_with(&found.granting.object).await?;
        let held = found.held(session).await?;
        if !held.is_empty() && held != found.held_by_default(session).await? {
            let message = format!("`{}` already has privileges on {}", key.role, key.words());
            return Err(Failure::new(OperationErrorCode::AlreadyExists, message).into());
        }
        found.change(session, &wanted).await?;
        let database = declared.database.as_str();
        Ok(Id::of([database, key.kind.keyword(), key.schema, key.object, &found.arguments, key.role]))
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        let key = Key::of_id(id)?;
        let Ok(found) = key.find(session).await? else { return Ok(None) };
        let held = found.held(session).await?;
        if held.is_empty() {
            return Ok(None);
        }
        let mut properties = json!({
            "database": id.part(0),
            "objectType": key.kind.keyword(),
            "object": key.object,
            "role": key.role,
        });
        if !key.schema.is_empty() {
            properties["schema"] = key.schema.into();
        }
        if key.kind == ObjectType::Function {
            properties["arguments"] = found.arguments.as_str().into();
        }
        held.describe(&mut properties);
        Ok(Some(properties))
    }

    async fn respell(
        &self,
        session: &Session,
        id: &Id,
        found: &mut Json,
        declared: &Json,
    ) -> Result<(), Failure> {
        let Some(other) = declared.get("arguments").and_then(Json::as_str) else { return Ok(()) };
        let key = Key { arguments: other, ..Key::of_id(id)? };
        if key.find(session).await?.is_ok_and(|same| same.arguments == id.part(4)) {
            found["arguments"] = other.into();
        }
        Ok(())
    }

    async fn update(
        &self,
        session: &Session,
        id: &Id,
        _current: &Json,
        change: &Change<'_>,
    ) -> Result<(), Failure> {
        let declared: Properties = read(change.desired)?;
        let wanted = declared.held()?;
        let found = Key::of_id(id)?.find(session).await?.map_err(|what| Failure::gone(&what))?;
        session.alone_with(&found.granting.object).await?;
        found.change(session, &wanted).await
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        let Ok(found) = Key::of_id(id)?.find(session).await? else { return Ok(()) };
        session.alone_with(&found.granting.object).await?;
        found.change(session, &Held::default()).await
    }

    fn list(&self) -> &'static str {
        // Not those that come with every new object, nor those within what PostgreSQL and extensions bring.
        "WITH s AS (SELECT oid, nspname FROM pg_namespace \
            WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'), \
         e AS (SELECT classid, objid FROM pg_depend WHERE deptype = 'e'), \
         o(kind, schema, name, arguments, acl, owner, initial) AS ( \
           SELECT 'DATABASE', '', datname, '', datacl, datdba, acldefault('d', datdba) FROM pg_database \
             WHERE datname = current_database() \
           UNION ALL SELECT 'SCHEMA', '', n.nspname, '', n.nspacl, n.nspowner, acldefault('n', n.nspowner) \
             FROM pg_namespace AS n JOIN s ON s.oid = n.oid \
           UNION ALL SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, s.nspname, c.relname, '', \
             c.relacl, c.relowner, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::\"char\", c.relowner) \
             FROM pg_class AS c JOIN s ON s.oid = c.relnamespace \
             WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') \
             AND ('pg_class'::regclass, c.oid) NOT IN (SELECT classid, objid FROM e) \
           UNION ALL SELECT 'FUNCTION', s.nspname, p.proname, oidvectortypes(p.proargtypes), p.proacl, p.proowner, \
             acldefault('f', p.proowner) FROM pg_proc AS p JOIN s ON s.oid = p.pronamespace \
             WHERE p.prokind = 'f' AND ('pg_proc'::regclass, p.oid) NOT IN (SELECT classid, objid FROM e) \
           UNION ALL SELECT 'TYPE', s.nspname, t.typname, '', t.typacl, t.typowner, acldefault('T', t.typowner) \
             FROM pg_type AS t JOIN s ON s.oid = t.typnamespace \
             WHERE ('pg_type'::regclass, t.oid) NOT IN (SELECT classid, objid FROM e)) \
         SELECT ARRAY[o.kind, o.schema, o.name::text, o.arguments, coalesce(r.rolname::text, 'public')] AS parts, \
           o.schema AS parent \
         FROM o CROSS JOIN LATERAL (SELECT a.grantee, \
             array_agg(DISTINCT a.privilege_type ORDER BY a.privilege_type) AS held \
           FROM aclexplode(o.acl) AS a WHERE a.grantee <> o.owner GROUP BY a.grantee) AS g \
         LEFT JOIN pg_roles AS r ON r.oid = g.grantee \
         WHERE NOT EXISTS (SELECT FROM (SELECT array_agg(DISTINCT d.privilege_type ORDER BY d.privilege_type) AS held \
             FROM aclexplode(o.initial) AS d WHERE d.grantee = g.grantee) AS i WHERE i.held = g.held)"
    }
}
