//! What can be wrong with a configuration, as data, with what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a configuration cannot be used. No variant quotes a secret.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A variable is not UTF-8.
    #[error("`{name}` is not valid UTF-8")]
    NotText {
        /// The variable.
        name: &'static str,
    },
    /// A variable does not have the form it must have.
    #[error("`{name}` is `{value}`, but must be {expected}")]
    InvalidVariable {
        /// The variable.
        name: &'static str,
        /// Its value; never that of a secret variable.
        value: String,
        /// What it must be.
        expected: &'static str,
    },
    /// One of two variables that go together is missing.
    #[error("`{set}` is set, but `{unset}` is not: they go together")]
    Incomplete {
        /// The one that is there.
        set: &'static str,
        /// The one that is not.
        unset: &'static str,
    },
    /// A secret is too short to be one.
    #[error("`{name}` must have at least {least} bytes")]
    TooShort {
        /// The variable.
        name: &'static str,
        /// How many bytes it must have.
        least: usize,
    },
    /// `FORMWORK_DATABASE_URL` names a database that Formwork cannot use.
    #[error("`FORMWORK_DATABASE_URL` begins with `{scheme}:`, which is not a database Formwork knows")]
    UnknownDatabase {
        /// What stands before the colon.
        scheme: String,
    },
    /// There is no home directory to build a default from.
    #[error("there is no place for the data directory: neither `FORMWORK_DATA_DIR` nor `HOME` is set")]
    NoHome,
    /// A data directory is not a directory.
    #[error("the data directory `{path}` is not a directory")]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Others could put files into the data directory.
    #[error("the data directory `{path}` can be written by group or others (mode {mode:04o})")]
    OpenDirectory {
        /// The path.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A file with a secret can be read by others.
    #[error("`{path}` is open to group or others (mode {mode:04o})")]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The admin token file holds something else.
    #[error("`{path}` does not hold a token: `sk_` and 64 hexadecimal digits")]
    MalformedToken {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} `{path}`")]
    Io {
        /// `read`, `create`, …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A plugin is to have a variable that is Formwork's own.
    #[error("`{path}`: the plugin `{plugin}` may not have the variable `{variable}`")]
    PrivateVariable {
        /// The file.
        path: PathBuf,
        /// The plugin.
        plugin: String,
        /// The variable.
        variable: String,
    },
    /// The settings of a plugin have a key that they do not have.
    #[error("`{path}`: the plugin `{plugin}` has no setting `{key}`")]
    UnknownPluginKey {
        /// The file.
        path: PathBuf,
        /// The plugin.
        plugin: String,
        /// The key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A file of profiles or plugins is not JSON.
    #[error("`{path}` is not JSON (line {line}, column {column})")]
    MalformedProfiles {
        /// The file.
        path: PathBuf,
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// A file of profiles or plugins has another shape.
    #[error("`{path}`: {place} must be {expected}")]
    InvalidProfiles {
        /// The file.
        path: PathBuf,
        /// Which part of it.
        place: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A profile has a key that profiles do not have.
    #[error("`{path}`: the profile `{profile}` has no setting `{key}`")]
    UnknownProfileKey {
        /// The file.
        path: PathBuf,
        /// The profile.
        profile: String,
        /// The key.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The profile that was asked for is in no file. The text is the one scripts know
    /// (`formations-behaviour.md` §1.5).
    #[error("Profile \"{name}\" not found. Run: soat configure --profile {name}")]
    ProfileNotFound {
        /// Its name.
        name: String,
        /// The files that were looked into.
        files: Vec<PathBuf>,
    },
    /// A profile names no server, and no variable does.
    #[error("the profile `{name}` has no `baseUrl`")]
    ProfileWithoutUrl {
        /// Its name.
        name: String,
    },
}

impl ConfigError {
    /// What the person who sees the error can do, to print after `hint:`.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownDatabase { .. } => {
                Some("use `postgres://user@host/database`, or the path of a SQLite file".to_owned())
            }
            Self::NoHome => Some("set `FORMWORK_DATA_DIR` to a directory of your own".to_owned()),
            Self::OpenDirectory { path, .. } => Some(format!("run `chmod 700 {}`", path.display())),
            Self::Exposed { path, .. } => Some(format!("run `chmod 600 {}`", path.display())),
            Self::MalformedToken { path } => {
                Some(format!("delete `{}`; the next start makes a new token", path.display()))
            }
            Self::PrivateVariable { .. } => Some(
                "plugins get none of Formwork's own variables; give the provider's under another name"
                    .to_owned(),
            ),
            Self::UnknownPluginKey { nearest: None, .. } => {
                Some("a plugin has `enabled`, `environment` and `rateLimit`".to_owned())
            }
            Self::UnknownPluginKey { nearest: Some(nearest), .. }
            | Self::UnknownProfileKey { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            Self::UnknownProfileKey { nearest: None, .. } => {
                Some("a profile has `baseUrl` and `token`".to_owned())
            }
            Self::ProfileNotFound { files, .. } => {
                let files: Vec<_> = files.iter().map(|file| format!("`{}`", file.display())).collect();
                (!files.is_empty()).then(|| format!("looked into {}", files.join(" and ")))
            }
            Self::ProfileWithoutUrl { .. } => {
                Some("add `baseUrl` to the profile, or set `FORMWORK_URL`".to_owned())
            }
            _ => None,
        }
    }
}
