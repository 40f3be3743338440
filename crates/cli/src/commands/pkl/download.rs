//! `pkl download-package`: packages into the cache.

use super::PklError;
use super::host::Host;
use crate::args::PklDownload;
use pkl_project::{PackageError, PackageId, PackageUri, Packages, Sha256};
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
    let transitive = !arguments.no_transitive;
    let mut downloads =
        Downloads { packages: &host.packages, transitive, most: MOST_PACKAGES, seen: HashSet::new() };
    let mut failures = Vec::new();
    for uri in uris {
        if let Err(error) = downloads.download(uri.clone()) {
            failures.push((uri.id, error));
        }
    }
    match <[_; 1]>::try_from(failures) {
        Ok([(_, error)]) => Err(error),
        Err(failures) if failures.is_empty() => Ok(()),
        Err(failures) => Err(PklError::Downloads(failures)),
    }
}

/// Downloads each package once, with each checksum that is expected of it.
struct Downloads<'a> {
    packages: &'a Packages,
    transitive: bool,
    most: usize,
    seen: HashSet<(PackageId, Option<Sha256>)>,
}

impl Downloads<'_> {
    /// Downloads a package, and what it depends on.
    fn download(&mut self, first: PackageUri) -> Result<(), PklError> {
        let mut pending = vec![first];
        while let Some(PackageUri { id, checksum }) = pending.pop() {
            let key = (id, checksum);
            if self.seen.contains(&key) {
                continue;
            }
            if self.seen.len() == self.most {
                return Err(PklError::TooManyPackages { limit: self.most });
            }
            let package = self.packages.package(&key.0, key.1.as_ref())?;
            self.seen.insert(key);
            if self.transitive {
                for dependency in package.dependencies.values() {
                    pending.push(dependency.package().map_err(PackageError::Uri)?);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkl_project::{MemoryContents, Mirror, Mirrored, Offline};
    use std::sync::Arc;

    /// Has every package, and none depends on another.
    struct All;

    impl Mirror for All {
        fn find(&self, _: &PackageId) -> Option<Mirrored> {
            Some(Mirrored::new(MemoryContents::default()))
        }
    }

    #[test]
    fn what_is_more_than_may_be_downloaded_is_told() {
        let packages = Packages::new(Arc::new(Offline), None).mirror(Arc::new(All));
        let mut downloads =
            Downloads { packages: &packages, transitive: true, most: 2, seen: HashSet::new() };
        let mut download = |name: &str| {
            let uri = format!("package://example.com/{name}@1.0.0");
            downloads.download(PackageUri::parse(&uri).expect("it is a package"))
        };
        assert!(["wren", "tern", "wren", "tern"].map(&mut download).iter().all(Result::is_ok));
        assert!(matches!(download("ibis"), Err(PklError::TooManyPackages { limit: 2 })));
        assert!(download("wren").is_ok());
    }
}
