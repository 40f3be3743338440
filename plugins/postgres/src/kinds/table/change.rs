//! Changes of a table in place. What would lose data is refused.

use super::declared::{Column, Part, Properties};
use super::found::{elements, named};
use super::widening::is_widening;
use crate::failure::Failure;
use crate::properties::Change;
use crate::session::Session;
use crate::sql::{Name, literal_or_null, qualified};
use formwork_model::{Json, same};

/// Makes a table what it should be, but for its owner and comment. `current` has the declared
/// spelling wherever it means the same.
pub(super) async fn change(
    session: &Session,
    declared: &Properties,
    current: &Json,
    change: &Change<'_>,
) -> Result<(), Failure> {
    let table = declared.table();
    let parts = Parts::of(declared, current, change);
    for sql in parts.drops(&table, &declared.schema)? {
        session.run(&sql).await?;
    }
    session.names_in(&declared.schema).await?;
    let types = declared.types(session).await?;
    let columns = column_actions(declared, &types, current, change.desired)?;
    if !columns.is_empty() {
        session.run(&format!("ALTER TABLE {table} {}", columns.join(", "))).await?;
    }
    for sql in parts.adds(&table) {
        session.run(&sql).await?;
    }
    session.names_in_full().await?;
    for sql in options(declared, &table, current, change) {
        session.run(&sql).await?;
    }
    for sql in column_comments(declared, &table, Some(current)) {
        session.run(&sql).await?;
    }
    Ok(())
}

/// What follows a table that was just made: its keys, indexes and options.
pub(super) async fn complete(
    session: &Session,
    declared: &Properties,
    change: &Change<'_>,
) -> Result<(), Failure> {
    let nothing = Json::Null;
    let table = declared.table();
    session.names_in(&declared.schema).await?;
    for (list, sql) in Parts::of(declared, &nothing, change).additions(&table) {
        // The checks are in the statement that makes the table.
        if list != "checks" {
            session.run(&sql).await?;
        }
    }
    session.names_in_full().await?;
    for sql in options(declared, &table, &nothing, change) {
        session.run(&sql).await?;
    }
    for sql in column_comments(declared, &table, None) {
        session.run(&sql).await?;
    }
    Ok(())
}

/// The named parts of a table: what is there and what should be.
struct Parts<'a> {
    declared: &'a Properties,
    current: &'a Json,
    change: &'a Change<'a>,
}

impl<'a> Parts<'a> {
    fn of(declared: &'a Properties, current: &'a Json, change: &'a Change<'a>) -> Self {
        Self { declared, current, change }
    }

    /// The declared parts of a list with their JSON; `None` where the list is not to be touched.
    fn wanted(&self, list: &str) -> Option<Vec<(&'a dyn Part, &'a Json)>> {
        fn parts<P: Part>(parts: &[P]) -> Vec<&dyn Part> {
            parts.iter().map(|part| part as &dyn Part).collect()
        }
        let of = self.declared;
        let declared = match list {
            "uniqueKeys" => of.unique_keys.as_deref().map(parts),
            "foreignKeys" => of.foreign_keys.as_deref().map(parts),
            "checks" => of.checks.as_deref().map(parts),
            _ => of.indexes.as_deref().map(parts),
        };
        let wanted = self.change.wanted(list, declared, Vec::new())?;
        Some(wanted.into_iter().zip(elements(self.change.desired, list)).collect())
    }

    /// The statements that drop what is not wanted, or not as it is. Foreign keys come first, since
    /// they hold on to keys.
    fn drops(&self, table: &str, schema: &Name) -> Result<Vec<String>, Failure> {
        let mut sql = Vec::new();
        for list in ["foreignKeys", "checks", "uniqueKeys", "indexes"] {
            let Some(wanted) = self.wanted(list) else { continue };
            for element in elements(self.current, list) {
                let kept = wanted.iter().any(|(_, wanted)| same(wanted, element));
                if !kept {
                    let name = name_of(element)?;
                    sql.push(if list == "indexes" {
                        format!("DROP INDEX {}", qualified(schema, &name))
                    } else {
                        format!("ALTER TABLE {table} DROP CONSTRAINT {}", name.quoted())
                    });
                }
            }
        }
        let (now, wanted) = (self.current.get("primaryKey"), self.primary_key());
        if let (Some(now), Some(wanted)) = (now, wanted)
            && !same(wanted, now)
        {
            let name = match now.get("name") {
                Some(_) => name_of(now)?,
                None => {
                    return Err(Failure::invalid(
                        "`primaryKey`: to change it, declare its present `name` first",
                    ));
                }
            };
            sql.push(format!("ALTER TABLE {table} DROP CONSTRAINT {}", name.quoted()));
        }
        Ok(sql)
    }

    /// The primary key that should be, null for none; `None` where it is not to be touched.
    fn primary_key(&self) -> Option<&'a Json> {
        let declared = self.change.desired.get("primaryKey").filter(|key| !key.is_null());
        self.change.wanted("primaryKey", declared, &Json::Null)
    }

    fn adds(&self, table: &str) -> Vec<String> {
        self.additions(table).into_iter().map(|(_, sql)| sql).collect()
    }

    /// The statements that add what is wanted and not there, or not as it should be.
    fn additions(&self, table: &str) -> Vec<(&'static str, String)> {
        let mut sql = Vec::new();
        let add = |part: &dyn Part| {
            let name = part.name().map(|name| format!("CONSTRAINT {} ", name.quoted())).unwrap_or_default();
            format!("ALTER TABLE {table} ADD {name}{}", part.definition(table))
        };
        if let (Some(wanted), Some(key)) = (self.primary_key(), &self.declared.primary_key)
            && !self.current.get("primaryKey").is_some_and(|now| same(wanted, now))
        {
            sql.push(("primaryKey", add(key)));
        }
        let is_new = |list: &str, wanted: &Json| {
            !named(self.current, list, wanted).is_some_and(|element| same(wanted, element))
        };
        for list in ["uniqueKeys", "checks", "foreignKeys"] {
            for (part, wanted) in self.wanted(list).unwrap_or_default() {
                if is_new(list, wanted) {
                    sql.push((list, add(part)));
                }
            }
        }
        let indexes = self.declared.indexes.iter().flatten().zip(elements(self.change.desired, "indexes"));
        for (index, wanted) in indexes {
            if is_new("indexes", wanted) {
                sql.push(("indexes", index.create(table)));
            }
        }
        sql
    }
}

fn name_of(element: &Json) -> Result<Name, Failure> {
    let name = element.get("name").and_then(Json::as_str).unwrap_or_default();
    Name::try_from(name.to_owned()).map_err(Failure::invalid)
}

/// The actions of ALTER TABLE that make the columns what they should be.
fn column_actions(
    declared: &Properties,
    types: &[String],
    current: &Json,
    desired: &Json,
) -> Result<Vec<String>, Failure> {
    let may_lose = declared.allow_data_loss == Some(true);
    let mut actions = Vec::new();
    let mut lost = Vec::new();
    for element in elements(current, "columns") {
        if named(desired, "columns", element).is_none() {
            let name = name_of(element)?;
            lost.push(format!("the column `{}` would be dropped", name.as_str()));
            actions.push(format!("DROP COLUMN {}", name.quoted()));
        }
    }
    for ((column, kind), wanted) in declared.columns.iter().zip(types).zip(elements(desired, "columns")) {
        match named(current, "columns", wanted) {
            None => actions.push(format!("ADD COLUMN {}", column.definition(kind))),
            Some(now) => ColumnChange { column, kind, now, wanted }.actions(&mut actions, &mut lost)?,
        }
    }
    if lost.is_empty() || may_lose {
        return Ok(actions);
    }
    let message =
        format!("data would be lost: {}. Set `allowDataLoss` to true if that is meant", lost.join("; "));
    Err(Failure::invalid(message))
}

/// A column that is there, and what should become of it.
struct ColumnChange<'a> {
    column: &'a Column,
    /// Its type as PostgreSQL will call it.
    kind: &'a str,
    now: &'a Json,
    wanted: &'a Json,
}

impl ColumnChange<'_> {
    fn differs(&self, member: &str) -> bool {
        let (now, wanted) = (self.now.get(member), self.wanted.get(member).filter(|value| !value.is_null()));
        now != wanted
    }

    fn actions(&self, actions: &mut Vec<String>, lost: &mut Vec<String>) -> Result<(), Failure> {
        let name = self.column.name.quoted();
        let mut alter = |action: String| actions.push(format!("ALTER COLUMN {name} {action}"));
        if self.differs("generated") {
            if self.column.generated.is_some() {
                let name = self.column.name.as_str();
                let message = format!(
                    "`columns`: PostgreSQL can't change what `{name}` is generated from in place: remove the \
                     column and add it again"
                );
                return Err(Failure::invalid(message));
            }
            alter("DROP EXPRESSION".to_owned());
        }
        let default = self.differs("default");
        // The old default may be none of the new type.
        if default && self.now.get("default").is_some() {
            alter("DROP DEFAULT".to_owned());
        }
        if self.differs("type") {
            let from = self.now.get("type").and_then(Json::as_str).unwrap_or_default();
            if !is_widening(from, self.kind) {
                let (name, to) = (self.column.name.as_str(), self.kind);
                lost.push(format!("the column `{name}` would change from `{from}` to `{to}`"));
            }
            alter(format!("TYPE {}", self.kind));
        }
        if let (true, Some(default)) = (default, &self.column.default) {
            alter(format!("SET DEFAULT {}", default.sql()));
        }
        let (is, should) = (self.now.get("nullable"), self.wanted.get("nullable"));
        let is_nullable = is.and_then(Json::as_bool).unwrap_or(true);
        if is != should && is_nullable != self.column.is_nullable() {
            alter(format!("{} NOT NULL", if self.column.is_nullable() { "DROP" } else { "SET" }));
        }
        match (self.now.get("identity"), self.column.identity) {
            (Some(now), Some(wanted)) if now != wanted.keyword() => {
                alter(format!("SET GENERATED {}", wanted.keyword()));
            }
            (Some(_), None) => alter("DROP IDENTITY".to_owned()),
            (None, Some(wanted)) => {
                if is_nullable {
                    alter("SET NOT NULL".to_owned());
                }
                alter(format!("ADD GENERATED {} AS IDENTITY", wanted.keyword()));
            }
            _ => {}
        }
        Ok(())
    }
}

fn column_comments(declared: &Properties, table: &str, current: Option<&Json>) -> Vec<String> {
    let comment_of = |column: &Column| {
        let columns = elements(current?, "columns");
        let mut found =
            columns.filter(|now| now.get("name").is_some_and(|name| name == column.name.as_str()));
        found.next()?.get("comment")?.as_str()
    };
    let changed = declared.columns.iter().filter(|column| {
        let wanted = column.comment.as_ref().map(crate::sql::Text::as_str);
        comment_of(column) != wanted.filter(|comment| !comment.is_empty())
    });
    changed
        .map(|column| {
            let comment = column.comment.as_ref().filter(|comment| !comment.as_str().is_empty());
            format!("COMMENT ON COLUMN {table}.{} IS {}", column.name.quoted(), literal_or_null(comment))
        })
        .collect()
}

fn options(declared: &Properties, table: &str, current: &Json, change: &Change<'_>) -> Vec<String> {
    let options = [
        ("unlogged", declared.unlogged, "SET UNLOGGED", "SET LOGGED"),
        (
            "rowLevelSecurity",
            declared.row_level_security,
            "ENABLE ROW LEVEL SECURITY",
            "DISABLE ROW LEVEL SECURITY",
        ),
    ];
    let mut sql = Vec::new();
    for (name, declared, yes, no) in options {
        let Some(wanted) = change.wanted(name, declared, false) else { continue };
        if current.get(name).and_then(Json::as_bool).unwrap_or(false) != wanted {
            sql.push(format!("ALTER TABLE {table} {}", if wanted { yes } else { no }));
        }
    }
    sql
}
