//! A table as it is declared, and the SQL of its parts.

use crate::expression::{Expression, TypeText};
use crate::failure::Failure;
use crate::session::Session;
use crate::sql::{Name, Text, add, list, qualified};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Properties {
    pub(super) database: Name,
    pub(super) schema: Name,
    pub(super) name: Name,
    pub(super) owner: Option<Name>,
    pub(super) columns: Vec<Column>,
    pub(super) primary_key: Option<PrimaryKey>,
    pub(super) unique_keys: Option<Vec<UniqueKey>>,
    pub(super) foreign_keys: Option<Vec<ForeignKey>>,
    pub(super) checks: Option<Vec<Check>>,
    pub(super) indexes: Option<Vec<Index>>,
    pub(super) unlogged: Option<bool>,
    pub(super) row_level_security: Option<bool>,
    pub(super) comment: Option<Text>,
    pub(super) allow_data_loss: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Column {
    pub(super) name: Name,
    #[serde(rename = "type")]
    pub(super) kind: TypeText,
    pub(super) nullable: Option<bool>,
    pub(super) default: Option<Expression>,
    pub(super) identity: Option<Identity>,
    pub(super) generated: Option<Expression>,
    pub(super) comment: Option<Text>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Identity {
    #[serde(rename = "ALWAYS")]
    Always,
    #[serde(rename = "BY DEFAULT")]
    ByDefault,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PrimaryKey {
    pub(super) name: Option<Name>,
    columns: Vec<Name>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UniqueKey {
    pub(super) name: Name,
    columns: Vec<Name>,
    nulls_not_distinct: Option<bool>,
    deferrable: Option<bool>,
    initially_deferred: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ForeignKey {
    pub(super) name: Name,
    columns: Vec<Name>,
    referenced_schema: Name,
    referenced_table: Name,
    referenced_columns: Vec<Name>,
    on_delete: Option<Action>,
    on_update: Option<Action>,
    deferrable: Option<bool>,
    initially_deferred: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum Action {
    #[serde(rename = "NO ACTION")]
    Nothing,
    #[serde(rename = "RESTRICT")]
    Restrict,
    #[serde(rename = "CASCADE")]
    Cascade,
    #[serde(rename = "SET NULL")]
    SetNull,
    #[serde(rename = "SET DEFAULT")]
    SetDefault,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Check {
    pub(super) name: Name,
    expression: Expression,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Index {
    pub(super) name: Name,
    keys: Vec<IndexKey>,
    unique: Option<bool>,
    method: Option<Name>,
    include: Option<Vec<Name>>,
    nulls_not_distinct: Option<bool>,
    #[serde(rename = "where")]
    predicate: Option<Expression>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct IndexKey {
    name: Option<Name>,
    expression: Option<Expression>,
    descending: Option<bool>,
    nulls_first: Option<bool>,
}

/// A part of a table that has a name and is made and dropped as a whole.
pub(super) trait Part {
    /// Its name; `None` where PostgreSQL chooses one.
    fn name(&self) -> Option<&Name>;

    /// Its definition, as it follows CONSTRAINT and the name, or INDEX and the name.
    fn definition(&self, table: &str) -> String;
}

impl Properties {
    pub(super) fn table(&self) -> String {
        qualified(&self.schema, &self.name)
    }

    /// What the schema of the request can't say.
    pub(super) fn check(&self) -> Result<(), Failure> {
        for column in &self.columns {
            let ways = [column.default.is_some(), column.identity.is_some(), column.generated.is_some()];
            if ways.into_iter().filter(|way| *way).count() > 1 {
                let name = column.name.as_str();
                let message =
                    format!("`columns`: `{name}` has more than one of `default`, `identity` and `generated`");
                return Err(Failure::invalid(message));
            }
        }
        for index in self.indexes.iter().flatten() {
            if index.keys.iter().any(|key| key.name.is_some() == key.expression.is_some()) {
                let name = index.name.as_str();
                let message =
                    format!("`indexes`: each key of `{name}` has either a `name` or an `expression`");
                return Err(Failure::invalid(message));
            }
        }
        Ok(())
    }

    /// The types of all columns, as PostgreSQL calls them.
    pub(super) async fn types(&self, session: &Session) -> Result<Vec<String>, Failure> {
        let types: Vec<_> = self.columns.iter().map(|column| &column.kind).collect();
        session.canonical_types(&types).await
    }

    /// The statement that makes the table (of another name, if wanted) with its columns and checks.
    pub(super) fn create(&self, table: &str, types: &[String]) -> String {
        let columns = self.columns.iter().zip(types).map(|(column, kind)| column.definition(kind));
        let checks = self
            .checks
            .iter()
            .flatten()
            .map(|check| format!("CONSTRAINT {} {}", check.name.quoted(), check.definition(table)));
        let parts: Vec<_> = columns.chain(checks).collect();
        format!("TABLE {table} ({})", parts.join(", "))
    }
}

impl Column {
    /// Whether it may be null, as far as it says so itself.
    pub(super) fn is_nullable(&self) -> bool {
        self.nullable.unwrap_or(true) && self.identity.is_none()
    }

    /// The column as CREATE TABLE and ADD COLUMN take it.
    pub(super) fn definition(&self, kind: &str) -> String {
        let mut sql = format!("{} {kind}", self.name.quoted());
        if let Some(default) = &self.default {
            add(&mut sql, format_args!(" DEFAULT {}", default.sql()));
        }
        if let Some(identity) = self.identity {
            add(&mut sql, format_args!(" GENERATED {} AS IDENTITY", identity.keyword()));
        }
        if let Some(generated) = &self.generated {
            add(&mut sql, format_args!(" GENERATED ALWAYS AS {} STORED", generated.sql()));
        }
        if !self.is_nullable() {
            sql.push_str(" NOT NULL");
        }
        sql
    }
}

impl Identity {
    pub(super) fn keyword(self) -> &'static str {
        match self {
            Self::Always => "ALWAYS",
            Self::ByDefault => "BY DEFAULT",
        }
    }
}

impl Action {
    fn keyword(self) -> &'static str {
        match self {
            Self::Nothing => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }
}

fn nulls(not_distinct: Option<bool>) -> &'static str {
    if not_distinct == Some(true) { " NULLS NOT DISTINCT" } else { "" }
}

fn deferral(deferrable: Option<bool>, initially_deferred: Option<bool>) -> &'static str {
    match (deferrable.unwrap_or(false), initially_deferred.unwrap_or(false)) {
        (_, true) => " DEFERRABLE INITIALLY DEFERRED",
        (true, false) => " DEFERRABLE",
        (false, false) => "",
    }
}

impl Part for PrimaryKey {
    fn name(&self) -> Option<&Name> {
        self.name.as_ref()
    }

    fn definition(&self, _table: &str) -> String {
        format!("PRIMARY KEY ({})", list(&self.columns))
    }
}

impl Part for UniqueKey {
    fn name(&self) -> Option<&Name> {
        Some(&self.name)
    }

    fn definition(&self, _table: &str) -> String {
        let (nulls, deferral) =
            (nulls(self.nulls_not_distinct), deferral(self.deferrable, self.initially_deferred));
        format!("UNIQUE{nulls} ({}){deferral}", list(&self.columns))
    }
}

impl Part for ForeignKey {
    fn name(&self) -> Option<&Name> {
        Some(&self.name)
    }

    fn definition(&self, _table: &str) -> String {
        let action = |action: Option<Action>| action.unwrap_or(Action::Nothing).keyword();
        format!(
            "FOREIGN KEY ({}) REFERENCES {} ({}) ON DELETE {} ON UPDATE {}{}",
            list(&self.columns),
            qualified(&self.referenced_schema, &self.referenced_table),
            list(&self.referenced_columns),
            action(self.on_delete),
            action(self.on_update),
            deferral(self.deferrable, self.initially_deferred)
        )
    }
}

impl Part for Check {
    fn name(&self) -> Option<&Name> {
        Some(&self.name)
    }

    fn definition(&self, _table: &str) -> String {
        format!("CHECK {}", self.expression.sql())
    }
}

impl Part for Index {
    fn name(&self) -> Option<&Name> {
        Some(&self.name)
    }

    fn definition(&self, table: &str) -> String {
        let method = self.method.as_ref().map_or_else(|| "btree".to_owned(), Name::quoted);
        let keys: Vec<_> = self.keys.iter().map(IndexKey::sql).collect();
        let mut sql = format!("ON {table} USING {method} ({})", keys.join(", "));
        if let Some(include) = self.include.as_ref().filter(|include| !include.is_empty()) {
            add(&mut sql, format_args!(" INCLUDE ({})", list(include)));
        }
        sql.push_str(nulls(self.nulls_not_distinct));
        if let Some(predicate) = &self.predicate {
            add(&mut sql, format_args!(" WHERE {}", predicate.sql()));
        }
        sql
    }
}

impl Index {
    /// The whole statement.
    pub(super) fn create(&self, table: &str) -> String {
        let unique = if self.unique == Some(true) { "UNIQUE " } else { "" };
        format!("CREATE {unique}INDEX {} {}", self.name.quoted(), self.definition(table))
    }
}

impl IndexKey {
    fn sql(&self) -> String {
        let named = self.name.as_ref().map(Name::quoted);
        let mut sql = named.or_else(|| self.expression.as_ref().map(Expression::sql)).unwrap_or_default();
        if self.descending == Some(true) {
            sql.push_str(" DESC");
        }
        match self.nulls_first {
            Some(true) => sql.push_str(" NULLS FIRST"),
            Some(false) => sql.push_str(" NULLS LAST"),
            None => {}
        }
        sql
    }
}
