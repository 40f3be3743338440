//! Files below one directory, whatever else is on the way to them.
//!
//! **Architecture invariant:** the system is never given a path of more than one name. A path is walked
//! from the root's descriptor name by name, each opened without following a symbolic link, so that
//! neither `..` nor a link, nor one that is put in place during a call, leads out of the root. All
//! else in this crate reaches files through a [`Directory`].

mod directory;
mod path;
mod walk;
mod write;

pub(crate) use directory::{Attributes, Directory, Found, Kind, Status};
pub(crate) use path::{FilePath, STATE};
pub(crate) use walk::{Query, Scope, list};

use crate::fault::Fault;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A target's root.
pub(crate) struct Root {
    directory: Directory,
}

impl Root {
    /// Opens a root. Links on the way to it are followed: whoever configures the target names it.
    ///
    /// # Errors
    /// `INVALID_REQUEST` if it is no directory: never `NOT_FOUND`, which would say that all that was in
    /// it is gone.
    pub(crate) fn open(path: &str) -> Result<Self, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(descriptor) => Ok(Self { directory: Directory::new(descriptor, FilePath::root()) }),
            Err(Errno::NOENT | Errno::NOTDIR) => {
                Err(Fault::invalid(format!("the target's root `{path}` is not a directory: create it first")))
            }
            Err(errno) => Err(Fault::system(errno, format_args!("open the target's root `{path}`"))),
        }
    }

    /// A directory of it.
    ///
    /// # Errors
    /// `NOT_FOUND` if it is not there, `ACCESS_DENIED` if a link is on the way.
    pub(crate) fn directory(&self, path: &FilePath) -> Result<Directory, Fault> {
        path.names().try_fold(self.directory.again()?, |directory, name| directory.enter(name))
    }

    /// The directory that something is in.
    ///
    /// # Errors
    /// As [`directory`](Self::directory).
    pub(crate) fn parent_of(&self, path: &FilePath) -> Result<Directory, Fault> {
        self.directory(&path.parent())
    }
}
