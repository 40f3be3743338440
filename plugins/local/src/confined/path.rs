//! Paths within a root: relative, in one spelling, never leading out.

use std::fmt;

/// The directory below the root that holds what this plugin keeps.
pub(crate) const STATE: &str = ".formwork";
/// What names of files begin with that are not finished, and what they end with.
pub(crate) const TEMPORARY: (&str, &str) = (".formwork-", ".tmp");
/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 255;
/// The longest path, in bytes: less than the system's own bound, which counts the root too.
const LONGEST: usize = 3_072;

/// A path within a root: names with a slash between them, or `.` for the root itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FilePath(String);

impl FilePath {
    /// The root.
    pub(crate) fn root() -> Self {
        Self(".".to_owned())
    }

    /// The path as a person writes it; the root too.
    ///
    /// # Errors
    /// In words that follow the property's name, if it is not in the one spelling that each path has.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text == "." {
            return Ok(Self::root());
        }
        if text.is_empty() {
            return Err("must not be empty".to_owned());
        }
        if text.len() > LONGEST {
            return Err(format!("must have at most {LONGEST} bytes"));
        }
        if text.starts_with('/') {
            return Err("must be relative to the target's root, without a slash at its beginning".to_owned());
        }
        for (depth, name) in text.split('/').enumerate() {
            check_name(name)?;
            if depth == 0 && name == STATE {
                return Err(format!("must not be within `{STATE}`, where the plugin keeps its own records"));
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// [`parse`](Self::parse) for what can't be the root.
    ///
    /// # Errors
    /// As there, and for the root.
    pub(crate) fn parse_below(text: &str) -> Result<Self, String> {
        match text {
            "." => Err("must not be the target's root".to_owned()),
            _ => Self::parse(text),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0 == "."
    }

    /// The names from the root.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|_| !self.is_root())
    }

    /// The directory that it is in; the root is in itself.
    pub(crate) fn parent(&self) -> Self {
        match self.0.rsplit_once('/') {
            Some((parent, _)) => Self(parent.to_owned()),
            None => Self::root(),
        }
    }

    /// The name within [`parent`](Self::parent); of the root, `.`.
    pub(crate) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The path of something in this directory.
    pub(crate) fn within(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn check_name(name: &str) -> Result<(), String> {
    match name {
        "" => Err("must not have an empty name in it".to_owned()),
        "." | ".." => Err(format!("must not have `{name}` in it")),
        _ if name.contains('\0') => Err("must not have a NUL in it".to_owned()),
        _ if name.len() > LONGEST_NAME => {
            Err(format!("must not have a name of more than {LONGEST_NAME} bytes in it"))
        }
        _ if is_temporary(name) => {
            Err(format!("must not have `{name}` in it, a name that the plugin gives to unfinished files"))
        }
        _ => Ok(()),
    }
}

/// Whether a name is one that unfinished files have.
pub(crate) fn is_temporary(name: &str) -> bool {
    let (begin, end) = TEMPORARY;
    name.starts_with(begin) && name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for good in ["a", "a/b.c", "ä ö/\n", "..a", "a..", ".hidden", "a/.formwork", &"x".repeat(255)] {
            assert_eq!(FilePath::parse_below(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(256);
        let deep = "x/".repeat(2_000);
        for bad in [
            "",
            "/",
            "/etc",
            "..",
            "../a",
            "a/..",
            "a/../b",
            "./a",
            "a/.",
            "a//b",
            "a/",
            "a\0b",
            &long,
            &deep,
            ".formwork",
            ".formwork/x",
            "a/.formwork-1.tmp",
            ".",
        ] {
            assert!(FilePath::parse_below(bad).is_err(), "{bad:?}");
        }
        assert!(FilePath::parse(".").unwrap().is_root());
    }

    #[test]
    fn parts_of_a_path() {
        let path = FilePath::parse("a/b/c").unwrap();
        assert_eq!((path.parent().as_str(), path.name()), ("a/b", "c"));
        assert_eq!(path.names().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(path.parent().within("d").as_str(), "a/b/d");
        let top = FilePath::parse("a").unwrap();
        assert!(top.parent().is_root() && top.parent().parent().is_root());
        assert_eq!(FilePath::root().within("a"), top);
        assert_eq!(FilePath::root().names().count(), 0);
    }
}
