//! The directory of a cloud: its log, read as far as it was written, and written one process at a time.

use crate::line::{Caller, Event, Line};
use crate::script::Script;
use crate::state::State;
use formwork_model::{Json, NativeId, Timestamp};
use serde_json::Map;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const LOG: &str = "log.jsonl";
const SCRIPT: &str = "script.json";
const LOCK: &str = "lock";

/// Why a cloud can't be used.
#[derive(Debug)]
pub enum CloudError {
    /// A file can't be read or written.
    File(io::Error),
    /// A file does not hold what it must.
    Malformed(serde_json::Error),
}

impl std::fmt::Display for CloudError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(error) => write!(formatter, "the files of the cloud can't be used: {error}"),
            Self::Malformed(error) => write!(formatter, "a file of the cloud is malformed: {error}"),
        }
    }
}

impl std::error::Error for CloudError {}

impl From<io::Error> for CloudError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl From<serde_json::Error> for CloudError {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error)
    }
}

/// A cloud, as one process sees it.
#[derive(Debug)]
pub struct Cloud {
    directory: PathBuf,
    log: File,
    lock: File,
    state: State,
    /// The lines that were read so far.
    lines: Vec<Line>,
    /// How far the log was read, in bytes.
    read: u64,
}

impl Cloud {
    /// The cloud of a directory, which must be there.
    ///
    /// # Errors
    /// [`CloudError`] if its files can't be made or read.
    pub fn open(directory: &Path) -> Result<Self, CloudError> {
        let open = |name| OpenOptions::new().read(true).append(true).create(true).open(directory.join(name));
        let (log, lock) = (open(LOG)?, open(LOCK)?);
        Ok(Self {
            directory: directory.to_owned(),
            log,
            lock,
            state: State::default(),
            lines: Vec::new(),
            read: 0,
        })
    }

    /// What there is, and all that happened until now.
    ///
    /// # Errors
    /// [`CloudError`] if the files can't be used.
    pub fn look(&mut self) -> Result<(&State, &[Line]), CloudError> {
        self.alone(|_, _, _| Ok(()))?;
        Ok((&self.state, &self.lines))
    }

    /// Says from now on which calls go how.
    ///
    /// # Errors
    /// [`CloudError`] if the file can't be written.
    pub fn script(&self, script: &Script) -> Result<(), CloudError> {
        let staging = self.directory.join(format!("{SCRIPT}.new"));
        std::fs::write(&staging, serde_json::to_vec(script)?)?;
        std::fs::rename(staging, self.directory.join(SCRIPT))?;
        Ok(())
    }

    /// Puts an object there that nobody asked for; answers its id.
    ///
    /// # Errors
    /// [`CloudError`] if the files can't be used.
    pub fn insert(&mut self, type_name: &str, properties: Map<String, Json>) -> Result<NativeId, CloudError> {
        let native_id = self.alone(|state, _, events| {
            let (type_name, native_id) = (type_name.to_owned(), state.mint(type_name));
            let caller = Caller::default();
            events.push((0, Event::Created { type_name, native_id: native_id.clone(), properties, caller }));
            Ok(native_id)
        })?;
        Ok(native_id)
    }

    /// Changes properties of an object behind everybody's back; answers whether it was there.
    ///
    /// # Errors
    /// [`CloudError`] if the files can't be used.
    pub fn edit(&mut self, native_id: &NativeId, changes: &Map<String, Json>) -> Result<bool, CloudError> {
        self.alone(|state, _, events| {
            let Some(object) = state.objects.get(native_id) else { return Ok(false) };
            let mut properties = object.properties.clone();
            properties.extend(changes.clone());
            let (type_name, native_id) = (object.type_name.clone(), native_id.clone());
            let caller = Caller::default();
            events.push((0, Event::Updated { type_name, native_id, properties, caller }));
            Ok(true)
        })
    }

    /// Deletes an object behind everybody's back; answers whether it was there.
    ///
    /// # Errors
    /// [`CloudError`] if the files can't be used.
    pub fn remove(&mut self, native_id: &NativeId) -> Result<bool, CloudError> {
        self.alone(|state, _, events| {
            let Some(object) = state.objects.get(native_id) else { return Ok(false) };
            let (type_name, native_id) = (object.type_name.clone(), native_id.clone());
            events.push((0, Event::Deleted { type_name, native_id, caller: Caller::default() }));
            Ok(true)
        })
    }

    /// Does something while no other process does anything, with what the log says now; what it adds is on disk when
    /// this returns. An event comes with the number of its call.
    pub(crate) fn alone<T>(
        &mut self,
        work: impl FnOnce(&State, &Script, &mut Vec<(u64, Event)>) -> Result<T, CloudError>,
    ) -> Result<T, CloudError> {
        self.lock.lock()?;
        let done = self.locked(work);
        self.lock.unlock()?;
        done
    }

    fn locked<T>(
        &mut self,
        work: impl FnOnce(&State, &Script, &mut Vec<(u64, Event)>) -> Result<T, CloudError>,
    ) -> Result<T, CloudError> {
        self.catch_up()?;
        let now = now();
        while let Some((at, call, events)) = self.state.due(now) {
            self.append(at, events.into_iter().map(|event| (call, event)).collect())?;
        }
        let script = self.read_script()?;
        let mut events = Vec::new();
        let done = work(&self.state, &script, &mut events)?;
        if !events.is_empty() {
            self.append(now, events)?;
        }
        Ok(done)
    }

    /// Reads what other processes wrote. What a killed one left of a line was no line, and is taken away.
    fn catch_up(&mut self) -> Result<(), CloudError> {
        self.log.seek(SeekFrom::Start(self.read))?;
        let mut text = Vec::new();
        self.log.read_to_end(&mut text)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole < text.len() {
            self.log.set_len(self.read + u64::try_from(whole).unwrap_or(u64::MAX))?;
        }
        for line in text[..whole].split_inclusive(|byte| *byte == b'\n') {
            self.take(serde_json::from_slice(line)?);
        }
        self.read += u64::try_from(whole).unwrap_or(u64::MAX);
        Ok(())
    }

    fn append(&mut self, at: Timestamp, events: Vec<(u64, Event)>) -> Result<(), CloudError> {
        let mut text = Vec::new();
        for (call, event) in events {
            let line = Line { at, pid: std::process::id(), call, event };
            serde_json::to_writer(&mut text, &line)?;
            text.push(b'\n');
            self.take(line);
        }
        self.log.write_all(&text)?;
        self.log.sync_data()?;
        self.read += u64::try_from(text.len()).unwrap_or(u64::MAX);
        Ok(())
    }

    fn take(&mut self, line: Line) {
        self.state.apply(&line);
        self.lines.push(line);
    }

    fn read_script(&self) -> Result<Script, CloudError> {
        match std::fs::read(self.directory.join(SCRIPT)) {
            Ok(text) => Ok(serde_json::from_slice(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Script::default()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The cloud's own clock.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
