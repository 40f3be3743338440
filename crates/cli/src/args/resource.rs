//! Commands of the resource types, made from their routes and schemas: `create-agent`, `list-agents`,
//! `get-agent`, `update-agent`, `delete-agent`.

use super::kebab;
use clap::{Arg, ArgAction, ArgMatches, Command};
use formwork_model::{Catalog as _, Kind, PropertySchema, Schema};
use formwork_platform::{Platform, RestRoute, UpdateMode, rest_routes};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A command on a resource type.
#[derive(Debug)]
pub(crate) struct ResourceCall {
    pub(crate) route: &'static RestRoute,
    pub(crate) action: ResourceAction,
}

/// What to do.
#[derive(Debug)]
pub(crate) enum ResourceAction {
    Create { body: Result<Map<String, Value>, String> },
    List { query: BTreeMap<String, String> },
    Get { id: String },
    Update { id: String, body: Result<Map<String, Value>, String> },
    Delete { id: String, force: bool },
}

/// Adds the commands of all types.
pub(super) fn add_commands(tree: Command) -> Command {
    let catalog = Platform::catalog();
    rest_routes().iter().fold(tree, |tree, route| {
        let Some(rules) = catalog.get(&route.type_name.into()) else { return tree };
        let schema = rules.schema();
        let title = rules.title();
        tree.subcommand(
            Command::new(kebab_name(route.create))
                .about(format!("Make: {title}"))
                .arg(text("project-id", "The project; the credential's own if left out"))
                .args(property_flags(schema)),
        )
        .subcommand(
            Command::new(kebab_name(route.list))
                .about(format!("List: {title}"))
                .arg(text("limit", "How many to show, at most 100").value_name("N"))
                .arg(text("offset", "How many to pass over").value_name("N"))
                .args(route.list_filters.iter().map(|filter| text(&kebab(filter), "Only those with this"))),
        )
        .subcommand(Command::new(kebab_name(route.get)).about(format!("Show: {title}")).args(id_flags(route)))
        .subcommand(
            Command::new(kebab_name(route.update))
                .about(format!("Change: {title}"))
                .args(id_flags(route))
                .args(property_flags(schema)),
        )
        .subcommand({
            let delete = Command::new(kebab_name(route.delete))
                .about(format!("Delete: {title}"))
                .args(id_flags(route));
            if route.force {
                delete.arg(
                    Arg::new("force")
                        .long("force")
                        .action(ArgAction::SetTrue)
                        .help("Take its dependents along"),
                )
            } else {
                delete
            }
        })
    })
}

/// The call of a parsed command, if it is one of a resource type.
pub(super) fn call(name: &str, matches: &ArgMatches) -> Option<ResourceCall> {
    rest_routes().iter().find_map(|route| {
        let action = if name == kebab_name(route.create) {
            ResourceAction::Create { body: body(route, matches, true) }
        } else if name == kebab_name(route.list) {
            ResourceAction::List { query: query(route, matches) }
        } else if name == kebab_name(route.get) {
            ResourceAction::Get { id: id(matches) }
        } else if name == kebab_name(route.update) {
            ResourceAction::Update { id: id(matches), body: body(route, matches, false) }
        } else if name == kebab_name(route.delete) {
            let force = route.force && matches.get_flag("force");
            ResourceAction::Delete { id: id(matches), force }
        } else {
            return None;
        };
        Some(ResourceCall { route, action })
    })
}

impl ResourceCall {
    /// The method that updates an item.
    pub(crate) fn update_method(&self) -> &'static str {
        if self.route.update_modes.contains(&UpdateMode::Patch) { "PATCH" } else { "PUT" }
    }
}

/// `CreateAiProvider` as a command: `create-ai-provider`.
fn kebab_name(operation: &str) -> String {
    kebab(operation)
}

fn text(name: &str, help: &str) -> Arg {
    Arg::new(name.to_owned()).long(name.to_owned()).value_name("TEXT").help(help.to_owned())
}

fn id_flags(route: &RestRoute) -> [Arg; 2] {
    let flag = kebab(route.id_param);
    let by_flag = Arg::new("by-flag").long(flag).visible_alias("id").value_name("ID").help("Which one");
    let by_place = Arg::new("by-place").value_name("ID").help("Which one").conflicts_with("by-flag");
    [by_place.required_unless_present("by-flag"), by_flag]
}

fn id(matches: &ArgMatches) -> String {
    let given = matches.get_one::<String>("by-place").or_else(|| matches.get_one::<String>("by-flag"));
    given.cloned().unwrap_or_default()
}

fn property_flags(schema: &Schema) -> impl Iterator<Item = Arg> {
    schema.properties.iter().map(|(name, property)| {
        let flag = kebab(name);
        let help = property.doc.trim_end_matches('.').to_owned();
        Arg::new(format!("property.{name}"))
            .long(flag)
            .value_name(value_name(property))
            .help(help)
            .allow_hyphen_values(true)
    })
}

fn value_name(property: &PropertySchema) -> &'static str {
    match property.kind {
        Kind::String => "TEXT",
        Kind::Boolean => "BOOL",
        Kind::Integer | Kind::Number => "N",
        Kind::Array | Kind::Object => "JSON",
        Kind::Any => "TEXT|JSON",
    }
}

/// The body that the flags make.
fn body(route: &RestRoute, matches: &ArgMatches, with_project: bool) -> Result<Map<String, Value>, String> {
    let mut members = Map::new();
    if with_project && let Some(project) = matches.get_one::<String>("project-id") {
        members.insert("project_id".to_owned(), Value::from(project.as_str()));
    }
    let Some(rules) = Platform::catalog().get(&route.type_name.into()) else { return Ok(members) };
    for (name, property) in &rules.schema().properties {
        if let Some(text) = matches.get_one::<String>(&format!("property.{name}")) {
            let value = value(property, text)
                .map_err(|expected| format!("`--{}` must be {expected}", kebab(name)))?;
            members.insert(name.to_string(), value);
        }
    }
    Ok(members)
}

/// A flag's text as the JSON that its property wants. `null` clears what can be null.
fn value(property: &PropertySchema, text: &str) -> Result<Value, &'static str> {
    if property.nullable && text == "null" {
        return Ok(Value::Null);
    }
    let parsed = || serde_json::from_str::<Value>(text).ok();
    match property.kind {
        Kind::String => Ok(Value::from(text)),
        Kind::Any => Ok(parsed().unwrap_or_else(|| Value::from(text))),
        Kind::Boolean => parsed().filter(Value::is_boolean).ok_or("`true` or `false`"),
        Kind::Integer => parsed().filter(|value| value.is_i64() || value.is_u64()).ok_or("a whole number"),
        Kind::Number => parsed().filter(Value::is_number).ok_or("a number"),
        Kind::Array => parsed().filter(Value::is_array).ok_or("a JSON array"),
        Kind::Object => parsed().filter(Value::is_object).ok_or("a JSON object"),
    }
}

fn query(route: &RestRoute, matches: &ArgMatches) -> BTreeMap<String, String> {
    let filters = route.list_filters.iter().copied().chain(["limit", "offset"]);
    filters
        .filter_map(|filter| Some((filter.to_owned(), matches.get_one::<String>(&kebab(filter))?.clone())))
        .collect()
}
