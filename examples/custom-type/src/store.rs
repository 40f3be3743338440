//! Where the channels are kept: in memory, or in a file that survives the process.

use crate::channels::Channels;
use std::io;
use std::path::{Path, PathBuf};

/// Keeps channels.
#[derive(Debug)]
pub(crate) struct Store {
    file: Option<PathBuf>,
}

impl Store {
    /// Opens a file, or none.
    pub(crate) fn open(file: Option<PathBuf>) -> io::Result<(Self, Channels)> {
        let channels = match &file {
            Some(path) if path.exists() => read(path)?,
            _ => Channels::default(),
        };
        Ok((Self { file }, channels))
    }

    /// Writes all of it, to a file that then takes the place of the old one: whoever reads it sees
    /// the state before or after, never half of it.
    pub(crate) fn save(&self, channels: &Channels) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let beside = file.with_extension("new");
        std::fs::write(&beside, serde_json::to_vec_pretty(channels)?)?;
        std::fs::rename(beside, file)
    }
}

fn read(path: &Path) -> io::Result<Channels> {
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channels::Request;

    #[test]
    fn channels_survive_in_a_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("channels.json");
        let (store, mut channels) = Store::open(Some(file.clone())).expect("opened");
        let request: Request =
            serde_json::from_str(r#"{"request_type": "create", "properties": {"name": "a"}}"#)
                .expect("a request");
        channels.answer(&request, "k");
        store.save(&channels).expect("saved");
        let (_, again) = Store::open(Some(file)).expect("opened again");
        assert_eq!(again, channels);
        assert_eq!(again.live.len(), 1);
    }
}
