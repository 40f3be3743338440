//! What directories, files and links have in common: a path, and who may do what.

use crate::confined::{Attributes, FilePath, Kind, Query, Scope, Status, list};
use crate::fault::Fault;
use crate::fields::{Fields, text, whole};
use crate::local_type::{Page, Site};
use formwork_model::{Json, LookupRule, NativeId, Path, TypeCapabilities};
use formwork_plugin::{ListResult, OperationErrorCode};
use serde_json::Map;

/// The parameter by which the children of a directory are listed, and the property that carries it.
const DIRECTORY: &str = "directory";

/// The outputs that all of them have.
const OUTPUTS: [&str; 2] = ["path", DIRECTORY];

/// How the engine may treat a type of the file system. The caller chooses the id, so that an object
/// whose create was never answered is found under it.
pub(super) fn capabilities(outputs: &[&str]) -> TypeCapabilities {
    TypeCapabilities {
        lookup: LookupRule::ByNativeId(Path::of(["path"])),
        validate: true,
        outputs: OUTPUTS.iter().chain(outputs).map(|output| (*output).into()).collect(),
        ..TypeCapabilities::of_plugin()
    }
}

/// Where something is; `directory`, if it is declared, says the same as `path`.
pub(super) fn location(fields: &mut Fields<'_>) -> Option<FilePath> {
    let path = fields.required("path", |value| FilePath::parse_below(text(value)?));
    let directory = fields.optional(DIRECTORY, |value| FilePath::parse(text(value)?));
    if let (Some(path), Some(directory)) = (&path, directory)
        && path.parent() != directory
    {
        fields.report(DIRECTORY, format!("must be `{}`, which `path` is in", path.parent()));
    }
    path
}

/// Permissions and owner, as far as they are declared.
pub(super) fn attributes(fields: &mut Fields<'_>) -> Attributes {
    let id = |value| {
        let id = whole(value, 0, u64::from(u32::MAX - 1))?;
        u32::try_from(id).map_err(|_| "is too large".to_owned())
    };
    Attributes {
        mode: fields.optional("mode", mode),
        owner: fields.optional("owner", id),
        group: fields.optional("group", id),
    }
}

fn mode(value: &Json) -> Result<u32, String> {
    let text = text(value)?;
    let digits = text.len() == 4 && text.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
    match u32::from_str_radix(text, 8) {
        Ok(mode) if digits => Ok(mode),
        _ => Err("must be four octal digits, such as `0644`".to_owned()),
    }
}

/// What is shown of the path.
pub(super) fn show_location(path: &FilePath, shown: &mut Map<String, Json>) {
    shown.insert("path".to_owned(), path.as_str().into());
    if !path.is_root() {
        shown.insert(DIRECTORY.to_owned(), path.parent().as_str().into());
    }
}

/// What is shown of permissions and owner.
pub(super) fn show_attributes(status: Status, shown: &mut Map<String, Json>) {
    shown.insert("mode".to_owned(), format!("{:04o}", status.mode).into());
    shown.insert("owner".to_owned(), status.owner.into());
    shown.insert("group".to_owned(), status.group.into());
}

/// The path that a native id is; `None` if nothing can have the id.
pub(super) fn path_of(id: &str) -> Option<FilePath> {
    FilePath::parse(id).ok()
}

/// Refuses to move something: its path is its identity.
pub(super) fn unmoved(path: &FilePath, id: &str) -> Result<(), Fault> {
    if path.as_str() == id {
        return Ok(());
    }
    Err(Fault::invalid(format!("`path` cannot change: it is `{id}`, not `{path}`")))
}

/// The refusal to update what is gone.
pub(super) fn gone(what: &str, id: &str) -> Fault {
    Fault::missing(format!("there is no {what} `{id}`"))
}

/// `None` for what is not there, or in a directory that is not there.
pub(super) fn present<T>(found: Result<Option<T>, Fault>) -> Result<Option<T>, Fault> {
    match found {
        Err(fault) if fault.code == OperationErrorCode::NotFound => Ok(None),
        found => found,
    }
}

/// Says what can be done about a directory that is missing.
pub(super) fn into_directory<T>(made: Result<T, Fault>) -> Result<T, Fault> {
    made.map_err(|fault| match fault.code {
        OperationErrorCode::NotFound => Fault::missing(format!(
            "{}: declare it as `LOCAL::FS::Directory` and refer to it in `directory`",
            fault.message
        )),
        _ => fault,
    })
}

/// A page of paths; those in one directory if the parameters name one.
pub(super) fn page_of(site: &Site, kind: Kind, page: Page<'_>) -> Result<ListResult, Fault> {
    let mut scope = Scope::Everywhere;
    for (name, value) in page.parameters {
        if name != DIRECTORY {
            return Err(Fault::invalid(format!("`{name}` is not a parameter of lists; `{DIRECTORY}` is")));
        }
        let path = text(value).and_then(FilePath::parse);
        scope = Scope::In(path.map_err(|message| Fault::invalid(format!("`{DIRECTORY}` {message}")))?);
    }
    let listing = list(&site.root, &Query { kind, scope, after: page.after, limit: page.limit })?;
    Ok(ListResult {
        native_ids: listing.paths.into_iter().map(NativeId::from).collect(),
        next_page_token: listing.next,
    })
}
