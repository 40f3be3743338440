//! What a plugin's manifest says. The rules of its fields are those of the module that it amends.

use crate::error::InstallError;
use crate::installed::Installed;
use crate::pkl;
use formwork_forma::package;
use pkl_project::Version;
use serde::{Deserialize, Serialize};

/// What a plugin's manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The plugin's name.
    pub name: String,
    /// What kind of plugin it is: `resource`, `auth` or `oidc-credential`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its version.
    pub version: String,
    /// The first segment of its resource types.
    pub namespace: Option<String>,
    /// Its licence.
    pub license: String,
    /// The oldest version of formae that it works with.
    pub min_formae_version: String,
    /// What it is, in a line.
    pub summary: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Under what it is found.
    pub category: Option<String>,
}

impl Manifest {
    /// Reads the manifest of what is installed.
    ///
    /// # Errors
    /// It is missing, or not what a manifest must be, or that of another plugin.
    pub(crate) fn read(installed: &Installed) -> Result<Self, InstallError> {
        let path = installed.manifest();
        let manifest: Self =
            pkl::manifest(&path).map_err(|reason| InstallError::Manifest { path, reason })?;
        let pairs =
            [("name", &manifest.name, &installed.name), ("version", &manifest.version, &installed.version)];
        if let Some((what, declared, found)) =
            pairs.into_iter().find(|(_, declared, found)| declared != found)
        {
            return Err(InstallError::Misplaced { what, declared: declared.clone(), found: found.clone() });
        }
        let needed = Version::parse(&manifest.min_formae_version);
        let spoken = Version::parse(package::VERSION);
        if needed.zip(spoken).is_some_and(|(needed, spoken)| needed.precedence(&spoken).is_gt()) {
            let needed = manifest.min_formae_version;
            return Err(InstallError::TooNew { needed, spoken: package::VERSION });
        }
        Ok(manifest)
    }
}
