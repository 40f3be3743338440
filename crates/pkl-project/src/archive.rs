//! The archive of a package: a zip file that is not trusted.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};

use pkl_core::host::{Listed, ReadError};
use zip::ZipArchive;

use crate::contents::{Contents, LARGEST_FILE, list_paths, names};

/// The largest archive, in bytes.
pub const LARGEST_ARCHIVE: u64 = 256 << 20;
/// How many entries an archive may have.
pub const MOST_ENTRIES: usize = 100_000;
/// How many bytes all files of an archive may have.
pub const LARGEST_CONTENTS: u64 = 1 << 30;

/// Why bytes are no archive of a package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// They aren't a zip file, or a damaged one.
    #[error("The archive is damaged: {0}.")]
    Damaged(String),
    /// It has too many entries.
    #[error("The archive has more than {MOST_ENTRIES} entries.")]
    TooManyEntries,
    /// Unpacked it is too large.
    #[error("The archive's files have more than {limit} bytes.")]
    TooLarge {
        /// How many they may have.
        limit: u64,
    },
    /// An entry would be written somewhere else.
    #[error("The archive's entry `{0}` leads out of the package.")]
    Outside(String),
    /// An entry is neither a file nor a directory.
    #[error("The archive's entry `{0}` is no file.")]
    NoFile(String),
    /// Two entries have one name.
    #[error("The archive has two entries `{0}`.")]
    Twice(String),
}

type Zip = ZipArchive<Cursor<Arc<[u8]>>>;

/// An archive in memory. Files are unpacked when they are read.
pub struct Archive {
    /// The positions of the files in the archive, by their paths.
    files: BTreeMap<String, usize>,
    zip: Mutex<Zip>,
}

impl Archive {
    /// Opens an archive, whose directory must be sound.
    ///
    /// # Errors
    /// It is none that is accepted.
    pub fn open(bytes: Arc<[u8]>) -> Result<Self, ArchiveError> {
        let damaged = |error: zip::result::ZipError| ArchiveError::Damaged(error.to_string());
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
        if zip.len() > MOST_ENTRIES {
            return Err(ArchiveError::TooManyEntries);
        }
        let mut files = BTreeMap::new();
        let mut total = 0_u64;
        for position in 0..zip.len() {
            let entry = zip.by_index_raw(position).map_err(damaged)?;
            let name = std::str::from_utf8(entry.name_raw())
                .map_err(|error| ArchiveError::Damaged(error.to_string()))?
                .to_owned();
            if !is_inside(&name) {
                return Err(ArchiveError::Outside(name));
            }
            if entry.is_symlink() {
                return Err(ArchiveError::NoFile(name));
            }
            total = total.saturating_add(entry.size());
            if total > LARGEST_CONTENTS || entry.size() > LARGEST_FILE {
                let limit = if entry.size() > LARGEST_FILE { LARGEST_FILE } else { LARGEST_CONTENTS };
                return Err(ArchiveError::TooLarge { limit });
            }
            if !entry.is_dir() && files.insert(name.clone(), position).is_some() {
                return Err(ArchiveError::Twice(name));
            }
        }
        Ok(Self { files, zip: Mutex::new(zip) })
    }

    /// Unpacks everything once, without keeping it: sizes and check sums must be as the directory says.
    ///
    /// # Errors
    /// A file can't be unpacked.
    pub fn verify(&self) -> Result<(), ArchiveError> {
        self.files.values().try_for_each(|&position| self.unpack(position).map(drop))
    }

    fn unpack(&self, position: usize) -> Result<Vec<u8>, ArchiveError> {
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = zip.by_index(position).map_err(|error| ArchiveError::Damaged(error.to_string()))?;
        let size = entry.size();
        let mut bytes = Vec::new();
        // The directory says how long it is; whoever says something else there gets no more memory.
        let read = entry.take(size + 1).read_to_end(&mut bytes);
        read.map_err(|error| ArchiveError::Damaged(error.to_string()))?;
        if bytes.len() as u64 != size {
            return Err(ArchiveError::Damaged("an entry is longer than the directory says".to_owned()));
        }
        Ok(bytes)
    }
}

/// Whether an entry's name is a path below the archive's root.
fn is_inside(name: &str) -> bool {
    let name = name.strip_suffix('/').unwrap_or(name);
    !name.contains(['\\', '\0'])
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !matches!(name.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}

impl Contents for Archive {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        match self.files.get(path.trim_start_matches('/')) {
            Some(&position) => self.unpack(position).map_err(|error| ReadError::Failed(error.to_string())),
            None => self.list(&format!("{}/", path.trim_end_matches('/'))).map(names),
        }
    }

    fn list(&self, path: &str) -> Result<Vec<Listed>, ReadError> {
        list_paths(&self.files, path)
    }
}

/// Packs files, by their paths without a slash at the start. The same files give the same bytes.
///
/// # Errors
/// The archive would be too large.
pub fn pack<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Vec<u8>, ArchiveError> {
    use std::io::Write as _;
    let damaged = |error: &dyn std::fmt::Display| ArchiveError::Damaged(error.to_string());
    // The oldest time that all readers of archives understand.
    let time = zip::DateTime::from_date_and_time(1980, 2, 1, 0, 0, 0).expect("it is a date");
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(time);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        zip.start_file(path, options).map_err(|error| damaged(&error))?;
        zip.write_all(bytes).map_err(|error| damaged(&error))?;
    }
    Ok(zip.finish().map_err(|error| damaged(&error))?.into_inner())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
        pack(files.iter().copied()).unwrap()
    }

    fn open(bytes: Vec<u8>) -> Result<Archive, ArchiveError> {
        let archive = Archive::open(bytes.into())?;
        archive.verify()?;
        Ok(archive)
    }

    #[test]
    fn what_was_packed_is_read() {
        let archive = open(packed(&[("a.pkl", b"x = 1"), ("d/b c.pkl", b"")])).unwrap();
        assert_eq!(archive.read("/a.pkl").unwrap(), b"x = 1");
        assert_eq!(archive.read("/d/b c.pkl").unwrap(), b"");
        assert_eq!(archive.read("/d").unwrap(), b"b c.pkl\n");
        assert_eq!(archive.read("/e"), Err(ReadError::NotFound));
        assert_eq!(packed(&[("a.pkl", b"x = 1")]), packed(&[("a.pkl", b"x = 1")]));
    }

    #[test]
    fn entries_that_lead_out_are_refused() {
        for name in ["../a", "a/../../b", "/a", "a\\b", "C:a", "./a", "a//b", ".."] {
            let error = open(packed(&[(name, b"x")])).err();
            assert_eq!(error, Some(ArchiveError::Outside(name.to_owned())), "{name}");
        }
    }

    #[test]
    fn a_cut_archive_is_damaged() {
        let whole = packed(&[("a.pkl", &[7; 5000]), ("b.pkl", b"x = 1")]);
        for length in (0..whole.len()).step_by(7) {
            let error = open(whole[..length].to_vec()).err();
            assert!(matches!(error, Some(ArchiveError::Damaged(_))), "{length}: {error:?}");
        }
    }

    #[test]
    fn a_changed_file_is_damaged() {
        let mut bytes = packed(&[("a.pkl", b"one two three four five six")]);
        let data = 30 + "a.pkl".len();
        bytes[data + 4] ^= 1;
        assert!(matches!(open(bytes).err(), Some(ArchiveError::Damaged(_))));
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_unpacked() {
        let zeros = vec![0; usize::try_from(LARGEST_FILE + 1).unwrap()];
        let bomb = packed(&[("zeros", &zeros)]);
        assert!(bomb.len() < 1 << 20);
        assert_eq!(open(bomb.clone()).err(), Some(ArchiveError::TooLarge { limit: LARGEST_FILE }));
        // The directory says it were small.
        let size = u32::try_from(LARGEST_FILE + 1).unwrap().to_le_bytes();
        let mut lying = bomb;
        while let Some(at) = lying.windows(4).position(|window| window == size) {
            lying[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
        }
        assert!(matches!(open(lying).err(), Some(ArchiveError::Damaged(_))));
    }
}
