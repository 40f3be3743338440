//! Requests to the network: a trait that the host implements.

use std::sync::Arc;

/// Fetches what is at a URL.
pub trait Client: Send + Sync {
    /// The body of the answer to a GET request, redirects followed. Nothing longer than `limit` bytes.
    ///
    /// # Errors
    /// Why there is none.
    fn get(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError>;
}

/// Why nothing was fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The answer is that there is none, or that something went wrong.
    #[error("Received unexpected status code `{status}` when making request `GET {url}`.")]
    Status {
        /// The status.
        status: u16,
        /// What was asked for.
        url: String,
    },
    /// No answer came.
    #[error("Exception when making request `GET {url}`:\n{reason}")]
    Failed {
        /// What was asked for.
        url: String,
        /// Why.
        reason: String,
    },
    /// The answer is too long.
    #[error("The answer to request `GET {url}` is longer than {limit} bytes.")]
    TooLong {
        /// What was asked for.
        url: String,
        /// How long it may be.
        limit: u64,
    },
}

impl FetchError {
    /// Whether the answer was that there is nothing.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Status { status: 404 | 410, .. })
    }
}

/// A client that reaches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

impl Client for Offline {
    fn get(&self, url: &str, _limit: u64) -> Result<Vec<u8>, FetchError> {
        let reason = "There is no access to the network.".to_owned();
        Err(FetchError::Failed { url: url.to_owned(), reason })
    }
}

/// A client that asks other URLs than it is asked for.
pub struct Rewriting {
    inner: Arc<dyn Client>,
    rewrites: Vec<(String, String)>,
}

impl Rewriting {
    /// Replaces the starts of URLs. The longest start that fits counts.
    pub fn new(inner: Arc<dyn Client>, mut rewrites: Vec<(String, String)>) -> Self {
        rewrites.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Self { inner, rewrites }
    }

    fn rewritten(&self, url: &str) -> Option<String> {
        // Hosts are written in either case.
        let after_host = url
            .find("://")
            .map_or(0, |scheme| url[scheme + 3..].find('/').map_or(url.len(), |slash| scheme + 3 + slash));
        let lower = format!("{}{}", url[..after_host].to_ascii_lowercase(), &url[after_host..]);
        let found = self.rewrites.iter().find(|(from, _)| lower.starts_with(from.as_str()));
        found.map(|(from, to)| format!("{to}{}", &url[from.len()..]))
    }
}

impl Client for Rewriting {
    fn get(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        match self.rewritten(url) {
            Some(other) => self.inner.get(&other, limit),
            None => self.inner.get(url, limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_start_that_fits_is_rewritten() {
        let rewrites = [("https://a.b/", "http://x/"), ("https://a.b/c/", "http://y/")];
        let rewrites = rewrites.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
        let client = Rewriting::new(Arc::new(Offline), rewrites);
        assert_eq!(client.rewritten("https://a.b/c/d").as_deref(), Some("http://y/d"));
        assert_eq!(client.rewritten("https://A.b/C/d").as_deref(), Some("http://x/C/d"));
        assert_eq!(client.rewritten("https://a.bc/d"), None);
    }
}
