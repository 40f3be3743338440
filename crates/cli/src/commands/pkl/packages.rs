//! Where packages come from.

use super::PklError;
use super::settings::Effective;
use crate::ui::{say, text};
use formwork_forma::mirror::FormaeMirror;
use pkl_http::{HttpClient, Options, Proxy};
use pkl_project::{Cache, Client, FetchError, Note, Packages, Rewriting};
use std::sync::{Arc, OnceLock};

/// A client that is made when it is first needed, since most evaluations fetch nothing.
struct Lazy {
    options: Options,
    client: OnceLock<Result<HttpClient, String>>,
}

impl Client for Lazy {
    fn get(&self, url: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        let made = || HttpClient::new(&self.options).map_err(|error| error.to_string());
        match self.client.get_or_init(made) {
            Ok(client) => client.get(url, limit),
            Err(reason) => Err(FetchError::Failed { url: url.to_owned(), reason: reason.clone() }),
        }
    }
}

/// Packages as the settings say. What happens is said on stderr, if somebody wants to know.
///
/// # Errors
/// The proxy isn't one.
pub(super) fn packages(settings: &Effective, verbose: bool) -> Result<Packages, PklError> {
    let proxy = settings.proxy.as_ref().map(|address| Proxy::new(address, &settings.no_proxy));
    let options =
        Options { authorities: settings.authorities.clone(), proxy: proxy.transpose()?, timeout: None };
    let client = Arc::new(Lazy { options, client: OnceLock::new() });
    let client: Arc<dyn Client> = Arc::new(Rewriting::new(client, settings.rewrites.clone()));
    let mut packages = Packages::new(client, settings.cache.clone().map(Cache::new));
    if settings.mirrors {
        packages = packages.mirror(Arc::new(FormaeMirror::new()));
    }
    Ok(packages.notes(Arc::new(move |note| tell(note, verbose))))
}

fn tell(note: &Note, verbose: bool) {
    match note {
        Note::Mirrored(id) if verbose => {
            say(format_args!(
                "pkl: package `{}` is answered by a mirror, unchecked",
                text::lines(&id.to_string())
            ));
        }
        Note::Mirrored(_) => {}
        Note::Replaced(path) => say(format_args!(
            "pkl: `{}` in the package cache was damaged and has been downloaded anew",
            text::lines(&path.display().to_string())
        )),
    }
}
