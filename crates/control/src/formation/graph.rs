//! What people and their tools look at: a template's dependency graph, and what a template may be.

use crate::{Control, ControlError, TemplateInput};
use formwork_model::Json;

/// A dependency graph, in the order of creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphView {
    /// The resources.
    pub nodes: Vec<GraphNodeView>,
    /// What waits for what.
    pub edges: Vec<GraphEdgeView>,
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNodeView {
    /// Its logical id.
    pub label: String,
    /// Its type.
    pub resource_type: String,
}

/// That one resource waits for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdgeView {
    /// What waits.
    pub from: String,
    /// What it waits for.
    pub to: String,
}

impl Control {
    /// The JSON Schema of templates, with the types that exist here.
    pub fn template_schema(&self) -> Json {
        formwork_formation::template_schema(&*self.catalog)
    }

    /// The dependency graph of a template.
    ///
    /// # Errors
    /// `VALIDATION_FAILED` with all that is wrong with the template.
    pub async fn graph(&self, input: &TemplateInput) -> Result<GraphView, ControlError> {
        let template = self.prepare(input).await?.template;
        let order =
            super::prepare::order(&template).map_err(|found| ControlError::invalid_template(&found))?;
        let graph = template.graph();
        let raw = &template.raw()["resources"];
        let nodes =
            order.order.iter().filter_map(|index| graph.get(*index)).map(|(label, ..)| GraphNodeView {
                label: label.to_string(),
                resource_type: raw[label.as_str()]["type"].as_str().unwrap_or_default().to_owned(),
            });
        let mut edges: Vec<_> = graph
            .iter()
            .flat_map(|(from, _, to)| to.iter().map(move |(to, _)| (from.to_string(), to.to_string())))
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        edges.retain(|edge| seen.insert(edge.clone()));
        Ok(GraphView {
            nodes: nodes.collect(),
            edges: edges.into_iter().map(|(from, to)| GraphEdgeView { from, to }).collect(),
        })
    }
}
