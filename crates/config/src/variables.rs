//! The table of every variable and file, with what a person should know of each.

/// An environment variable that Formwork reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What holds where it is unset or empty.
    pub default: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Whether its value must not be shown.
    pub secret: bool,
}

/// A file that Formwork reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Where it is.
    pub path: &'static str,
    /// Its permission bits, where Formwork makes it.
    pub mode: Option<u32>,
    /// What it is for.
    pub doc: &'static str,
}

macro_rules! variables {
    ($($constant:ident = $name:literal, default $default:literal, $visibility:ident, $doc:literal;)+) => {
        /// The names of the variables in [`VARIABLES`].
        pub mod name {
            $(#[doc = $doc] pub const $constant: &str = $name;)+
        }

        /// Every environment variable that Formwork reads, in the order of the reference page.
        pub const VARIABLES: &[Variable] = &[
            $(Variable {
                name: name::$constant,
                default: $default,
                doc: $doc,
                secret: matches!(Visibility::$visibility, Visibility::Secret),
            },)+
        ];
    };
}

/// Whether a variable's value may be shown.
enum Visibility {
    Public,
    Secret,
}

variables! {
    DATA_DIR = "FORMWORK_DATA_DIR", default "`$XDG_DATA_HOME/formwork`, else `~/.local/share/formwork`", Public,
        "The data directory: database, keys, socket.";
    DATABASE_URL = "FORMWORK_DATABASE_URL", default "`formwork.db` in the data directory", Secret,
        "Where the ledger lives: `postgres://…`, or the path of a SQLite file.";
    INSTANCE_KEY = "FORMWORK_INSTANCE_KEY", default "the file `instance.key` in the data directory", Secret,
        "The instance key, 64 hexadecimal digits; wins over the file.";
    LISTEN = "FORMWORK_LISTEN", default "the Unix socket only", Public,
        "An address and port on which the agent listens besides its Unix socket.";
    TRUSTED_PROXIES = "FORMWORK_TRUSTED_PROXIES", default "none", Public,
        "The reverse proxies in front, as addresses or networks with commas between (`10.0.0.5, fd00::/8`): for requests from these, and no others, `Forwarded` and `X-Forwarded-For` say who the client is, which counts failed logins.";
    URL = "FORMWORK_URL", default "the agent of the data directory", Public,
        "The server to talk to; wins over `SOAT_BASE_URL`.";
    TOKEN = "FORMWORK_TOKEN", default "the admin token of the data directory", Secret,
        "The bearer token to send; wins over `SOAT_TOKEN`.";
    PROFILE = "FORMWORK_PROFILE", default "`default`", Public,
        "The profile to use; wins over `SOAT_PROFILE`.";
    SOAT_BASE_URL = "SOAT_BASE_URL", default "", Public,
        "The server to talk to, under the name that existing scripts use.";
    SOAT_TOKEN = "SOAT_TOKEN", default "", Secret,
        "The bearer token to send, under the name that existing scripts use.";
    SOAT_PROFILE = "SOAT_PROFILE", default "", Public,
        "The profile to use, under the name that existing scripts use.";
    ADMIN_USERNAME = "SOAT_ADMIN_USERNAME", default "no user is made", Public,
        "With `SOAT_ADMIN_PASSWORD`: the admin that is made when the agent starts and there are no users.";
    ADMIN_PASSWORD = "SOAT_ADMIN_PASSWORD", default "no user is made", Secret,
        "The password of that admin: at least 8 characters.";
    JWT_SECRET = "JWT_SECRET", default "a key drawn from the instance key", Secret,
        "What logins are signed with, at least 32 bytes: the same for all processes that share users.";
    RESOURCE_TYPES = "FORMATION_RESOURCE_TYPES_CONFIG", default "the built-in types only", Public,
        "The path of a JSON file that registers custom resource types, read once at start. Anything wrong with it is refused at once.";
    PLUGIN_DIR = "FORMWORK_PLUGIN_DIR", default "`plugins` in the data directory", Public,
        "Where plugins are installed, as `<name>/v<version>/<name>`; they win over those of the system, in `lib/formwork/plugins` beside the `bin` that holds the program.";
    PLUGIN_CONFIG = "FORMWORK_PLUGIN_CONFIG", default "`$XDG_CONFIG_HOME/formwork/plugins.json`, if it is there", Public,
        "The path of a JSON file that says what each plugin may have.";
    PURGE_DRY_RUN = "PURGE_DRY_RUN", default "`false`", Public,
        "`1` or `true`: `admin purge-secret-outputs` only says what it would remove, as with `--dry-run`.";
    LOG = "FORMWORK_LOG", default "`warn`", Public,
        "How much the process logs: `off`, `error`, `warn`, `info`, `debug` or `trace`.";
    NO_COLOR = "NO_COLOR", default "colour on a terminal", Public,
        "Any value turns colour off.";
    XDG_DATA_HOME = "XDG_DATA_HOME", default "`~/.local/share`", Public,
        "Where the data directory is, as desktop systems define it.";
    XDG_CONFIG_HOME = "XDG_CONFIG_HOME", default "`~/.config`", Public,
        "Where the profile file is, as desktop systems define it.";
    HOME = "HOME", default "", Public,
        "The home directory, from which the defaults above are built.";
}

/// Every file that Formwork reads or writes on its own account.
pub const FILES: &[FileEntry] = &[
    FileEntry {
        path: "$FORMWORK_DATA_DIR",
        mode: Some(0o700),
        doc: "The data directory; made when it is missing.",
    },
    FileEntry {
        path: "$FORMWORK_DATA_DIR/instance.key",
        mode: Some(0o600),
        doc: "The key that seals and digests secrets; a store is useless to anyone without it.",
    },
    FileEntry {
        path: "$FORMWORK_DATA_DIR/admin.token",
        mode: Some(0o600),
        doc: "The bearer token of the administrator; made at random for a fresh data directory.",
    },
    FileEntry {
        path: "$FORMWORK_DATA_DIR/formwork.db",
        mode: Some(0o600),
        doc: "The ledger, unless `FORMWORK_DATABASE_URL` names another.",
    },
    FileEntry {
        path: "$FORMWORK_DATA_DIR/agent.lock",
        mode: Some(0o600),
        doc: "Held by the process that is the agent of this data directory.",
    },
    FileEntry {
        path: "$FORMWORK_DATA_DIR/agent.sock",
        mode: Some(0o600),
        doc: "The Unix socket on which the agent listens.",
    },
    FileEntry {
        path: "$FORMWORK_DATA_DIR/plugins",
        mode: None,
        doc: "The user's plugins, unless `FORMWORK_PLUGIN_DIR` names another directory.",
    },
    FileEntry {
        path: "$FORMWORK_DATA_DIR/plugin-cache",
        mode: None,
        doc: "What the schemas of plugins say; made anew when it is deleted.",
    },
    FileEntry {
        path: "$XDG_CONFIG_HOME/formwork/plugins.json",
        mode: None,
        doc: "What each plugin may have: `{\"<name>\": {\"enabled\": …, \"environment\": [\"VARIABLE\", …], \"rateLimit\": …}}`.",
    },
    FileEntry {
        path: "$XDG_CONFIG_HOME/formwork/config.json",
        mode: None,
        doc: "Profiles: `{\"<name>\": {\"baseUrl\": …, \"token\": …}}`.",
    },
    FileEntry {
        path: "~/.soat/config.json",
        mode: None,
        doc: "Profiles of the same shape, read after the file above.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_variable_is_listed_once_with_a_sentence() {
        let names: BTreeSet<_> = VARIABLES.iter().map(|variable| variable.name).collect();
        assert_eq!(names.len(), VARIABLES.len());
        for variable in VARIABLES {
            assert!(variable.doc.ends_with('.'), "{} has no sentence", variable.name);
        }
    }
}
