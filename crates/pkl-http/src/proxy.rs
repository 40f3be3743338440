//! The proxy that requests go through, and which hosts are reached without it.

use ipnet::IpNet;
use std::net::IpAddr;

use crate::url::Url;

/// An HTTP proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    exclusions: Vec<Exclusion>,
}

/// Why there is no such proxy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// Its address is none.
    #[error("Invalid proxy address `{0}`: it must be `http://`, a host, and perhaps a port.")]
    Address(String),
    /// What is reached without it is no host.
    #[error("Invalid proxy exclusion `{0}`: it must be a host, an address or a range of addresses.")]
    Exclusion(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Exclusion {
    Everything,
    Range(IpNet),
    Address(IpAddr, Option<u16>),
    /// A host and what is below it.
    Host(String, Option<u16>),
}

impl Proxy {
    /// The proxy at `address`, which the hosts of `exclusions` are reached without.
    ///
    /// # Errors
    /// One of them is none.
    pub fn new<S: AsRef<str>>(address: &str, exclusions: &[S]) -> Result<Self, ProxyError> {
        let invalid = || ProxyError::Address(address.to_owned());
        let url = Url::parse(address).filter(|url| !url.is_secure()).ok_or_else(invalid)?;
        if url.path_and_query != "/" || address.contains('@') {
            return Err(invalid());
        }
        let exclusions =
            exclusions.iter().map(|text| Exclusion::parse(text.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { host: url.host, port: url.port, exclusions })
    }

    /// Whether a URL is reached through it.
    pub(crate) fn serves(&self, url: &Url) -> bool {
        !self.exclusions.iter().any(|exclusion| exclusion.matches(url))
    }
}

impl Exclusion {
    fn parse(text: &str) -> Result<Self, ProxyError> {
        let invalid = || ProxyError::Exclusion(text.to_owned());
        if text == "*" {
            return Ok(Self::Everything);
        }
        if let Ok(range) = text.parse() {
            return Ok(Self::Range(range));
        }
        if let Ok(address) = text.trim_matches(['[', ']']).parse() {
            return Ok(Self::Address(address, None));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| invalid())?)),
            None => (text, None),
        };
        if let Ok(address) = host.trim_matches(['[', ']']).parse() {
            return Ok(Self::Address(address, port));
        }
        let host = host.trim_start_matches('.').to_ascii_lowercase();
        if host.is_empty() || host.contains(['/', ' ', ':']) {
            return Err(invalid());
        }
        Ok(Self::Host(host, port))
    }

    fn matches(&self, url: &Url) -> bool {
        let at = |port: &Option<u16>| port.is_none_or(|port| port == url.port);
        let address: Option<IpAddr> = url.host.parse().ok();
        match self {
            Self::Everything => true,
            Self::Range(range) => address.is_some_and(|address| range.contains(&address)),
            Self::Address(excluded, port) => address == Some(*excluded) && at(port),
            Self::Host(host, port) => {
                let below = url.host.strip_suffix(host.as_str());
                below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.')) && at(port)
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn excluded_hosts_are_reached_directly() {
        let proxy = Proxy::new("http://p:3128", &["example.com", "10.0.0.0/8", "a.b:81", "::1"]).unwrap();
        for (url, serves) in [
            ("http://example.com/", false),
            ("http://foo.example.com:1/", false),
            ("http://fooexample.com/", true),
            ("http://10.1.2.3/", false),
            ("http://11.1.2.3/", true),
            ("http://a.b:81/", false),
            ("http://a.b/", true),
            ("http://[::1]:9/", false),
        ] {
            assert_eq!(proxy.serves(&Url::parse(url).unwrap()), serves, "{url}");
        }
        assert!(!Proxy::new("http://p", &["*"]).unwrap().serves(&Url::parse("http://x/").unwrap()));
    }

    #[test]
    fn what_is_no_proxy_is_refused() {
        for address in ["https://p", "p:80", "http://p/path", "http://u@p"] {
            assert!(matches!(Proxy::new(address, &[""; 0]), Err(ProxyError::Address(_))), "{address}");
        }
        assert!(matches!(Proxy::new("http://p", &["a/b"]), Err(ProxyError::Exclusion(_))));
    }
}
