//! Commands of the resource types, made from their routes and schemas: `create-agent`, `list-agents`,
//! `get-agent`, `update-agent`, `delete-agent`.

use super::kebab;
use crate::parameters::json_problem;
use clap::{Arg, ArgAction, ArgMatches, Command};
use formwork_api::{Client, json::JsonError};
use formwork_model::{Kind, PropertySchema, Schema};
use formwork_platform::{
    ActionBody, ActionField, RestAction, RestRoute, UpdateMode, rest_routes, rest_schema,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The flag of an action that takes texts by name.
const TEXTS: &str = "texts";

/// A command on a resource type.
#[derive(Debug)]
pub(crate) struct ResourceCall {
    pub(crate) route: &'static RestRoute,
    /// The item whose collection it is about.
    parent: Option<String>,
    pub(crate) action: ResourceAction,
}

/// What to do.
pub(crate) enum ResourceAction {
    Create {
        body: Result<Map<String, Value>, String>,
    },
    List {
        query: BTreeMap<String, String>,
    },
    Get {
        id: String,
    },
    Update {
        id: String,
        body: Result<Map<String, Value>, String>,
    },
    Delete {
        id: String,
        force: bool,
    },
    Act {
        id: String,
        action: &'static RestAction,
        body: Result<Option<Map<String, Value>>, String>,
    },
    /// A page of what an action lists.
    Related {
        id: String,
        path: &'static str,
        query: BTreeMap<String, String>,
    },
}

/// Without the values of properties: they may be credentials.
impl fmt::Debug for ResourceAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { .. } => formatter.debug_struct("Create").finish_non_exhaustive(),
            Self::List { query } => formatter.debug_struct("List").field("query", query).finish(),
            Self::Get { id } => formatter.debug_struct("Get").field("id", id).finish(),
            Self::Update { id, .. } => {
                formatter.debug_struct("Update").field("id", id).finish_non_exhaustive()
            }
            Self::Delete { id, force } => {
                formatter.debug_struct("Delete").field("id", id).field("force", force).finish()
            }
            Self::Related { id, path, query } => {
                let mut shown = formatter.debug_struct("Related");
                shown.field("id", id).field("path", path).field("query", query).finish()
            }
            Self::Act { id, action, .. } => {
                let mut shown = formatter.debug_struct("Act");
                shown.field("id", id).field("action", &action.operation).finish_non_exhaustive()
            }
        }
    }
}

/// Adds the commands of all types.
pub(super) fn add_commands(tree: Command) -> Command {
    rest_routes().iter().fold(tree, |tree, route| {
        let Some((_, schema)) = rest_schema(route.type_name) else { return tree };
        tree.subcommands(commands(route, &schema))
    })
}

fn commands(route: &'static RestRoute, schema: &Schema) -> Vec<Command> {
    let mut all = Vec::new();
    if let Some(create) = route.create {
        all.push(
            command(create)
                .arg(text("project-id", "The project; the credential's own if left out"))
                .args(property_flags(schema)),
        );
    }
    let filters = route.list_filters.iter().filter(|filter| !is_parent(route, filter));
    all.push(
        command(route.list)
            .args(page_flags())
            .args(filters.map(|filter| text(&kebab(filter), "Only those with this")))
            .args(parent_flag(route)),
    );
    all.push(command(route.get).args(id_flags(route)).args(parent_flag(route)));
    if let Some(update) = route.update {
        all.push(command(update).args(id_flags(route)).args(property_flags(schema)));
    }
    if let Some(delete) = route.delete {
        let force = Arg::new("force").long("force").action(ArgAction::SetTrue);
        let force = route.force.then(|| force.help("Take its dependents along"));
        all.push(command(delete).args(id_flags(route)).args(parent_flag(route)).args(force));
    }
    let act = |action: &RestAction| {
        let command = command(action.operation).args(id_flags(route));
        let page = action.lists.is_some().then(page_flags);
        command.args(parent_flag(route)).args(action_flags(action)).args(page.into_iter().flatten())
    };
    all.extend(route.actions.iter().map(act));
    all
}

/// Which page of a list.
fn page_flags() -> [Arg; 2] {
    [
        text("limit", "How many to show, at most 100").value_name("N"),
        text("offset", "How many to pass over").value_name("N"),
    ]
}

fn command(operation: &str) -> Command {
    let name = kebab_name(operation);
    let about = about(&name);
    Command::new(name).about(about)
}

/// What a command does, from its name: `create-ai-provider` is "Make an AI provider".
fn about(name: &str) -> String {
    let (verb, object) = name.split_once('-').unwrap_or((name, ""));
    let verb = match verb {
        "create" => "Make".to_owned(),
        "get" => "Show".to_owned(),
        "update" => "Change".to_owned(),
        verb => capitalised(verb),
    };
    let words: Vec<&str> = object.split('-').map(spelled).collect();
    let object = words.join(" ");
    format!("{verb} {}{object}", article(&object))
}

fn spelled(word: &str) -> &str {
    match word {
        "ai" => "AI",
        "api" => "API",
        word => word,
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What stands before one thing of its kind; nothing before several, and what isn't counted.
fn article(object: &str) -> &'static str {
    let uncounted = ["s", "content", "metadata"];
    if object.is_empty() || uncounted.iter().any(|end| object.ends_with(end)) {
        ""
    } else if object.starts_with(['a', 'e', 'i', 'o', 'A']) {
        "an "
    } else {
        "a "
    }
}

fn is_parent(route: &RestRoute, property: &str) -> bool {
    route.parent.is_some_and(|parent| parent.property == property)
}

/// The flag that names the item whose collection it is about. Commands with a flag for each
/// property have it among those, under the same name.
fn parent_flag(route: &RestRoute) -> Option<Arg> {
    let parent = route.parent?;
    let flag = Arg::new(format!("property.{}", parent.property)).long(kebab(parent.property));
    Some(flag.value_name("ID").help("Whose").required(true))
}

/// The call of a parsed command, if it is one of a resource type.
pub(super) fn call(name: &str, matches: &ArgMatches) -> Option<ResourceCall> {
    rest_routes().iter().find_map(|route| {
        let is = |operation: &str| name == kebab_name(operation);
        let action = if route.create.is_some_and(is) {
            ResourceAction::Create { body: body(route, matches, true) }
        } else if is(route.list) {
            ResourceAction::List { query: query(route, matches) }
        } else if is(route.get) {
            ResourceAction::Get { id: id(matches) }
        } else if route.update.is_some_and(is) {
            ResourceAction::Update { id: id(matches), body: body(route, matches, false) }
        } else if route.delete.is_some_and(is) {
            let force = route.force && matches.get_flag("force");
            ResourceAction::Delete { id: id(matches), force }
        } else if let Some(action) = route.actions.iter().find(|action| is(action.operation)) {
            if action.lists.is_some() {
                let query = given(matches, ["limit", "offset"]);
                let listing = ResourceAction::Related { id: id(matches), path: action.path, query };
                return Some(ResourceCall { route, parent: parent(route, matches), action: listing });
            }
            ResourceAction::Act { id: id(matches), action, body: action_body(action, matches) }
        } else {
            return None;
        };
        Some(ResourceCall { route, parent: parent(route, matches), action })
    })
}

fn parent(route: &RestRoute, matches: &ArgMatches) -> Option<String> {
    let property = route.parent?.property;
    matches.get_one::<String>(&format!("property.{property}")).cloned()
}

impl ResourceCall {
    /// The path of the collection.
    pub(crate) fn collection(&self) -> String {
        let Some(parent) = self.route.parent else { return self.route.path.to_owned() };
        let id = Client::segment(self.parent.as_deref().unwrap_or_default());
        self.route.path.replacen(&format!("{{{}}}", parent.property), &id, 1)
    }

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
            .value_name(value_name(property.kind))
            .help(help)
            .allow_hyphen_values(true)
    })
}

/// The flags of what an action takes.
fn action_flags(action: &RestAction) -> Vec<Arg> {
    match action.takes {
        ActionBody::Nothing => Vec::new(),
        ActionBody::Texts => {
            let flag = Arg::new(TEXTS).long(action.path).value_name("JSON").required(true);
            vec![flag.help("An object of texts by name")]
        }
        ActionBody::Fields(fields) => {
            let flag = |field: &ActionField| {
                Arg::new(format!("field.{}", field.name))
                    .long(kebab(field.name))
                    .value_name(value_name(field.kind))
                    .help(field.doc.trim_end_matches('.').to_owned())
                    .required(field.required)
                    .allow_hyphen_values(true)
            };
            fields.iter().map(flag).collect()
        }
    }
}

/// The body that an action's flags make; `None` for one that takes none.
fn action_body(action: &RestAction, matches: &ArgMatches) -> Result<Option<Map<String, Value>>, String> {
    let mut members = Map::new();
    match action.takes {
        ActionBody::Nothing => return Ok(None),
        ActionBody::Texts => {
            let text = matches.get_one::<String>(TEXTS).map_or("", String::as_str);
            let texts = parsed(Kind::Object, text)
                .map_err(|expected| format!("`--{}` must be {expected}", action.path))?;
            members.extend(texts.as_object().cloned().unwrap_or_default());
        }
        ActionBody::Fields(fields) => {
            for field in fields {
                let Some(text) = matches.get_one::<String>(&format!("field.{}", field.name)) else {
                    continue;
                };
                let value = parsed(field.kind, text)
                    .map_err(|expected| format!("`--{}` must be {expected}", kebab(field.name)))?;
                members.insert(field.name.to_owned(), value);
            }
        }
    }
    Ok(Some(members))
}

fn value_name(kind: Kind) -> &'static str {
    match kind {
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
    let Some((_, schema)) = rest_schema(route.type_name) else { return Ok(members) };
    for (name, property) in &schema.properties {
        if let Some(text) = matches.get_one::<String>(&format!("property.{name}")) {
            let value = value(property, text)
                .map_err(|expected| format!("`--{}` must be {expected}", kebab(name)))?;
            members.insert(name.to_string(), value);
        }
    }
    Ok(members)
}

/// A flag's text as the JSON that its property wants. `null` clears what can be null.
fn value(property: &PropertySchema, text: &str) -> Result<Value, String> {
    if property.nullable && text == "null" {
        return Ok(Value::Null);
    }
    parsed(property.kind, text)
}

/// A flag's text as JSON, by the rules that its request is read by.
fn json(text: &str) -> Result<Value, JsonError> {
    formwork_api::json::parse(text.as_bytes(), formwork_api::json::REQUEST_DEPTH)
}

/// A flag's text as JSON of a kind, or what it must be and why it is not.
fn parsed(kind: Kind, text: &str) -> Result<Value, String> {
    let parsed = |fits: fn(&Value) -> bool, expected: &str| match json(text) {
        Ok(value) if fits(&value) => Ok(value),
        Ok(_) => Err(expected.to_owned()),
        Err(error) => Err(format!("{expected}: {}", json_problem(&error))),
    };
    match kind {
        Kind::String => Ok(Value::from(text)),
        Kind::Any => Ok(json(text).unwrap_or_else(|_| Value::from(text))),
        Kind::Boolean => parsed(Value::is_boolean, "`true` or `false`"),
        Kind::Integer => parsed(|value| value.is_i64() || value.is_u64(), "a whole number"),
        Kind::Number => parsed(Value::is_number, "a number"),
        Kind::Array => parsed(Value::is_array, "a JSON array"),
        Kind::Object => parsed(Value::is_object, "a JSON object"),
    }
}

fn query(route: &RestRoute, matches: &ArgMatches) -> BTreeMap<String, String> {
    let filters = route.list_filters.iter().copied().filter(|filter| !is_parent(route, filter));
    given(matches, filters.chain(["limit", "offset"]))
}

/// The query parameters that were given.
fn given<'a>(matches: &ArgMatches, names: impl IntoIterator<Item = &'a str>) -> BTreeMap<String, String> {
    let value = |name: &str| matches.get_one::<String>(&kebab(name)).cloned();
    names.into_iter().filter_map(|name| Some((name.to_owned(), value(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_in_a_sentence_what_it_does() {
        let said = [
            ("create-ai-provider", "Make an AI provider"),
            ("list-api-keys", "List API keys"),
            ("get-memory-entry", "Show a memory entry"),
            ("update-file-metadata", "Change file metadata"),
            ("get-actor-tags", "Show actor tags"),
            ("run-eval", "Run an eval"),
            ("purge-trace-content", "Purge trace content"),
            ("rotate-webhook-secret", "Rotate a webhook secret"),
        ];
        for (name, sentence) in said {
            assert_eq!(about(name), sentence);
        }
    }

    #[test]
    fn json_that_cannot_be_read_says_why_and_quotes_no_value() {
        let wrong = |kind, text| parsed(kind, text).expect_err("wrong");
        for (text, message) in [
            (r#"{"a":"canary","a":2}"#, "a JSON object: the key `a` stands twice in one object"),
            (r#"{"a":canary}"#, "a JSON object: syntax error at column"),
            ("[1]", "a JSON object"),
        ] {
            let told = wrong(Kind::Object, text);
            assert!(told.starts_with(message) && !told.contains("canary"), "{told}");
        }
        assert_eq!(wrong(Kind::Integer, "1.5"), "a whole number");
        assert!(
            wrong(Kind::Integer, "99999999999999999999")
                .starts_with("a whole number: an integer does not fit")
        );
    }

    #[test]
    fn printing_a_command_shows_no_property() {
        let body: Map<String, Value> = [("value".to_owned(), Value::from("canary"))].into_iter().collect();
        let create = ResourceAction::Create { body: Ok(body.clone()) };
        let update = ResourceAction::Update { id: "sec_1".to_owned(), body: Ok(body) };
        let shown = format!("{create:?} {update:?}");
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains("sec_1"), "{shown}");
    }
}
