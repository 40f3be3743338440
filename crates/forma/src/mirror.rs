//! The package as it is in the program, in place of what would be downloaded.

use crate::package;
use pkl_project::{MemoryContents, Mirror, Mirrored, PackageId};

/// Answers for every package whose URI's last part is `formae@…`, whatever its host and version, and for the
/// local projects that would be published as one (copies in a plugin's repository).
#[derive(Clone)]
pub struct FormaeMirror(Mirrored);

impl FormaeMirror {
    /// The package of this program.
    pub fn new() -> Self {
        Self(Mirrored::new(MemoryContents::new(package::files().map(|(path, text)| (path, text.as_bytes())))))
    }
}

impl Default for FormaeMirror {
    fn default() -> Self {
        Self::new()
    }
}

impl Mirror for FormaeMirror {
    fn find(&self, id: &PackageId) -> Option<Mirrored> {
        package::answers(&id.to_string()).then(|| self.0.clone())
    }

    fn replaces_local(&self, _name: &str, id: &PackageId) -> bool {
        package::answers(&id.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use pkl_project::PackageUri;

    fn id(uri: &str) -> PackageId {
        PackageUri::parse(uri).unwrap().id
    }

    #[test]
    fn every_host_and_version_is_answered_for() {
        let mirror = FormaeMirror::new();
        for uri in ["package://example.org/pkl/formae@0.1.0", "package://hub.example.com/formae@9.0.0-rc.1"] {
            let found = mirror.find(&id(uri)).unwrap();
            assert_eq!(
                found.contents.read("/formae.pkl").unwrap(),
                package::file("formae.pkl").unwrap().as_bytes()
            );
            assert!(mirror.replaces_local("formae", &id(uri)));
        }
    }

    #[test]
    fn other_packages_are_left_alone() {
        let mirror = FormaeMirror::new();
        for uri in ["package://example.org/aws@0.1.0", "package://example.org/formae/aws@1.0.0"] {
            assert!(mirror.find(&id(uri)).is_none() && !mirror.replaces_local("formae", &id(uri)), "{uri}");
        }
    }
}
