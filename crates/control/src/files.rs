//! The bytes of files, and the price list of a project: what their routes do beyond CRUD.

use crate::authorise::Question;
use crate::resources::{caller, named_project, within};
use crate::{Control, ControlError, JsonMap, Principal};
use formwork_iam::{Context, Srn};
use formwork_model::{Json, ProjectId, TypeName};
use formwork_platform::FileBytes;

const FILE: &str = "file";

impl Control {
    /// Makes a file with its bytes. Its project is the body's `project_id`, or the credential's.
    ///
    /// # Errors
    /// `FORBIDDEN`, `API_KEY_PROJECT_SCOPE`, `VALIDATION_FAILED`, `NAME_CONFLICT`.
    pub async fn upload_file(&self, p: &Principal, mut body: JsonMap) -> Result<Json, ControlError> {
        let named = named_project(&mut body)?;
        let body = Json::Object(body);
        let project = self.project_to_write(p, named.as_ref(), "files:UploadFile").await?;
        let question = Question { context: Context::of_properties(&body), ..Self::uploading(&project) };
        let permit = self.permit(p, &question, "").await?;
        self.demand_project(&project).await?;
        let platform = self.making(permit, "", Json::Null, &project);
        Ok(platform.rest_upload(&caller(p), &project, body).await?)
    }

    /// Whether files may be uploaded to a project.
    pub(crate) fn uploading(project: &ProjectId) -> Question<'_> {
        Question::new("files:UploadFile", project, Srn::any(project, FILE))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see them.
    pub async fn download_file(&self, p: &Principal, id: &str) -> Result<FileBytes, ControlError> {
        let type_name = TypeName::from(FILE);
        let access = self.access(&type_name)?;
        let object = self.resource(p, &type_name, id).await?;
        let question = access.doing(p, "DownloadFile", &object);
        self.audit_read(p, &question, id).await?;
        if !Self::may(p, &question) {
            return Err(self.resource_missing(&type_name, id).await);
        }
        Ok(self.platform.rest_download(within(&object).as_deref(), id).await?)
    }

    /// Sets prices of a project: all of them, or none.
    ///
    /// # Errors
    /// `FORBIDDEN`, `VALIDATION_FAILED`; `NAME_CONFLICT` for a change of one that is in effect.
    pub async fn set_project_prices(
        &self,
        p: &Principal,
        project: &ProjectId,
        prices: Vec<Json>,
    ) -> Result<Vec<Json>, ControlError> {
        let permit = self.permit(p, &Self::pricing(project), project.as_str()).await?;
        self.demand_project(project).await?;
        let detail = serde_json::json!({ "prices": prices.len() });
        let platform = self.making(permit, project.as_str(), detail, project);
        Ok(platform.rest_set_prices(&caller(p), project, prices).await?)
    }

    /// Whether the prices of a project may be set.
    pub(crate) fn pricing(project: &ProjectId) -> Question<'_> {
        Question::new("projects:ManageProjectPrices", project, Srn::any(project, "*"))
    }
}
