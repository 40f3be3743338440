//! Schema packages in the styles of real ones, written into a directory.

mod cloud;
mod cluster;
mod vault;

use std::path::{Path, PathBuf};

/// A package in a directory of its own, with a forma that uses it.
pub(crate) struct Package {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) name: &'static str,
}

impl Package {
    fn new(name: &'static str) -> Self {
        Self { directory: tempfile::tempdir().expect("there is a directory for temporary files"), name }
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("it can be made");
        std::fs::write(path, text.replace("@formae/", &formae())).expect("it can be written");
    }

    /// The package's directory; the forma is outside of it.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("schema")
    }

    /// The forma.
    pub(crate) fn forma(&self) -> PathBuf {
        self.directory.path().join("main.pkl")
    }

    fn write_forma(&self, text: &str) {
        self.write("../main.pkl", text);
    }
}

/// What the packages' modules write before `formae.pkl`.
pub(crate) fn formae() -> String {
    format!("file://{}/", Path::new(env!("CARGO_MANIFEST_DIR")).join("pkl").display())
}

/// All packages.
pub(crate) fn all() -> Vec<Package> {
    vec![cloud::package(), cluster::package(), vault::package()]
}
