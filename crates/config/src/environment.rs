//! The environment as a value, so that everything made from it can be tested.

use crate::ConfigError;
use formwork_secret::Secret;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// A set of environment variables. An empty variable counts as unset.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The variables of this process.
    pub fn from_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The text of a variable.
    ///
    /// # Errors
    /// [`ConfigError::NotText`] when it is not UTF-8.
    pub fn text(&self, name: &'static str) -> Result<Option<&str>, ConfigError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.to_str().map(Some).ok_or(ConfigError::NotText { name })
    }

    /// The path in a variable, whatever its bytes.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// The value of a variable that a file names, to be kept secret; `None` if it is unset, or not
    /// UTF-8 and so nothing that anybody could have meant.
    pub fn secret(&self, name: &str) -> Option<Secret<String>> {
        self.get(name).and_then(|value| value.to_str()).map(|value| Secret::new(value.to_owned()))
    }

    /// Whether a variable has a value.
    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether a variable says yes.
    ///
    /// # Errors
    /// [`ConfigError::InvalidVariable`] when it is neither a yes nor a no.
    pub fn flag(&self, name: &'static str) -> Result<bool, ConfigError> {
        match self.text(name)? {
            Some("1" | "true") => Ok(true),
            None | Some("0" | "false") => Ok(false),
            Some(value) => {
                let (value, expected) = (value.to_owned(), "`1`, `true`, `0` or `false`");
                Err(ConfigError::InvalidVariable { name, value, expected })
            }
        }
    }

    fn get(&self, name: &str) -> Option<&OsString> {
        self.0.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty())
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn an_empty_variable_is_unset() {
        let environment = Environment::from_iter([("FORMWORK_URL", "")]);
        assert!(!environment.is_set("FORMWORK_URL"));
        assert!(matches!(environment.text("FORMWORK_URL"), Ok(None)));
    }

    #[test]
    fn a_value_that_is_no_text_is_an_error_but_still_a_path() {
        let environment = Environment::from_iter([("HOME", OsString::from_vec(vec![b'/', 0xff]))]);
        assert!(matches!(environment.text("HOME"), Err(ConfigError::NotText { name: "HOME" })));
        assert!(environment.path("HOME").is_some());
    }

    #[test]
    fn a_variable_that_a_file_names_is_secret() {
        let environment = Environment::from_iter([("HANDLER_SECRET", "canary"), ("EMPTY", "")]);
        let secret = environment.secret("HANDLER_SECRET").expect("it is set");
        assert_eq!(secret.expose(), "canary");
        assert!(environment.secret("EMPTY").is_none());
        assert!(environment.secret("NOWHERE").is_none());
    }

    #[test]
    fn a_flag_is_a_yes_or_a_no_and_nothing_else() {
        let flag = |value: &str| Environment::from_iter([("PURGE_DRY_RUN", value)]).flag("PURGE_DRY_RUN");
        for yes in ["1", "true"] {
            assert!(matches!(flag(yes), Ok(true)), "{yes}");
        }
        for no in ["", "0", "false"] {
            assert!(matches!(flag(no), Ok(false)), "{no}");
        }
        assert!(matches!(flag("maybe"), Err(ConfigError::InvalidVariable { .. })));
    }

    #[test]
    fn printing_an_environment_shows_no_values() {
        let environment = Environment::from_iter([("FORMWORK_TOKEN", "sk_canary")]);
        assert_eq!(format!("{environment:?}"), r#"{"FORMWORK_TOKEN"}"#);
    }
}
