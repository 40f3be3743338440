//! A checked template.

use formwork_model::{Catalog, Json, Label, Path, SourceMap};
use indexmap::IndexMap;
use std::sync::Arc;

/// A template whose shape has been checked; its document is kept verbatim.
#[derive(Clone, Debug)]
pub struct Template {}

/// A resource as the planner's graph sees it: its label, where it is declared, and what it waits
/// for, each with the place that says so.
pub type GraphNode = (Label, Path, Vec<(Label, Path)>);

/// A declared parameter (seed 4, "Parameter Declaration Fields").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// The value where none is supplied.
    pub default: Option<Arc<str>>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// Whether its value is sensitive.
    pub no_echo: bool,
    /// Whether an update that omits it keeps the previous value.
    pub use_previous_value: bool,
    /// Whether a resource, an output or the metadata uses it.
    pub used: bool,
}

impl Template {
    /// The declared parameters.
    pub fn parameters(&self) -> &IndexMap<Arc<str>, Parameter> {
        unimplemented!()
    }
    /// The template verbatim.
    pub fn raw(&self) -> &Json {
        unimplemented!()
    }
    /// Where everything stands.
    pub fn source(&self) -> &Arc<SourceMap> {
        unimplemented!()
    }
    /// The dependency graph.
    pub fn graph(&self) -> Vec<GraphNode> {
        unimplemented!()
    }
    /// The template with its declared credentials masked.
    pub fn credentials_masked(&self, _catalog: &dyn Catalog) -> Json {
        unimplemented!()
    }
}
