//! Which server a command talks to, and with which token (`formations-behaviour.md` §1.5).

use crate::{ConfigError, Environment, Profiles, name};
use formwork_secret::Secret;

/// What a person asked for on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionRequest<'a> {
    /// `--profile`.
    pub profile: Option<&'a str>,
}

/// The server that a command talks to.
#[derive(Clone, Debug)]
pub enum Connection {
    /// The agent of the data directory; the command becomes one if none is running.
    Local {
        /// The token to send in place of the admin token.
        token: Option<Secret<String>>,
    },
    /// A server elsewhere.
    Remote {
        /// Where it is.
        base_url: String,
        /// The token to send; `None`: the server will refuse what needs one.
        token: Option<Secret<String>>,
    },
}

impl Connection {
    /// Resolves a connection: both URL and token from the environment; else the profile that the
    /// command line, then the environment, then the name `default` names, its URL replaced by that
    /// of the environment where there is one; else the URL of the environment alone, without a
    /// token. `FORMWORK_…` variables win over their `SOAT_…` twins, each on its own.
    ///
    /// Where nothing at all is configured, the reference refuses; here the command talks to the
    /// agent of its own data directory (architecture §7, "Embedded by default").
    ///
    /// # Errors
    /// [`ConfigError::ProfileNotFound`] when a profile was asked for by name and is nowhere,
    /// [`ConfigError::ProfileWithoutUrl`], [`ConfigError::NotText`].
    pub fn resolve(
        request: ConnectionRequest<'_>,
        environment: &Environment,
        profiles: &Profiles,
    ) -> Result<Self, ConfigError> {
        let url = either(environment, name::URL, name::SOAT_BASE_URL)?;
        let token = either(environment, name::TOKEN, name::SOAT_TOKEN)?;
        if let (Some(url), Some(token)) = (url, token) {
            return Ok(Self::Remote { base_url: url.to_owned(), token: Some(Secret::new(token.to_owned())) });
        }
        let token = token.map(|token| Secret::new(token.to_owned()));
        let named = match request.profile {
            Some(name) => Some(name),
            None => either(environment, name::PROFILE, name::SOAT_PROFILE)?,
        };
        match (profiles.get(named.unwrap_or("default")), named, url) {
            (Some(profile), _, url) => {
                let base_url = url.map(str::to_owned).or_else(|| profile.base_url.clone());
                let name = || named.unwrap_or("default").to_owned();
                let base_url = base_url.ok_or_else(|| ConfigError::ProfileWithoutUrl { name: name() })?;
                Ok(Self::Remote { base_url, token: profile.token.clone().or(token) })
            }
            (None, Some(name), None) => Err(ConfigError::ProfileNotFound {
                name: name.to_owned(),
                files: profiles.looked_into().to_vec(),
            }),
            (None, _, Some(url)) => Ok(Self::Remote { base_url: url.to_owned(), token }),
            (None, None, None) => Ok(Self::Local { token }),
        }
    }
}

fn either<'e>(
    environment: &'e Environment,
    first: &'static str,
    second: &'static str,
) -> Result<Option<&'e str>, ConfigError> {
    match environment.text(first)? {
        Some(value) => Ok(Some(value)),
        None => environment.text(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const FILE: &str = r#"{
        "default": {"baseUrl": "http://default", "token": "default-token"},
        "prod": {"baseUrl": "http://prod", "token": "prod-token"},
        "bare": {"token": "bare-token"}
    }"#;

    fn resolved(profile: Option<&str>, pairs: &[(&'static str, &'static str)], file: &str) -> String {
        let mut profiles = Profiles::default();
        profiles.add(Path::new("/home/.soat/config.json"), file).expect("valid");
        let environment = pairs.iter().copied().collect();
        let shown = |token: Option<Secret<String>>| {
            token.map_or_else(|| "no token".to_owned(), |token| token.expose().clone())
        };
        match Connection::resolve(ConnectionRequest { profile }, &environment, &profiles) {
            Ok(Connection::Local { token }) => format!("local, {}", shown(token)),
            Ok(Connection::Remote { base_url, token }) => format!("{base_url}, {}", shown(token)),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn both_variables_are_used_as_they_are() {
        let pairs = [("SOAT_BASE_URL", "http://env"), ("SOAT_TOKEN", "env-token"), ("SOAT_PROFILE", "nope")];
        assert_eq!(resolved(None, &pairs, FILE), "http://env, env-token");
        assert_eq!(resolved(Some("prod"), &pairs, FILE), "http://env, env-token");
    }

    #[test]
    fn our_names_win_over_the_older_ones_each_on_its_own() {
        let pairs =
            [("SOAT_BASE_URL", "http://old"), ("FORMWORK_URL", "http://new"), ("SOAT_TOKEN", "old-token")];
        assert_eq!(resolved(None, &pairs, "{}"), "http://new, old-token");
    }

    #[test]
    fn the_argument_wins_over_the_variable_which_wins_over_default() {
        assert_eq!(resolved(None, &[], FILE), "http://default, default-token");
        assert_eq!(resolved(None, &[("SOAT_PROFILE", "prod")], FILE), "http://prod, prod-token");
        let pairs = [("SOAT_PROFILE", "default")];
        assert_eq!(resolved(Some("prod"), &pairs, FILE), "http://prod, prod-token");
    }

    #[test]
    fn a_url_variable_replaces_the_one_of_the_profile() {
        let pairs = [("SOAT_BASE_URL", "http://env")];
        assert_eq!(resolved(None, &pairs, FILE), "http://env, default-token");
    }

    #[test]
    fn a_url_alone_is_an_anonymous_client() {
        let pairs = [("SOAT_BASE_URL", "http://env")];
        assert_eq!(resolved(None, &pairs, "{}"), "http://env, no token");
    }

    #[test]
    fn a_named_profile_that_is_nowhere_is_an_error() {
        assert_eq!(
            resolved(Some("x"), &[], FILE),
            "Profile \"x\" not found. Run: soat configure --profile x"
        );
        assert_eq!(
            resolved(None, &[("SOAT_PROFILE", "x")], FILE),
            "Profile \"x\" not found. Run: soat configure --profile x"
        );
    }

    #[test]
    fn a_profile_without_a_server_is_an_error() {
        assert_eq!(resolved(Some("bare"), &[], FILE), "the profile `bare` has no `baseUrl`");
    }

    #[test]
    fn nothing_configured_means_the_agent_of_the_data_directory() {
        assert_eq!(resolved(None, &[], "{}"), "local, no token");
        assert_eq!(resolved(None, &[("FORMWORK_TOKEN", "t")], "{}"), "local, t");
    }
}
