//! `configure`: a profile of the file that commands connect with (`formations-behaviour.md` §1.5).

use super::CommandError;
use crate::args::{Configure, Global};
use crate::exit::Exit;
use crate::session::SessionError;
use crate::ui::json;
use formwork_api::Endpoint;
use formwork_config::{ConfigError, Environment, Profiles, name};
use serde_json::{Map, Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The most bytes of a token on standard input.
const MAX_TOKEN: u64 = 64 << 10;

/// Writes a profile; what the file says of others stays. The token is never shown.
pub(crate) fn run(global: &Global, arguments: &Configure) -> Result<Exit, CommandError> {
    let environment = Environment::from_process();
    let profile = global.profile.as_deref().unwrap_or("default");
    if let Some(url) = &arguments.base_url {
        url.parse::<Endpoint>().map_err(SessionError::Endpoint)?;
    }
    let given = arguments.token.as_ref().map(formwork_secret::Secret::expose);
    let token = given.map(|token| token_of(token, &environment)).transpose()?;
    let path = file(&environment)?;
    let mut profiles = read(&path)?;
    let entry = profiles.entry(profile).or_insert_with(|| json!({}));
    for (key, value) in [("baseUrl", arguments.base_url.clone()), ("token", token)] {
        if let Some(value) = value {
            entry[key] = Value::from(value);
        }
    }
    if entry["baseUrl"].as_str().is_none() {
        let message = format!("the profile `{profile}` has no server yet: give --base-url too");
        return Err(CommandError::Argument(message));
    }
    let answer = json!({
        "profile": profile,
        "base_url": entry["baseUrl"],
        "token": if entry["token"].is_string() { "set" } else { "none" },
        "file": path,
    });
    write(&path, &Value::Object(profiles))?;
    json::print(&answer)?;
    Ok(Exit::Done)
}

/// The file, where it really is: a link to it stays one.
fn file(environment: &Environment) -> Result<PathBuf, CommandError> {
    let path = Profiles::files(environment).into_iter().next().ok_or_else(|| {
        CommandError::Argument("there is no place for profiles: `HOME` is not set".to_owned())
    })?;
    Ok(fs::canonicalize(&path).unwrap_or(path))
}

/// The token of the flag, of the environment, or of standard input.
fn token_of(flag: &str, environment: &Environment) -> Result<String, CommandError> {
    let token = if flag != "-" {
        flag.to_owned()
    } else if let Some(token) = environment.text(name::TOKEN)? {
        token.to_owned()
    } else {
        let mut text = String::new();
        io::stdin().lock().take(MAX_TOKEN).read_to_string(&mut text).map_err(|error| {
            CommandError::Argument(format!("cannot read the token from standard input: {}", error.kind()))
        })?;
        text
    };
    let token = token.trim();
    if token.is_empty() || token.contains(|letter: char| letter.is_control() || letter.is_whitespace()) {
        let message = "a token is one line of text without spaces, and not empty".to_owned();
        return Err(CommandError::Argument(message));
    }
    Ok(token.to_owned())
}

/// The profiles that are there, checked: a file that commands could not read is not written over.
fn read(path: &Path) -> Result<Map<String, Value>, CommandError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(source) => return Err(ConfigError::Io { action: "read", path: path.to_owned(), source }.into()),
    };
    Profiles::default().add(path, &text)?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(profiles)) => Ok(profiles),
        // `add` has refused any other.
        _ => Ok(Map::new()),
    }
}

/// Replaces the file in one step, readable by its owner alone.
fn write(path: &Path, profiles: &Value) -> Result<(), CommandError> {
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |source| CommandError::from(ConfigError::Io { action, path, source })
    };
    let directory = path.parent().unwrap_or(path);
    fs::create_dir_all(directory).map_err(failed("create", directory))?;
    let new = path.with_extension("json.new");
    // A left-over of a process that died may have other permissions.
    let _ = fs::remove_file(&new);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .map_err(failed("create", &new))?;
    let text = format!("{profiles:#}\n");
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed("write", &new))?;
    fs::rename(&new, path).map_err(failed("write", path))?;
    // The name is durable when its directory is; where that can't be asked for, it comes by itself.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}
