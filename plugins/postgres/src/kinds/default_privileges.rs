//! `POSTGRES::Database::DefaultPrivileges`: what a role may do with the objects that another will make.

use super::acl::{EVERYBODY, Granting, Held, Privilege, grantee_oid};
use super::{CreateFailure, Kind, found_by};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, add};
use async_trait::async_trait;
use formwork_model::{Json, TypeCapabilities};
use formwork_plugin::OperationErrorCode;
use serde::Deserialize;
use serde_json::json;

pub(crate) struct DefaultPrivileges;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    database: Name,
    owner: Name,
    schema: Option<Name>,
    object_type: ObjectType,
    role: Name,
    privileges: Vec<Privilege>,
    grantable: Option<Vec<Privilege>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum ObjectType {
    Tables,
    Sequences,
    Functions,
    Types,
    Schemas,
}

impl ObjectType {
    const ALL: [Self; 5] = [Self::Tables, Self::Sequences, Self::Functions, Self::Types, Self::Schemas];

    fn keyword(self) -> &'static str {
        match self {
            Self::Tables => "TABLES",
            Self::Sequences => "SEQUENCES",
            Self::Functions => "FUNCTIONS",
            Self::Types => "TYPES",
            Self::Schemas => "SCHEMAS",
        }
    }

    /// The letters by which `pg_default_acl` and `acldefault` know the type.
    fn letters(self) -> (&'static str, &'static str) {
        match self {
            Self::Tables => ("r", "r"),
            Self::Sequences => ("S", "s"),
            Self::Functions => ("f", "f"),
            Self::Types => ("T", "T"),
            Self::Schemas => ("n", "n"),
        }
    }

    fn of(keyword: &str) -> Result<Self, Failure> {
        let found = Self::ALL.into_iter().find(|kind| kind.keyword() == keyword);
        found.ok_or_else(|| Failure::invalid(format!("there are no default privileges for `{keyword}`")))
    }
}

/// The roles and the schema, found.
struct Found {
    kind: ObjectType,
    owner: u32,
    /// 0 for all schemas.
    schema: u32,
    grantee: u32,
    granting: Granting,
}

impl Found {
    /// Finds what an id names.
    async fn find(session: &Session, id: &Id) -> Result<Result<Self, String>, Failure> {
        let (owner_name, schema_name, role) = (id.part(1), id.part(2), id.part(4));
        let kind = ObjectType::of(id.part(3))?;
        let name = |text: &str| Name::try_from(text.to_owned()).map_err(Failure::invalid);
        if owner_name == EVERYBODY {
            return Err(Failure::invalid("`owner` must be a role"));
        }
        let Some(owner) = grantee_oid(session, owner_name).await? else {
            return Ok(Err(format!("the role `{owner_name}`")));
        };
        let Some(grantee) = grantee_oid(session, role).await? else {
            return Ok(Err(format!("the role `{role}`")));
        };
        let mut before = format!("ALTER DEFAULT PRIVILEGES FOR ROLE {} ", name(owner_name)?.quoted());
        let mut schema = 0;
        if !schema_name.is_empty() {
            let rows =
                session.rows("SELECT oid FROM pg_namespace WHERE nspname = $1", &[&schema_name]).await?;
            let Some(row) = rows.first() else { return Ok(Err(format!("the schema `{schema_name}`"))) };
            schema = row.try_get(0)?;
            add(&mut before, format_args!("IN SCHEMA {} ", name(schema_name)?.quoted()));
        }
        let granting = Granting { before, object: kind.keyword().to_owned(), grantee: name(role)? };
        Ok(Ok(Self { kind, owner, schema, grantee, granting }))
    }

    async fn held(&self, session: &Session) -> Result<Held, Failure> {
        let sql = "SELECT a.privilege_type, bool_or(a.is_grantable) FROM aclexplode(coalesce( \
              (SELECT d.defaclacl FROM pg_default_acl AS d WHERE d.defaclrole = $1 AND d.defaclnamespace = $2 \
                AND d.defaclobjtype = $3::text::\"char\"), \
              CASE WHEN $2::oid = 0 THEN acldefault($4::text::\"char\", $1::oid) END)) AS a \
            WHERE a.grantee = $5 GROUP BY 1";
        let (letter, of_default) = self.kind.letters();
        Held::query(session, sql, &[&self.owner, &self.schema, &letter, &of_default, &self.grantee]).await
    }

    /// What the role has where nothing was ever altered. In a single schema that is nothing, since
    /// there privileges only come on top.
    async fn held_by_default(&self, session: &Session) -> Result<Held, Failure> {
        let sql = "SELECT a.privilege_type, bool_or(a.is_grantable) \
            FROM aclexplode(acldefault($1::text::\"char\", $2::oid)) AS a WHERE a.grantee = $3 GROUP BY 1";
        if self.schema != 0 {
            return Ok(Held::default());
        }
        Held::query(session, sql, &[&self.kind.letters().1, &self.owner, &self.grantee]).await
    }

    async fn change(&self, session: &Session, wanted: &Held) -> Result<(), Failure> {
        let held = self.held(session).await?;
        self.granting.change(session, &held, wanted).await?;
        self.granting.check(&self.held(session).await?, wanted)
    }

    /// Waits until no other call of ours changes the same access list.
    async fn alone(&self, session: &Session) -> Result<(), Failure> {
        session.alone_with(&format!("{}{}", self.granting.before, self.granting.object)).await
    }
}

impl Properties {
    fn id(&self) -> Id {
        let schema = self.schema.as_ref().map_or("", Name::as_str);
        let Self { database, owner, object_type, role, .. } = self;
        Id::of([database.as_str(), owner.as_str(), schema, object_type.keyword(), role.as_str()])
    }

    fn held(&self) -> Result<Held, Failure> {
        Held::declared(&self.privileges, self.grantable.as_deref())
    }
}

#[async_trait]
impl Kind for DefaultPrivileges {
    fn name(&self) -> &'static str {
        "POSTGRES::Database::DefaultPrivileges"
    }

    fn parts(&self) -> usize {
        5
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["database", "owner", "schema", "objectType", "role"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        found_by(&["database", "owner", "objectType", "role"])
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared: Properties = read(change.desired)?;
        let (id, wanted) = (declared.id(), declared.held()?);
        let missing = |what| Failure::new(OperationErrorCode::NotFound, format!("{what} does not exist"));
        let found = Found::find(session, &id).await?.map_err(missing)?;
        found.alone(session).await?;
        let held = found.held(session).await?;
        if !held.is_empty() && held != found.held_by_default(session).await? {
            let message = format!("`{}` already has such default privileges", declared.role.as_str());
            return Err(Failure::new(OperationErrorCode::AlreadyExists, message).into());
        }
        found.change(session, &wanted).await?;
        Ok(id)
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        let Ok(found) = Found::find(session, id).await? else { return Ok(None) };
        let held = found.held(session).await?;
        if held.is_empty() {
            return Ok(None);
        }
        let mut properties = json!({
            "database": id.part(0),
            "owner": id.part(1),
            "objectType": id.part(3),
            "role": id.part(4),
        });
        if !id.part(2).is_empty() {
            properties["schema"] = id.part(2).into();
        }
        held.describe(&mut properties);
        Ok(Some(properties))
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
        let found = Found::find(session, id).await?.map_err(|what| Failure::gone(&what))?;
        found.alone(session).await?;
        found.change(session, &wanted).await
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        let Ok(found) = Found::find(session, id).await? else { return Ok(()) };
        found.alone(session).await?;
        found.change(session, &Held::default()).await
    }

    fn list(&self) -> &'static str {
        "SELECT ARRAY[o.rolname::text, coalesce(n.nspname::text, ''), \
             CASE d.defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'FUNCTIONS' \
               WHEN 'T' THEN 'TYPES' ELSE 'SCHEMAS' END, coalesce(r.rolname::text, 'public')] AS parts, \
           n.nspname::text AS parent \
         FROM pg_default_acl AS d JOIN pg_roles AS o ON o.oid = d.defaclrole \
         LEFT JOIN pg_namespace AS n ON n.oid = d.defaclnamespace \
         CROSS JOIN LATERAL (SELECT a.grantee, \
             array_agg(DISTINCT a.privilege_type ORDER BY a.privilege_type) AS held \
           FROM aclexplode(d.defaclacl) AS a WHERE a.grantee <> d.defaclrole GROUP BY a.grantee) AS g \
         LEFT JOIN pg_roles AS r ON r.oid = g.grantee \
         WHERE d.defaclobjtype IN ('r', 'S', 'f', 'T', 'n') AND NOT (d.defaclnamespace = 0 AND EXISTS (SELECT FROM \
           (SELECT array_agg(DISTINCT i.privilege_type ORDER BY i.privilege_type) AS held \
             FROM aclexplode(acldefault(CASE d.defaclobjtype WHEN 'S' THEN 's' ELSE d.defaclobjtype END, \
               d.defaclrole)) AS i WHERE i.grantee = g.grantee) AS i WHERE i.held = g.held))"
    }
}
