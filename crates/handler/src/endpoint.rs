//! Where a handler is reached.

use hyper::Uri;
use std::fmt;

/// How the connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// An http(s) URL, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) scheme: Scheme,
    /// Without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What the `Host` header says.
    pub(crate) authority: String,
    /// What the request line says.
    pub(crate) path_and_query: String,
}

impl Endpoint {
    /// Takes a URL apart; `None` if it is not an http(s) URL. Credentials in a URL would be sent
    /// nowhere, so a URL with some is refused too.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        if url.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            return None;
        }
        let uri: Uri = url.parse().ok()?;
        let scheme = match uri.scheme_str()? {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let authority = uri.authority()?;
        let host = authority.host();
        let (_, after_host) = authority.as_str().split_once(host)?;
        let usual = match scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        };
        let port = match after_host.strip_prefix(':') {
            Some(port) => port.parse().ok()?,
            None => usual,
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() || authority.as_str().contains('@') {
            return None;
        }
        let rest = uri.path_and_query().map_or("", |rest| rest.as_str());
        let slash = if rest.starts_with('/') { "" } else { "/" };
        Some(Self {
            scheme,
            host,
            port,
            authority: authority.as_str().to_owned(),
            path_and_query: format!("{slash}{rest}"),
        })
    }
}

/// The address as messages give it: without the query, in which people put what should not be printed.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let path = self.path_and_query.split('?').next().unwrap_or_default();
        write!(f, "{scheme}://{}{path}", self.authority)
    }
}

/// Without the path and the query, in which people put what should not be printed.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.scheme, self.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_address_without_its_query() {
        for (url, shown) in [
            ("https://platform.internal/v1/x?key=canary", "https://platform.internal/v1/x"),
            ("http://[::1]:8080", "http://[::1]:8080/"),
        ] {
            assert_eq!(Endpoint::parse(url).expect("a URL").to_string(), shown);
        }
    }

    #[test]
    fn a_url_is_taken_apart() {
        let endpoint = Endpoint::parse("https://platform.internal/v1/formation-resources").expect("a URL");
        assert_eq!(endpoint.scheme, Scheme::Https);
        assert_eq!((endpoint.host.as_str(), endpoint.port), ("platform.internal", 443));
        assert_eq!(endpoint.path_and_query, "/v1/formation-resources");
        let endpoint = Endpoint::parse("http://[::1]:8080?a=b").expect("a URL");
        assert_eq!((endpoint.host.as_str(), endpoint.port), ("::1", 8080));
        assert_eq!((endpoint.authority.as_str(), endpoint.path_and_query.as_str()), ("[::1]:8080", "/?a=b"));
    }

    #[test]
    fn what_is_no_http_url_is_refused() {
        for url in [
            "",
            "ftp://h/",
            "h:80/x",
            "/x",
            "http://",
            "http:// h/",
            "http://u:p@h/",
            "http://h:x/",
            "https:h",
        ] {
            assert_eq!(Endpoint::parse(url), None, "{url}");
        }
    }
}
