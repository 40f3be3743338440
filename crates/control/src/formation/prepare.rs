//! From a template to desired state: parse, check, parameters, lower.

use crate::{Control, ControlError, TemplateInput};
use formwork_formation::{
    LowerRequest, Supplied, Template, check, invalid_parameters, lower, missing_parameters,
    unknown_parameters,
};
use formwork_model::{Desired, Diagnostic, Diagnostics, EdgeKind, Label, StackId, StackKey, WireCode};
use formwork_planner::{GraphEdge, GraphNode};

/// A template that may be deployed.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) template: Template,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Control {
    /// Checks a template statically; all that is wrong comes at once.
    pub(crate) fn check_template(&self, input: &TemplateInput) -> (Option<Template>, Diagnostics) {
        let document = match input.document(&self.limits) {
            Ok(document) => document,
            Err(found) => return (None, found),
        };
        let checked = check(document, &*self.catalog);
        let mut found = checked.found;
        if let Some(template) = &checked.template
            && let Err(cycles) = order(template)
        {
            found.extend(cycles.iter().cloned());
        }
        (checked.template, found)
    }

    /// Checks a template that was sent, which may take long.
    pub(crate) async fn check_sent(&self, input: &TemplateInput) -> (Option<Template>, Diagnostics) {
        self.reading.run(|| self.check_template(input)).await
    }

    /// The template, if nothing is wrong with it.
    pub(crate) async fn prepare(&self, input: &TemplateInput) -> Result<Prepared, ControlError> {
        let (template, found) = self.check_sent(input).await;
        match template {
            Some(template) if !found.has_errors() => {
                Ok(Prepared { template, warnings: found.warnings().cloned().collect() })
            }
            _ => Err(ControlError::invalid_template(&found)),
        }
    }

    /// The desired state. `strict`: every parameter that is used must have a value.
    pub(crate) fn lower(
        &self,
        prepared: &mut Prepared,
        supplied: &Supplied,
        stack: StackId,
        key: StackKey,
        strict: bool,
    ) -> Result<Desired, ControlError> {
        let template = &prepared.template;
        let invalid = invalid_parameters(template, supplied);
        if !invalid.is_empty() {
            return Err(ControlError::validation("Invalid parameters").with_diagnostics(invalid));
        }
        if strict {
            demand_parameters(template, supplied)?;
        }
        prepared.warnings.extend(unknown_parameters(template, supplied));
        let request = LowerRequest { template, supplied, stack, key, catalog: &*self.catalog, strict };
        lower(&request).map_err(|found| ControlError::invalid_template(&found))
    }
}

/// Every required parameter has a value (seed 4, "Providing Parameter Values").
fn demand_parameters(template: &Template, supplied: &Supplied) -> Result<(), ControlError> {
    let missing = missing_parameters(template, supplied);
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = missing
        .iter()
        .filter_map(|diagnostic| match diagnostic.path.segments() {
            [_, formwork_model::Segment::Key(name)] => Some(&**name),
            _ => None,
        })
        .collect();
    let message = format!("Missing required parameters: {}", names.join(", "));
    Err(ControlError::new(WireCode::FormationMissingParameters, message).with_diagnostics(missing))
}

/// The order of creation, or the cycles that forbid one.
pub(crate) fn order(template: &Template) -> Result<formwork_planner::Order, Diagnostics> {
    let graph = template.graph();
    let nodes: Vec<_> = graph
        .iter()
        .map(|(label, path, edges)| GraphNode {
            label,
            path: path.clone(),
            edges: edges.iter().map(|(to, path)| edge(to, path)).collect(),
        })
        .collect();
    formwork_planner::order(&nodes, template.source())
}

fn edge<'a>(to: &'a Label, path: &formwork_model::Path) -> GraphEdge<'a> {
    GraphEdge { to, path: path.clone(), kind: EdgeKind::Dependency }
}
