//! Profiles: servers and tokens by name, in files that other tools of the same API share.

use crate::{ConfigError, Environment, name};
use formwork_model::Suggest;
use formwork_secret::Secret;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The settings of a profile, as its file spells them.
const KEYS: [&str; 2] = ["baseUrl", "token"];

/// A server with the token for it.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Where the server is.
    pub base_url: Option<String>,
    /// What to send it.
    pub token: Option<Secret<String>>,
}

/// The profiles of one user, from all files.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    by_name: BTreeMap<String, Profile>,
    files: Vec<PathBuf>,
}

impl Profiles {
    /// The files that hold profiles, first the one that wins.
    pub fn files(environment: &Environment) -> Vec<PathBuf> {
        let home = environment.path(name::HOME);
        let config = environment
            .path(name::XDG_CONFIG_HOME)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(home.as_ref()?.join(".config")));
        let ours = config.map(|config| config.join("formwork/config.json"));
        let theirs = home.map(|home| home.join(".soat/config.json"));
        ours.into_iter().chain(theirs).collect()
    }

    /// Reads the profile files that exist.
    ///
    /// # Errors
    /// [`ConfigError::Io`] when a file is there but cannot be read; those of
    /// [`add`](Self::add).
    pub fn read(environment: &Environment) -> Result<Self, ConfigError> {
        let mut profiles = Self::default();
        for path in Self::files(environment) {
            match fs::read_to_string(&path) {
                Ok(text) => profiles.add(&path, &text)?,
                Err(error) if is_absent(&error) => profiles.files.push(path),
                Err(source) => return Err(ConfigError::Io { action: "read", path, source }),
            }
        }
        Ok(profiles)
    }

    /// Adds the profiles in a file's text. A name that is already there keeps its profile: an
    /// earlier file wins.
    ///
    /// # Errors
    /// [`ConfigError::MalformedProfiles`], [`ConfigError::InvalidProfiles`],
    /// [`ConfigError::UnknownProfileKey`].
    pub fn add(&mut self, path: &Path, text: &str) -> Result<(), ConfigError> {
        let document: Value = serde_json::from_str(text).map_err(|error| ConfigError::MalformedProfiles {
            path: path.to_owned(),
            line: error.line(),
            column: error.column(),
        })?;
        let Value::Object(entries) = document else {
            return Err(invalid(path, "the file".to_owned(), "an object of profiles by name"));
        };
        for (profile, settings) in entries {
            let parsed = parse_profile(path, &profile, settings)?;
            self.by_name.entry(profile).or_insert(parsed);
        }
        self.files.push(path.to_owned());
        Ok(())
    }

    /// The profile of this name.
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.by_name.get(name)
    }

    /// The files that were looked into.
    pub fn looked_into(&self) -> &[PathBuf] {
        &self.files
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn parse_profile(path: &Path, profile: &str, settings: Value) -> Result<Profile, ConfigError> {
    let Value::Object(settings) = settings else {
        return Err(invalid(path, format!("the profile `{profile}`"), "an object"));
    };
    let mut parsed = Profile::default();
    for (key, value) in settings {
        if !KEYS.contains(&key.as_str()) {
            let nearest = Suggest::default().nearest(&key, KEYS);
            return Err(ConfigError::UnknownProfileKey {
                path: path.to_owned(),
                profile: profile.to_owned(),
                key,
                nearest,
            });
        }
        let text = match value {
            Value::String(text) => Some(text).filter(|text| !text.is_empty()),
            Value::Null => None,
            _ => return Err(invalid(path, format!("`{key}` of the profile `{profile}`"), "a string")),
        };
        if key == "token" {
            parsed.token = text.map(Secret::new);
        } else {
            parsed.base_url = text;
        }
    }
    Ok(parsed)
}

fn invalid(path: &Path, place: String, expected: &'static str) -> ConfigError {
    ConfigError::InvalidProfiles { path: path.to_owned(), place, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Profiles, ConfigError> {
        let mut profiles = Profiles::default();
        profiles.add(Path::new("/c.json"), text).map(|()| profiles)
    }

    #[test]
    fn a_profile_has_a_server_and_a_token() {
        let profiles =
            parsed(r#"{"default": {"baseUrl": "http://h", "token": "t"}, "open": {}}"#).expect("valid");
        let default = profiles.get("default").expect("there");
        assert_eq!(default.base_url.as_deref(), Some("http://h"));
        assert_eq!(default.token.as_ref().map(|token| token.expose().as_str()), Some("t"));
        assert!(profiles.get("open").expect("there").token.is_none());
    }

    #[test]
    fn an_earlier_file_wins() {
        let mut profiles = parsed(r#"{"default": {"baseUrl": "http://first"}}"#).expect("valid");
        let second = r#"{"default": {"baseUrl": "http://second"}, "other": {"baseUrl": "http://third"}}"#;
        profiles.add(Path::new("/d.json"), second).expect("valid");
        assert_eq!(profiles.get("default").and_then(|it| it.base_url.as_deref()), Some("http://first"));
        assert_eq!(profiles.get("other").and_then(|it| it.base_url.as_deref()), Some("http://third"));
    }

    #[test]
    fn an_unknown_key_is_an_error_with_a_hint() {
        let error = parsed(r#"{"default": {"base_url": "http://h"}}"#).expect_err("unknown");
        insta::assert_snapshot!(
            format!("{error}\nhint: {}", error.hint().unwrap_or_default()),
            @r"
        `/c.json`: the profile `default` has no setting `base_url`
        hint: did you mean `baseUrl`?
        "
        );
        let error = parsed(r#"{"default": {"colour": "red"}}"#).expect_err("unknown");
        assert_eq!(error.hint().as_deref(), Some("a profile has `baseUrl` and `token`"));
    }

    #[test]
    fn malformed_files_are_errors_that_quote_nothing() {
        let errors = [
            parsed("{\"default\": {\"token\": \"sk_canary\"").expect_err("cut off"),
            parsed(r#"["sk_canary"]"#).expect_err("no object"),
            parsed(r#"{"default": "sk_canary"}"#).expect_err("no object"),
            parsed(r#"{"default": {"token": ["sk_canary"]}}"#).expect_err("no string"),
        ];
        let shown: Vec<_> = errors.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        `/c.json` is not JSON (line 1, column 33)
        `/c.json`: the file must be an object of profiles by name
        `/c.json`: the profile `default` must be an object
        `/c.json`: `token` of the profile `default` must be a string
        ");
        assert!(!format!("{errors:?}").contains("sk_canary"));
    }

    #[test]
    fn both_files_are_looked_into_and_may_be_missing() {
        let home = tempfile::tempdir().expect("a directory");
        let environment = Environment::from_iter([("HOME", home.path())]);
        let profiles = Profiles::read(&environment).expect("nothing there is fine");
        assert_eq!(
            profiles.looked_into(),
            [home.path().join(".config/formwork/config.json"), home.path().join(".soat/config.json")]
        );
        fs::create_dir(home.path().join(".soat")).expect("made");
        fs::write(home.path().join(".soat/config.json"), r#"{"p": {"baseUrl": "http://h"}}"#)
            .expect("written");
        assert!(Profiles::read(&environment).expect("valid").get("p").is_some());
    }
}
