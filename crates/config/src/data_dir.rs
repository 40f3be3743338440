//! The data directory: where it is, what is in it, and that nobody else can get at it.

use crate::{ConfigError, Environment, name};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A data directory, which may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// The data directory at a path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// `FORMWORK_DATA_DIR`, else `$XDG_DATA_HOME/formwork`, else `~/.local/share/formwork`. A
    /// relative `XDG_DATA_HOME` is ignored, as its specification asks.
    ///
    /// # Errors
    /// [`ConfigError::NoHome`] when none of the variables is set.
    pub fn locate(environment: &Environment) -> Result<Self, ConfigError> {
        if let Some(path) = environment.path(name::DATA_DIR) {
            return Ok(Self(path));
        }
        let share = environment
            .path(name::XDG_DATA_HOME)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(environment.path(name::HOME)?.join(".local/share")));
        share.map(|share| Self(share.join("formwork"))).ok_or(ConfigError::NoHome)
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The instance key.
    pub fn instance_key(&self) -> PathBuf {
        self.0.join("instance.key")
    }

    /// The admin's bearer token.
    pub fn admin_token_file(&self) -> PathBuf {
        self.0.join("admin.token")
    }

    /// The ledger, where no other is configured.
    pub fn database(&self) -> PathBuf {
        self.0.join("formwork.db")
    }

    /// The plugins of the user, where `FORMWORK_PLUGIN_DIR` names no other directory.
    pub fn plugins(&self) -> PathBuf {
        self.0.join("plugins")
    }

    /// What the schemas of plugins say.
    pub fn plugin_cache(&self) -> PathBuf {
        self.0.join("plugin-cache")
    }

    /// What the agent of this directory holds.
    pub fn agent_lock(&self) -> PathBuf {
        self.0.join("agent.lock")
    }

    /// Where the agent of this directory listens.
    pub fn agent_socket(&self) -> PathBuf {
        self.0.join("agent.sock")
    }

    /// Whether the directory is there. A read-only command on none creates nothing.
    pub fn exists(&self) -> bool {
        self.0.is_dir()
    }

    /// Makes the directory with mode 0700 where it is missing, and checks one that is there.
    ///
    /// # Errors
    /// [`ConfigError::NotADirectory`], [`ConfigError::OpenDirectory`] when group or others could
    /// plant files in it, [`ConfigError::Io`] when the operating system refuses.
    pub fn prepare(&self) -> Result<(), ConfigError> {
        let failed =
            |action| move |source: io::Error| ConfigError::Io { action, path: self.0.clone(), source };
        match fs::metadata(&self.0) {
            Ok(found) if !found.is_dir() => Err(ConfigError::NotADirectory { path: self.0.clone() }),
            Ok(found) => {
                let mode = found.permissions().mode() & 0o7777;
                if mode & 0o022 == 0 {
                    return Ok(());
                }
                Err(ConfigError::OpenDirectory { path: self.0.clone(), mode })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.0).map_err(failed("create"))
            }
            Err(error) => Err(failed("read")(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_over_xdg_which_wins_over_home() {
        let mut pairs = vec![("HOME", "/home/ada")];
        let located = |pairs: &[(&'static str, &'static str)]| {
            DataDir::locate(&pairs.iter().copied().collect()).map(|found| found.path().to_owned())
        };
        assert_eq!(located(&pairs).expect("home"), Path::new("/home/ada/.local/share/formwork"));
        pairs.push(("XDG_DATA_HOME", "/data"));
        assert_eq!(located(&pairs).expect("xdg"), Path::new("/data/formwork"));
        pairs.push(("FORMWORK_DATA_DIR", "here"));
        assert_eq!(located(&pairs).expect("own"), Path::new("here"));
        assert_eq!(
            located(&[("XDG_DATA_HOME", "relative"), ("HOME", "/h")]).expect("home again"),
            Path::new("/h/.local/share/formwork")
        );
        assert!(matches!(located(&[]), Err(ConfigError::NoHome)));
    }

    #[test]
    fn a_fresh_directory_is_for_its_owner_alone() {
        let parent = tempfile::tempdir().expect("a directory");
        let data = DataDir::at(parent.path().join("a/b"));
        assert!(!data.exists());
        data.prepare().expect("it can be made");
        data.prepare().expect("and is fine the second time");
        let mode = fs::metadata(data.path()).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_directory_that_others_can_write_is_refused() {
        let parent = tempfile::tempdir().expect("a directory");
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o777)).expect("chmod");
        let refused = DataDir::at(parent.path()).prepare();
        assert!(matches!(refused, Err(ConfigError::OpenDirectory { mode: 0o777, .. })));
    }

    #[test]
    fn a_file_in_its_place_is_refused() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let refused = DataDir::at(file.path()).prepare();
        assert!(matches!(refused, Err(ConfigError::NotADirectory { .. })));
    }
}
