//! Checking the graph of an orchestration without making one.

use crate::authorise::Question;
use crate::{Control, ControlError, Principal, Validation};
use formwork_iam::Srn;
use formwork_model::{Json, ProjectId, Severity};
use formwork_platform::Platform;

/// What a check of a graph does not need.
const OPTIONAL: [&str; 1] = ["name"];

impl Control {
    /// What is wrong with the properties that an orchestration could have. Nothing is looked up and
    /// nothing stored.
    ///
    /// # Errors
    /// `FORBIDDEN`, `API_KEY_PROJECT_SCOPE`.
    pub fn validate_orchestration(
        p: &Principal,
        project: Option<&ProjectId>,
        properties: &Json,
    ) -> Result<Validation, ControlError> {
        Self::demand_validating(p, project)?;
        let found = Platform::check(&"orchestration".into(), properties, &OPTIONAL);
        let (errors, warnings): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|found| found.severity == Severity::Error);
        Ok(Validation { valid: errors.is_empty(), errors, warnings })
    }

    /// Whether the caller may check orchestrations in a project.
    pub(crate) fn demand_validating(p: &Principal, project: Option<&ProjectId>) -> Result<(), ControlError> {
        let project = Self::project_of(p, project)?;
        let srn = Srn::any(&project, "orchestration");
        Self::demand(p, &Question::new("orchestrations:ValidateOrchestration", &project, srn))
    }
}
