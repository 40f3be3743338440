//! The dependencies of a project as they were resolved: `PklProject.deps.json`.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::metadata::Checksums;
use crate::uri::{CanonicalId, PackageId, PackageUri, Sha256};

/// The name of the file, beside `PklProject`.
pub const LOCKFILE: &str = "PklProject.deps.json";

/// The only version of the format that is known.
const SCHEMA_VERSION: u64 = 1;

/// What each package of a project's dependencies was resolved to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lockfile {
    /// The choices, in the order in which they were met.
    pub resolved: IndexMap<String, Resolved>,
}

/// What a package was resolved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// A package that is downloaded.
    Remote {
        /// The version.
        id: PackageId,
        /// What its metadata hashes to.
        checksum: Option<Sha256>,
    },
    /// A project on this machine.
    Local {
        /// The version that it will be published as.
        id: PackageId,
        /// Its directory as seen from the project's.
        path: String,
    },
}

/// Why a text is no `PklProject.deps.json`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockfileError {
    /// It isn't well formed.
    #[error("{0}")]
    Malformed(String),
    /// It is of a version that isn't known.
    #[error("Unsupported schemaVersion for `PklProject.deps.json`: {0}.")]
    UnknownVersion(u64),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    schema_version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    schema_version: u64,
    resolved_dependencies: IndexMap<String, Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Entry {
    Remote {
        uri: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checksums: Option<Checksums>,
    },
    Local {
        uri: String,
        path: String,
    },
}

impl Resolved {
    /// The version that was chosen.
    pub fn id(&self) -> &PackageId {
        match self {
            Self::Remote { id, .. } | Self::Local { id, .. } => id,
        }
    }
}

impl Lockfile {
    /// Reads one.
    ///
    /// # Errors
    /// It isn't well formed.
    pub fn parse(text: &str) -> Result<Self, LockfileError> {
        let malformed = |error: &dyn std::fmt::Display| LockfileError::Malformed(error.to_string());
        let Version { schema_version } = serde_json::from_str(text).map_err(|error| malformed(&error))?;
        if schema_version != SCHEMA_VERSION {
            return Err(LockfileError::UnknownVersion(schema_version));
        }
        let document: Document = serde_json::from_str(text).map_err(|error| malformed(&error))?;
        let mut resolved = IndexMap::new();
        for (key, entry) in document.resolved_dependencies {
            let uri = match &entry {
                Entry::Remote { uri, .. } | Entry::Local { uri, .. } => uri,
            };
            let id = PackageUri::parse(uri).map_err(|error| malformed(&error))?.id;
            let entry = match entry {
                Entry::Remote { checksums, .. } => {
                    Resolved::Remote { id, checksum: checksums.map(|checksums| checksums.sha256) }
                }
                Entry::Local { path, .. } => Resolved::Local { id, path },
            };
            resolved.insert(key, entry);
        }
        Ok(Self { resolved })
    }

    /// What a package was resolved to.
    pub fn get(&self, id: &CanonicalId) -> Option<&Resolved> {
        self.resolved.get(&id.to_string())
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        let entry = |resolved: &Resolved| match resolved {
            Resolved::Remote { id, checksum } => Entry::Remote {
                uri: id.project_uri(),
                checksums: checksum.clone().map(|sha256| Checksums { sha256 }),
            },
            Resolved::Local { id, path } => Entry::Local { uri: id.project_uri(), path: path.clone() },
        };
        let resolved = self.resolved.iter().map(|(key, resolved)| (key.clone(), entry(resolved)));
        let document = Document { schema_version: SCHEMA_VERSION, resolved_dependencies: resolved.collect() };
        let mut text = serde_json::to_string_pretty(&document).expect("all keys are strings");
        text.push('\n');
        text
    }
}
