//! `POSTGRES::Database::Function`.

use super::common::{set_comment, set_owner};
use super::settings::{self, Settings};
use super::{CreateFailure, Kind, found_by};
use crate::align::align;
use crate::expression::{Expression, TypeText};
use crate::failure::Failure;
use crate::id::Id;
use crate::properties::{Change, read};
use crate::session::Session;
use crate::sql::{Name, Text, add, qualified};
use async_trait::async_trait;
use formwork_model::{Json, TypeCapabilities};
use serde::Deserialize;

pub(crate) struct Function;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Properties {
    database: Name,
    schema: Name,
    name: Name,
    #[serde(default)]
    arguments: Vec<Argument>,
    returns: Option<TypeText>,
    returns_set: Option<bool>,
    language: Name,
    body: Text,
    volatility: Option<Volatility>,
    strict: Option<bool>,
    security_definer: Option<bool>,
    leakproof: Option<bool>,
    parallel: Option<Parallel>,
    cost: Option<f64>,
    rows: Option<f64>,
    settings: Option<Settings>,
    owner: Option<Name>,
    comment: Option<Text>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Argument {
    name: Option<Name>,
    #[serde(rename = "type")]
    kind: TypeText,
    mode: Option<Mode>,
    default: Option<Expression>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Mode {
    #[default]
    In,
    Out,
    InOut,
    Variadic,
    Table,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Volatility {
    Volatile,
    Stable,
    Immutable,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Parallel {
    Unsafe,
    Restricted,
    Safe,
}

impl Argument {
    fn mode(&self) -> Mode {
        self.mode.unwrap_or_default()
    }

    fn is_input(&self) -> bool {
        matches!(self.mode(), Mode::In | Mode::InOut | Mode::Variadic)
    }

    fn sql(&self, kind: &str) -> String {
        let mode = match self.mode() {
            Mode::In | Mode::Table => "",
            Mode::Out => "OUT ",
            Mode::InOut => "INOUT ",
            Mode::Variadic => "VARIADIC ",
        };
        let name = self.name.as_ref().map(|name| format!("{} ", name.quoted())).unwrap_or_default();
        let default = self.default.as_ref().map(|default| format!(" DEFAULT {}", default.sql()));
        format!("{mode}{name}{kind}{}", default.unwrap_or_default())
    }
}

/// A function as it is declared, with its types as PostgreSQL calls them.
struct Definition {
    properties: Properties,
    types: Vec<String>,
    returns: Option<String>,
}

impl Definition {
    async fn read(session: &Session, desired: &Json) -> Result<Self, Failure> {
        let properties: Properties = read(desired)?;
        let is_finite = |number: Option<f64>| number.is_none_or(|number| number.is_finite() && number >= 0.0);
        if !is_finite(properties.cost) || !is_finite(properties.rows) {
            return Err(Failure::invalid("`cost` and `rows` must not be negative"));
        }
        session.names_in(&properties.schema).await?;
        let all = properties.arguments.iter().map(|argument| &argument.kind).chain(&properties.returns);
        let mut types = session.type_names(&all.collect::<Vec<_>>()).await?;
        session.names_in_full().await?;
        let returns = properties.returns.as_ref().and_then(|_| types.pop());
        Ok(Self { properties, types, returns })
    }

    fn name(&self) -> String {
        qualified(&self.properties.schema, &self.properties.name)
    }

    /// The types of what it takes, as an id has them.
    fn signature(&self) -> String {
        let arguments = self.properties.arguments.iter().zip(&self.types);
        let inputs = arguments.filter(|(argument, _)| argument.is_input()).map(|(_, kind)| kind.as_str());
        inputs.collect::<Vec<_>>().join(", ")
    }

    fn arguments(&self, of_table: bool) -> String {
        let arguments = self.properties.arguments.iter().zip(&self.types);
        let wanted = arguments.filter(|(argument, _)| (argument.mode() == Mode::Table) == of_table);
        wanted.map(|(argument, kind)| argument.sql(kind)).collect::<Vec<_>>().join(", ")
    }

    /// The statement behind CREATE, for the function or its double of another name.
    fn create(&self, name: &str) -> Result<String, Failure> {
        let of = &self.properties;
        let mut sql = format!("FUNCTION {name}({})", self.arguments(false));
        let table = self.arguments(true);
        let set = if of.returns_set == Some(true) { "SETOF " } else { "" };
        match &self.returns {
            _ if !table.is_empty() => add(&mut sql, format_args!(" RETURNS TABLE ({table})")),
            Some(returns) => add(&mut sql, format_args!(" RETURNS {set}{returns}")),
            None => {}
        }
        add(&mut sql, format_args!(" LANGUAGE {}", of.language.quoted()));
        sql.push_str(match of.volatility {
            None | Some(Volatility::Volatile) => " VOLATILE",
            Some(Volatility::Stable) => " STABLE",
            Some(Volatility::Immutable) => " IMMUTABLE",
        });
        sql.push_str(match of.parallel {
            None | Some(Parallel::Unsafe) => " PARALLEL UNSAFE",
            Some(Parallel::Restricted) => " PARALLEL RESTRICTED",
            Some(Parallel::Safe) => " PARALLEL SAFE",
        });
        for (option, keyword) in
            [(of.strict, " STRICT"), (of.security_definer, " SECURITY DEFINER"), (of.leakproof, " LEAKPROOF")]
        {
            sql.push_str(if option == Some(true) { keyword } else { "" });
        }
        for (number, keyword) in [(of.cost, "COST"), (of.rows, "ROWS")] {
            if let Some(number) = number {
                add(&mut sql, format_args!(" {keyword} {number}"));
            }
        }
        for (setting, value) in of.settings.iter().flatten() {
            add(&mut sql, format_args!(" {}", settings::assignment(setting, value)?));
        }
        Ok(format!("{sql} AS {}", of.body.literal()))
    }

    /// Runs a statement that checks the body, whose names are looked up in the function's schema.
    async fn run(&self, session: &Session, sql: &str) -> Result<(), Failure> {
        session.names_in(&self.properties.schema).await?;
        session.run(sql).await?;
        session.names_in_full().await
    }

    async fn complete(
        &self,
        session: &Session,
        change: &Change<'_>,
        current: Option<&Json>,
    ) -> Result<(), Failure> {
        let object = format!("FUNCTION {}({})", self.name(), self.signature());
        set_owner(session, &object, self.properties.owner.as_ref(), current).await?;
        set_comment(session, &object, change, self.properties.comment.as_ref(), current).await
    }
}

const FUNCTION: &str = "SELECT json_build_object('database', current_database(), 'schema', n.nspname, \
   'name', p.proname, \
   'arguments', (SELECT coalesce(json_agg(json_build_object('name', nullif(p.proargnames[i], ''), \
       'type', format_type(t, NULL), \
       'mode', CASE coalesce(p.proargmodes[i]::text, 'i') WHEN 'i' THEN 'IN' WHEN 'o' THEN 'OUT' \
         WHEN 'b' THEN 'INOUT' WHEN 'v' THEN 'VARIADIC' ELSE 'TABLE' END, \
       'default', pg_get_function_arg_default(p.oid, i::integer)) ORDER BY i), '[]') \
     FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS a(t, i)), \
   'returns', format_type(p.prorettype, NULL), 'returnsSet', p.proretset, 'language', l.lanname, \
   'body', p.prosrc, \
   'volatility', CASE p.provolatile WHEN 'v' THEN 'VOLATILE' WHEN 's' THEN 'STABLE' ELSE 'IMMUTABLE' END, \
   'strict', p.proisstrict, 'securityDefiner', p.prosecdef, 'leakproof', p.proleakproof, \
   'parallel', CASE p.proparallel WHEN 'u' THEN 'UNSAFE' WHEN 'r' THEN 'RESTRICTED' ELSE 'SAFE' END, \
   'cost', p.procost, 'rows', CASE WHEN p.proretset THEN p.prorows END, \
   'settings', (SELECT json_object_agg(split_part(s, '=', 1), substr(s, strpos(s, '=') + 1) ORDER BY s) \
     FROM unnest(p.proconfig) AS u(s)), \
   'owner', pg_get_userbyid(p.proowner), 'comment', obj_description(p.oid, 'pg_proc'))::text \
 FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace JOIN pg_language AS l ON l.oid = p.prolang \
 WHERE p.oid = $1";

async fn oid_of(session: &Session, id: &Id) -> Result<Option<u32>, Failure> {
    let sql = "SELECT p.oid FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
        WHERE n.nspname = $1 AND p.proname = $2 AND oidvectortypes(p.proargtypes) = $3 AND p.prokind = 'f'";
    let rows = session.rows(sql, &[&id.part(1), &id.part(2), &id.part(3)]).await?;
    rows.first().map(|row| Ok(row.try_get(0)?)).transpose()
}

#[async_trait]
impl Kind for Function {
    fn name(&self) -> &'static str {
        "POSTGRES::Database::Function"
    }

    fn parts(&self) -> usize {
        4
    }

    fn fixed(&self) -> &'static [&'static str] {
        &["database", "schema", "name", "returns", "returnsSet"]
    }

    fn capabilities(&self) -> TypeCapabilities {
        found_by(&["database", "schema", "name", "arguments"])
    }

    async fn create(&self, session: &Session, change: &Change<'_>) -> Result<Id, CreateFailure> {
        let definition = Definition::read(session, change.desired).await?;
        let sql = format!("CREATE {}", definition.create(&definition.name())?);
        definition.run(session, &sql).await?;
        definition.complete(session, change, None).await?;
        let Properties { database, schema, name, .. } = &definition.properties;
        Ok(Id::of([database.as_str(), schema.as_str(), name.as_str(), &definition.signature()]))
    }

    async fn read(&self, session: &Session, id: &Id) -> Result<Option<Json>, Failure> {
        match oid_of(session, id).await? {
            Some(oid) => session.json(FUNCTION, &[&oid]).await,
            None => Ok(None),
        }
    }

    async fn respell(
        &self,
        session: &Session,
        _id: &Id,
        found: &mut Json,
        declared: &Json,
    ) -> Result<(), Failure> {
        settings::respell(found, declared);
        let spelled = ["arguments", "returns"];
        if spelled.iter().all(|name| declared.get(name).is_none_or(|text| found.get(name) == Some(text))) {
            return Ok(());
        }
        let definition = Definition::read(session, declared).await?;
        session.run("SET LOCAL check_function_bodies TO off").await?;
        let sql = format!("CREATE {}", definition.create("pg_temp.formwork_shadow")?);
        definition.run(session, &sql).await?;
        let of_shadow = "SELECT oid FROM pg_proc WHERE proname = 'formwork_shadow' \
            AND pronamespace = pg_my_temp_schema()";
        let rows = session.rows(of_shadow, &[]).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let oid: u32 = row.try_get(0)?;
        let Some(mut shadow) = session.json(FUNCTION, &[&oid]).await? else { return Ok(()) };
        align(&mut shadow, declared);
        for name in spelled {
            match declared.get(name) {
                Some(text) if found.get(name) == shadow.get(name) => found[name] = text.clone(),
                _ => {}
            }
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
        let definition = Definition::read(session, change.desired).await?;
        if definition.signature() != id.part(3) {
            let message = format!(
                "a function of other arguments is another one: `{}` can't become `{}`",
                id.part(3),
                definition.signature()
            );
            return Err(Failure::invalid(message));
        }
        let sql = format!("CREATE OR REPLACE {}", definition.create(&definition.name())?);
        definition.run(session, &sql).await?;
        definition.complete(session, change, Some(current)).await
    }

    async fn delete(&self, session: &Session, id: &Id) -> Result<(), Failure> {
        let Some(oid) = oid_of(session, id).await? else { return Ok(()) };
        // Spelled by PostgreSQL, with quotes where they are needed.
        let Some(function) = session.text("SELECT $1::oid::regprocedure::text", &[&oid]).await? else {
            return Ok(());
        };
        session.run(&format!("DROP FUNCTION IF EXISTS {function}")).await
    }

    fn list(&self) -> &'static str {
        // Functions whose body is a text: not those in C, nor those of PostgreSQL or of extensions.
        "SELECT ARRAY[n.nspname::text, p.proname::text, oidvectortypes(p.proargtypes)] AS parts, \
           n.nspname::text AS parent \
         FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace JOIN pg_language AS l ON l.oid = p.prolang \
         WHERE p.prokind = 'f' AND p.prosqlbody IS NULL AND l.lanname NOT IN ('c', 'internal') \
         AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
         AND NOT EXISTS (SELECT FROM pg_depend AS d \
           WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')"
    }
}
