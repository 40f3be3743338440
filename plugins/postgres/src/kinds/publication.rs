//! `POSTGRES::Database::Publication`.

use super::common::{set_comment, set_owner, text_of};
use super::{CreateFailure, Kind, found_by};
use crate::expression::Expression;
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, Text, add, list, qualified};
use async_trait::async_trait;
use formwork_model::{Json, TypeCapabilities};
use serde::Deserialize;
use std::collections::BTreeSet;

pub(crate) struct Publication;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    database: Name,
    name: Name,
    owner: Option<Name>,
    all_tables: Option<bool>,
    tables: Option<Vec<Table>>,
    schemas: Option<Vec<Name>>,
    publish: Option<Vec<Operation>>,
    publish_via_partition_root: Option<bool>,
    comment: Option<Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Table {
    schema: Name,
    name: Name,
    columns: Option<Vec<Name>>,
    #[serde(rename = "where")]
    filter: Option<Expression>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Insert,
    Update,
    Delete,
    Truncate,
}

impl Operation {
    fn keyword(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Truncate => "truncate",
        }
    }
}

impl Table {
    fn sql(&self) -> String {
        let mut sql = qualified(&self.schema, &self.name);
        if let Some(columns) = self.columns.as_ref().filter(|columns| !columns.is_empty()) {
            add(&mut sql, format_args!(" ({})", list(columns)));
        }
        if let Some(filter) = &self.filter {
            add(&mut sql, format_args!(" WHERE {}", filter.sql()));
        }
        sql
    }
}

impl Properties {
    fn read(desired: &Json) -> Result<Self, Failure> {
        let properties: Self = read(desired)?;
        let has_parts = properties.tables.iter().flatten().next().is_some()
            || properties.schemas.iter().flatten().next().is_some();
        if properties.all_tables == Some(true) && has_parts {
            return Err(Failure::invalid("`allTables` leaves no room for `tables` or `schemas`"));
        }
        Ok(properties)
    }

    fn object(&self) -> String {
        format!("PUBLICATION {}", self.name.quoted())
    }

    /// The objects, as they follow FOR and SET; empty if there are none.
    fn objects(&self) -> String {
        let tables: Vec<_> = self.tables.iter().flatten().map(Table::sql).collect();
        let schemas: Vec<_> = self.schemas.iter().flatten().map(Name::quoted).collect();
        let parts = [("TABLE", tables), ("TABLES IN SCHEMA", schemas)];
        let said = parts.into_iter().filter(|(_, names)| !names.is_empty());
        said.map(|(keyword, names)| format!("{keyword} {}", names.join(", "))).collect::<Vec<_>>().join(", ")
    }

    fn create(&self, name: &str) -> String {
        let objects = self.objects();
        let mut sql = format!("CREATE PUBLICATION {name}");
        if self.all_tables == Some(true) {
            sql.push_str(" FOR ALL TABLES");
        } else if !objects.is_empty() {
            add(&mut sql, format_args!(" FOR {objects}"));
        }
        let options = options(self.publish.as_deref(), self.publish_via_partition_root);
        if options.is_empty() { sql } else { format!("{sql} WITH ({options})") }
    }
}

fn options(publish: Option<&[Operation]>, via_root: Option<bool>) -> String {
    let mut options = Vec::new();
    if let Some(publish) = publish {
        let publish: BTreeSet<_> = publish.iter().copied().collect();
        let keywords: Vec<_> = publish.into_iter().map(Operation::keyword).collect();
        options.push(format!("publish = '{}'", keywords.join(", ")));
    }
    if let Some(via_root) = via_root {
        options.push(format!("publish_via_partition_root = {via_root}"));
    }
    options.join(", ")
}

const PUBLICATION: &str = "SELECT json_build_object('database', current_database(), 'name', p.pubname, \
   'owner', pg_get_userbyid(p.pubowner), 'allTables', p.puballtables, \
   'tables', (SELECT json_agg(json_build_object('schema', n.nspname, 'name', c.relname, \
       'columns', (SELECT json_agg(a.attname ORDER BY a.attnum) FROM pg_attribute AS a \
         WHERE a.attrelid = c.oid AND a.attnum = ANY (r.prattrs)), \
       'where', pg_get_expr(r.prqual, r.prrelid)) ORDER BY n.nspname, c.relname) \
     FROM pg_publication_rel AS r JOIN pg_class AS c ON c.oid = r.prrelid \
     JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE r.prpubid = p.oid), \
   'schemas', (SELECT json_agg(n.nspname ORDER BY n.nspname) FROM pg_publication_namespace AS r \
     JOIN pg_namespace AS n ON n.oid = r.pnnspid WHERE r.pnpubid = p.oid), \
   'publish', array_to_json(array_remove(ARRAY[CASE WHEN p.pubinsert THEN 'insert' END, \
     CASE WHEN p.pubupdate THEN 'update' END, CASE WHEN p.pubdelete THEN 'delete' END, \
     CASE WHEN p.pubtruncate THEN 'truncate' END], NULL)), \
   'publishViaPartitionRoot', p.pubviaroot, 'comment', obj_description(p.oid, 'pg_publication'))::text \
 FROM pg_publication AS p WHERE p.pubname = $1";

/// The name under which a declaration is tried out, in a transaction that never commits it.
const SHADOW: &str = "formwork_shadow_7f3a9c51";

#[async_trait]
impl Kind for Publication {
    fn name(&self) -> &'static str {
        "POSTGRES::Database::Publication"
    }

    fn parts(&self) -> usize {
        2
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["database", "name", "allTables"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        found_by(&["database", "name"])
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let declared = Properties::read(change.desired)?;
        session.run(&declared.create(&declared.name.quoted())).await?;
        set_owner(session, &declared.object(), declared.owner.as_ref(), None).await?;
        set_comment(session, &declared.object(), change, declared.comment.as_ref(), None).await?;
        Ok(Id::of([declared.database.as_str(), declared.name.as_str()]))
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        session.json(PUBLICATION, &[&id.part(1)]).await
    }

    async fn respell(
        &self,
        session: &Session,
        _id: &Id,
        found: &mut Json,
        declared: &Json,
    ) -> Result<(), Failure> {
        for_each_table(found, declared, |table, wanted| {
            let names = |of: &Json| {
                let columns = of.get("columns").and_then(Json::as_array);
                columns.map(|columns| columns.iter().filter_map(Json::as_str).map(str::to_owned).collect())
            };
            let (one, other): (Option<BTreeSet<String>>, _) = (names(table), names(wanted));
            if one.is_some() && one == other {
                table["columns"] = wanted["columns"].clone();
            }
        });
        let mut differs = false;
        for_each_table(found, declared, |table, wanted| differs |= table.get("where") != wanted.get("where"));
        if !differs {
            return Ok(());
        }
        session.run(&Properties::read(declared)?.create(SHADOW)).await?;
        let Some(shadow) = session.json(PUBLICATION, &[&SHADOW]).await? else { return Ok(()) };
        let mut tried = shadow;
        for_each_table(found, declared, |table, wanted| {
            for_each_table(&mut tried, &serde_json::json!({ "tables": [wanted] }), |shadow, _| {
                if shadow.get("where") == table.get("where") && wanted.get("where").is_some() {
                    table["where"] = wanted["where"].clone();
                }
            });
        });
        Ok(())
    }

    async fn update(
        &self,
        session: &Session,
        _id: &Id,
        current: &Json,
        change: &Change<'_>,
    ) -> Result<(), Failure> {
        let declared = Properties::read(change.desired)?;
        let object = declared.object();
        let touched = |name| change.wanted(name, change.desired.get(name), &Json::Null).is_some();
        if touched("tables") || touched("schemas") {
            let objects = declared.objects();
            if objects.is_empty() {
                for sql in drops(&object, current)? {
                    session.run(&sql).await?;
                }
            } else {
                session.run(&format!("ALTER {object} SET {objects}")).await?;
            }
        }
        let all = vec![Operation::Insert, Operation::Update, Operation::Delete, Operation::Truncate];
        let publish = change.wanted("publish", declared.publish.clone(), all);
        let via_root = change.wanted("publishViaPartitionRoot", declared.publish_via_partition_root, false);
        let options = options(publish.as_deref(), via_root);
        if !options.is_empty() {
            session.run(&format!("ALTER {object} SET ({options})")).await?;
        }
        set_owner(session, &object, declared.owner.as_ref(), Some(current)).await?;
        set_comment(session, &object, change, declared.comment.as_ref(), Some(current)).await
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        let name = Name::try_from(id.part(1).to_owned()).map_err(Failure::invalid)?;
        session.run(&format!("DROP PUBLICATION IF EXISTS {}", name.quoted())).await
    }

    fn list(&self) -> &'static str {
        "SELECT ARRAY[pubname::text] AS parts, NULL AS parent FROM pg_publication"
    }
}

/// The statements that take everything out of a publication.
fn drops(object: &str, current: &Json) -> Result<Vec<String>, Failure> {
    let name =
        |text: Option<&str>| Name::try_from(text.unwrap_or_default().to_owned()).map_err(Failure::invalid);
    let mut sql = Vec::new();
    for table in current.get("tables").and_then(Json::as_array).into_iter().flatten() {
        let (schema, table) = (name(text_of(Some(table), "schema"))?, name(text_of(Some(table), "name"))?);
        sql.push(format!("ALTER {object} DROP TABLE {}", qualified(&schema, &table)));
    }
    for schema in current.get("schemas").and_then(Json::as_array).into_iter().flatten() {
        sql.push(format!("ALTER {object} DROP TABLES IN SCHEMA {}", name(schema.as_str())?.quoted()));
    }
    Ok(sql)
}

/// Visits each table that both have.
fn for_each_table(found: &mut Json, declared: &Json, mut visit: impl FnMut(&mut Json, &Json)) {
    let Some(found) = found.get_mut("tables").and_then(Json::as_array_mut) else { return };
    for wanted in declared.get("tables").and_then(Json::as_array).into_iter().flatten() {
        let key = |of: &Json| (of.get("schema").cloned(), of.get("name").cloned());
        if let Some(table) = found.iter_mut().find(|table| key(table) == key(wanted)) {
            visit(table, wanted);
        }
    }
}
