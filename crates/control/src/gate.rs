//! What must be permitted before a request is looked at any closer: a permission failure on a write
//! is answered before what is wrong with the body (`formations-behaviour.md` §1.1).
//!
//! A use case decides for itself first of all; this is for requests that do not get that far.

use crate::access::{Target, Verb};
use crate::authorise::Question;
use crate::{Control, ControlError, Principal};
use formwork_iam::Srn;
use formwork_model::{Json, PlanHash, ProjectId, StackId, TypeName};
use formwork_platform::RestAction;

/// A write whose body could not be understood.
#[derive(Clone, Debug)]
pub enum Gate {
    /// Nothing beyond authentication.
    Open,
    /// Planning, in the project that the body names.
    PlanFormation(Option<ProjectId>),
    /// Making a formation in the project that the body names.
    CreateFormation(Option<ProjectId>),
    /// Changing a formation.
    UpdateFormation(StackId),
    /// Carrying a kept plan out.
    ApplyPlan(PlanHash),
    /// Applying a forma in the project that the body names.
    ApplyForma(Option<ProjectId>),
    /// Making a resource in the project that the body names.
    CreateResource(TypeName, Option<ProjectId>),
    /// Changing a resource.
    UpdateResource(TypeName, String),
    /// Doing one of its route's actions to a resource.
    ActOnResource(TypeName, String, &'static RestAction),
    /// Checking an orchestration in the project that the body names.
    ValidateOrchestration(Option<ProjectId>),
    /// Making a file with its bytes in the project that the body names.
    UploadFile(Option<ProjectId>),
    /// Changing a project.
    UpdateProject(ProjectId),
    /// Setting the prices of a project.
    SetPrices(ProjectId),
    /// Making a token for the project that the body names.
    CreateToken(Option<ProjectId>),
    /// Attaching policies to a user.
    AttachPolicies(String),
    /// What admins do: an action on what is in no project.
    Admin {
        /// The action.
        action: &'static str,
        /// The type that it is about.
        srn_type: &'static str,
    },
}

impl Control {
    /// Whether the caller may do what the request is for, as far as that can be told.
    ///
    /// # Errors
    /// The refusal that the use case would begin with.
    pub async fn gate(&self, p: &Principal, gate: &Gate) -> Result<(), ControlError> {
        match gate {
            Gate::Open => Ok(()),
            Gate::PlanFormation(named) => {
                let project = Self::project_of(p, named.as_ref())?;
                Self::demand(p, &Self::planning(&project, None))
            }
            Gate::CreateFormation(named) => {
                let project = self.project_to_write(p, named.as_ref(), "formations:CreateFormation").await?;
                self.permit(p, &Self::creating(&project), "").await.map(drop)
            }
            Gate::UpdateFormation(id) => {
                let record = self.formation_record(p, id).await?;
                self.permit(p, &record.question("formations:UpdateFormation"), id.as_str()).await.map(drop)
            }
            Gate::ApplyPlan(hash) => self.gate_apply(p, *hash).await,
            Gate::ApplyForma(named) => {
                let project = self.project_to_write(p, named.as_ref(), "stacks:ApplyStack").await?;
                self.permit(p, &Self::applying(&project), "").await.map(drop)
            }
            Gate::CreateResource(type_name, named) => {
                let access = self.access(type_name)?;
                let project = self.home(p, type_name, named.as_ref(), &access).await?;
                let question = access.writing(p, Verb::Create, project.as_ref(), Target::New(&Json::Null))?;
                self.permit(p, &question, "").await.map(drop)
            }
            Gate::UpdateResource(type_name, id) => {
                let access = self.access(type_name)?;
                let object = self.resource(p, type_name, id).await?;
                let question =
                    access.writing(p, Verb::Update, object.project.as_ref(), Target::Stored(&object))?;
                self.permit(p, &question, id).await.map(drop)
            }
            Gate::ActOnResource(type_name, id, action) => {
                let access = self.access(type_name)?;
                let object = self.resource(p, type_name, id).await?;
                let question = access.doing(p, action.operation, &object);
                self.permit(p, &question, id).await.map(drop)
            }
            Gate::ValidateOrchestration(named) => Self::demand_validating(p, named.as_ref()),
            Gate::UploadFile(named) => {
                let project = self.project_to_write(p, named.as_ref(), "files:UploadFile").await?;
                self.permit(p, &Self::uploading(&project), "").await.map(drop)
            }
            Gate::UpdateProject(project) => {
                let _ = self.permit(p, &Self::updating(project), project.as_str()).await?;
                self.demand_project(project).await
            }
            Gate::SetPrices(project) => {
                let _ = self.permit(p, &Self::pricing(project), project.as_str()).await?;
                self.demand_project(project).await
            }
            Gate::CreateToken(named) => {
                self.token_project(p, named.as_ref()).await?;
                self.permit_token(p, "tokens:CreateToken", "").await.map(drop)
            }
            Gate::AttachPolicies(id) => {
                let _ = self.permit(p, &Self::attaching(id), id).await?;
                self.user(id).await.map(drop)
            }
            Gate::Admin { action, srn_type } => {
                self.permit(p, &Question::global(*action, Srn::any_global(srn_type)), "").await.map(drop)
            }
        }
    }
}
