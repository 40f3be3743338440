//! Where a server is.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a server is: `http://host[:port][/prefix]` or `unix:/path/to/socket`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A host and port.
    Tcp {
        /// A name or address; an IPv6 address without brackets.
        host: String,
        /// The port.
        port: u16,
        /// What comes before `/api/v1`; empty, or `/…` without a slash at the end.
        prefix: String,
    },
    /// A Unix socket.
    Unix {
        /// Its path.
        path: PathBuf,
    },
}

/// Why a text does not name a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// `https` is not spoken here.
    #[error("`{url}`: Formwork's client speaks plain HTTP only")]
    Tls {
        /// The text.
        url: String,
    },
    /// The URL holds a user or password, which would be sent and logged in the clear.
    #[error("a server's URL must not hold a user name or password")]
    Credentials,
    /// It is no such URL at all.
    #[error("`{url}` is not the URL of a server")]
    Malformed {
        /// The text.
        url: String,
    },
}

impl EndpointError {
    /// What the person who sees the error can do, to print after `hint:`.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Tls { .. } => "reach the server through a tunnel or a proxy on this machine",
            Self::Credentials => "put the token into `FORMWORK_TOKEN` or into a profile",
            Self::Malformed { .. } => "write `http://host:port` or `unix:/path/to/agent.sock`",
        }
    }
}

impl Endpoint {
    /// The Unix socket at a path.
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::Unix { path: path.into() }
    }

    /// What stands in the `Host` header.
    pub(crate) fn authority(&self) -> String {
        match self {
            Self::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Tcp { host, port, .. } => format!("{host}:{port}"),
            Self::Unix { .. } => "localhost".to_owned(),
        }
    }

    pub(crate) fn prefix(&self) -> String {
        match self {
            Self::Tcp { prefix, .. } => prefix.clone(),
            Self::Unix { .. } => String::new(),
        }
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let malformed = || EndpointError::Malformed { url: text.to_owned() };
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() { Err(malformed()) } else { Ok(Self::unix(path)) };
        }
        // Before anything quotes the text: what comes before the `@` may be a password.
        let after_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
        if after_scheme.split('/').next().is_some_and(|authority| authority.contains('@')) {
            return Err(EndpointError::Credentials);
        }
        let uri: hyper::Uri = text.parse().map_err(|_| malformed())?;
        match uri.scheme_str() {
            Some("http") if uri.query().is_none() => {}
            Some("https") => return Err(EndpointError::Tls { url: text.to_owned() }),
            _ => return Err(malformed()),
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(malformed)?;
        Ok(Self::Tcp {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: uri.port_u16().unwrap_or(80),
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { prefix, .. } => write!(formatter, "http://{}{prefix}", self.authority()),
            Self::Unix { path } => write!(formatter, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match text.parse::<Endpoint>() {
            Ok(endpoint) => endpoint.to_string(),
            Err(error) => format!("{error} — {}", error.hint()),
        }
    }

    #[test]
    fn each_spelling_names_a_server_or_says_why_not() {
        let texts = [
            "http://localhost:5047",
            "http://example.org",
            "http://[::1]:5047/base/",
            "unix:/run/agent.sock",
            "unix:///run/agent.sock",
            "https://example.org",
            "http://ada:hunter2@example.org",
            "example.org:5047",
            "http://",
            "http://h/?q=1",
            "unix:",
            "",
        ];
        insta::assert_snapshot!(texts.map(|text| format!("{text} → {}", shown(text))).join("\n"));
    }

    #[test]
    fn a_password_is_not_quoted() {
        assert!(!shown("http://ada:hunter2@example.org").contains("hunter2"));
        assert!(!shown("ada:hunter2@example.org").contains("hunter2"));
    }
}
