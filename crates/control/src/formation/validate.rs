//! Validation: everything that can be said without deploying, all at once.

use super::plan::{UNBORN, UNNAMED};
use super::prepare::Prepared;
use crate::{Control, ControlError, JsonMap, TemplateInput, input::supplied};
use formwork_formation::{Supplied, Template, invalid_parameters, missing_parameters, unknown_parameters};
use formwork_model::{Diagnostic, StackKey};

/// What to validate.
#[derive(Clone, Debug)]
pub struct ValidateFormation {
    /// The template.
    pub template: TemplateInput,
    /// The parameters; `None` leaves them unchecked, an empty object does not (seed 4, "Providing
    /// Parameter Values").
    pub parameters: Option<JsonMap>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Validation {
    /// Whether it may be deployed.
    pub valid: bool,
    /// What forbids it.
    pub errors: Vec<Diagnostic>,
    /// What is worth a look.
    pub warnings: Vec<Diagnostic>,
}

impl Control {
    /// Validates a template. It needs no project and changes nothing. Handlers of custom types are
    /// asked once everything else is right.
    ///
    /// # Errors
    /// `FORMATION_HANDLER_FAILED`: a handler could not say.
    pub async fn validate(&self, request: &ValidateFormation) -> Result<Validation, ControlError> {
        let (template, found) = self.check_template(&request.template);
        let mut errors: Vec<_> = found.errors().cloned().collect();
        let mut warnings: Vec<_> = found.warnings().cloned().collect();
        let supplied = supplied(request.parameters.as_ref(), false);
        if let (true, Some(template), Some(_)) = (errors.is_empty(), &template, &request.parameters) {
            errors.extend(invalid_parameters(template, &supplied));
            errors.extend(missing_parameters(template, &supplied));
            warnings.extend(unknown_parameters(template, &supplied));
        }
        let is_template = template.is_some();
        if let (true, Some(template)) = (errors.is_empty(), template) {
            errors.extend(self.ask_about(template, &supplied).await?);
        }
        Ok(Validation { valid: is_template && errors.is_empty(), errors, warnings })
    }

    /// What handlers, and the rules with the parameters' values, say of a template that is valid so
    /// far.
    async fn ask_about(
        &self,
        template: Template,
        supplied: &Supplied,
    ) -> Result<Vec<Diagnostic>, ControlError> {
        let mut prepared = Prepared { template, warnings: Vec::new() };
        let key = StackKey::new("".into(), UNNAMED);
        let desired = match self.lower(&mut prepared, supplied, UNBORN.into(), key, false) {
            Ok(desired) => desired,
            Err(error) => return Ok(error.diagnostics),
        };
        Ok(self.ask_handlers(&desired).await?.errors().cloned().collect())
    }
}
