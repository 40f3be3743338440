//! `POSTGRES::Server::Role`.

use super::common::{set_comment, texts_of};
use super::settings::{self, Settings};
use super::{CreateFailure, Kind};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, Text, add, list, literal};
use crate::target::take_password;
use async_trait::async_trait;
use formwork_model::{Json, LookupRule, Path, Secret, TypeCapabilities};
use postgres_protocol::password::scram_sha_256;
use serde::Deserialize;

pub(crate) struct Role;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    name: Name,
    login: Option<bool>,
    superuser: Option<bool>,
    inherit: Option<bool>,
    create_role: Option<bool>,
    create_database: Option<bool>,
    replication: Option<bool>,
    bypass_rls: Option<bool>,
    connection_limit: Option<i32>,
    valid_until: Option<Text>,
    member_of: Option<Vec<Name>>,
    settings: Option<Settings>,
    comment: Option<Text>,
}

/// A role as it is declared, its password apart.
struct Declared {
    properties: Properties,
    password: Option<Secret<String>>,
}

impl Declared {
    fn read(desired: &Json) -> Result<Self, Failure> {
        let mut desired = desired.clone();
        let password = take_password(&mut desired, "password")
            .map_err(|problem| Failure::invalid(format!("`password` {problem}")))?;
        Ok(Self { properties: read(&desired)?, password })
    }

    /// The options of CREATE ROLE or ALTER ROLE that make the difference to what is there. PostgreSQL
    /// asks for more rights to say some of them, even if they say what is.
    fn options(&self, change: &Change<'_>, current: Option<&Json>) -> String {
        let of = &self.properties;
        let flags = [
            ("login", "LOGIN", of.login, false),
            ("superuser", "SUPERUSER", of.superuser, false),
            ("inherit", "INHERIT", of.inherit, true),
            ("createRole", "CREATEROLE", of.create_role, false),
            ("createDatabase", "CREATEDB", of.create_database, false),
            ("replication", "REPLICATION", of.replication, false),
            ("bypassRls", "BYPASSRLS", of.bypass_rls, false),
        ];
        let now = |name: &str, default: Json| {
            current.and_then(|current| current.get(name)).cloned().unwrap_or(default)
        };
        let mut options = String::new();
        for (name, keyword, declared, default) in flags {
            let Some(wanted) = change.wanted(name, declared, default) else { continue };
            if now(name, default.into()) != wanted {
                options.push_str(if wanted { " " } else { " NO" });
                options.push_str(keyword);
            }
        }
        if let Some(limit) = change.wanted("connectionLimit", of.connection_limit, -1)
            && now("connectionLimit", (-1).into()) != limit
        {
            add(&mut options, format_args!(" CONNECTION LIMIT {limit}"));
        }
        let forever = || "infinity".to_owned();
        let until = of.valid_until.as_ref().map(|until| until.as_str().to_owned());
        if let Some(until) = change.wanted("validUntil", until, forever())
            && now("validUntil", forever().into()) != until
        {
            add(&mut options, format_args!(" VALID UNTIL {}", literal(&until)));
        }
        if let Some(verifier) = change.wanted("password", self.password.as_ref().map(verifier), String::new())
        {
            let password = if verifier.is_empty() { "NULL".to_owned() } else { literal(&verifier) };
            add(&mut options, format_args!(" PASSWORD {password}"));
        }
        options
    }

    /// Memberships, settings and the comment.
    async fn complete(
        &self,
        session: &Session,
        change: &Change<'_>,
        current: Option<&Json>,
    ) -> Result<(), Failure> {
        let of = &self.properties;
        if let Some(wanted) = change.wanted("memberOf", of.member_of.clone(), Vec::new()) {
            set_memberships(session, &of.name, &wanted, &texts_of(current, "memberOf")).await?;
        }
        let object = format!("ROLE {}", of.name.quoted());
        let wanted = change.wanted("settings", of.settings.clone(), Settings::new());
        settings::set(session, &object, wanted, current).await?;
        set_comment(session, &object, change, of.comment.as_ref(), current).await
    }
}

/// What PostgreSQL stores instead of a password. It is worked out here, so that the password itself is
/// in no statement, and so in no log of the server. What already is such a verifier is taken as it is,
/// as PostgreSQL does.
fn verifier(password: &Secret<String>) -> String {
    let text = password.expose();
    let is_md5 = text
        .strip_prefix("md5")
        .is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
    if is_md5 || text.starts_with("SCRAM-SHA-256$") {
        return text.clone();
    }
    scram_sha_256(text.as_bytes())
}

async fn set_memberships(
    session: &Session,
    member: &Name,
    wanted: &[Name],
    current: &[String],
) -> Result<(), Failure> {
    for group in current.iter().filter(|group| !wanted.iter().any(|name| name.as_str() == **group)) {
        let group = Name::try_from(group.clone()).map_err(Failure::invalid)?;
        session.run(&format!("REVOKE {} FROM {}", group.quoted(), member.quoted())).await?;
    }
    let new: Vec<_> =
        wanted.iter().filter(|name| !current.iter().any(|group| group == name.as_str())).collect();
    if new.is_empty() {
        return Ok(());
    }
    session.run(&format!("GRANT {} TO {}", list(new), member.quoted())).await
}

#[async_trait]
impl Kind for Role {
    fn name(&self) -> &'static str {
        "POSTGRES::Server::Role"
    }

    fn parts(&self) -> usize {
        1
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["name"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        let lookup = LookupRule::ByNativeId(Path::of(["name"]));
        TypeCapabilities { lookup, ..TypeCapabilities::of_plugin() }
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared = Declared::read(change.desired)?;
        let name = &declared.properties.name;
        let options = declared.options(change, None);
        session.run(&format!("CREATE ROLE {}{options}", name.quoted())).await?;
        declared.complete(session, change, None).await?;
        Ok(Id::of([name.as_str()]))
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        let query = format!(
            "SELECT json_build_object('name', r.rolname, 'login', r.rolcanlogin, 'superuser', r.rolsuper, \
               'inherit', r.rolinherit, 'createRole', r.rolcreaterole, 'createDatabase', r.rolcreatedb, \
               'replication', r.rolreplication, 'bypassRls', r.rolbypassrls, \
               'connectionLimit', r.rolconnlimit, \
               'validUntil', CASE WHEN isfinite(r.rolvaliduntil) \
                 THEN to_char(r.rolvaliduntil AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') \
                 ELSE r.rolvaliduntil::text END, \
               'memberOf', (SELECT json_agg(DISTINCT g.rolname ORDER BY g.rolname) FROM pg_auth_members AS m \
                 JOIN pg_roles AS g ON g.oid = m.roleid WHERE m.member = r.oid), \
               'settings', {}, \
               'comment', shobj_description(r.oid, 'pg_authid'), \
               'system', CASE WHEN r.rolname LIKE 'pg\\_%' OR r.oid = 10 THEN true END)::text \
             FROM pg_roles AS r WHERE r.rolname = $1",
            settings::query("r.oid", "0")
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
        let (one, other) = (found.get("validUntil"), declared.get("validUntil").and_then(Json::as_str));
        if let (Some(one), Some(other)) = (one.and_then(Json::as_str), other)
            && one != other
            && session
                .any("SELECT WHERE $1::text::timestamptz = $2::text::timestamptz", &[&one, &other])
                .await?
        {
            found["validUntil"] = other.into();
        }
        Ok(())
    }

    async fn update(
        &self,
        session: &Session,
        _id: &Id,
        current: &Json,
        change: &Change<'_>,
    ) -> Result<(), Failure> {
        let declared = Declared::read(change.desired)?;
        let options = declared.options(change, Some(current));
        if !options.is_empty() {
            session.run(&format!("ALTER ROLE {}{options}", declared.properties.name.quoted())).await?;
        }
        declared.complete(session, change, Some(current)).await
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        let name = Name::try_from(id.part(0).to_owned()).map_err(Failure::invalid)?;
        session.run(&format!("DROP ROLE IF EXISTS {}", name.quoted())).await
    }

    fn list(&self) -> &'static str {
        "SELECT ARRAY[rolname::text] AS parts, NULL AS parent FROM pg_roles"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_becomes_a_verifier_and_a_verifier_stays() {
        let made = verifier(&Secret::new("hunter2".to_owned()));
        assert!(made.starts_with("SCRAM-SHA-256$4096:") && !made.contains("hunter2"));
        assert_eq!(verifier(&Secret::new(made.clone())), made);
        let md5 = format!("md5{}", "0a".repeat(16));
        assert_eq!(verifier(&Secret::new(md5.clone())), md5);
        assert!(verifier(&Secret::new("md5 is weak".to_owned())).starts_with("SCRAM"));
    }
}
