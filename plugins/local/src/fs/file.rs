//! `LOCAL::FS::File`.

use super::content::{Content, Spelling, Spellings, show};
use super::located::{
    attributes, capabilities, gone, into_directory, location, page_of, path_of, present, show_attributes,
    show_location, unmoved,
};
use crate::confined::{Attributes, FilePath, Found, Kind, Status};
use crate::fault::Fault;
use crate::fields::{self, Extent, Fields};
use crate::local_type::{LocalType, Object, Page, Site, View};
use formwork_model::{ClientToken, Json, TypeCapabilities};
use formwork_plugin::{ListResult, PropertyProblem};
use serde_json::Map;

/// The permissions of a file for which none are declared.
const MODE: u32 = 0o644;
/// The same for a secret one.
const SECRET_MODE: u32 = 0o600;

pub(crate) struct FileType;

struct Declared {
    path: FilePath,
    content: Content,
    attributes: Attributes,
}

fn declared(fields: &mut Fields<'_>) -> Option<Declared> {
    let (path, content, attributes) = (location(fields), Content::declared(fields), attributes(fields));
    Some(Declared { path: path?, content: content?, attributes })
}

impl FileType {
    fn find(site: &Site, id: &str) -> Result<Option<(FilePath, Found)>, Fault> {
        let Some(path) = path_of(id).filter(|path| !path.is_root()) else { return Ok(None) };
        let found = present(site.root.parent_of(&path).and_then(|parent| parent.open_file(path.name())))?;
        Ok(found.map(|found| (path, found)))
    }

    fn show(site: &Site, path: &FilePath, found: Found, prior: Option<&Json>) -> Result<Json, Fault> {
        let mut shown = Map::new();
        show_location(path, &mut shown);
        show_attributes(found.status, &mut shown);
        show(found, Spellings::new(&site.root).get(path)?, prior, &mut shown)?;
        Ok(Json::Object(shown))
    }

    /// The object as it is now, for an answer.
    fn object(site: &Site, path: &FilePath, declared: &Json) -> Result<Object, Fault> {
        let id = path.as_str().to_owned();
        let Some((path, found)) = Self::find(site, &id)? else { return Err(gone("file", &id)) };
        let properties = Self::show(site, &path, found, Some(declared))?;
        Ok(Object { native_id: id, properties })
    }

    /// What a file keeps of its attributes when it is written anew.
    fn kept(current: Status, wanted: Attributes) -> Attributes {
        Attributes {
            mode: Some(wanted.mode.unwrap_or(current.mode)),
            owner: Some(wanted.owner.unwrap_or(current.owner)),
            group: Some(wanted.group.unwrap_or(current.group)),
        }
    }
}

impl LocalType for FileType {
    fn capabilities(&self) -> TypeCapabilities {
        capabilities(&["content", "contentBase64", "mode", "owner", "group", "size", "sha256"])
    }

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        fields::problems(properties, extent, declared)
    }

    fn create(&self, site: &Site, properties: &Json, _: Option<ClientToken>) -> Result<Object, Fault> {
        let Declared { path, content, mut attributes } = fields::read("a file", properties, declared)?;
        let is_secret = content.spelling == Spelling::Secret;
        attributes.mode.get_or_insert(if is_secret { SECRET_MODE } else { MODE });
        let parent = into_directory(site.root.parent_of(&path))?;
        if let Some(status) = parent.status(path.name())? {
            let what = if status.kind == Kind::File { "a file" } else { "something" };
            return Err(Fault::exists(format!("there is {what} at `{path}` already")));
        }
        Spellings::new(&site.root)
            .around(&path, &content, || parent.make_file(path.name(), content.bytes.expose(), attributes))?;
        Self::object(site, &path, properties)
    }

    fn read(&self, site: &Site, id: &str, view: View<'_>) -> Result<Option<Json>, Fault> {
        let found = Self::find(site, id)?;
        found.map(|(path, found)| Self::show(site, &path, found, view.prior)).transpose()
    }

    fn update(&self, site: &Site, id: &str, properties: &Json) -> Result<Object, Fault> {
        let (_, found) = Self::find(site, id)?.ok_or_else(|| gone("file", id))?;
        let Declared { path, content, attributes } = fields::read("a file", properties, declared)?;
        unmoved(&path, id)?;
        let attributes = Self::kept(found.status, attributes);
        let parent = site.root.parent_of(&path)?;
        Spellings::new(&site.root).around(&path, &content, || {
            parent.replace_file(path.name(), content.bytes.expose(), attributes)
        })?;
        Self::object(site, &path, properties)
    }

    fn delete(&self, site: &Site, id: &str) -> Result<(), Fault> {
        let Some(path) = path_of(id) else { return Ok(()) };
        if let Some((path, _)) = Self::find(site, id)? {
            site.root.parent_of(&path)?.unlink(path.name())?;
        }
        Spellings::new(&site.root).forget(&path)
    }

    fn list(&self, site: &Site, page: Page<'_>) -> Result<ListResult, Fault> {
        page_of(site, Kind::File, page)
    }
}
