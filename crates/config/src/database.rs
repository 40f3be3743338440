//! Which database holds the ledger.

use crate::{ConfigError, DataDir};
use formwork_secret::Secret;
use std::path::PathBuf;

/// Where the ledger lives.
#[derive(Clone, Debug)]
pub enum Database {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server; the URL may hold a password.
    Postgres(Secret<String>),
}

impl Database {
    /// Reads `FORMWORK_DATABASE_URL`: `postgres://…`, `postgresql://…`, `sqlite:<path>`, or a path.
    /// Without it, the file of the data directory.
    ///
    /// # Errors
    /// [`ConfigError::UnknownDatabase`] for any other scheme.
    pub fn parse(url: Option<&str>, data_dir: &DataDir) -> Result<Self, ConfigError> {
        let Some(url) = url else { return Ok(Self::Sqlite(data_dir.database())) };
        match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(Secret::new(url.to_owned()))),
            Some(("sqlite" | "file", rest)) => {
                Ok(Self::Sqlite(rest.strip_prefix("//").unwrap_or(rest).into()))
            }
            Some((scheme, _)) if is_scheme(scheme) => {
                Err(ConfigError::UnknownDatabase { scheme: scheme.to_owned() })
            }
            _ => Ok(Self::Sqlite(url.into())),
        }
    }
}

/// Whether a text reads as the scheme of a URL; a path with a colon in it does not.
fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: Option<&str>) -> String {
        match Database::parse(url, &DataDir::at("/data")) {
            Ok(Database::Sqlite(path)) => format!("sqlite {}", path.display()),
            Ok(Database::Postgres(url)) => format!("postgres {}", url.expose()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn each_spelling_names_its_database() {
        assert_eq!(parsed(None), "sqlite /data/formwork.db");
        assert_eq!(parsed(Some("/tmp/x.db")), "sqlite /tmp/x.db");
        assert_eq!(parsed(Some("./odd:name.db")), "sqlite ./odd:name.db");
        assert_eq!(parsed(Some("sqlite:x.db")), "sqlite x.db");
        assert_eq!(parsed(Some("sqlite:///tmp/x.db")), "sqlite /tmp/x.db");
        assert_eq!(parsed(Some("postgres://u:p@h/d")), "postgres postgres://u:p@h/d");
        assert_eq!(parsed(Some("postgresql://h/d")), "postgres postgresql://h/d");
    }

    #[test]
    fn an_unknown_scheme_is_refused_without_quoting_the_password() {
        let message = parsed(Some("mysql://root:hunter2@h/d"));
        assert!(message.contains("`mysql:`"), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }

    #[test]
    fn printing_a_database_shows_no_password() {
        let database = Database::parse(Some("postgres://u:hunter2@h/d"), &DataDir::at("/data"));
        assert!(!format!("{database:?}").contains("hunter2"));
    }
}
