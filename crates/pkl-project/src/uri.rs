//! The URIs of packages and of what is in them.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use pkl_core::reader::percent_decode;

use crate::version::Version;

/// The scheme of a package by itself.
pub(crate) const PACKAGE: &str = "package";
/// The scheme of a package as a project's dependency.
pub(crate) const PROJECT_PACKAGE: &str = "projectpackage";

/// One version of a package, as in `package://example.com/birds@1.0.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PackageId(Arc<Parts>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Parts {
    authority: String,
    /// From its slash to before the version.
    path: String,
    version: Version,
}

/// All versions of a package that stand for each other, as in `package://example.com/birds@1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CanonicalId {
    base: String,
    major: u64,
}

/// A SHA-256 hash in hexadecimal, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Sha256(String);

/// A package, and perhaps what its metadata must hash to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageUri {
    /// The package.
    pub id: PackageId,
    /// What its metadata must hash to.
    pub checksum: Option<Sha256>,
}

/// A file or directory in a package, as in `package://example.com/birds@1.0.0#/dodo.pkl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetUri {
    /// The package.
    pub package: PackageUri,
    /// The path in it, decoded, from its slash.
    pub path: String,
}

/// Why a text is no URI of a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriError {
    /// The scheme isn't followed by a slash.
    #[error("Module URI `{uri}` is missing a `/` after `{scheme}:`.")]
    NoSlash {
        /// The URI.
        uri: String,
        /// Its scheme.
        scheme: String,
    },
    /// There is no host.
    #[error(
        "Package URIs must have an authority component.\n\nFor example, `example.com` in URI `project://example.com/my/package@1.0.0`."
    )]
    NoAuthority,
    /// There is no version.
    #[error(
        "Invalid path `{path}`.\n\nA package URI must have its path suffixed by its version (e.g. `package://example.com/my/package@1.0.0`)."
    )]
    NoVersion {
        /// The path.
        path: String,
    },
    /// The version is none.
    #[error("`{version}` could not be parsed as a semantic version number.")]
    InvalidVersion {
        /// What stands in its place.
        version: String,
    },
    /// The hash is of another kind.
    #[error(
        "Unrecognized checksum algorithm: `{algorithm}`.\n\nThe only supported checksum algorithm is sha256."
    )]
    UnknownAlgorithm {
        /// The kind.
        algorithm: String,
    },
    /// Nothing says what of the package is meant.
    #[error(
        "Expected URI to contain a fragment.\n\nThe URI must end in `#`, followed by a path string. For example: `package://example.com/my/project@1.0.0#/path/to/file.pkl`."
    )]
    NoFragment,
    /// The path in the package doesn't begin with a slash.
    #[error(
        "Cannot have a relative fragment path `{fragment}`.\n\nThe fragment of this URI is interpreted as a path, and it must be absolute (it should start with `/`)."
    )]
    RelativeFragment {
        /// The path.
        fragment: String,
    },
    /// A character that must be encoded.
    #[error("Illegal character in {part}")]
    IllegalCharacter {
        /// Where.
        part: &'static str,
    },
    /// The path would lead out of the place where packages are kept.
    #[error("The path of a package must not contain empty parts, `.` or `..`.")]
    Dots,
}

impl PackageUri {
    /// Reads the URI of a package, with the scheme `package` or `projectpackage`, without a fragment.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(uri: &str) -> Result<Self, UriError> {
        let (scheme, rest) = uri.split_once(':').unwrap_or((PACKAGE, uri));
        if !rest.starts_with('/') {
            return Err(UriError::NoSlash { uri: uri.to_owned(), scheme: scheme.to_owned() });
        }
        let rest = rest.strip_prefix("//").ok_or(UriError::NoAuthority)?;
        let slash = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(slash);
        if authority.is_empty() {
            return Err(UriError::NoAuthority);
        }
        if uri.contains(is_illegal) {
            return Err(UriError::IllegalCharacter { part: "path" });
        }
        let no_version = || UriError::NoVersion { path: path.to_owned() };
        let (path, version) = path.rsplit_once('@').ok_or_else(no_version)?;
        let (version, checksum) = match version.split_once("::") {
            Some((version, checksum)) => (version, Some(parse_checksum(checksum)?)),
            None => (version, None),
        };
        let version = Version::parse(version)
            .ok_or_else(|| UriError::InvalidVersion { version: version.to_owned() })?;
        let leads_out = |part: &str| matches!(part, "" | "." | "..");
        if leads_out(authority) || path.split('/').skip(1).any(leads_out) || path.is_empty() {
            return Err(UriError::Dots);
        }
        let parts = Parts { authority: authority.to_owned(), path: path.to_owned(), version };
        Ok(Self { id: PackageId(Arc::new(parts)), checksum })
    }
}

fn parse_checksum(text: &str) -> Result<Sha256, UriError> {
    match text.split_once(':') {
        Some(("sha256", hash)) => Ok(Sha256(hash.to_owned())),
        other => {
            let algorithm = other.map_or(text, |(algorithm, _)| algorithm).to_owned();
            Err(UriError::UnknownAlgorithm { algorithm })
        }
    }
}

fn is_illegal(character: char) -> bool {
    " {}|\\^<>\"`?#".contains(character) || character.is_control()
}

impl AssetUri {
    /// Reads the URI of something in a package.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(uri: &str) -> Result<Self, UriError> {
        let Some((package, fragment)) = uri.split_once('#') else {
            PackageUri::parse(uri)?;
            return Err(UriError::NoFragment);
        };
        let package = PackageUri::parse(package)?;
        if !fragment.starts_with('/') {
            return Err(UriError::RelativeFragment { fragment: fragment.to_owned() });
        }
        if fragment.contains(is_illegal) {
            return Err(UriError::IllegalCharacter { part: "fragment" });
        }
        Ok(Self { package, path: percent_decode(fragment) })
    }
}

impl PackageId {
    /// A version of the package at `base`, as in `package://example.com/birds`.
    ///
    /// # Errors
    /// Why the two are no URI of a package.
    pub fn new(base: &str, version: &str) -> Result<Self, UriError> {
        PackageUri::parse(&format!("{base}@{version}")).map(|uri| uri.id)
    }

    /// The host, perhaps with a port.
    pub fn authority(&self) -> &str {
        &self.0.authority
    }

    /// The path without the version, from its slash.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.0.path.rsplit('/').next().unwrap_or_default()
    }

    /// The version.
    pub fn version(&self) -> &Version {
        &self.0.version
    }

    /// The URI without the version.
    pub fn base(&self) -> String {
        format!("{PACKAGE}://{}{}", self.0.authority, self.0.path)
    }

    /// The versions that this one can stand for.
    pub fn canonical(&self) -> CanonicalId {
        CanonicalId { base: self.base(), major: self.0.version.major() }
    }

    /// Where the metadata is.
    pub fn metadata_url(&self) -> String {
        self.with_scheme("https")
    }

    /// The URI as a project's dependency.
    pub fn project_uri(&self) -> String {
        self.with_scheme(PROJECT_PACKAGE)
    }

    fn with_scheme(&self, scheme: &str) -> String {
        format!("{scheme}://{}{}@{}", self.0.authority, self.0.path, self.0.version)
    }
}

impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_scheme(PACKAGE))
    }
}

impl fmt::Display for CanonicalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.base, self.major)
    }
}

impl Sha256 {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        let mut text = String::with_capacity(64);
        for byte in sha2::Sha256::digest(bytes) {
            write!(text, "{byte:02x}").expect("a string takes everything");
        }
        Self(text)
    }

    /// The hash that somebody wrote down.
    pub fn written(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The hash in hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_taken_apart() {
        let asset =
            AssetUri::parse("package://example.com/a/birds@1.2.0::sha256:00#/x/sp%20ace.pkl").unwrap();
        let id = &asset.package.id;
        assert_eq!((id.authority(), id.path(), id.name()), ("example.com", "/a/birds", "birds"));
        assert_eq!(id.to_string(), "package://example.com/a/birds@1.2.0");
        assert_eq!(id.canonical().to_string(), "package://example.com/a/birds@1");
        assert_eq!(id.metadata_url(), "https://example.com/a/birds@1.2.0");
        assert_eq!(asset.package.checksum, Some(Sha256::written("00")));
        assert_eq!(asset.path, "/x/sp ace.pkl");
    }

    #[test]
    fn what_would_leave_the_cache_is_no_package() {
        for uri in [
            "package://a.b/../c@1.0.0",
            "package://a.b/./c@1.0.0",
            "package://a.b//c@1.0.0",
            "package://a.b/@1.0.0",
            "package://../c@1.0.0",
            "package://./c@1.0.0",
        ] {
            assert_eq!(PackageUri::parse(uri), Err(UriError::Dots), "{uri}");
        }
        let escaped = "package://a.b/c\\..\\d@1.0.0";
        assert_eq!(PackageUri::parse(escaped), Err(UriError::IllegalCharacter { part: "path" }));
        assert!(matches!(PackageUri::parse("package://a.b/c@../d"), Err(UriError::InvalidVersion { .. })));
    }
}
