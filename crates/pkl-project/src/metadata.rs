//! What is published of a package beside its archive.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::uri::{PackageId, PackageUri, Sha256};

/// A package's metadata as it is on the wire. Fields that aren't known are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The name, for display.
    pub name: String,
    /// The URI of this version of the package.
    pub package_uri: String,
    /// The version.
    pub version: String,
    /// Where the archive is.
    pub package_zip_url: String,
    /// What the archive must hash to.
    pub package_zip_checksums: Checksums,
    /// What the package itself depends on, by the names that its modules use.
    #[serde(default)]
    pub dependencies: IndexMap<String, Dependency>,
    /// Links to places in the source code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_code_url_scheme: Option<String>,
    /// The repository of the source code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_code: Option<String>,
    /// The documentation on the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
    /// The licence's identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The licence's wording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license_text: Option<String>,
    /// Who maintains the package.
    #[serde(default)]
    pub authors: Vec<String>,
    /// Where problems are reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_tracker: Option<String>,
    /// What the package is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The annotations of the project's definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<serde_json::Value>,
}

/// What something must hash to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksums {
    /// The SHA-256 hash in hexadecimal.
    pub sha256: Sha256,
}

/// A package that another one depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// Its URI.
    pub uri: String,
    /// What its metadata must hash to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<Checksums>,
}

impl Metadata {
    /// Reads the metadata of the package `id`.
    ///
    /// # Errors
    /// It isn't well formed, or belongs to another package.
    pub fn parse(bytes: &[u8], id: &PackageId) -> Result<Self, String> {
        let metadata: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let named = PackageUri::parse(&metadata.package_uri).map_err(|error| error.to_string())?;
        if named.id != *id {
            return Err(format!("It is the metadata of `{}`.", named.id));
        }
        for dependency in metadata.dependencies.values() {
            PackageUri::parse(&dependency.uri).map_err(|error| error.to_string())?;
        }
        Ok(metadata)
    }

    /// The text that is published.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("all keys are strings")
    }
}

impl Dependency {
    /// The package, with what its metadata must hash to.
    ///
    /// # Errors
    /// Its URI is none of a package.
    pub fn package(&self) -> Result<PackageUri, crate::uri::UriError> {
        let mut uri = PackageUri::parse(&self.uri)?;
        if let Some(checksums) = &self.checksums {
            uri.checksum = Some(checksums.sha256.clone());
        }
        Ok(uri)
    }
}
