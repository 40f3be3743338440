//! What each type can do, in terms of one root.

use crate::confined::Root;
use crate::fault::Fault;
use crate::fields::Extent;
use formwork_model::{ClientToken, Json, TypeCapabilities};
use formwork_plugin::{ListResult, PropertyProblem};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Where and when a call happens.
pub(crate) struct Site {
    pub(crate) root: Root,
    pub(crate) now: SystemTime,
}

/// An object after a call: its id, and its properties without secrets.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) native_id: String,
    pub(crate) properties: Json,
}

/// How much a read shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    /// Whether secrets are left out.
    pub(crate) redact: bool,
    /// What the caller knew of the object.
    pub(crate) prior: Option<&'a Json>,
}

/// Which page of a list is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page<'a> {
    pub(crate) after: Option<&'a str>,
    pub(crate) limit: usize,
    pub(crate) parameters: &'a BTreeMap<String, Json>,
}

/// A type of resources.
pub(crate) trait LocalType: Send + Sync {
    /// How the engine may treat it.
    fn capabilities(&self) -> TypeCapabilities;

    /// What is wrong with declared properties.
    fn problems(&self, properties: &Json, extent: Extent) -> Vec<PropertyProblem>;

    /// Makes an object.
    fn create(&self, site: &Site, properties: &Json, token: Option<ClientToken>) -> Result<Object, Fault>;

    /// An object's properties; `None` if it is gone.
    fn read(&self, site: &Site, id: &str, view: View<'_>) -> Result<Option<Json>, Fault>;

    /// Changes an object in place.
    ///
    /// # Errors
    /// `NOT_FOUND` if it is gone.
    fn update(&self, site: &Site, id: &str, desired: &Json) -> Result<Object, Fault>;

    /// Deletes an object, if it is there.
    fn delete(&self, site: &Site, id: &str) -> Result<(), Fault>;

    /// The ids of what there is.
    fn list(&self, site: &Site, page: Page<'_>) -> Result<ListResult, Fault>;
}
