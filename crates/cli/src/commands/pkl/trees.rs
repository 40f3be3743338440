//! Syntax trees kept from one command to the next: a file for each directory that commands work in.
//!
//! It may be removed at any time. A tree is used only for the very source that it was parsed from, and a file
//! that can't be read or written is as good as none: nothing is said of it.

use super::environment;
use pkl_core::Evaluator;
use pkl_project::Sha256;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The longest file that is read.
const LONGEST: u64 = 128 << 20;
/// After how long a file is removed that nobody has written anew.
const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 3600);

/// Where the trees of a directory are kept.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    path: PathBuf,
}

impl Kept {
    /// Those of the commands in a directory; `None` without a home to keep them in.
    pub(super) fn of(directory: &Path) -> Option<Self> {
        let name = Sha256::of(directory.as_os_str().as_encoded_bytes());
        Some(Self { path: environment::cache()?.join("pkl-trees").join(name.as_str()) })
    }

    /// What was kept.
    pub(super) fn text(&self) -> Vec<u8> {
        let is_fit = |found: &fs::Metadata| found.is_file() && found.len() <= LONGEST;
        match fs::metadata(&self.path) {
            Ok(found) if is_fit(&found) => fs::read(&self.path).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Keeps what an evaluator has parsed, if that is worth it. Another command's file is replaced as a whole.
    pub(super) fn keep(&self, evaluator: &Evaluator) {
        if let (Some(text), Some(directory)) = (evaluator.kept(), self.path.parent()) {
            let written = || {
                fs::create_dir_all(directory)?;
                let mut file = tempfile::NamedTempFile::new_in(directory)?;
                file.write_all(&text)?;
                file.persist(&self.path)?;
                std::io::Result::Ok(())
            };
            if written().is_ok() {
                remove_forgotten(directory);
            }
        }
    }
}

/// Removes the files of directories that nobody works in any more, and what killed processes left.
fn remove_forgotten(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let written = entry.metadata().and_then(|found| found.modified());
        let age = written.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > FORGOTTEN) {
            // Somebody else may have removed it, which is as good.
            let _ = fs::remove_file(entry.path());
        }
    }
}
