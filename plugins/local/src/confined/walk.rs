//! Listing what is below a root, page by page: by path, each directory before what is in it.

use super::Root;
use super::directory::{Entry, Kind};
use super::path::{FilePath, STATE};
use crate::fault::Fault;
use formwork_plugin::OperationErrorCode;
use std::cmp::Ordering;

/// How many names are looked at for one page; a page may be empty and still not be the last.
const MOST_VISITED: usize = 50_000;

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// In one directory.
    In(FilePath),
    /// In all of them.
    Everywhere,
}

/// What to look for.
#[derive(Clone, Debug)]
pub(crate) struct Query<'a> {
    pub(crate) kind: Kind,
    pub(crate) scope: Scope,
    /// The path after which to begin: what [`Listing::next`] said.
    pub(crate) after: Option<&'a str>,
    /// How many to find.
    pub(crate) limit: usize,
}

/// A page of paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) paths: Vec<String>,
    /// After which path the next page begins.
    pub(crate) next: Option<String>,
}

/// A directory that is being walked: its path, and what is left of its names, backwards.
struct Frame {
    path: FilePath,
    left: Vec<Entry>,
}

/// Finds a page.
///
/// # Errors
/// If the place to begin can't be listed. A directory below it that can't be is left out, and logged.
pub(crate) fn list(root: &Root, query: &Query<'_>) -> Result<Listing, Fault> {
    let (start, is_deep) = match &query.scope {
        Scope::In(path) => (path.clone(), false),
        Scope::Everywhere => (FilePath::root(), true),
    };
    let mut found = Listing::default();
    let Some(first) = frame(root, start, query.after)? else { return Ok(found) };
    let (mut stack, mut visited) = (vec![first], 0);
    while let Some(Frame { path, left }) = stack.last_mut() {
        let Some(entry) = left.pop() else {
            stack.pop();
            continue;
        };
        let path = path.within(&entry.name);
        if path.as_str() == STATE {
            continue;
        }
        visited += 1;
        if entry.kind == query.kind && is_after(path.as_str(), query.after) {
            found.paths.push(path.as_str().to_owned());
        }
        if found.paths.len() >= query.limit.max(1) || visited >= MOST_VISITED {
            found.next = Some(path.as_str().to_owned());
            // The walk goes on within this directory, or after it.
            return Ok(found);
        }
        if is_deep && entry.kind == Kind::Directory {
            match frame(root, path.clone(), query.after) {
                Ok(frame) => stack.extend(frame),
                Err(fault) => {
                    let (path, reason) = (path.as_str(), fault.message.as_str());
                    tracing::warn!(path, reason, "a directory is left out of a listing");
                }
            }
        }
    }
    Ok(found)
}

/// The names of a directory from the place to begin; `None` if it is gone.
fn frame(root: &Root, path: FilePath, after: Option<&str>) -> Result<Option<Frame>, Fault> {
    let entries = root.directory(&path).and_then(|directory| directory.entries());
    let mut left = match entries {
        Ok(entries) => entries,
        Err(fault) if fault.code == OperationErrorCode::NotFound => return Ok(None),
        Err(fault) => return Err(fault),
    };
    if let Some(after) = after {
        left.retain(|entry| may_hold(path.within(&entry.name).as_str(), after));
    }
    left.reverse();
    Ok(Some(Frame { path, left }))
}

/// Whether a path, or something below it, comes after another.
fn may_hold(path: &str, after: &str) -> bool {
    order(path, after) != Ordering::Less || after.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

fn is_after(path: &str, after: Option<&str>) -> bool {
    after.is_none_or(|after| order(path, after) == Ordering::Greater)
}

/// The order of the walk: name by name, so that a directory stands right before what is in it.
fn order(left: &str, right: &str) -> Ordering {
    left.split('/').cmp(right.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_stands_right_before_what_is_in_it() {
        let mut paths = ["a-b", "a/b", "a", "a/b/c", "b"];
        paths.sort_by(|left, right| order(left, right));
        assert_eq!(paths, ["a", "a/b", "a/b/c", "a-b", "b"]);
    }

    fn tree() -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        for path in ["a/x", "a/y/z", "a-b/x", ".formwork/secret", "b/.formwork-0.tmp", "b/c"] {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("/etc", directory.path().join("a/link")).unwrap();
        let root = Root::open(directory.path().to_str().unwrap()).unwrap();
        (directory, root)
    }

    fn pages(root: &Root, kind: Kind, scope: &Scope, limit: usize) -> Vec<String> {
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let query = Query { kind, scope: scope.clone(), after: after.as_deref(), limit };
            let page = list(root, &query).unwrap();
            assert!(page.paths.len() <= limit);
            found.extend(page.paths);
            after = page.next;
            if after.is_none() {
                return found;
            }
        }
    }

    #[test]
    fn pages_of_any_size_name_each_once_and_nothing_of_our_own() {
        let (_directory, root) = tree();
        for limit in 1..9 {
            let files = pages(&root, Kind::File, &Scope::Everywhere, limit);
            assert_eq!(files, ["a/x", "a/y/z", "a-b/x", "b/c"], "{limit}");
            let directories = pages(&root, Kind::Directory, &Scope::Everywhere, limit);
            assert_eq!(directories, ["a", "a/y", "a-b", "b"], "{limit}");
        }
        assert_eq!(pages(&root, Kind::Symlink, &Scope::Everywhere, 2), ["a/link"]);
    }

    #[test]
    fn one_directory_is_listed_without_those_in_it() {
        let (_directory, root) = tree();
        let within = |path: &str| Scope::In(FilePath::parse(path).unwrap());
        assert_eq!(pages(&root, Kind::File, &within("a"), 1), ["a/x"]);
        assert_eq!(pages(&root, Kind::Directory, &within("."), 2), ["a", "a-b", "b"]);
        assert!(pages(&root, Kind::File, &within("gone"), 1).is_empty());
    }

    #[test]
    fn a_page_begins_where_the_last_ended_though_that_is_gone() {
        let (directory, root) = tree();
        std::fs::remove_file(directory.path().join("a/x")).unwrap();
        let query = Query { kind: Kind::File, scope: Scope::Everywhere, after: Some("a/x"), limit: 9 };
        assert_eq!(list(&root, &query).unwrap().paths, ["a/y/z", "a-b/x", "b/c"]);
    }
}
