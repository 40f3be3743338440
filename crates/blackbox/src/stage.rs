//! What all sequences share: the programs, and the plugin as it is installed.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What is installed.
const NAME: &str = "fake-cloud";
const FILES: [(&str, &str); 3] = [
    ("formae-plugin.pkl", include_str!("../../../plugins/fake-cloud/formae-plugin.pkl")),
    ("schema/pkl/generic.pkl", include_str!("../../../plugins/fake-cloud/schema/pkl/generic.pkl")),
    ("schema/pkl/target.pkl", include_str!("../../../plugins/fake-cloud/schema/pkl/target.pkl")),
];

/// Why there is no stage.
#[derive(Debug)]
pub enum StageError {
    /// A file can't be written, or a program not run.
    System(io::Error),
    /// `formwork` does not take the plugin.
    Refused(String),
}

impl std::fmt::Display for StageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::System(error) => write!(formatter, "the stage can't be set: {error}"),
            Self::Refused(why) => write!(formatter, "`formwork` does not take the plugin: {why}"),
        }
    }
}

impl std::error::Error for StageError {}

impl From<io::Error> for StageError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The programs, the installed plugin, and a data directory that knows it already.
#[derive(Debug)]
pub struct Stage {
    formwork: PathBuf,
    directory: TempDir,
}

impl Stage {
    /// Installs a plugin for a program; `plugin` is the command line of its process, for a shell.
    ///
    /// # Errors
    /// [`StageError`] if files can't be written, or the plugin is not taken.
    pub fn set(formwork: &Path, plugin: &str) -> Result<Self, StageError> {
        let stage = Self { formwork: formwork.canonicalize()?, directory: directory()? };
        let place = stage.plugins().join(NAME).join("v0.1.0");
        fs::create_dir_all(place.join("schema/pkl"))?;
        for (name, text) in FILES {
            fs::write(place.join(name), text)?;
        }
        // From another process: a program that this one has open for writing, or a child that it starts just then,
        // can't be run.
        let write = "printf '#!/bin/sh\\nexec %s\\n' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let written =
            Command::new("/bin/sh").args(["-c", write, "sh", plugin]).arg(place.join(NAME)).status()?;
        if !written.success() {
            return Err(io::Error::other("the plugin's program can't be written").into());
        }
        fs::create_dir(stage.data())?;
        fs::set_permissions(stage.data(), fs::Permissions::from_mode(0o700))?;
        let listed = stage
            .command(stage.directory.path(), &stage.data())
            .args(["plugin", "list", "--json"])
            .output()?;
        let said = String::from_utf8_lossy(&listed.stdout).into_owned();
        if !listed.status.success() || !said.contains("\"ok\"") {
            return Err(StageError::Refused(said + &String::from_utf8_lossy(&listed.stderr)));
        }
        Ok(stage)
    }

    fn plugins(&self) -> PathBuf {
        self.directory.path().join("plugins")
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A home for one sequence, in which the plugin is known already.
    pub(crate) fn home(&self) -> io::Result<TempDir> {
        let home = directory()?;
        let data = home.path().join("data");
        let known = data.join("plugin-cache");
        fs::create_dir_all(&known)?;
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(self.data().join("plugin-cache"))? {
            let entry = entry?;
            fs::copy(entry.path(), known.join(entry.file_name()))?;
        }
        Ok(home)
    }

    /// A command in a home, with an environment that says nothing else.
    pub(crate) fn command(&self, home: &Path, data: &Path) -> Command {
        let mut command = Command::new(&self.formwork);
        command
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TMPDIR", home)
            .env("FORMWORK_DATA_DIR", data)
            .env("FORMWORK_PLUGIN_DIR", self.plugins());
        command
    }
}

/// A directory that goes by itself; in memory where there is such a place, since a killed process loses nothing that
/// it wrote, and only a machine that fails would.
fn directory() -> io::Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("fwb-");
        builder
    };
    match builder().tempdir_in(memory) {
        Ok(directory) => Ok(directory),
        Err(_) => builder().tempdir(),
    }
}
