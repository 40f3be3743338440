//! Privileges: what one role may do with one object.

use crate::failure::Failure;
use crate::session::{Param, Session};
use crate::sql::Name;
use formwork_model::Json;
use formwork_plugin::OperationErrorCode;
use serde::Deserialize;
use std::collections::BTreeSet;

/// What everybody is called where a role is named, by PostgreSQL too: no role can have this name.
pub(super) const EVERYBODY: &str = "public";

/// A privilege, as PostgreSQL spells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Privilege(String);

impl TryFrom<String> for Privilege {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        const KNOWN: [&str; 14] = [
            "CONNECT",
            "CREATE",
            "DELETE",
            "EXECUTE",
            "INSERT",
            "MAINTAIN",
            "REFERENCES",
            "SELECT",
            "TEMPORARY",
            "TRIGGER",
            "TRUNCATE",
            "UPDATE",
            "USAGE",
            "SET",
        ];
        if KNOWN.contains(&text.as_str()) {
            return Ok(Self(text));
        }
        Err(format!("`{text}` is no privilege; there are `{}`", KNOWN.join("`, `")))
    }
}

/// What a role may do, and what of it the role may grant to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    all: BTreeSet<Privilege>,
    grantable: BTreeSet<Privilege>,
}

impl Held {
    /// What is declared.
    pub(super) fn declared(all: &[Privilege], grantable: Option<&[Privilege]>) -> Result<Self, Failure> {
        let all: BTreeSet<_> = all.iter().cloned().collect();
        let grantable: BTreeSet<_> = grantable.unwrap_or_default().iter().cloned().collect();
        if all.is_empty() {
            return Err(Failure::invalid("`privileges` must not be empty"));
        }
        if let Some(Privilege(other)) = grantable.difference(&all).next() {
            return Err(Failure::invalid(format!("`grantable` has `{other}`, which is not in `privileges`")));
        }
        Ok(Self { all, grantable })
    }

    /// What a query of privileges and whether they can be granted finds.
    pub(super) async fn query(session: &Session, sql: &str, params: &[Param<'_>]) -> Result<Self, Failure> {
        let mut held = Self::default();
        for row in session.rows(sql, params).await? {
            let privilege = Privilege(row.try_get(0)?);
            if row.try_get(1)? {
                held.grantable.insert(privilege.clone());
            }
            held.all.insert(privilege);
        }
        Ok(held)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds what is held to an object's properties.
    pub(super) fn describe(&self, into: &mut Json) {
        let texts =
            |set: &BTreeSet<Privilege>| set.iter().map(|of| Json::from(of.0.as_str())).collect::<Json>();
        into["privileges"] = texts(&self.all);
        if !self.grantable.is_empty() {
            into["grantable"] = texts(&self.grantable);
        }
    }
}

/// Where privileges are granted, to whom.
pub(super) struct Granting {
    /// What comes before GRANT and REVOKE.
    pub(super) before: String,
    /// What follows ON: `TABLE "a"."b"`.
    pub(super) object: String,
    /// Who has the privileges.
    pub(super) grantee: Name,
}

impl Granting {
    /// Grants and revokes what makes the difference.
    pub(super) async fn change(&self, session: &Session, from: &Held, to: &Held) -> Result<(), Failure> {
        let Self { before, object, grantee } = self;
        let grantee = if grantee.as_str() == EVERYBODY { "PUBLIC".to_owned() } else { grantee.quoted() };
        let kept = &from.grantable & &to.all;
        let steps = [
            ("REVOKE", &from.all - &to.all, "FROM", ""),
            ("REVOKE GRANT OPTION FOR", &kept - &to.grantable, "FROM", ""),
            ("GRANT", &(&to.all - &from.all) - &to.grantable, "TO", ""),
            ("GRANT", &to.grantable - &from.grantable, "TO", " WITH GRANT OPTION"),
        ];
        for (verb, privileges, preposition, option) in steps {
            if privileges.is_empty() {
                continue;
            }
            let privileges: Vec<_> = privileges.iter().map(|privilege| privilege.0.as_str()).collect();
            let privileges = privileges.join(", ");
            session
                .run(&format!("{before}{verb} {privileges} ON {object} {preposition} {grantee}{option}"))
                .await?;
        }
        Ok(())
    }

    /// Whether what was to be is: who may not grant gets a warning from PostgreSQL and no error, and
    /// what another role granted only that role can revoke.
    pub(super) fn check(&self, now: &Held, wanted: &Held) -> Result<(), Failure> {
        if now == wanted {
            return Ok(());
        }
        let (object, grantee) = (&self.object, self.grantee.as_str());
        let words = |set: &BTreeSet<Privilege>| match set.len() {
            0 => "nothing".to_owned(),
            _ => set.iter().map(|privilege| privilege.0.as_str()).collect::<Vec<_>>().join(", "),
        };
        let message = format!(
            "`{grantee}` would have {} on {object}, not {}: the target's user may not grant all of it, or \
             another role granted some of it",
            words(&now.all),
            words(&wanted.all)
        );
        Err(Failure::new(OperationErrorCode::AccessDenied, message))
    }
}

/// The oid by which an access list names a role, which for everybody is 0; `None` if there is no such role.
pub(super) async fn grantee_oid(session: &Session, role: &str) -> Result<Option<u32>, Failure> {
    if role == EVERYBODY {
        return Ok(Some(0));
    }
    let rows = session.rows("SELECT oid FROM pg_roles WHERE rolname = $1", &[&role]).await?;
    rows.first().map(|row| Ok(row.try_get(0)?)).transpose()
}
