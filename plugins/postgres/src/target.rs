//! A target: one server, and as whom to reach it.

use crate::failure::Failure;
use formwork_model::{Json, Secret, sha256_hex};
use serde::Deserialize;
use std::time::Duration;

/// How long connecting may take where the target says nothing else.
const CONNECT_SECONDS: u64 = 10;

/// A server, as a target's configuration describes it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// A host name, an address, or the absolute path of a directory of sockets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Secret<String>>,
    pub(crate) tls: TlsMode,
    /// Certificate authorities in PEM; those of the system if there is none.
    pub(crate) authority: Option<String>,
    /// The database to be in for what belongs to none.
    pub(crate) database: String,
    pub(crate) connect_timeout: Duration,
    /// Tells targets apart without holding their secrets.
    pub(crate) key: String,
}

/// How a connection is protected; the names are those of PostgreSQL's own clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TlsMode {
    /// No TLS.
    Disable,
    /// TLS, without asking who the server is.
    Require,
    /// The server's certificate is signed by an authority.
    VerifyCa,
    /// The certificate is also the host's.
    VerifyFull,
}

/// The configuration as it is written. The password is taken out before, so that no message can
/// repeat it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Written {
    #[serde(rename = "Type")]
    namespace: Option<String>,
    host: String,
    port: Option<u16>,
    user: String,
    database: Option<String>,
    ssl_mode: Option<TlsMode>,
    ca_certificate: Option<String>,
    connect_timeout_seconds: Option<u64>,
}

impl Target {
    /// Reads a configuration.
    pub(crate) fn parse(config: &Secret<Json>) -> Result<Self, Failure> {
        let key = sha256_hex(&formwork_model::canonical_bytes(config.expose()));
        let mut config = config.expose().clone();
        let password = take_password(&mut config, "Password")
            .map_err(|problem| Failure::invalid(format!("the target's `Password` {problem}")))?;
        let written: Written = serde_path_to_error::deserialize(config).map_err(|error| {
            Failure::invalid(format!(
                "the target's configuration is wrong at `{}`: {}",
                error.path(),
                error.inner()
            ))
        })?;
        written
            .check()
            .map_err(|problem| Failure::invalid(format!("the target's configuration is wrong: {problem}")))?;
        let is_socket = written.host.starts_with('/');
        let tls = written.ssl_mode.unwrap_or(if is_socket { TlsMode::Disable } else { TlsMode::VerifyFull });
        Ok(Self {
            tls,
            port: written.port.unwrap_or(5432),
            user: written.user,
            password,
            authority: written.ca_certificate,
            database: written.database.unwrap_or_else(|| "postgres".to_owned()),
            connect_timeout: Duration::from_secs(written.connect_timeout_seconds.unwrap_or(CONNECT_SECONDS)),
            host: written.host,
            key,
        })
    }

    /// The server in words, for messages.
    pub(crate) fn place(&self) -> String {
        if self.host.starts_with('/') {
            return format!("{}/.s.PGSQL.{}", self.host, self.port);
        }
        format!("{}:{}", self.host, self.port)
    }
}

impl Written {
    fn check(&self) -> Result<(), String> {
        if let Some(other) = self.namespace.as_deref().filter(|name| !name.eq_ignore_ascii_case("POSTGRES")) {
            return Err(format!("`Type` is `{other}`, not `POSTGRES`"));
        }
        let texts =
            [("Host", Some(&self.host)), ("User", Some(&self.user)), ("Database", self.database.as_ref())];
        for (name, text) in texts {
            if text.is_some_and(|text| text.is_empty() || text.contains('\0')) {
                return Err(format!("`{name}` must not be empty"));
            }
        }
        if self.port == Some(0) {
            return Err("`Port` must not be 0".to_owned());
        }
        if self.connect_timeout_seconds.is_some_and(|seconds| !(1..=600).contains(&seconds)) {
            return Err("`ConnectTimeoutSeconds` must be from 1 to 600".to_owned());
        }
        if self.host.starts_with('/') && self.ssl_mode.is_some_and(|mode| mode != TlsMode::Disable) {
            return Err(
                "`SslMode` must be `disable` for a socket, since PostgreSQL has no TLS there".to_owned()
            );
        }
        let verifies = !matches!(self.ssl_mode, Some(TlsMode::Disable | TlsMode::Require));
        if self.ca_certificate.is_some() && !verifies {
            return Err("`CaCertificate` is for the modes `verify-ca` and `verify-full`".to_owned());
        }
        Ok(())
    }
}

/// Takes a password out of a bag, so that nothing else there can repeat it.
pub(crate) fn take_password(bag: &mut Json, name: &str) -> Result<Option<Secret<String>>, &'static str> {
    match bag.as_object_mut().and_then(|members| members.shift_remove(name)) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) if text.contains('\0') => Err("must not contain the character U+0000"),
        Some(Json::String(text)) if text.is_empty() => Err("must not be empty"),
        Some(Json::String(text)) => Ok(Some(Secret::new(text))),
        Some(_) => Err("must be a string"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(config: Json) -> Result<Target, Failure> {
        Target::parse(&Secret::new(config))
    }

    #[test]
    fn the_defaults_are_safe() {
        let target = parsed(json!({ "Host": "db.example.com", "User": "me" })).unwrap();
        assert_eq!((target.port, target.tls, &*target.database), (5432, TlsMode::VerifyFull, "postgres"));
        let socket = parsed(json!({ "Type": "POSTGRES", "Host": "/run/postgresql", "User": "me" })).unwrap();
        assert_eq!((socket.tls, &*socket.place()), (TlsMode::Disable, "/run/postgresql/.s.PGSQL.5432"));
    }

    #[test]
    fn what_is_wrong_is_named_and_the_password_is_not() {
        for (config, hint) in [
            (json!({ "User": "me" }), "`Host`"),
            (json!({ "Host": "h", "User": "me", "Hots": 1 }), "Hots"),
            (json!({ "Host": "h", "User": "me", "Port": 70000 }), "Port"),
            (json!({ "Host": "h", "User": "me", "Port": 0 }), "Port"),
            (json!({ "Host": "", "User": "me" }), "Host"),
            (json!({ "Host": "h", "User": "me", "SslMode": "prefer" }), "prefer"),
            (json!({ "Host": "h", "User": "me", "Type": "LOCAL" }), "LOCAL"),
            (
                json!({ "Host": "h", "User": "me", "SslMode": "require", "CaCertificate": "x" }),
                "CaCertificate",
            ),
            (json!({ "Host": "/s", "User": "me", "SslMode": "require" }), "SslMode"),
            (json!({ "Host": "h", "User": "me", "Password": ["hunter2"] }), "Password"),
            (json!({ "Host": "h", "User": "me", "ConnectTimeoutSeconds": 0 }), "ConnectTimeoutSeconds"),
            (json!("h"), "configuration"),
        ] {
            let Err(Failure::Refused { message, .. }) = parsed(config.clone()) else {
                panic!("{config} is taken");
            };
            assert!(message.contains(hint) && !message.contains("hunter2"), "{message}");
        }
    }
}
