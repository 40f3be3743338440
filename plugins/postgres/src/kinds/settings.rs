//! Settings of roles and databases: `ALTER … SET`.

use crate::failure::Failure;
use crate::session::Session;
use crate::sql::{Name, Text, literal};
use formwork_model::Json;
use std::collections::BTreeMap;

/// Settings by name.
pub(super) type Settings = BTreeMap<String, Text>;

/// Settings whose value is a list of names, each of which PostgreSQL quotes by itself.
const LISTS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
];

/// Reads them as JSON; `$role` and `$database` are SQL for the two oids.
pub(super) fn query(role: &str, database: &str) -> String {
    format!(
        "(SELECT json_object_agg(split_part(s, '=', 1), substr(s, strpos(s, '=') + 1) ORDER BY s) \
         FROM pg_db_role_setting AS kept, unnest(kept.setconfig) AS u(s) \
         WHERE kept.setrole = {role} AND kept.setdatabase = {database})"
    )
}

/// Makes the settings of an object (`ROLE "x"`) what they should be.
pub(super) async fn set(
    session: &Session,
    object: &str,
    wanted: Option<Settings>,
    current: Option<&Json>,
) -> Result<(), Failure> {
    let Some(wanted) = wanted else { return Ok(()) };
    let none = serde_json::Map::new();
    let current = current.and_then(|current| current.get("settings")?.as_object()).unwrap_or(&none);
    for name in current.keys().filter(|name| !wanted.contains_key(*name)) {
        session.run(&format!("ALTER {object} RESET {}", variable(name)?)).await?;
    }
    for (name, value) in &wanted {
        if current.get(name).and_then(Json::as_str) != Some(value.as_str()) {
            session.run(&format!("ALTER {object} {}", assignment(name, value)?)).await?;
        }
    }
    Ok(())
}

/// `SET name TO value`.
pub(super) fn assignment(name: &str, value: &Text) -> Result<String, Failure> {
    let value = if is_list(name) {
        let literals: Vec<_> = items(value.as_str()).iter().map(|item| literal(item)).collect();
        if literals.is_empty() { "''".to_owned() } else { literals.join(", ") }
    } else {
        value.literal()
    };
    Ok(format!("SET {} TO {value}", variable(name)?))
}

/// Takes the declared spelling of lists.
pub(super) fn respell(found: &mut Json, declared: &Json) {
    let Some(declared) = declared.get("settings").and_then(Json::as_object) else { return };
    let Some(found) = found.get_mut("settings").and_then(Json::as_object_mut) else { return };
    for (name, value) in found.iter_mut().filter(|(name, _)| is_list(name)) {
        if let (Some(one), Some(other)) = (value.as_str(), declared.get(name).and_then(Json::as_str))
            && items(one) == items(other)
        {
            *value = other.into();
        }
    }
}

fn is_list(name: &str) -> bool {
    LISTS.iter().any(|list| list.eq_ignore_ascii_case(name))
}

/// The name of a setting, which may have a prefix.
fn variable(name: &str) -> Result<String, Failure> {
    let parts: Result<Vec<_>, _> = name.split('.').map(|part| Name::try_from(part.to_owned())).collect();
    match parts {
        Ok(parts) if parts.len() <= 2 => Ok(parts.iter().map(Name::quoted).collect::<Vec<_>>().join(".")),
        _ => Err(Failure::invalid(format!("`settings`: `{name}` is not the name of a setting"))),
    }
}

/// The names in a list; what is not quoted is in lower case.
fn items(list: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut quoted = false;
    let mut rest = list.chars().peekable();
    while let Some(next) = rest.next() {
        match next {
            '"' if quoted && rest.next_if_eq(&'"').is_some() => item.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => items.push(std::mem::take(&mut item)),
            _ if quoted => item.push(next),
            _ if next.is_whitespace() => {}
            _ => item.extend(next.to_lowercase()),
        }
    }
    items.push(item);
    items.retain(|item| !item.is_empty());
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_taken_apart() {
        assert_eq!(items("\"$user\", Public,\"A \"\"b\"\", c\""), ["$user", "public", "A \"b\", c"]);
        assert!(items("").is_empty() && items(" , ").is_empty());
    }

    #[test]
    fn names_of_settings_are_quoted() {
        assert_eq!(variable("work_mem"), Ok("\"work_mem\"".to_owned()));
        assert_eq!(variable("app.x\" TO 1"), Ok("\"app\".\"x\"\" TO 1\"".to_owned()));
        assert!(variable("a.b.c").is_err() && variable("").is_err());
    }
}
