//! The file an instance key lives in. Unix only: what protects it is the file's mode.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use crate::{HexError, InstanceKey, hex, random_bytes};

/// The most a key file is read for: the key, its newline and enough to see that it is too long.
const READ_LIMIT: u64 = 128;

/// Why there is no instance key. No variant quotes anything of a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A text is not a key.
    #[error("an instance key is 64 hexadecimal characters")]
    Malformed {
        /// What is wrong with the text.
        source: HexError,
    },
    /// A file's content is not a key.
    #[error("`{path}` does not hold an instance key: 64 hexadecimal characters and a newline")]
    MalformedFile {
        /// The key file.
        path: PathBuf,
        /// What is wrong with its content.
        source: HexError,
    },
    /// The key file is open to other users of the machine, who may have read it.
    #[error("`{path}` is open to group or others (mode {mode:04o})")]
    Exposed {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The key file is there but cannot be read.
    #[error("cannot read the instance key from `{path}`")]
    Read {
        /// The key file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// There is no key file and none can be made.
    #[error("cannot create the instance key file `{path}`")]
    Create {
        /// The key file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl KeyError {
    /// What the person who sees the error can do, to print after `hint:`.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Exposed { path, .. } => Some(format!(
                "run `chmod 600 {}`; if others may have read it, make a new key",
                path.display()
            )),
            Self::Create { path, source } if source.kind() == io::ErrorKind::NotFound => {
                Some(format!("create the directory of `{}` first", path.display()))
            }
            Self::Malformed { .. } | Self::MalformedFile { .. } => Some(String::from(
                "`openssl rand -hex 32` prints a new key; what the old one sealed stays sealed",
            )),
            Self::Read { .. } | Self::Create { .. } => None,
        }
    }
}

impl InstanceKey {
    /// The key in a file, which is made with a new random key and mode 0600 when there is none.
    ///
    /// Processes that start together agree on one key: a file appears under its name only when it
    /// is complete and on disk, and never replaces another. The directory must exist.
    ///
    /// # Errors
    /// [`KeyError::Exposed`] when group or others have any access to the file,
    /// [`KeyError::MalformedFile`] when it holds no key, [`KeyError::Read`] and
    /// [`KeyError::Create`] when the operating system refuses.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        if let Some(key) = Self::load(path)? {
            return Ok(key);
        }
        let create_error = |source| KeyError::Create { path: path.to_owned(), source };
        create(path, &Self::generate()).map_err(create_error)?;
        // Read back in any case: another process may have been first, and its key then counts.
        Self::load(path)?.ok_or_else(|| create_error(io::ErrorKind::NotFound.into()))
    }

    /// The key in a file, or `None` when there is no file.
    ///
    /// # Errors
    /// As [`load_or_create`](Self::load_or_create), but for [`KeyError::Create`].
    pub fn load(path: &Path) -> Result<Option<Self>, KeyError> {
        load(path)
    }
}

fn load(path: &Path) -> Result<Option<InstanceKey>, KeyError> {
    let read_error = |source| KeyError::Read { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(read_error(error)),
    };
    // Asked of the open file and not of the path, so that nobody can swap it in between.
    let mode = file.metadata().map_err(read_error)?.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyError::Exposed { path: path.to_owned(), mode });
    }
    let mut content = Zeroizing::new(Vec::with_capacity(256));
    file.take(READ_LIMIT).read_to_end(&mut content).map_err(read_error)?;
    let text = content.strip_suffix(b"\n").unwrap_or(&content);
    let bytes = hex::decode(text)
        .map(Zeroizing::new)
        .map_err(|source| KeyError::MalformedFile { path: path.to_owned(), source })?;
    Ok(Some(InstanceKey::from_bytes(*bytes)))
}

/// Writes the key under the path's name unless a file of that name exists, which then stays.
fn create(path: &Path, key: &InstanceKey) -> io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let draft = directory.join(format!(".instance-key.{}", hex(&random_bytes::<8>())));
    let published = write_draft(&draft, key).and_then(|()| publish(&draft, path));
    let removed = fs::remove_file(&draft);
    published?;
    removed?;
    File::open(directory)?.sync_all()
}

fn write_draft(draft: &Path, key: &InstanceKey) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    file.write_all(key.to_hex().expose().as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

/// A hard link, unlike a rename, fails when the name is taken.
fn publish(draft: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(draft, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
