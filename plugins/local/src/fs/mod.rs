//! What stands in the file system: its native id is its path within the root.

mod content;
mod directory;
mod file;
mod located;
mod symlink;

pub(crate) use directory::DirectoryType;
pub(crate) use file::FileType;
pub(crate) use symlink::SymlinkType;
