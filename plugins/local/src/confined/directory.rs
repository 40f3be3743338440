//! An open directory, and what can be done with one name in it.

use super::path::{FilePath, is_temporary};
use crate::fault::Fault;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;
use std::fs::File;

/// The most names of one directory that are looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// A directory.
pub(crate) struct Directory {
    pub(super) descriptor: OwnedFd,
    pub(super) path: FilePath,
}

/// What kind of thing a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, a pipe, a socket.
    Other,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) owner: u32,
    pub(crate) group: u32,
    pub(crate) size: u64,
}

/// What a person can choose of a file or a directory beside what is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// Permissions; `None` leaves them.
    pub(crate) mode: Option<u32>,
    /// The user; `None` leaves it.
    pub(crate) owner: Option<u32>,
    /// The group; `None` leaves it.
    pub(crate) group: Option<u32>,
}

/// A file that is open to be read.
pub(crate) struct Found {
    pub(crate) file: File,
    pub(crate) status: Status,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl Status {
    fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink,
            _ => Kind::Other,
        };
        Self {
            kind,
            mode: stat.st_mode & 0o7777,
            owner: stat.st_uid,
            group: stat.st_gid,
            size: u64::try_from(stat.st_size).unwrap_or(0),
        }
    }
}

impl Attributes {
    /// Gives a file these attributes. The owner comes first, since changing it takes bits of the mode.
    pub(super) fn apply(self, descriptor: &OwnedFd) -> Result<(), Errno> {
        if self.owner.is_some() || self.group.is_some() {
            rustix::fs::fchown(descriptor, self.owner.map(Uid::from_raw), self.group.map(Gid::from_raw))?;
        }
        self.mode.map_or(Ok(()), |mode| rustix::fs::fchmod(descriptor, Mode::from_raw_mode(mode)))
    }
}

impl Directory {
    pub(super) fn new(descriptor: OwnedFd, path: FilePath) -> Self {
        Self { descriptor, path }
    }

    /// Its path from the root.
    pub(crate) fn path(&self) -> &FilePath {
        &self.path
    }

    /// The same directory, opened once more.
    pub(super) fn again(&self) -> Result<Self, Fault> {
        let descriptor = self
            .descriptor
            .try_clone()
            .map_err(|error| Fault::io(&error, format_args!("open `{}`", self.path)))?;
        Ok(Self::new(descriptor, self.path.clone()))
    }

    /// A directory in this one.
    ///
    /// # Errors
    /// `NOT_FOUND` if there is none of the name, `ACCESS_DENIED` if it is a link.
    pub(crate) fn enter(&self, name: &str) -> Result<Self, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = self.path.within(name);
        match rustix::fs::openat(&self.descriptor, name, flags, Mode::empty()) {
            Ok(descriptor) => Ok(Self::new(descriptor, path)),
            Err(Errno::NOENT) => Err(Fault::missing(format!("there is no directory `{path}`"))),
            // Which of the two the system says of a link differs; what the name stands for is only
            // asked for the message.
            Err(errno @ (Errno::NOTDIR | Errno::LOOP)) => match self.status(name) {
                Ok(Some(Status { kind: Kind::Symlink, .. })) => {
                    Err(Fault::denied(format!("`{path}` is a symbolic link, and none is followed")))
                }
                _ if errno == Errno::NOTDIR => Err(Fault::missing(format!("`{path}` is not a directory"))),
                _ => Err(Fault::system(errno, format_args!("open `{path}`"))),
            },
            Err(errno) => Err(Fault::system(errno, format_args!("open `{path}`"))),
        }
    }

    /// What a name stands for; `None` if there is nothing.
    pub(crate) fn status(&self, name: &str) -> Result<Option<Status>, Fault> {
        match rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Status::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.fault(errno, "look at", name)),
        }
    }

    /// What this directory is itself.
    pub(crate) fn own_status(&self) -> Result<Status, Fault> {
        match rustix::fs::fstat(&self.descriptor) {
            Ok(stat) => Ok(Status::of(&stat)),
            Err(errno) => Err(Fault::system(errno, format_args!("look at `{}`", self.path))),
        }
    }

    /// Gives this directory attributes.
    pub(crate) fn set(&self, attributes: Attributes) -> Result<(), Fault> {
        attributes.apply(&self.descriptor).map_err(|errno| {
            Fault::system(errno, format_args!("set the mode and owner of `{}`", self.path))
        })?;
        self.flush()
    }

    /// Opens a file to read it; `None` if there is none of the name, or something else. What is not a
    /// file is never opened, since opening a device may do something, and a pipe would wait.
    pub(crate) fn open_file(&self, name: &str) -> Result<Option<Found>, Fault> {
        match self.status(name)? {
            Some(Status { kind: Kind::File, .. }) => {}
            _ => return Ok(None),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let descriptor = match rustix::fs::openat(&self.descriptor, name, flags, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
            Err(errno) => return Err(self.fault(errno, "open", name)),
        };
        let stat = rustix::fs::fstat(&descriptor).map_err(|errno| self.fault(errno, "look at", name))?;
        let status = Status::of(&stat);
        Ok((status.kind == Kind::File).then(|| Found { file: File::from(descriptor), status }))
    }

    /// Where a symbolic link points; `None` if there is none of the name.
    ///
    /// # Errors
    /// `INVALID_REQUEST` also if where it points is no text.
    pub(crate) fn read_link(&self, name: &str) -> Result<Option<String>, Fault> {
        match rustix::fs::readlinkat(&self.descriptor, name, Vec::new()) {
            Ok(target) => match target.into_string() {
                Ok(target) => Ok(Some(target)),
                Err(_) => Err(self.fault(Errno::ILSEQ, "read where it points of", name)),
            },
            // `INVAL`: it is something else.
            Err(Errno::NOENT | Errno::INVAL) => Ok(None),
            Err(errno) => Err(self.fault(errno, "read", name)),
        }
    }

    /// Removes a file or a link; nothing if there is none of the name any more.
    pub(crate) fn unlink(&self, name: &str) -> Result<(), Fault> {
        self.removed(rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty()), name)
    }

    /// Removes an empty directory; nothing if there is none of the name any more.
    pub(crate) fn remove_directory(&self, name: &str) -> Result<(), Fault> {
        self.removed(rustix::fs::unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR), name)
    }

    fn removed(&self, removed: Result<(), Errno>, name: &str) -> Result<(), Fault> {
        match removed {
            Ok(()) => self.flush(),
            Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.fault(errno, "remove", name)),
        }
    }

    /// The names in it that are texts, in order. Others can't be named in JSON.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Fault> {
        let mut entries = Vec::new();
        self.for_each_name(&mut |name, kind| {
            if !is_temporary(&name) {
                entries.push(Entry { name, kind });
            }
        })?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Removes what an earlier process left unfinished; says whether there was any.
    pub(crate) fn sweep(&self) -> Result<bool, Fault> {
        let mut left = Vec::new();
        self.for_each_name(&mut |name, _| {
            if is_temporary(&name) {
                left.push(name);
            }
        })?;
        left.iter().try_for_each(|name| self.unlink(name))?;
        Ok(!left.is_empty())
    }

    fn for_each_name(&self, visit: &mut dyn FnMut(String, Kind)) -> Result<(), Fault> {
        let failed = |errno| Fault::system(errno, format_args!("list `{}`", self.path));
        let listing = Dir::read_from(&self.descriptor).map_err(failed)?;
        for (count, entry) in listing.enumerate() {
            if count >= MOST_ENTRIES {
                let message = format!("`{}` has more than {MOST_ENTRIES} names", self.path);
                return Err(Fault::invalid(message));
            }
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                FileType::Symlink => Kind::Symlink,
                FileType::Unknown => match self.status(name)? {
                    Some(status) => status.kind,
                    None => continue,
                },
                _ => Kind::Other,
            };
            visit(name.to_owned(), kind);
        }
        Ok(())
    }

    /// Makes what was done to its names durable.
    pub(super) fn flush(&self) -> Result<(), Fault> {
        match rustix::fs::fsync(&self.descriptor) {
            // Some file systems can't.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(errno) => Err(Fault::system(errno, format_args!("flush `{}`", self.path))),
        }
    }

    pub(super) fn fault(&self, errno: Errno, attempt: &str, name: &str) -> Fault {
        Fault::system(errno, format_args!("{attempt} `{}`", self.path.within(name)))
    }
}
