//! A table as it is, and how a declaration spells it.

use super::declared::Properties;
use crate::align::align;
use crate::failure::Failure;
use crate::properties::read;
use crate::session::Session;
use formwork_model::Json;

/// The query for all properties; `$1` is the table's oid.
const TABLE: &str = "SELECT json_build_object('database', current_database(), 'schema', n.nspname, \
   'name', c.relname, 'owner', pg_get_userbyid(c.relowner), \
   'columns', (SELECT json_agg(json_build_object('name', a.attname, \
       'type', format_type(a.atttypid, a.atttypmod), 'nullable', NOT a.attnotnull, \
       'default', CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END, \
       'identity', CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END, \
       'generated', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END, \
       'comment', col_description(a.attrelid, a.attnum)) ORDER BY a.attnum) \
     FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), \
   'primaryKey', (SELECT json_build_object('name', k.conname, 'columns', k.names) FROM keys AS k \
     WHERE k.contype = 'p'), \
   'uniqueKeys', (SELECT json_agg(json_build_object('name', k.conname, 'columns', k.names, \
       'nullsNotDistinct', i.indnullsnotdistinct, 'deferrable', k.condeferrable, \
       'initiallyDeferred', k.condeferred) ORDER BY k.conname) \
     FROM keys AS k JOIN pg_index AS i ON i.indexrelid = k.conindid WHERE k.contype = 'u'), \
   'foreignKeys', (SELECT json_agg(json_build_object('name', k.conname, 'columns', k.names, \
       'referencedSchema', fn.nspname, 'referencedTable', fc.relname, 'referencedColumns', k.referenced, \
       'onDelete', actions.name_of ->> k.confdeltype::text, 'onUpdate', actions.name_of ->> k.confupdtype::text, \
       'deferrable', k.condeferrable, 'initiallyDeferred', k.condeferred) ORDER BY k.conname) \
     FROM keys AS k JOIN pg_class AS fc ON fc.oid = k.confrelid \
     JOIN pg_namespace AS fn ON fn.oid = fc.relnamespace WHERE k.contype = 'f'), \
   'checks', (SELECT json_agg(json_build_object('name', k.conname, \
       'expression', pg_get_expr(k.conbin, k.conrelid)) ORDER BY k.conname) \
     FROM keys AS k WHERE k.contype = 'c'), \
   'indexes', (SELECT json_agg(json_build_object('name', ic.relname, 'keys', (SELECT json_agg(json_build_object( \
         'name', (SELECT a.attname FROM pg_attribute AS a WHERE a.attrelid = c.oid \
           AND a.attnum = i.indkey[p] AND a.attnum <> 0), \
         'expression', CASE WHEN i.indkey[p] = 0 THEN pg_get_indexdef(i.indexrelid, p + 1, false) END, \
         'descending', i.indoption[p] & 1 = 1, \
         'nullsFirst', CASE i.indoption[p] WHEN 1 THEN false WHEN 2 THEN true END) ORDER BY p) \
         FROM generate_series(0, i.indnkeyatts - 1) AS g(p)), \
       'unique', i.indisunique, 'method', am.amname, \
       'include', (SELECT json_agg(a.attname ORDER BY p) FROM generate_series(i.indnkeyatts, i.indnatts - 1) AS g(p) \
         JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[p]), \
       'nullsNotDistinct', i.indnullsnotdistinct, \
       'where', pg_get_expr(i.indpred, i.indrelid)) ORDER BY ic.relname) \
     FROM pg_index AS i JOIN pg_class AS ic ON ic.oid = i.indexrelid JOIN pg_am AS am ON am.oid = ic.relam \
     WHERE i.indrelid = c.oid AND NOT EXISTS (SELECT FROM keys AS k WHERE k.conindid = i.indexrelid \
       AND k.contype IN ('p', 'u', 'x'))), \
   'unlogged', c.relpersistence = 'u', 'rowLevelSecurity', c.relrowsecurity, \
   'comment', obj_description(c.oid, 'pg_class'))::text \
 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, \
   (SELECT '{\"a\": \"NO ACTION\", \"r\": \"RESTRICT\", \"c\": \"CASCADE\", \"n\": \"SET NULL\", \
      \"d\": \"SET DEFAULT\"}'::json AS name_of) AS actions \
 WHERE c.oid = $1";

/// The constraints of the table, with the names of their columns.
const KEYS: &str = "WITH keys AS (SELECT con.*, \
   (SELECT json_agg(a.attname ORDER BY k.n) FROM unnest(con.conkey) WITH ORDINALITY AS k(num, n) \
     JOIN pg_attribute AS a ON a.attrelid = con.conrelid AND a.attnum = k.num) AS names, \
   (SELECT json_agg(a.attname ORDER BY k.n) FROM unnest(con.confkey) WITH ORDINALITY AS k(num, n) \
     JOIN pg_attribute AS a ON a.attrelid = con.confrelid AND a.attnum = k.num) AS referenced \
   FROM pg_constraint AS con WHERE con.conrelid = $1) ";

/// The temporary table in which a declaration is tried out. A transaction that has it never commits it.
const SHADOW: &str = "pg_temp.formwork_shadow";

/// What there is of the table with this oid.
pub(super) async fn by_oid(session: &Session, oid: u32) -> Result<Option<Json>, Failure> {
    session.json(&format!("{KEYS}{TABLE}"), &[&oid]).await
}

/// The oid of an ordinary table.
pub(super) async fn oid_of(session: &Session, schema: &str, name: &str) -> Result<Option<u32>, Failure> {
    let sql = "SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind = 'r'";
    let rows = session.rows(sql, &[&schema, &name]).await?;
    rows.first().map(|row| Ok(row.try_get(0)?)).transpose()
}

/// Takes the declared spelling of types and expressions wherever PostgreSQL makes the same of it as
/// what was found: a table is made as declared, and looked at, in a transaction that does not last.
pub(super) async fn respell(session: &Session, found: &mut Json, declared: &Json) -> Result<(), Failure> {
    without_chosen_names(found, declared);
    nullable_as_declared(found, declared);
    if !differs(found, declared) {
        return Ok(());
    }
    let properties: Properties = read(declared)?;
    session.names_in(&properties.schema).await?;
    let types = properties.types(session).await?;
    session.run(&format!("CREATE TEMPORARY {}", properties.create(SHADOW, &types))).await?;
    for index in properties.indexes.iter().flatten() {
        session.run(&index.create(SHADOW)).await?;
    }
    session.names_in_full().await?;
    let oid = "SELECT to_regclass($1)::oid";
    let rows = session.rows(oid, &[&SHADOW]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    if let Some(mut shadow) = by_oid(session, row.try_get(0)?).await? {
        align(&mut shadow, declared);
        for (list, fields) in SPELLED {
            spell(found, declared, &shadow, list, fields);
        }
    }
    Ok(())
}

/// Where texts are that PostgreSQL spells in its own way.
const SPELLED: [(&str, &[&str]); 3] = [
    ("columns", &["type", "default", "generated"]),
    ("checks", &["expression"]),
    ("indexes", &["where", "keys"]),
];

/// Whether a spelled text of an element of both is another.
fn differs(found: &Json, declared: &Json) -> bool {
    SPELLED.iter().any(|(list, fields)| {
        elements(declared, list).any(|wanted| {
            let Some(element) = named(found, list, wanted) else { return false };
            fields.iter().any(|field| wanted.get(field).is_some_and(|text| element.get(field) != Some(text)))
        })
    })
}

fn spell(found: &mut Json, declared: &Json, shadow: &Json, list: &str, fields: &[&str]) {
    for wanted in elements(declared, list) {
        let Some(tried) = named(shadow, list, wanted).cloned() else { continue };
        let Some(element) = named_mut(found, list, wanted) else { continue };
        for field in fields {
            match wanted.get(field) {
                Some(text) if element.get(field) == tried.get(field) => element[*field] = text.clone(),
                _ => {}
            }
        }
    }
}

/// A primary key's name that was not declared is PostgreSQL's choice.
fn without_chosen_names(found: &mut Json, declared: &Json) {
    let chosen = declared.get("primaryKey").is_some_and(|key| key.get("name").is_none_or(Json::is_null));
    if let (true, Some(key)) = (chosen, found.get_mut("primaryKey").and_then(Json::as_object_mut)) {
        key.shift_remove("name");
    }
}

/// Columns of a primary key, and identity columns, are never null whatever they say.
fn nullable_as_declared(found: &mut Json, declared: &Json) {
    let key: Vec<Json> =
        found.pointer("/primaryKey/columns").and_then(Json::as_array).cloned().unwrap_or_default();
    for wanted in elements(declared, "columns") {
        let Some(column) = named_mut(found, "columns", wanted) else { continue };
        let never =
            column.get("identity").is_some() || column.get("name").is_some_and(|name| key.contains(name));
        if let (true, Some(column)) = (never, column.as_object_mut()) {
            match wanted.get("nullable") {
                Some(nullable) => column.insert("nullable".to_owned(), nullable.clone()),
                None => column.shift_remove("nullable"),
            };
        }
    }
}

/// The elements of a list.
pub(super) fn elements<'a>(of: &'a Json, list: &str) -> impl Iterator<Item = &'a Json> {
    of.get(list).and_then(Json::as_array).into_iter().flatten()
}

/// The element of a list that has the name of another.
pub(super) fn named<'a>(of: &'a Json, list: &str, other: &Json) -> Option<&'a Json> {
    elements(of, list).find(|element| element.get("name") == other.get("name"))
}

fn named_mut<'a>(of: &'a mut Json, list: &str, other: &Json) -> Option<&'a mut Json> {
    let elements = of.get_mut(list)?.as_array_mut()?;
    elements.iter_mut().find(|element| element.get("name") == other.get("name"))
}
