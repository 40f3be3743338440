//! `pkl download-package`: packages into the cache.

use super::PklError;
use super::host::Host;
use crate::args::PklDownload;
use pkl_project::{PackageError, PackageId, PackageUri, Packages};
use std::collections::HashSet;

/// How many packages may be downloaded at once.
const MOST_PACKAGES: usize = 10_000;

pub(super) fn run(arguments: &PklDownload) -> Result<(), PklError> {
    let host = Host::new(&arguments.host, &arguments.project, None)?;
    if !host.packages.has_cache() {
        return Err(PklError::NoCache);
    }
    let parse = |text: &String| {
        let package = text.split('#').next().unwrap_or_default();
        PackageUri::parse(package).map_err(PackageError::Uri)
    };
    let uris = arguments.packages.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let mut seen = HashSet::new();
    let mut failures = Vec::new();
    for uri in uris {
        if let Err(error) = download(&host.packages, uri.clone(), !arguments.no_transitive, &mut seen) {
            failures.push((uri.id, error));
        }
    }
    match <[_; 1]>::try_from(failures) {
        Ok([(_, error)]) => Err(error.into()),
        Err(failures) if failures.is_empty() => Ok(()),
        Err(failures) => Err(PklError::Downloads(failures)),
    }
}

/// Downloads a package, and what it depends on.
fn download(
    packages: &Packages,
    first: PackageUri,
    transitive: bool,
    seen: &mut HashSet<PackageId>,
) -> Result<(), PackageError> {
    let mut pending = vec![first];
    while let Some(uri) = pending.pop() {
        if seen.len() == MOST_PACKAGES || !seen.insert(uri.id.clone()) {
            continue;
        }
        let package = packages.package(&uri.id, uri.checksum.as_ref())?;
        if transitive {
            for dependency in package.dependencies.values() {
                pending.push(dependency.package()?);
            }
        }
    }
    Ok(())
}
