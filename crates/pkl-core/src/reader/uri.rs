//! URIs: schemes, and how a relative one is resolved.

/// The scheme of an absolute URI, without its colon.
pub fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let mut characters = scheme.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic());
    let plain = characters.all(|next| next.is_ascii_alphanumeric() || matches!(next, '+' | '-' | '.'));
    (starts && plain).then_some(scheme)
}

/// Whether a URI is absolute.
pub(crate) fn has_scheme(uri: &str) -> bool {
    scheme(uri).is_some()
}

/// What `relative` means in the document at `base`, or `None` if `base` has no path.
pub(crate) fn resolve(base: &str, relative: &str) -> Option<String> {
    let scheme = scheme(base)?;
    let rest = &base[scheme.len() + 1..];
    // A package's modules have their path after the hash.
    let (head, path) = match rest.split_once('#') {
        Some((package, path)) => (format!("{scheme}:{package}#"), path),
        None => match rest.strip_prefix("//") {
            Some(after) => {
                let end = after.find('/').unwrap_or(after.len());
                (format!("{scheme}://{}", &after[..end]), &after[end..])
            }
            None => (format!("{scheme}:"), rest),
        },
    };
    if !path.starts_with('/') {
        return None;
    }
    let joined = if relative.starts_with('/') {
        relative.to_owned()
    } else {
        let directory = &path[..=path.rfind('/')?];
        format!("{directory}{relative}")
    };
    let normal = normalise(&joined);
    // What comes after a hash is no path of a URI and stands as it is.
    Some(if head.ends_with('#') { head + &normal } else { head + &encode_fresh(&normal, path) })
}

/// Encodes what was added to an encoded path.
fn encode_fresh(joined: &str, base: &str) -> String {
    let directory = &base[..base.rfind('/').map_or(0, |slash| slash + 1)];
    match joined.strip_prefix(directory) {
        Some(added) => format!("{directory}{}", encode_path(added)),
        None => {
            let shared = joined.bytes().zip(base.bytes()).take_while(|(a, b)| a == b).count();
            let shared = joined[..shared].rfind('/').map_or(0, |slash| slash + 1);
            format!("{}{}", &joined[..shared], encode_path(&joined[shared..]))
        }
    }
}

/// A path as part of a URI.
pub(crate) fn encode_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for character in path.chars() {
        match character {
            ' ' | '%' | '?' | '#' | '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`' => {
                encoded.extend(["%".to_owned(), format!("{:02X}", u32::from(character))]);
            }
            other => encoded.push(other),
        }
    }
    encoded
}

/// Takes `.` and `..` out of a path. What leads out of the root stays.
pub(super) fn normalise(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut ends_with_directory = false;
    for part in path.split('/').skip(1) {
        ends_with_directory = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    let mut normal = String::from("/");
    normal.push_str(&parts.join("/"));
    if ends_with_directory && !normal.ends_with('/') {
        normal.push('/');
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_uris_are_resolved_in_the_directory_of_their_module() {
        let base = "file:///birds/aviary.pkl";
        assert_eq!(resolve(base, "nest.pkl").as_deref(), Some("file:///birds/nest.pkl"));
        assert_eq!(resolve(base, "../tree.pkl").as_deref(), Some("file:///tree.pkl"));
        assert_eq!(resolve(base, "/root.pkl").as_deref(), Some("file:///root.pkl"));
        assert_eq!(resolve(base, "../../../far.pkl").as_deref(), Some("file:///../../far.pkl"));
        assert_eq!(
            resolve("package://example.com/birds@1.0.0#/a/b.pkl", "c.pkl").as_deref(),
            Some("package://example.com/birds@1.0.0#/a/c.pkl")
        );
    }

    #[test]
    fn relative_paths_are_encoded() {
        let base = "file:///a%20b/c.pkl";
        assert_eq!(resolve(base, "d e.pkl").as_deref(), Some("file:///a%20b/d%20e.pkl"));
        assert_eq!(resolve(base, "../x#y.pkl").as_deref(), Some("file:///x%23y.pkl"));
    }

    #[test]
    fn a_uri_without_a_path_has_no_relatives() {
        assert_eq!(resolve("pkl:math", "base.pkl"), None);
        assert_eq!(resolve("repl:text", "base.pkl"), None);
    }

    #[test]
    fn schemes_are_told_from_paths() {
        assert_eq!(scheme("env:HOME"), Some("env"));
        assert_eq!(scheme("a/b:c"), None);
        assert_eq!(scheme("@birds/a.pkl"), None);
    }
}
