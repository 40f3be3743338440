//! What a template leaves to the project: agents and chats that name neither a provider nor a route
//! take the project's default model route, and a deploy without one fails.

use crate::{Control, ControlError};
use formwork_model::{
    Action, Desired, Diagnostic, DiagnosticCode, Json, Path, Plan, Planned, ProjectId, Step, Tree, TypeName,
};
use formwork_platform::Platform;

impl Control {
    /// What a plan would fail at in a project that has no default model route.
    pub(crate) async fn without_a_model(
        &self,
        project: &ProjectId,
        plan: &Plan,
    ) -> Result<Vec<Diagnostic>, ControlError> {
        let inheriting: Vec<&Step> = plan.steps.iter().filter(|step| will_inherit(step)).collect();
        if inheriting.is_empty() || self.project_settings(project).await?.default_model_route_id.is_some() {
            return Ok(Vec::new());
        }
        let lacking = inheriting.into_iter().map(|step| {
            let message = format!(
                "'{}' names no {}, and the project has no default model route to inherit",
                step.label,
                bindings(&step.type_name)
            );
            let hint = format!(
                "name one, or set the project's `default_model_route_id` (update-project --project-id {project})"
            );
            let path = Path::of(["resources", step.label.as_str(), "properties"]);
            let warning = Diagnostic::warning(DiagnosticCode::MissingProperty, path, message);
            Diagnostic { place: step.place.clone(), hint: Some(hint), ..warning }
        });
        Ok(lacking.collect())
    }
}

/// What a template takes from whichever project it is deployed to.
pub(crate) fn taken_from_the_project(desired: &Desired) -> Vec<Diagnostic> {
    let resources = desired.stacks.iter().flat_map(|stack| &stack.resources);
    let inheriting = resources.filter(|resource| names_none(&resource.type_name, &resource.properties));
    let taken = inheriting.map(|resource| {
        let message = format!(
            "'{}' names no {}: it takes the default model route of its project, which must have one",
            resource.label,
            bindings(&resource.type_name)
        );
        Diagnostic::warning(DiagnosticCode::MissingProperty, resource.properties_path.clone(), message)
    });
    taken.collect()
}

fn bindings(type_name: &TypeName) -> String {
    Platform::model_bindings(type_name).join(" or ")
}

/// Whether a step leaves an object that takes its model from its project. An update leaves what it does
/// not name.
fn will_inherit(step: &Step) -> bool {
    let Some(after) = &step.after else { return false };
    let clears = |after: &Planned| {
        let names = Platform::model_bindings(&step.type_name);
        names.iter().any(|name| after.at(&Path::of([*name])).is_some())
    };
    match step.action {
        Action::Create | Action::Replace => names_none(&step.type_name, after),
        Action::Update => names_none(&step.type_name, after) && clears(after),
        _ => false,
    }
}

/// Whether properties of a type with a model say nothing of where it comes from.
fn names_none<L: Clone>(type_name: &TypeName, properties: &Tree<L>) -> bool {
    let names = Platform::model_bindings(type_name);
    let is_named = |name: &&str| {
        let value = properties.at(&Path::of([*name]));
        value.is_some_and(|value| !matches!(value, Tree::Plain(Json::Null)))
    };
    !names.is_empty() && !names.iter().any(is_named)
}
