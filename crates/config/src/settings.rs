//! What a process is told by its environment, all in one value.

use crate::{ConfigError, DataDir, Database, Environment, name};
use formwork_secret::Secret;
use ipnet::IpNet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The settings of one process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its data directory.
    pub data_dir: DataDir,
    /// Its ledger.
    pub database: Database,
    /// The instance key in hexadecimal, where it does not come from the file.
    pub instance_key: Option<Secret<String>>,
    /// Where it listens besides its Unix socket.
    pub listen: Option<SocketAddr>,
    /// The proxies that are believed who their clients are.
    pub trusted_proxies: Vec<IpNet>,
    /// The name and password of the admin to make where there are no users.
    pub first_admin: Option<(String, Secret<String>)>,
    /// What logins are signed with, where it is not drawn from the instance key.
    pub jwt_secret: Option<Secret<String>>,
    /// The file that registers custom resource types.
    pub resource_types: Option<PathBuf>,
    /// How much it logs.
    pub log: LogLevel,
    /// Whether it may use colour.
    pub color: bool,
}

/// How much a process logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What went wrong.
    Error,
    /// And what may go wrong.
    #[default]
    Warn,
    /// And what happens.
    Info,
    /// And how.
    Debug,
    /// And everything else.
    Trace,
}

impl LogLevel {
    const ALL: [Self; 6] = [Self::Off, Self::Error, Self::Warn, Self::Info, Self::Debug, Self::Trace];

    /// The level as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Settings {
    /// Reads the settings from an environment.
    ///
    /// # Errors
    /// The first variable that cannot be used.
    pub fn from_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let data_dir = DataDir::locate(environment)?;
        let instance_key = environment.text(name::INSTANCE_KEY)?;
        Ok(Self {
            database: Database::parse(environment.text(name::DATABASE_URL)?, &data_dir)?,
            instance_key: instance_key.map(|key| Secret::new(key.trim().to_owned())),
            listen: environment.text(name::LISTEN)?.map(Self::parse_listen).transpose()?,
            trusted_proxies: trusted_proxies(environment)?,
            first_admin: first_admin(environment)?,
            jwt_secret: jwt_secret(environment)?,
            resource_types: environment.path(name::RESOURCE_TYPES),
            log: environment.text(name::LOG)?.map_or(Ok(LogLevel::default()), parse_log)?,
            color: !environment.is_set(name::NO_COLOR),
            data_dir,
        })
    }

    /// Where `agent start --listen` listens when no address is given
    /// (`formations-behaviour.md` §1.1, "default port 5047").
    pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 5047);

    /// Reads an address to listen on: `127.0.0.1:5047`, `[::1]:5047`, `localhost:5047`, or a port
    /// of this machine.
    ///
    /// # Errors
    /// [`ConfigError::InvalidVariable`].
    pub fn parse_listen(text: &str) -> Result<SocketAddr, ConfigError> {
        let port = text.strip_prefix("localhost:").unwrap_or(text);
        let parsed = match port.parse::<u16>() {
            Ok(port) => Some(SocketAddr::new(Self::DEFAULT_LISTEN.ip(), port)),
            Err(_) => text.parse().ok(),
        };
        parsed.ok_or_else(|| ConfigError::InvalidVariable {
            name: name::LISTEN,
            value: text.to_owned(),
            expected: "an address and port such as `127.0.0.1:5047`",
        })
    }
}

fn first_admin(environment: &Environment) -> Result<Option<(String, Secret<String>)>, ConfigError> {
    let (username, password) =
        (environment.text(name::ADMIN_USERNAME)?, environment.text(name::ADMIN_PASSWORD)?);
    match (username, password) {
        (Some(username), Some(password)) => Ok(Some((username.to_owned(), Secret::new(password.to_owned())))),
        (None, None) => Ok(None),
        (Some(_), None) => {
            Err(ConfigError::Incomplete { set: name::ADMIN_USERNAME, unset: name::ADMIN_PASSWORD })
        }
        (None, Some(_)) => {
            Err(ConfigError::Incomplete { set: name::ADMIN_PASSWORD, unset: name::ADMIN_USERNAME })
        }
    }
}

/// One that trusts every address is refused: then anybody could be anybody.
fn trusted_proxies(environment: &Environment) -> Result<Vec<IpNet>, ConfigError> {
    let Some(text) = environment.text(name::TRUSTED_PROXIES)? else { return Ok(Vec::new()) };
    let network = |part: &str| {
        let part = part.trim();
        let address = part.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
        address.or_else(|_| part.parse()).ok().filter(|network: &IpNet| network.prefix_len() > 0)
    };
    let parsed: Option<Vec<IpNet>> = text.split(',').map(network).collect();
    parsed.ok_or_else(|| ConfigError::InvalidVariable {
        name: name::TRUSTED_PROXIES,
        value: text.to_owned(),
        expected: "addresses or networks with commas between, such as `10.0.0.5, fd00::/8`",
    })
}

/// The fewest bytes of a key for HMAC-SHA-256 (RFC 7518 §3.2).
const LEAST_KEY: usize = 32;

fn jwt_secret(environment: &Environment) -> Result<Option<Secret<String>>, ConfigError> {
    match environment.text(name::JWT_SECRET)? {
        Some(secret) if secret.len() < LEAST_KEY => {
            Err(ConfigError::TooShort { name: name::JWT_SECRET, least: LEAST_KEY })
        }
        secret => Ok(secret.map(|secret| Secret::new(secret.to_owned()))),
    }
}

fn parse_log(text: &str) -> Result<LogLevel, ConfigError> {
    let found = LogLevel::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(text));
    found.ok_or_else(|| ConfigError::InvalidVariable {
        name: name::LOG,
        value: text.to_owned(),
        expected: "`off`, `error`, `warn`, `info`, `debug` or `trace`",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&'static str, &'static str)]) -> Result<Settings, ConfigError> {
        let base = [("HOME", "/home/ada")];
        Settings::from_environment(&base.iter().chain(pairs).copied().collect())
    }

    #[test]
    fn an_empty_environment_has_defaults_for_everything() {
        let settings = settings(&[]).expect("defaults");
        assert!(
            matches!(settings.database, Database::Sqlite(path) if path.ends_with("formwork/formwork.db"))
        );
        assert!(settings.instance_key.is_none());
        assert!(settings.listen.is_none());
        assert_eq!(settings.log, LogLevel::Warn);
        assert!(settings.color);
    }

    #[test]
    fn every_variable_is_read() {
        let settings = settings(&[
            ("FORMWORK_INSTANCE_KEY", "00ff\n"),
            ("FORMWORK_LISTEN", "127.0.0.1:1"),
            ("FORMWORK_TRUSTED_PROXIES", "10.0.0.5, fd00::/8,::ffff:10.0.0.6"),
            ("FORMWORK_LOG", "Debug"),
            ("SOAT_ADMIN_USERNAME", "ada"),
            ("SOAT_ADMIN_PASSWORD", "correct horse"),
            ("JWT_SECRET", "0123456789abcdef0123456789abcdef"),
            ("FORMATION_RESOURCE_TYPES_CONFIG", "/types.json"),
            ("NO_COLOR", "1"),
        ])
        .expect("valid");
        assert_eq!(settings.instance_key.expect("set").expose(), "00ff");
        assert_eq!(settings.listen.map(|address| address.port()), Some(1));
        let proxies: Vec<_> = settings.trusted_proxies.iter().map(ToString::to_string).collect();
        assert_eq!(proxies, ["10.0.0.5/32", "fd00::/8", "10.0.0.6/32"]);
        assert_eq!(settings.log, LogLevel::Debug);
        let (username, password) = settings.first_admin.expect("set");
        assert_eq!((username.as_str(), password.expose().as_str()), ("ada", "correct horse"));
        assert_eq!(settings.jwt_secret.expect("set").expose().len(), 32);
        assert_eq!(settings.resource_types, Some("/types.json".into()));
        assert!(!settings.color);
    }

    #[test]
    fn nobody_is_trusted_by_mistake() {
        assert!(settings(&[]).expect("defaults").trusted_proxies.is_empty());
        for wrong in ["proxy.internal", "0.0.0.0/0", "10.0.0.5,", "10.0.0.0/33", "::/0"] {
            let refused = settings(&[("FORMWORK_TRUSTED_PROXIES", wrong)]);
            assert!(matches!(refused, Err(ConfigError::InvalidVariable { .. })), "{wrong}");
        }
    }

    #[test]
    fn an_address_may_be_a_port_a_name_or_numbers() {
        let parsed = |text| Settings::parse_listen(text).map(|address| address.to_string()).ok();
        assert_eq!(parsed("5047").as_deref(), Some("127.0.0.1:5047"));
        assert_eq!(parsed("localhost:1").as_deref(), Some("127.0.0.1:1"));
        assert_eq!(parsed("[::1]:1").as_deref(), Some("[::1]:1"));
        assert_eq!(parsed("0.0.0.0:1").as_deref(), Some("0.0.0.0:1"));
        assert_eq!(parsed("example.org:1"), None);
        assert_eq!(parsed("70000"), None);
    }

    #[test]
    fn a_value_of_another_form_is_named_with_what_it_must_be() {
        let errors = [
            settings(&[("FORMWORK_LISTEN", "here")]).expect_err("no address"),
            settings(&[("FORMWORK_LOG", "loud")]).expect_err("no level"),
            settings(&[("SOAT_ADMIN_USERNAME", "ada")]).expect_err("no password"),
            settings(&[("JWT_SECRET", "canary")]).expect_err("too short"),
        ];
        let shown: Vec<_> = errors.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        `FORMWORK_LISTEN` is `here`, but must be an address and port such as `127.0.0.1:5047`
        `FORMWORK_LOG` is `loud`, but must be `off`, `error`, `warn`, `info`, `debug` or `trace`
        `SOAT_ADMIN_USERNAME` is set, but `SOAT_ADMIN_PASSWORD` is not: they go together
        `JWT_SECRET` must have at least 32 bytes
        ");
    }

    #[test]
    fn printing_settings_shows_no_secret() {
        let settings = settings(&[
            ("FORMWORK_INSTANCE_KEY", "canary"),
            ("FORMWORK_DATABASE_URL", "postgres://u:canary@h/d"),
        ]);
        assert!(!format!("{settings:?}").contains("canary"));
    }
}
