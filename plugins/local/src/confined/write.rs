//! Making and changing: each shows whole or not at all, and is durable when it returns.

use super::directory::{Attributes, Directory};
use super::path::TEMPORARY;
use crate::fault::Fault;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write as _;

/// A file or a link that has no name of its own yet; removed when it is dropped.
struct Unfinished<'a> {
    directory: &'a Directory,
    name: String,
    is_renamed: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // What stays is swept when its directory is removed.
            let _ = rustix::fs::unlinkat(&self.directory.descriptor, &self.name, AtFlags::empty());
        }
    }
}

impl<'a> Unfinished<'a> {
    fn new(directory: &'a Directory) -> Self {
        let (begin, end) = TEMPORARY;
        let random = u64::from_ne_bytes(formwork_secret::random_bytes());
        Self { directory, name: format!("{begin}{random:016x}{end}"), is_renamed: false }
    }

    /// A file with this content.
    fn file(
        directory: &'a Directory,
        content: &[u8],
        attributes: Attributes,
        shown: &str,
    ) -> Result<Self, Fault> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let unfinished = Self::new(directory);
        let failed = |errno| directory.fault(errno, "write", shown);
        // Nobody else reads it before its mode is set.
        let private = Mode::from_raw_mode(0o600);
        let descriptor = rustix::fs::openat(&directory.descriptor, &unfinished.name, flags, private);
        let mut file = File::from(descriptor.map_err(failed)?);
        let failed_io = |error| Fault::io(&error, format_args!("write `{}`", directory.path.within(shown)));
        file.write_all(content).map_err(failed_io)?;
        let descriptor = OwnedFd::from(file);
        attributes.apply(&descriptor).map_err(failed)?;
        rustix::fs::fsync(&descriptor).map_err(failed)?;
        Ok(unfinished)
    }

    fn symlink(directory: &'a Directory, target: &str, shown: &str) -> Result<Self, Fault> {
        let unfinished = Self::new(directory);
        rustix::fs::symlinkat(target, &directory.descriptor, &unfinished.name)
            .map_err(|errno| directory.fault(errno, "make", shown))?;
        Ok(unfinished)
    }

    /// Gives it a name that nothing has.
    fn appear(self, name: &str) -> Result<(), Fault> {
        let descriptor = &self.directory.descriptor;
        match rustix::fs::linkat(descriptor, &self.name, descriptor, name, AtFlags::empty()) {
            Ok(()) => {
                let directory = self.directory;
                drop(self);
                directory.flush()
            }
            Err(errno) => Err(self.directory.taken(errno, "make", name)),
        }
    }

    /// Gives it a name in place of what has it.
    fn replace(mut self, name: &str) -> Result<(), Fault> {
        let descriptor = &self.directory.descriptor;
        rustix::fs::renameat(descriptor, &self.name, descriptor, name)
            .map_err(|errno| self.directory.fault(errno, "replace", name))?;
        self.is_renamed = true;
        self.directory.flush()
    }
}

impl Directory {
    /// Makes a file. Nothing is ever overwritten.
    ///
    /// # Errors
    /// `ALREADY_EXISTS` if something has the name.
    pub(crate) fn make_file(&self, name: &str, content: &[u8], attributes: Attributes) -> Result<(), Fault> {
        self.ensure_free(name)?;
        Unfinished::file(self, content, attributes, name)?.appear(name)
    }

    /// Puts another file in the place of one.
    pub(crate) fn replace_file(
        &self,
        name: &str,
        content: &[u8],
        attributes: Attributes,
    ) -> Result<(), Fault> {
        Unfinished::file(self, content, attributes, name)?.replace(name)
    }

    /// Makes a symbolic link.
    ///
    /// # Errors
    /// `ALREADY_EXISTS` if something has the name.
    pub(crate) fn make_symlink(&self, name: &str, target: &str) -> Result<(), Fault> {
        self.ensure_free(name)?;
        match rustix::fs::symlinkat(target, &self.descriptor, name) {
            Ok(()) => self.flush(),
            Err(errno) => Err(self.taken(errno, "make", name)),
        }
    }

    /// Puts another symbolic link in the place of one.
    pub(crate) fn replace_symlink(&self, name: &str, target: &str) -> Result<(), Fault> {
        Unfinished::symlink(self, target, name)?.replace(name)
    }

    /// Makes a directory. It is only its owner's until it has its mode.
    ///
    /// # Errors
    /// `ALREADY_EXISTS` if something has the name.
    pub(crate) fn make_directory(&self, name: &str, attributes: Attributes) -> Result<(), Fault> {
        match rustix::fs::mkdirat(&self.descriptor, name, Mode::from_raw_mode(0o700)) {
            Ok(()) => {}
            Err(errno) => return Err(self.taken(errno, "make", name)),
        }
        let made = self.enter(name).and_then(|made| made.set(attributes));
        if let Err(fault) = made {
            // It is empty, and ours.
            self.remove_directory(name)?;
            return Err(fault);
        }
        self.flush()
    }

    /// Whether a name is free, asked before anything is written: the answer that counts comes later.
    fn ensure_free(&self, name: &str) -> Result<(), Fault> {
        match self.status(name)? {
            None => Ok(()),
            Some(_) => Err(self.taken(Errno::EXIST, "make", name)),
        }
    }

    fn taken(&self, errno: Errno, attempt: &str, name: &str) -> Fault {
        match errno {
            Errno::EXIST => {
                Fault::exists(format!("there is something at `{}` already", self.path.within(name)))
            }
            _ => self.fault(errno, attempt, name),
        }
    }
}
