//! What the plugin must remember: records in a directory below the target's root, one file each, which
//! only the plugin's user can read.
//!
//! Random values and keys have no provider that would keep them, so these files are the objects: they are
//! read, listed and deleted like any other.

use crate::confined::{Attributes, Directory, FilePath, Root, STATE};
use crate::fault::Fault;
use formwork_model::{Json, Secret};
use formwork_plugin::OperationErrorCode as Code;
use serde::{Deserialize, Serialize};
use std::io::Read as _;

/// The version of the records' form.
const VERSION: u32 = 1;
/// What the files' names end with.
const ENDING: &str = ".json";
/// The longest record, in bytes.
const LONGEST: u64 = 4 << 20;

/// Records of one kind.
pub(crate) struct Shelf<'a> {
    root: &'a Root,
    name: &'static str,
}

/// A record. It is not to be printed.
#[derive(Clone)]
pub(crate) struct Record {
    /// What was declared.
    pub(crate) declared: Json,
    /// What came of it and may be shown.
    pub(crate) outputs: Json,
    /// What came of it and is secret.
    pub(crate) secrets: Secret<Json>,
}

/// A record as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<T> {
    version: u32,
    declared: T,
    outputs: T,
    #[serde(default)]
    secrets: Option<T>,
}

impl Record {
    fn to_bytes(&self) -> Secret<Vec<u8>> {
        let secrets = self.secrets.expose();
        let written = Written {
            version: VERSION,
            declared: &self.declared,
            outputs: &self.outputs,
            secrets: (!secrets.is_null()).then_some(secrets),
        };
        Secret::new(serde_json::to_vec(&written).expect("values of JSON can be written"))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let written: Written<Json> = serde_json::from_slice(bytes).ok()?;
        let Written { version: VERSION, declared, outputs, secrets } = written else { return None };
        Some(Self { declared, outputs, secrets: Secret::new(secrets.unwrap_or_default()) })
    }
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(root: &'a Root, name: &'static str) -> Self {
        Self { root, name }
    }

    /// A record; `None` if there is none.
    pub(crate) fn get(&self, id: &str) -> Result<Option<Record>, Fault> {
        let (Some(name), Some(directory)) = (file_name(id), self.opened()?) else { return Ok(None) };
        let Some(found) = directory.open_file(&name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let reading = found.file.take(LONGEST).read_to_end(&mut bytes);
        let bytes = Secret::new(bytes);
        reading.map_err(|error| Fault::io(&error, format_args!("read the record of `{id}`")))?;
        let damaged = || Fault::new(Code::InternalFailure, format!("the record of `{id}` is damaged"));
        Record::from_bytes(bytes.expose()).map(Some).ok_or_else(damaged)
    }

    /// Keeps a record that there is not yet.
    ///
    /// # Errors
    /// `ALREADY_EXISTS` if there is.
    pub(crate) fn insert(&self, id: &str, record: &Record) -> Result<(), Fault> {
        let bytes = written(record)?;
        self.made()?.make_file(&self.name_of(id)?, bytes.expose(), private(0o600))
    }

    /// Keeps a record in place of another.
    pub(crate) fn put(&self, id: &str, record: &Record) -> Result<(), Fault> {
        let bytes = written(record)?;
        self.made()?.replace_file(&self.name_of(id)?, bytes.expose(), private(0o600))
    }

    /// Forgets a record, if there is one.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Fault> {
        match (file_name(id), self.opened()?) {
            (Some(name), Some(directory)) => directory.unlink(&name),
            _ => Ok(()),
        }
    }

    /// The ids after one, in order, and whether there are more.
    pub(crate) fn ids(&self, after: Option<&str>, limit: usize) -> Result<(Vec<String>, bool), Fault> {
        let Some(directory) = self.opened()? else { return Ok((Vec::new(), false)) };
        let entries = directory.entries()?;
        let ids = entries.iter().filter_map(|entry| entry.name.strip_suffix(ENDING));
        let mut ids = ids.filter(|id| is_id(id) && after.is_none_or(|after| *id > after));
        let page = ids.by_ref().take(limit).map(str::to_owned).collect();
        Ok((page, ids.next().is_some()))
    }

    fn name_of(&self, id: &str) -> Result<String, Fault> {
        file_name(id).ok_or_else(|| Fault::invalid(format!("`{id}` is no id of {}", self.name)))
    }

    /// The directory of the records; `None` if there is none yet.
    fn opened(&self) -> Result<Option<Directory>, Fault> {
        let mut directory = self.root.directory(&FilePath::root())?;
        for name in [STATE, self.name] {
            if directory.status(name)?.is_none() {
                return Ok(None);
            }
            directory = directory.enter(name)?;
            ensure_private(&directory)?;
        }
        Ok(Some(directory))
    }

    fn made(&self) -> Result<Directory, Fault> {
        let mut directory = self.root.directory(&FilePath::root())?;
        for name in [STATE, self.name] {
            match directory.make_directory(name, private(0o700)) {
                Err(fault) if fault.code != Code::AlreadyExists => return Err(fault),
                _ => directory = directory.enter(name)?,
            }
            ensure_private(&directory)?;
        }
        Ok(directory)
    }
}

/// A record as a file that can be read again.
fn written(record: &Record) -> Result<Secret<Vec<u8>>, Fault> {
    let bytes = record.to_bytes();
    if bytes.expose().len() as u64 > LONGEST {
        return Err(Fault::invalid(format!("what is declared has more than {LONGEST} bytes")));
    }
    Ok(bytes)
}

fn private(mode: u32) -> Attributes {
    Attributes { mode: Some(mode), ..Attributes::default() }
}

/// Secrets are neither read from nor written to a directory that others can change or look into.
fn ensure_private(directory: &Directory) -> Result<(), Fault> {
    let status = directory.own_status()?;
    if status.owner == rustix::process::geteuid().as_raw() && status.mode.trailing_zeros() >= 6 {
        return Ok(());
    }
    Err(Fault::denied(format!(
        "`{}` holds secrets and must be a directory of this user that nobody else can enter (mode 0700)",
        directory.path()
    )))
}

/// Ids are names of files: of few letters, so that none leads elsewhere.
fn is_id(id: &str) -> bool {
    (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn file_name(id: &str) -> Option<String> {
    is_id(id).then(|| format!("{id}{ENDING}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    fn record(value: &str) -> Record {
        Record {
            declared: json!({"length": 8}),
            outputs: json!({"id": value}),
            secrets: Secret::new(json!({"value": value})),
        }
    }

    fn root(path: &Path) -> Root {
        Root::open(path.to_str().unwrap()).unwrap()
    }

    #[test]
    fn records_are_kept_changed_and_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let root = root(directory.path());
        let shelf = Shelf::new(&root, "passwords");
        assert!(shelf.get("a").unwrap().is_none() && shelf.ids(None, 9).unwrap().0.is_empty());
        assert!(!directory.path().join(STATE).exists(), "looking makes nothing");
        shelf.insert("a", &record("one")).unwrap();
        assert_eq!(shelf.insert("a", &record("two")).unwrap_err().code, Code::AlreadyExists);
        assert_eq!(shelf.get("a").unwrap().unwrap().secrets.expose(), &json!({"value": "one"}));
        shelf.put("a", &record("two")).unwrap();
        assert_eq!(shelf.get("a").unwrap().unwrap().outputs, json!({"id": "two"}));
        for id in ["b", "c"] {
            shelf.insert(id, &record(id)).unwrap();
        }
        assert_eq!(shelf.ids(None, 2).unwrap(), (vec!["a".into(), "b".into()], true));
        assert_eq!(shelf.ids(Some("b"), 2).unwrap(), (vec!["c".into()], false));
        shelf.remove("a").unwrap();
        shelf.remove("a").unwrap();
        assert!(shelf.get("a").unwrap().is_none());
    }

    #[test]
    fn only_the_user_can_read_a_record() {
        let directory = tempfile::tempdir().unwrap();
        let root = root(directory.path());
        let shelf = Shelf::new(&root, "passwords");
        shelf.insert("a", &record("one")).unwrap();
        let mode = |path: &str| std::fs::metadata(directory.path().join(path)).unwrap().permissions().mode();
        assert_eq!(mode(STATE) & 0o777, 0o700);
        assert_eq!(mode(".formwork/passwords/a.json") & 0o777, 0o600);
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.path().join(STATE), open).unwrap();
        assert_eq!(shelf.get("a").err().unwrap().code, Code::AccessDenied);
        assert_eq!(shelf.insert("b", &record("two")).unwrap_err().code, Code::AccessDenied);
    }

    #[test]
    fn ids_and_links_lead_nowhere_else() {
        let (directory, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root_of = root(directory.path());
        let shelf = Shelf::new(&root_of, "passwords");
        for id in ["../a", "a/b", "", "A", "a.b", "ä", &"a".repeat(129)] {
            assert!(shelf.get(id).unwrap().is_none(), "{id}");
            assert_eq!(shelf.insert(id, &record("x")).unwrap_err().code, Code::InvalidRequest, "{id}");
        }
        std::fs::remove_dir_all(directory.path().join(STATE)).unwrap();
        symlink(other.path(), directory.path().join(STATE)).unwrap();
        assert_eq!(shelf.insert("a", &record("x")).unwrap_err().code, Code::AccessDenied);
        assert_eq!(shelf.get("a").err().unwrap().code, Code::AccessDenied);
        assert_eq!(std::fs::read_dir(other.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_record_is_not_taken_for_none() {
        let directory = tempfile::tempdir().unwrap();
        let root = root(directory.path());
        let shelf = Shelf::new(&root, "passwords");
        shelf.insert("a", &record("one")).unwrap();
        let path = directory.path().join(".formwork/passwords/a.json");
        for text in ["", "{}", "{\"version\":2,\"declared\":{},\"outputs\":{}}"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(shelf.get("a").err().unwrap().code, Code::InternalFailure, "{text}");
        }
    }
}
