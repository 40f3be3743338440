//! `LOCAL::FS::Directory`.

use super::located::{
    attributes, capabilities, gone, into_directory, location, page_of, path_of, present, show_attributes,
    show_location, unmoved,
};
use crate::confined::{Attributes, Directory, FilePath, Kind};
use crate::fault::Fault;
use crate::fields::{self, Extent, Fields, text};
use crate::local_type::{LocalType, Object, Page, Site, View};
use formwork_model::{ClientToken, Json, NativeId, TypeCapabilities};
use formwork_plugin::{ListResult, OperationErrorCode, PropertyProblem};
use serde_json::Map;

/// The permissions of a directory for which none are declared.
const MODE: u32 = 0o755;
/// How many names a refusal to delete tells.
const TOLD: usize = 3;

pub(crate) struct DirectoryType;

struct Declared {
    path: FilePath,
    attributes: Attributes,
}

fn declared(fields: &mut Fields<'_>) -> Option<Declared> {
    let (path, attributes) = (location(fields), attributes(fields));
    Some(Declared { path: path?, attributes })
}

/// As [`declared`], for what is there already: the root is a directory like any other.
fn desired(fields: &mut Fields<'_>) -> Option<Declared> {
    let path = fields.required("path", |value| FilePath::parse(text(value)?));
    let directory = fields.optional("directory", |value| FilePath::parse(text(value)?));
    if let (Some(path), Some(directory)) = (&path, directory)
        && (path.parent() != directory || path.is_root())
    {
        fields.report("directory", "must be what `path` is in");
    }
    let attributes = attributes(fields);
    Some(Declared { path: path?, attributes })
}

impl DirectoryType {
    fn find(site: &Site, id: &str) -> Result<Option<Directory>, Fault> {
        let Some(path) = path_of(id) else { return Ok(None) };
        if !path.is_root() {
            // A link in the place of the directory is something else; one on the way to it is refused.
            let status = present(site.root.parent_of(&path).and_then(|parent| parent.status(path.name())))?;
            if status.is_none_or(|status| status.kind != Kind::Directory) {
                return Ok(None);
            }
        }
        present(site.root.directory(&path).map(Some))
    }

    fn show(directory: &Directory) -> Result<Json, Fault> {
        let mut shown = Map::new();
        show_location(directory.path(), &mut shown);
        show_attributes(directory.own_status()?, &mut shown);
        Ok(Json::Object(shown))
    }

    fn object(directory: &Directory) -> Result<Object, Fault> {
        let properties = Self::show(directory)?;
        Ok(Object { native_id: directory.path().as_str().to_owned(), properties })
    }
}

impl LocalType for DirectoryType {
    fn capabilities(&self) -> TypeCapabilities {
        capabilities(&["mode", "owner", "group"])
    }

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        fields::problems(properties, extent, declared)
    }

    fn create(&self, site: &Site, properties: &Json, _: Option<ClientToken>) -> Result<Object, Fault> {
        let Declared { path, mut attributes } = fields::read("a directory", properties, declared)?;
        attributes.mode.get_or_insert(MODE);
        let parent = into_directory(site.root.parent_of(&path))?;
        parent.make_directory(path.name(), attributes)?;
        Self::object(&parent.enter(path.name())?)
    }

    fn read(&self, site: &Site, id: &str, _: View<'_>) -> Result<Option<Json>, Fault> {
        Self::find(site, id)?.map(|directory| Self::show(&directory)).transpose()
    }

    fn update(&self, site: &Site, id: &str, properties: &Json) -> Result<Object, Fault> {
        let directory = Self::find(site, id)?.ok_or_else(|| gone("directory", id))?;
        let Declared { path, attributes } = fields::read("a directory", properties, desired)?;
        unmoved(&path, id)?;
        directory.set(attributes)?;
        Self::object(&directory)
    }

    fn delete(&self, site: &Site, id: &str) -> Result<(), Fault> {
        let Some(directory) = Self::find(site, id)? else { return Ok(()) };
        let path = directory.path().clone();
        if path.is_root() {
            return Err(Fault::invalid("the target's root cannot be deleted"));
        }
        let entries = directory.entries()?;
        if !entries.is_empty() {
            let mut told: Vec<_> = entries.iter().take(TOLD).map(|it| format!("`{}`", it.name)).collect();
            if entries.len() > TOLD {
                told.push(format!("{} more", entries.len() - TOLD));
            }
            let message = format!("the directory `{path}` is not empty: there is {} in it", told.join(", "));
            return Err(Fault::invalid(message));
        }
        // Only the unfinished files of a process that was killed are left.
        directory.sweep()?;
        let removed = site.root.parent_of(&path).and_then(|parent| parent.remove_directory(path.name()));
        match removed {
            Err(fault) if fault.code == OperationErrorCode::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// The root is one of them: what is in it has a parent like everything else.
    fn list(&self, site: &Site, page: Page<'_>) -> Result<ListResult, Fault> {
        let root = FilePath::root();
        if page.after.is_some() || !page.parameters.is_empty() {
            let after = page.after.filter(|after| *after != root.as_str());
            return page_of(site, Kind::Directory, Page { after, ..page });
        }
        if page.limit <= 1 {
            let native_ids = vec![NativeId::from(root.as_str())];
            return Ok(ListResult { native_ids, next_page_token: Some(root.as_str().to_owned()) });
        }
        let mut found = page_of(site, Kind::Directory, Page { limit: page.limit - 1, ..page })?;
        found.native_ids.insert(0, NativeId::from(root.as_str()));
        Ok(found)
    }
}
