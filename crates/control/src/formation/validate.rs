//! Validation: everything that can be said without deploying, all at once.

use super::inheriting::taken_from_the_project;
use super::plan::{UNBORN, UNNAMED};
use super::prepare::Prepared;
use crate::{Control, ControlError, Parameters, Principal, TemplateInput, input::supplied};
use formwork_formation::{Supplied, Template, invalid_parameters, missing_parameters, unknown_parameters};
use formwork_model::{Catalog as _, Diagnostic, DiagnosticCode, Diagnostics, Path, StackKey};

/// What lets somebody have handlers asked.
const VALIDATING: [&str; 4] = [
    "formations:ValidateFormation",
    "formations:PlanFormation",
    "formations:CreateFormation",
    "formations:UpdateFormation",
];

const NOT_ASKED: &str =
    "Handlers of custom types were not asked: that takes `formations:ValidateFormation` in a project.";

/// What to validate.
#[derive(Clone, Debug)]
pub struct ValidateFormation {
    /// The template.
    pub template: TemplateInput,
    /// The parameters; `None` leaves them unchecked, an empty object does not (seed 4, "Providing
    /// Parameter Values").
    pub parameters: Option<Parameters>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Validation {
    /// Whether it may be deployed.
    pub valid: bool,
    /// What forbids it, and what is worth a look.
    pub found: Diagnostics,
}

impl Control {
    /// Validates a template. It needs no project and changes nothing. Handlers of custom types are
    /// asked once everything else is right, if the principal may validate formations anywhere: they
    /// are servers of the operator's, which not everybody who can log in may call.
    ///
    /// # Errors
    /// `FORMATION_HANDLER_FAILED`: a handler could not say; `RATE_LIMITED`.
    pub async fn validate(
        &self,
        p: &Principal,
        request: &ValidateFormation,
    ) -> Result<Validation, ControlError> {
        let (template, mut found) = self.check_sent(&request.template).await;
        let supplied = supplied(request.parameters.as_ref(), false);
        if let (false, Some(template), Some(_)) = (found.has_errors(), &template, &request.parameters) {
            found.extend(invalid_parameters(template, &supplied));
            found.extend(missing_parameters(template, &supplied));
            found.extend(unknown_parameters(template, &supplied));
        }
        let is_template = template.is_some();
        if let (false, Some(template)) = (found.has_errors(), template) {
            self.ask_about(p, template, &supplied, &mut found).await?;
        }
        Ok(Validation { valid: is_template && !found.has_errors(), found })
    }

    /// What handlers, and the rules with the parameters' values, say of a template that is valid so
    /// far.
    async fn ask_about(
        &self,
        p: &Principal,
        template: Template,
        supplied: &Supplied,
        found: &mut Diagnostics,
    ) -> Result<(), ControlError> {
        let mut prepared = Prepared { template, warnings: Vec::new() };
        let key = StackKey::new("".into(), UNNAMED);
        let desired = match self.lower(&mut prepared, supplied, UNBORN.into(), key, false) {
            Ok(desired) => desired,
            Err(error) => {
                found.extend(error.diagnostics);
                return Ok(());
            }
        };
        found.extend(taken_from_the_project(&desired));
        let takes_handlers = desired.stacks.iter().flat_map(|stack| &stack.resources).any(|resource| {
            let rules = self.catalog.get(&resource.type_name);
            self.catalog.is_outside(&resource.type_name)
                && rules.is_some_and(|rules| rules.capabilities().validate)
        });
        if takes_handlers && !self.may_call_handlers(p).await? {
            found.push(Diagnostic::warning(DiagnosticCode::HandlerNotAsked, Path::root(), NOT_ASKED));
            return Ok(());
        }
        found.extend(self.ask_handlers(p, &desired).await?.iter().cloned());
        Ok(())
    }

    /// Whether the principal may validate, or do what begins with it, in any project.
    async fn may_call_handlers(&self, p: &Principal) -> Result<bool, ControlError> {
        for action in VALIDATING {
            let reach = self.reach(p, p.scope.as_ref(), action, super::SRN_TYPE).await?;
            if reach.is_none_or(|projects| !projects.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
