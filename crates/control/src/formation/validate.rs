//! Validation: everything that can be said without deploying, all at once.

use crate::{Control, JsonMap, TemplateInput, input::supplied};
use formwork_formation::{invalid_parameters, missing_parameters, unknown_parameters};
use formwork_model::Diagnostic;

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
    /// Validates a template. It needs no project and changes nothing.
    pub fn validate(&self, request: &ValidateFormation) -> Validation {
        let (template, found) = self.check_template(&request.template);
        let mut errors: Vec<_> = found.errors().cloned().collect();
        let mut warnings: Vec<_> = found.warnings().cloned().collect();
        if let (true, Some(template), Some(parameters)) = (errors.is_empty(), &template, &request.parameters)
        {
            let supplied = supplied(Some(parameters), false);
            errors.extend(invalid_parameters(template, &supplied));
            errors.extend(missing_parameters(template, &supplied));
            warnings.extend(unknown_parameters(template, &supplied));
        }
        Validation { valid: template.is_some() && errors.is_empty(), errors, warnings }
    }
}
