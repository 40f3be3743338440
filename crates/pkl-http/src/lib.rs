//! The HTTP client that fetches packages and modules of the Pkl language.
//!
//! A connection for each request, nothing kept open: an evaluation makes few requests, and what it
//! fetched is kept in the package cache. Redirects are followed, but never from `https:` to `http:`.

mod connection;
mod proxy;
mod url;

pub use proxy::{Proxy, ProxyError};

use pkl_project::{Client, FetchError};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

use connection::{Answer, Connector};
use url::Url;

/// How many redirects are followed.
const MOST_REDIRECTS: usize = 5;
/// How long a request may take, redirects and body included.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How a client is set up.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Files or directories of certificate authorities in PEM format, instead of the system's.
    pub authorities: Vec<PathBuf>,
    /// The proxy that requests go through.
    pub proxy: Option<Proxy>,
    /// How long a request may take; two minutes, if nothing is said.
    pub timeout: Option<Duration>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// A file of certificate authorities can't be read.
    #[error("Cannot read the CA certificates at `{}`.\n{reason}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Fetches over HTTP and HTTPS.
pub struct HttpClient {
    connector: Connector,
    timeout: Duration,
}

impl HttpClient {
    /// A client that is set up like this.
    ///
    /// # Errors
    /// A file of certificate authorities can't be read.
    pub fn new(options: &Options) -> Result<Self, OptionsError> {
        let authorities = authorities(&options.authorities)?;
        let connector = Connector::new(authorities, options.proxy.clone());
        Ok(Self { connector, timeout: options.timeout.unwrap_or(TIMEOUT) })
    }

    async fn follow(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        let deadline = Instant::now() + self.timeout;
        let failed = |url: &Url, reason: String| FetchError::Failed { url: url.to_string(), reason };
        let mut url = Url::parse(url).ok_or_else(|| FetchError::Failed {
            url: url.to_owned(),
            reason: "It is no URL of the web.".to_owned(),
        })?;
        for _ in 0..=MOST_REDIRECTS {
            let answer = tokio::time::timeout_at(deadline, self.connector.get(&url, limit)).await;
            let answer = answer.unwrap_or_else(|_| Err("No answer came in time.".to_owned()));
            match answer.map_err(|reason| failed(&url, reason))? {
                Answer::Body(bytes) => return Ok(bytes),
                Answer::TooLong => return Err(FetchError::TooLong { url: url.to_string(), limit }),
                Answer::Status(status) => return Err(FetchError::Status { status, url: url.to_string() }),
                Answer::Redirect(place) => {
                    let next = url.resolve(&place);
                    let next = next.ok_or_else(|| failed(&url, format!("It redirects to `{place}`.")))?;
                    if url.is_secure() && !next.is_secure() {
                        return Err(failed(&url, format!("It redirects to `{next}`, which is not secure.")));
                    }
                    url = next;
                }
            }
        }
        Err(failed(&url, "There are too many redirects.".to_owned()))
    }
}

impl Client for HttpClient {
    fn get(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        let failed = |reason: String| FetchError::Failed { url: url.to_owned(), reason };
        let request = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(|error| failed(error.to_string()))?.block_on(self.follow(url, limit))
        };
        // A thread of its own, since the caller may be inside of a runtime, where none can be started.
        std::thread::scope(|scope| match scope.spawn(request).join() {
            Ok(fetched) => fetched,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }
}

/// The certificate authorities of these files and directories, or else of the system.
fn authorities(paths: &[PathBuf]) -> Result<Vec<CertificateDer<'static>>, OptionsError> {
    if paths.is_empty() {
        // What can't be read is missing; a host that needs it will not be trusted.
        return Ok(rustls_native_certs::load_native_certs().certs);
    }
    let mut found = Vec::new();
    for path in paths {
        let failed = |reason: String| OptionsError::Authorities { path: path.clone(), reason };
        for file in files(path).map_err(|error| failed(error.to_string()))? {
            let certificates =
                CertificateDer::pem_file_iter(file).map_err(|error| failed(error.to_string()))?;
            for certificate in certificates {
                found.push(certificate.map_err(|error| failed(error.to_string()))?);
            }
        }
    }
    Ok(found)
}

/// The file, or the files in the directory.
fn files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
