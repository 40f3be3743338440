//! Resolution: which version of each package a project uses.
//!
//! Of all versions of a package that share a major number the highest that anybody asks for is taken.
//! Nothing newer is looked for, so the same definitions give the same choice at any time.

use indexmap::IndexMap;
use std::collections::HashSet;

use crate::lockfile::{Lockfile, Resolved};
use crate::metadata::Dependency;
use crate::project::{Declared, Project};
use crate::uri::{PackageId, PackageUri, Sha256, UriError};

/// How many packages a project may depend on.
const MOST_PACKAGES: usize = 10_000;

/// Tells what packages depend on.
pub trait Source {
    /// Why it can't.
    type Error;

    /// What a package depends on, and what its metadata hashes to; `None` if it must not be written
    /// down.
    ///
    /// # Errors
    /// It can't be found out.
    fn dependencies(&mut self, package: &PackageUri) -> Result<Option<Known>, Self::Error>;
}

/// What is known of a package.
#[derive(Clone, Debug)]
pub struct Known {
    /// What it depends on.
    pub dependencies: IndexMap<String, Dependency>,
    /// What its metadata hashes to.
    pub checksum: Sha256,
}

/// Why there is no resolution.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError<E> {
    /// A package's dependencies can't be found out.
    #[error("{0}")]
    Source(E),
    /// A package names another by what is no URI.
    #[error("{0}")]
    Uri(UriError),
    /// A local dependency isn't published, so that it has no name.
    #[error("Cannot depend on project `{0}`, because it does not declare a `package`.")]
    NoPackage(String),
    /// A project that isn't in a file depends on one that is.
    #[error("Project `{0}` is no file, so it has no path.")]
    NoPath(String),
    /// There are too many packages.
    #[error("The project depends on more than {MOST_PACKAGES} packages.")]
    TooMany,
}

/// Resolves a project's dependencies.
///
/// # Errors
/// A package's dependencies can't be found out.
pub fn resolve<S: Source>(project: &Project, source: &mut S) -> Result<Lockfile, ResolveError<S::Error>> {
    let mut resolution = Resolution { project, source, lockfile: Lockfile::default(), seen: HashSet::new() };
    resolution.local(project)?;
    Ok(resolution.lockfile)
}

struct Resolution<'a, S> {
    project: &'a Project,
    source: &'a mut S,
    lockfile: Lockfile,
    seen: HashSet<PackageId>,
}

impl<S: Source> Resolution<'_, S> {
    /// The dependencies of a project. Projects are nested no deeper than when they were loaded.
    fn local(&mut self, of: &Project) -> Result<(), ResolveError<S::Error>> {
        for (_, declared) in in_hash_order(&of.dependencies) {
            match declared {
                Declared::Remote(uri) => self.remote(uri)?,
                Declared::Local(dependency) => {
                    let no_package = || ResolveError::NoPackage(dependency.file_uri.clone());
                    let package = dependency.package.as_ref().ok_or_else(no_package)?;
                    let id = package.id().map_err(ResolveError::Uri)?;
                    let path = self.path_to(dependency)?;
                    self.choose(Resolved::Local { id, path })?;
                    self.local(dependency)?;
                }
            }
        }
        Ok(())
    }

    /// A package, and what it depends on in the order of its metadata, each before its own dependencies.
    fn remote(&mut self, first: &PackageUri) -> Result<(), ResolveError<S::Error>> {
        let mut pending = vec![first.clone()];
        while let Some(uri) = pending.pop() {
            if !self.seen.insert(uri.id.clone()) {
                continue;
            }
            let known = self.source.dependencies(&uri).map_err(ResolveError::Source)?;
            let Some(Known { dependencies, checksum }) = known else { continue };
            self.choose(Resolved::Remote { id: uri.id, checksum: Some(checksum) })?;
            for dependency in dependencies.values().rev() {
                pending.push(dependency.package().map_err(ResolveError::Uri)?);
            }
        }
        Ok(())
    }

    fn choose(&mut self, candidate: Resolved) -> Result<(), ResolveError<S::Error>> {
        let key = candidate.id().canonical().to_string();
        let resolved = &mut self.lockfile.resolved;
        if resolved.len() == MOST_PACKAGES && !resolved.contains_key(&key) {
            return Err(ResolveError::TooMany);
        }
        match resolved.get_mut(&key) {
            Some(chosen) => {
                if candidate.id().version().precedence(chosen.id().version()).is_gt() {
                    *chosen = candidate;
                }
            }
            None => {
                resolved.insert(key, candidate);
            }
        }
        Ok(())
    }

    fn path_to(&self, dependency: &Project) -> Result<String, ResolveError<S::Error>> {
        let no_path = |project: &Project| ResolveError::NoPath(project.file_uri.clone());
        let from = self.project.directory().ok_or_else(|| no_path(self.project))?;
        let to = dependency.directory().ok_or_else(|| no_path(dependency))?;
        let shared = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
        let up = from.components().skip(shared).map(|_| "..".to_owned());
        let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
        Ok(up.chain(down).collect::<Vec<_>>().join("/"))
    }
}

/// A project's dependencies in the order in which a hash table of the Java platform goes through their
/// names.
///
/// That is the order of `PklProject.deps.json` as the official command line writes it; keeping to it,
/// a file doesn't change because somebody else resolved the same dependencies.
fn in_hash_order<V>(dependencies: &IndexMap<String, V>) -> Vec<(&String, &V)> {
    // A table grows as soon as it is three quarters full.
    let buckets = (dependencies.len() * 4).div_ceil(3).next_power_of_two().max(16);
    let bucket = |name: &str| {
        let hash =
            name.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()));
        (hash ^ (hash >> 16)) as usize & (buckets - 1)
    };
    let mut ordered: Vec<_> = dependencies.iter().collect();
    ordered.sort_by_key(|(name, _)| bucket(name));
    ordered
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::settings::Settings;

    /// Packages by `name@version`, with what they depend on.
    struct Shelf(Vec<(&'static str, &'static [&'static str])>);

    fn uri(short: &str) -> PackageUri {
        PackageUri::parse(&format!("package://a.b/{short}")).unwrap()
    }

    fn name(short: &str) -> String {
        short.split('@').next().unwrap().to_owned()
    }

    impl Source for Shelf {
        type Error = String;

        fn dependencies(&mut self, package: &PackageUri) -> Result<Option<Known>, String> {
            let found = self.0.iter().find(|(short, _)| uri(short).id == package.id);
            let (_, needs) = found.ok_or_else(|| format!("no {}", package.id))?;
            let dependency =
                |short: &&str| (name(short), Dependency { uri: uri(short).id.to_string(), checksums: None });
            let dependencies = needs.iter().map(dependency).collect();
            Ok(Some(Known { dependencies, checksum: Sha256::of(package.id.to_string().as_bytes()) }))
        }
    }

    fn project(needs: &[&str]) -> Project {
        Project {
            file_uri: "file:///p/PklProject".to_owned(),
            package: None,
            tests: Vec::new(),
            settings: Settings::default(),
            dependencies: needs.iter().map(|short| (name(short), Declared::Remote(uri(short)))).collect(),
            annotations: Vec::new(),
        }
    }

    fn resolved(needs: &[&str], shelf: &[(&'static str, &'static [&'static str])]) -> Vec<String> {
        let lockfile = resolve(&project(needs), &mut Shelf(shelf.to_vec())).unwrap();
        let short = |resolved: &Resolved| resolved.id().to_string().replace("package://a.b/", "");
        lockfile.resolved.values().map(short).collect()
    }

    #[test]
    fn the_highest_version_of_a_major_is_taken() {
        let shelf: &[(_, &[_])] = &[
            ("a@1.0.0", &["c@1.5.0"]),
            ("b@1.0.0", &["c@1.2.0", "d@2.0.0"]),
            ("c@1.5.0", &[]),
            ("c@1.2.0", &[]),
            ("c@1.1.0", &[]),
            ("d@2.0.0", &[]),
            ("d@1.0.0", &[]),
        ];
        let found = resolved(&["a@1.0.0", "b@1.0.0", "c@1.1.0", "d@1.0.0"], shelf);
        assert_eq!(found, ["a@1.0.0", "c@1.5.0", "b@1.0.0", "d@2.0.0", "d@1.0.0"]);
    }

    #[test]
    fn packages_may_depend_on_each_other() {
        let found = resolved(&["a@1.0.0"], &[("a@1.0.0", &["b@1.0.0"]), ("b@1.0.0", &["a@1.0.0"])]);
        assert_eq!(found, ["a@1.0.0", "b@1.0.0"]);
    }

    #[test]
    fn dependencies_come_in_the_order_of_the_official_file() {
        let names = ["epsilon", "gamma", "delta", "al", "zeta", "eta", "theta"];
        let map: IndexMap<String, ()> = names.iter().map(|name| ((*name).to_owned(), ())).collect();
        let ordered: Vec<&str> = in_hash_order(&map).into_iter().map(|(name, ())| name.as_str()).collect();
        assert_eq!(ordered, ["epsilon", "zeta", "eta", "delta", "al", "theta", "gamma"]);
    }
}
