//! `LOCAL::FS::Symlink`. Where it points is a text like any other: this plugin never goes there.

use super::located::{
    capabilities, gone, into_directory, location, page_of, path_of, present, show_location, unmoved,
};
use crate::confined::{FilePath, Kind};
use crate::fault::Fault;
use crate::fields::{self, Extent, Fields, text};
use crate::local_type::{LocalType, Object, Page, Site, View};
use formwork_model::{ClientToken, Json, TypeCapabilities};
use formwork_plugin::{ListResult, PropertyProblem};
use serde_json::Map;

/// The longest target, in bytes.
const LONGEST: usize = 4_095;

pub(crate) struct SymlinkType;

struct Declared {
    path: FilePath,
    target: String,
}

fn declared(fields: &mut Fields<'_>) -> Option<Declared> {
    let path = location(fields);
    let target = fields.required("pointsTo", target);
    Some(Declared { path: path?, target: target? })
}

fn target(value: &Json) -> Result<String, String> {
    match text(value)? {
        text if text.is_empty() || text.len() > LONGEST || text.contains('\0') => {
            Err(format!("must have between 1 and {LONGEST} bytes and no NUL"))
        }
        text => Ok(text.to_owned()),
    }
}

fn shown(path: &FilePath, target: String) -> Json {
    let mut shown = Map::new();
    show_location(path, &mut shown);
    shown.insert("pointsTo".to_owned(), target.into());
    Json::Object(shown)
}

fn find(site: &Site, id: &str) -> Result<Option<(FilePath, String)>, Fault> {
    let Some(path) = path_of(id).filter(|path| !path.is_root()) else { return Ok(None) };
    let target = present(site.root.parent_of(&path).and_then(|parent| parent.read_link(path.name())))?;
    Ok(target.map(|target| (path, target)))
}

impl LocalType for SymlinkType {
    fn capabilities(&self) -> TypeCapabilities {
        capabilities(&["pointsTo"])
    }

    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem> {
        fields::problems(properties, extent, declared)
    }

    fn create(&self, site: &Site, properties: &Json, _: Option<ClientToken>) -> Result<Object, Fault> {
        let Declared { path, target } = fields::read("a symbolic link", properties, declared)?;
        into_directory(site.root.parent_of(&path))?.make_symlink(path.name(), &target)?;
        Ok(Object { native_id: path.as_str().to_owned(), properties: shown(&path, target) })
    }

    fn read(&self, site: &Site, id: &str, _: View<'_>) -> Result<Option<Json>, Fault> {
        Ok(find(site, id)?.map(|(path, target)| shown(&path, target)))
    }

    fn update(&self, site: &Site, id: &str, properties: &Json) -> Result<Object, Fault> {
        let (_, current) = find(site, id)?.ok_or_else(|| gone("symbolic link", id))?;
        let Declared { path, target } = fields::read("a symbolic link", properties, declared)?;
        unmoved(&path, id)?;
        if target != current {
            site.root.parent_of(&path)?.replace_symlink(path.name(), &target)?;
        }
        Ok(Object { native_id: id.to_owned(), properties: shown(&path, target) })
    }

    fn delete(&self, site: &Site, id: &str) -> Result<(), Fault> {
        match find(site, id)? {
            Some((path, _)) => site.root.parent_of(&path)?.unlink(path.name()),
            None => Ok(()),
        }
    }

    fn list(&self, site: &Site, page: Page<'_>) -> Result<ListResult, Fault> {
        page_of(site, Kind::Symlink, page)
    }
}
