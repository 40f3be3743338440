//! Checking the graph of an orchestration without making one.

use crate::authorise::Question;
use crate::resources::named_project;
use crate::{Control, ControlError, JsonMap, Principal, Validation};
use formwork_iam::Srn;
use formwork_model::{Json, ProjectId};
use formwork_platform::Platform;

/// What a check of a graph does not need.
const OPTIONAL: [&str; 1] = ["name"];

impl Control {
    /// What is wrong with the properties that an orchestration could have, in the body's `project_id` or
    /// the credential's. Nothing is looked up and nothing stored.
    ///
    /// # Errors
    /// `FORBIDDEN`, `API_KEY_PROJECT_SCOPE`, `VALIDATION_FAILED`.
    pub fn validate_orchestration(p: &Principal, mut body: JsonMap) -> Result<Validation, ControlError> {
        let project = named_project(&mut body)?;
        Self::demand_validating(p, project.as_ref())?;
        let found = Platform::check(&"orchestration".into(), &Json::Object(body), &OPTIONAL);
        Ok(Validation { valid: !found.has_errors(), found })
    }

    /// Whether the caller may check orchestrations in a project.
    pub(crate) fn demand_validating(p: &Principal, project: Option<&ProjectId>) -> Result<(), ControlError> {
        let project = Self::project_of(p, project)?;
        let srn = Srn::any(&project, "orchestration");
        Self::demand(p, &Question::new("orchestrations:ValidateOrchestration", &project, srn))
    }
}
