//! The registration file (seed 4, "Configuration"): read once at boot, and refused as a whole if
//! anything in it is wrong, since half a registration would publish a type whose every deploy
//! fails.

use crate::CustomTypes;
use crate::custom_type::{Capability, CustomType, Handler};
use crate::endpoint::Endpoint;
use crate::shape::Shape;
use formwork_model::{Json, Secret, TypeName};
use serde_json::Map;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILE_KEYS: [&str; 1] = ["resource_types"];
const ENTRY_KEYS: [&str; 6] =
    ["name", "description", "handler", "capabilities", "write_only_properties", "schema"];
const HANDLER_KEYS: [&str; 3] = ["url", "secret_env", "timeout_seconds"];

/// How long a handler may take where its registration does not say (`formations-behaviour.md` §4.1).
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// A lease is held for as long as a call may take, so this has a bound.
const LONGEST_TIMEOUT_SECONDS: f64 = 86_400.0;

/// Why a registration file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RegistrationError {
    /// It can't be read.
    #[error("Could not read formation resource type config ({}): {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        reason: std::io::Error,
    },
    /// It is not JSON.
    #[error("Could not parse formation resource type config ({}): {reason}", file.display())]
    Unparsable {
        /// The file.
        file: PathBuf,
        /// What is wrong, with line and column.
        reason: serde_json::Error,
    },
    /// It is not a registration file, or some of its entries are wrong. All that is wrong is here.
    #[error("{}", InLines { file, problems })]
    Invalid {
        /// The file.
        file: PathBuf,
        /// What is wrong, entry by entry.
        problems: Vec<Problem>,
    },
}

/// One thing that is wrong with a registration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The entry it is about, counted from 0; `None` for the file as such.
    pub entry: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(index) => write!(f, "resource_types[{index}]: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// One line per problem, each of which names the file.
struct InLines<'a> {
    file: &'a Path,
    problems: &'a [Problem],
}

impl fmt::Display for InLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            let line_break = if number == 0 { "" } else { "\n" };
            let file = self.file.display();
            write!(f, "{line_break}Invalid formation resource type config ({file}): {problem}")?;
        }
        Ok(())
    }
}

/// What a registration file is read against.
pub struct Surroundings<'a> {
    /// The types that exist already.
    pub built_in: &'a [TypeName],
    /// The value of an environment variable; `None` if it is not set.
    pub variable: &'a dyn Fn(&str) -> Option<Secret<String>>,
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("built_in", &self.built_in).finish_non_exhaustive()
    }
}

impl CustomTypes {
    /// Reads a registration file.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once.
    pub fn load(file: &Path, surroundings: &Surroundings<'_>) -> Result<Self, RegistrationError> {
        let text = std::fs::read_to_string(file)
            .map_err(|reason| RegistrationError::Unreadable { file: file.to_owned(), reason })?;
        Self::parse(file, &text, surroundings)
    }

    /// Reads the text of a registration file.
    ///
    /// # Errors
    /// Everything that is wrong with it, at once.
    pub fn parse(
        file: &Path,
        text: &str,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, RegistrationError> {
        let value: Json = serde_json::from_str(text)
            .map_err(|reason| RegistrationError::Unparsable { file: file.to_owned(), reason })?;
        let mut reading = Reading { surroundings, entry: None, problems: Vec::new() };
        let types = reading.file(value);
        if reading.problems.is_empty() {
            return Ok(Self::of(types));
        }
        Err(RegistrationError::Invalid { file: file.to_owned(), problems: reading.problems })
    }
}

/// A file that is being read.
struct Reading<'a> {
    surroundings: &'a Surroundings<'a>,
    entry: Option<usize>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(Problem { entry: self.entry, message: message.into() });
    }

    fn file(&mut self, value: Json) -> Vec<CustomType> {
        let Json::Object(mut members) = value else {
            self.problem("must be a JSON object");
            return Vec::new();
        };
        self.known_keys("", &members, &FILE_KEYS);
        let Some(Json::Array(entries)) = members.remove("resource_types") else {
            self.problem("`resource_types` must be an array");
            return Vec::new();
        };
        let mut names = BTreeSet::new();
        let mut types = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            self.entry = Some(index);
            types.extend(self.entry(entry, &mut names));
        }
        self.entry = None;
        types
    }

    fn known_keys(&mut self, place: &str, members: &Map<String, Json>, known: &[&str]) {
        for key in members.keys().filter(|key| !known.contains(&key.as_str())) {
            self.problem(format!("Unknown key '{place}{key}'. Allowed: {}", known.join(", ")));
        }
    }

    /// An entry; `None` if anything in it is wrong, all of which is then reported.
    fn entry(&mut self, entry: Json, names: &mut BTreeSet<TypeName>) -> Option<CustomType> {
        let Json::Object(mut members) = entry else {
            self.problem("must be an object");
            return None;
        };
        self.known_keys("", &members, &ENTRY_KEYS);
        let name = self.name(members.get("name"), names);
        let description = self.description(members.get("description"));
        let handler = self.handler(members.get("handler"));
        let capabilities = self.capabilities(members.get("capabilities"));
        let write_only = self.write_only(members.get("write_only_properties"), members.get("schema"));
        // A type without a usable name is refused anyway; its schema can still be looked at.
        let shape_name = name.clone().unwrap_or_else(|| "?".into());
        let schema = members.remove("schema").unwrap_or_default();
        let shape = match Shape::read(&shape_name, &description, schema, &write_only) {
            Ok(shape) => shape,
            Err(unusable) => {
                self.problem(unusable.to_string());
                return None;
            }
        };
        Some(CustomType::new(name?, handler?, &capabilities?, shape))
    }

    fn name(&mut self, declared: Option<&Json>, names: &mut BTreeSet<TypeName>) -> Option<TypeName> {
        let Some(name) = declared.and_then(Json::as_str).filter(|name| !name.is_empty()) else {
            self.problem("`name` is required");
            return None;
        };
        if !is_type_name(name) {
            self.problem("`name` must match ^[a-z][a-z0-9_]*$ — the same spelling built-in types use");
            return None;
        }
        let type_name = TypeName::from(name);
        if self.surroundings.built_in.contains(&type_name) {
            self.problem(format!("'{name}' is a built-in formation resource type and cannot be redefined"));
            return None;
        }
        if !names.insert(type_name.clone()) {
            self.problem(format!("'{name}' is declared more than once"));
            return None;
        }
        Some(type_name)
    }

    fn description(&mut self, declared: Option<&Json>) -> String {
        match declared {
            None => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(_) => {
                self.problem("`description` must be a string");
                String::new()
            }
        }
    }

    fn handler(&mut self, declared: Option<&Json>) -> Option<Handler> {
        let Some(Json::Object(members)) = declared else {
            self.problem("`handler` must be an object");
            return None;
        };
        self.known_keys("handler.", members, &HANDLER_KEYS);
        let endpoint = self.url(members.get("url"));
        let secret = self.secret(members.get("secret_env"));
        let timeout = self.timeout(members.get("timeout_seconds"));
        Some(Handler { endpoint: endpoint?, secret: secret?, timeout: timeout? })
    }

    fn url(&mut self, declared: Option<&Json>) -> Option<Endpoint> {
        let endpoint = declared.and_then(Json::as_str).and_then(Endpoint::parse);
        if endpoint.is_none() {
            self.problem("`handler.url` must be an http(s) URL");
        }
        endpoint
    }

    fn secret(&mut self, declared: Option<&Json>) -> Option<Secret<String>> {
        let name = declared.and_then(Json::as_str).filter(|name| {
            // What no variable can be called would have to be looked up in vain.
            !name.is_empty() && !name.contains(['=', '\0'])
        });
        let Some(name) = name else {
            self.problem("`handler.secret_env` must be a string naming an environment variable");
            return None;
        };
        let secret = (self.surroundings.variable)(name).filter(|value| !value.expose().is_empty());
        if secret.is_none() {
            self.problem(format!("environment variable `{name}` is not set or is empty"));
        }
        secret
    }

    fn timeout(&mut self, declared: Option<&Json>) -> Option<Duration> {
        let Some(declared) = declared else { return Some(DEFAULT_TIMEOUT) };
        // A timeout that rounds to no milliseconds would let no call pass.
        let seconds = declared.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0005);
        let Some(seconds) = seconds else {
            self.problem("`handler.timeout_seconds` must be a positive number");
            return None;
        };
        if seconds > LONGEST_TIMEOUT_SECONDS {
            self.problem(format!("`handler.timeout_seconds` must be at most {LONGEST_TIMEOUT_SECONDS}"));
            return None;
        }
        Some(Duration::from_secs_f64((seconds * 1000.0).round() / 1000.0))
    }

    fn capabilities(&mut self, declared: Option<&Json>) -> Option<Vec<Capability>> {
        let Some(declared) = declared else { return Some(Vec::new()) };
        let Json::Array(entries) = declared else {
            self.problem("`capabilities` must be an array");
            return None;
        };
        let mut capabilities = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = formwork_model::as_text(entry);
            match Capability::parse(entry) {
                Some(capability) => capabilities.push(capability),
                None => {
                    self.problem(format!("Unknown capability '{name}'. Allowed: {}", Capability::allowed()));
                }
            }
        }
        (capabilities.len() == entries.len()).then_some(capabilities)
    }

    /// The names of the write-only properties. One that the schema does not declare would protect
    /// nothing, and a credential would be stored that nobody goes looking for.
    fn write_only(&mut self, declared: Option<&Json>, schema: Option<&Json>) -> Vec<String> {
        let Some(declared) = declared else { return Vec::new() };
        let names: Option<Vec<String>> = declared
            .as_array()
            .and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        let Some(names) = names else {
            self.problem("`write_only_properties` must be an array of strings");
            return Vec::new();
        };
        let properties = schema.and_then(|schema| schema.get("properties")).and_then(Json::as_object);
        // Where there are no properties at all, that is the problem.
        for name in names.iter().filter(|name| properties.is_some_and(|known| !known.contains_key(*name))) {
            self.problem(format!("`write_only_properties` names '{name}', which `schema` does not declare"));
        }
        names
    }
}

/// `^[a-z][a-z0-9_]*$`
fn is_type_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '_'))
}
