//! The lock of a data directory: at most one process serves it. The operating system drops the lock
//! with its process, so a dead owner's lock is free at once and there is nothing stale to judge.

use formwork_model::OwnerId;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Who holds a data directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    /// Which data directory: random, made once, and kept in the lock's file from holder to holder.
    #[serde(default)]
    pub(crate) directory: String,
    /// Milliseconds since the epoch.
    pub(crate) since: i64,
    /// Whether it was started to stay (`agent start`).
    pub(crate) resident: bool,
    /// Whether it takes over what a dead process left unfinished; one that only reads does not.
    pub(crate) recovers: bool,
    pub(crate) version: String,
}

impl Holder {
    /// This process, as the agent.
    pub(crate) fn resident(since: i64) -> Self {
        Self { resident: true, ..Self::command(since, true) }
    }

    /// This process, for the time of one command.
    pub(crate) fn command(since: i64, recovers: bool) -> Self {
        Self {
            pid: std::process::id(),
            directory: String::new(),
            since,
            resident: false,
            recovers,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The owner under which it holds leases: never the same for two processes. Process ids alone
    /// would not do: those of two containers that share a database can be the same.
    pub(crate) fn owner(&self) -> OwnerId {
        OwnerId::from(format!("{}/{}@{}", self.directory, self.pid, self.since))
    }

    /// Whether an owner served the same data directory before. It is dead then, since the lock is
    /// ours now; owners of other directories can't be judged from here, so their leases must run out.
    pub(crate) fn succeeds(&self, owner: &OwnerId) -> bool {
        let before = owner.as_str().split_once('/').map(|(directory, _)| directory);
        before == Some(self.directory.as_str()) && *owner != self.owner()
    }
}

/// A data directory that this process holds; given up when it is dropped.
#[derive(Debug)]
pub(crate) struct DataLock {
    file: File,
    pub(crate) holder: Holder,
}

impl DataLock {
    /// Takes the lock, or says who has it (`None`: it has not said yet).
    ///
    /// # Errors
    /// The file can't be opened or written.
    pub(crate) fn take(path: &Path, holder: Holder) -> io::Result<Result<Self, Option<Holder>>> {
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(Err(read_holder(&mut file))),
            Err(error) => return Err(error.into()),
        }
        let before = read_holder(&mut file).map(|before| before.directory);
        let directory = before.filter(|directory| !directory.is_empty());
        let directory =
            directory.unwrap_or_else(|| formwork_secret::hex(&formwork_secret::random_bytes::<12>()));
        let mut lock = Self { file, holder: Holder { directory, ..holder } };
        lock.announce()?;
        Ok(Ok(lock))
    }

    fn announce(&mut self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.holder)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)?;
        self.file.flush()
    }
}

/// Who holds a data directory now; `None` if nobody does.
///
/// # Errors
/// The file can't be opened.
pub(crate) fn current(path: &Path) -> io::Result<Option<Holder>> {
    let mut file = match OpenOptions::new().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(None),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(read_holder(&mut file)),
        Err(error) => Err(error.into()),
    }
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_earlier_owner_of_the_same_directory_is_known_to_be_dead() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("agent.lock");
        let take =
            |since| DataLock::take(&path, Holder::command(since, true)).expect("writable").expect("free");
        let first = take(1).holder.owner();
        let second = take(2).holder;
        assert!(second.succeeds(&first));
        assert!(!second.succeeds(&second.owner()));
        assert!(!second.succeeds(&Holder { directory: "other".to_owned(), ..second.clone() }.owner()));
    }

    #[test]
    fn one_process_holds_a_directory_and_leaves_it_with_its_life() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("agent.lock");
        assert_eq!(current(&path).expect("readable"), None);
        let lock = DataLock::take(&path, Holder::resident(1)).expect("writable").expect("free");
        let second = DataLock::take(&path, Holder::command(2, false)).expect("writable");
        assert_eq!(second.map(drop), Err(Some(lock.holder.clone())));
        assert_eq!(current(&path).expect("readable"), Some(lock.holder.clone()));
        drop(lock);
        assert_eq!(current(&path).expect("readable"), None);
        assert!(DataLock::take(&path, Holder::command(2, false)).expect("writable").is_ok());
    }
}
