//! The bearer token that a fresh data directory gets (architecture §7, "Authenticated always").

use crate::{ConfigError, DataDir};
use formwork_secret::{Secret, random_bytes};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// What every token begins with (`formations-behaviour.md` §1.4).
const PREFIX: &str = "sk_";
/// Hexadecimal digits after the prefix.
const DIGITS: usize = 64;
/// The most a token file is read for.
const READ_LIMIT: u64 = 256;

impl DataDir {
    /// The admin token; made at random, with mode 0600, where there is none. Processes that start
    /// together agree on one: the file appears under its name only when it is complete, and never
    /// replaces another. The directory must have been [prepared](Self::prepare).
    ///
    /// # Errors
    /// [`ConfigError::Exposed`] when group or others have any access to the file,
    /// [`ConfigError::MalformedToken`], [`ConfigError::Io`].
    pub fn admin_token(&self) -> Result<Secret<String>, ConfigError> {
        let path = self.admin_token_file();
        if let Some(token) = load(&path)? {
            return Ok(token);
        }
        create(self.path(), &path)?;
        load(&path)?.ok_or_else(|| ConfigError::Io {
            action: "read",
            path: path.clone(),
            source: io::ErrorKind::NotFound.into(),
        })
    }

    /// The admin token, if there is one; creates nothing.
    ///
    /// # Errors
    /// As [`admin_token`](Self::admin_token).
    pub fn existing_admin_token(&self) -> Result<Option<Secret<String>>, ConfigError> {
        load(&self.admin_token_file())
    }
}

fn load(path: &Path) -> Result<Option<Secret<String>>, ConfigError> {
    let failed = |source| ConfigError::Io { action: "read", path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(ConfigError::Exposed { path: path.to_owned(), mode });
    }
    let mut bytes = Vec::new();
    file.take(READ_LIMIT).read_to_end(&mut bytes).map_err(failed)?;
    let bytes = Secret::new(bytes);
    let text = std::str::from_utf8(bytes.expose()).ok().map(str::trim_end);
    let token = text.filter(|text| is_token(text));
    token
        .map(|token| Some(Secret::new(token.to_owned())))
        .ok_or(ConfigError::MalformedToken { path: path.to_owned() })
}

fn is_token(text: &str) -> bool {
    text.strip_prefix(PREFIX)
        .is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn create(directory: &Path, path: &Path) -> Result<(), ConfigError> {
    let failed = |source| ConfigError::Io { action: "create", path: path.to_owned(), source };
    let staging = directory.join(format!(".admin.token.{}", hexadecimal(&random_bytes::<8>()).expose()));
    let written = write_new(&staging).and_then(|()| match fs::hard_link(&staging, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = fs::remove_file(&staging);
    written.and(removed).and_then(|()| File::open(directory)?.sync_all()).map_err(failed)
}

fn write_new(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let digits = hexadecimal(&random_bytes::<{ DIGITS / 2 }>());
    file.write_all(PREFIX.as_bytes())?;
    file.write_all(digits.expose().as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

fn hexadecimal(bytes: &[u8]) -> Secret<String> {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Secret::new(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> (tempfile::TempDir, DataDir) {
        let parent = tempfile::tempdir().expect("a directory");
        let data = DataDir::at(parent.path().join("data"));
        data.prepare().expect("it can be made");
        (parent, data)
    }

    #[test]
    fn a_fresh_directory_gets_one_token_and_keeps_it() {
        let (_parent, data) = fresh();
        assert!(data.existing_admin_token().expect("readable").is_none());
        let first = data.admin_token().expect("made");
        assert!(is_token(first.expose()));
        assert!(data.admin_token().expect("kept").same_as(&first));
        let mode = fs::metadata(data.admin_token_file()).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(data.path()).expect("readable").count(), 1, "nothing is left beside it");
    }

    #[test]
    fn processes_that_start_together_agree() {
        let (_parent, data) = fresh();
        let tokens: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| data.admin_token())).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic").expect("a token")).collect()
        });
        assert!(tokens.iter().all(|token| token.same_as(&tokens[0])));
    }

    #[test]
    fn a_token_that_others_can_read_is_refused() {
        let (_parent, data) = fresh();
        data.admin_token().expect("made");
        fs::set_permissions(data.admin_token_file(), fs::Permissions::from_mode(0o644)).expect("chmod");
        assert!(matches!(data.admin_token(), Err(ConfigError::Exposed { mode: 0o644, .. })));
    }

    #[test]
    fn something_else_in_the_file_is_refused_and_not_quoted() {
        let (_parent, data) = fresh();
        data.admin_token().expect("made");
        fs::write(data.admin_token_file(), "hunter2\n").expect("written");
        let refused = data.admin_token().expect_err("no token");
        assert!(matches!(refused, ConfigError::MalformedToken { .. }));
        assert!(!format!("{refused} {refused:?}").contains("hunter2"));
    }
}
