//! URLs of the web, taken apart.

use hyper::Uri;
use std::fmt;

/// An http(s) URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    secure: bool,
    /// Without the brackets of an IPv6 address, in lower case.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What the `Host` header says.
    pub(crate) authority: String,
    /// What the request line says.
    pub(crate) path_and_query: String,
}

impl Url {
    /// Takes a URL apart. Credentials in a URL would be sent nowhere, so they are left out.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
            return None;
        }
        let text = text.split('#').next().unwrap_or_default();
        let uri: Uri = text.parse().ok()?;
        let secure = match uri.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let authority = uri.authority()?;
        let host = authority.host();
        if host.is_empty() {
            return None;
        }
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let named = authority.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(Self {
            secure,
            host: host.trim_matches(['[', ']']).to_ascii_lowercase(),
            port,
            authority: named,
            path_and_query: format!("{slash}{path}"),
        })
    }

    /// Whether it is `https:`.
    pub(crate) fn is_secure(&self) -> bool {
        self.secure
    }

    /// What the header of a redirect means here.
    pub(crate) fn resolve(&self, place: &str) -> Option<Self> {
        if place.contains("://") {
            return Self::parse(place);
        }
        let scheme = if self.secure { "https" } else { "http" };
        if place.starts_with("//") {
            return Self::parse(&format!("{scheme}:{place}"));
        }
        let path = if place.starts_with('/') {
            place.to_owned()
        } else {
            let path = self.path_and_query.split('?').next().unwrap_or_default();
            let directory = path.rfind('/').map_or("/", |slash| &path[..=slash]);
            format!("{directory}{place}")
        };
        Self::parse(&format!("{scheme}://{}{path}", self.authority))
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path_and_query)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_and_put_together() {
        let url = Url::parse("https://Example.com:8443/a/b?c#d").unwrap();
        assert_eq!((url.host.as_str(), url.port, url.is_secure()), ("example.com", 8443, true));
        assert_eq!(url.to_string(), "https://Example.com:8443/a/b?c");
        assert_eq!(Url::parse("http://u:p@h").unwrap().to_string(), "http://h/");
        assert_eq!(Url::parse("http://[::1]:80/").unwrap().host, "::1");
        for text in ["ftp://a/", "a/b", "http:///x", "https://a b/"] {
            assert_eq!(Url::parse(text), None, "{text}");
        }
    }

    #[test]
    fn redirects_are_resolved() {
        let url = Url::parse("https://a.b/c/d?e").unwrap();
        for (place, expected) in [
            ("https://x.y/z", "https://x.y/z"),
            ("//x.y/z", "https://x.y/z"),
            ("/z", "https://a.b/z"),
            ("z", "https://a.b/c/z"),
        ] {
            assert_eq!(url.resolve(place).unwrap().to_string(), expected, "{place}");
        }
    }
}
