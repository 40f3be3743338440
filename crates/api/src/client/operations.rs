//! The operations of the API, one method each, named as `formations-behaviour.md` §1.2 names them.

use super::{Client, ClientError, HttpMethod, encode};
use crate::{
    AttachPolicies, AuditEntry, CancelOperation, CreateFormation, CreateProject, CreateToken, CreateUser,
    Credentials, DeleteResult, EventPage, Formation, FormationDrift, FormationOperation, FormationRevision,
    Graph, GraphFormation, Login, NewToken, Operation, OperationAccepted, Page, PlanFormation, PlanResult,
    Project, SecretOutputPurge, Token, UpdateFormation, User, ValidateFormation, Validation,
};
use HttpMethod::{Delete, Get, Patch, Post, Put};
use formwork_model::Json;

const DO_NOT_WAIT: [(&str, &str); 1] = [("wait", "false")];

fn item(collection: &str, id: &str) -> String {
    format!("{collection}/{}", encode::component(id))
}

fn page(limit: Option<u64>, offset: Option<u64>) -> Vec<(&'static str, String)> {
    let limit = limit.map(|limit| ("limit", limit.to_string()));
    limit.into_iter().chain(offset.map(|offset| ("offset", offset.to_string()))).collect()
}

fn borrowed<'a>(pairs: &'a [(&'static str, String)]) -> impl Iterator<Item = (&'a str, &'a str)> {
    pairs.iter().map(|(name, value)| (*name, value.as_str()))
}

/// Formations.
impl Client {
    /// What is wrong with a template; nothing is changed.
    pub async fn validate_formation(&self, body: &ValidateFormation) -> Result<Validation, ClientError> {
        self.call(Post, "/formations/validate").body(body).decoded().await
    }

    /// What a deploy would do; nothing is changed.
    pub async fn plan_formation(&self, body: &PlanFormation) -> Result<PlanResult, ClientError> {
        self.call(Post, "/formations/plan").body(body).patient().decoded().await
    }

    /// A template's dependency graph.
    pub async fn graph_formation(&self, body: &GraphFormation) -> Result<Graph, ClientError> {
        self.call(Post, "/formations/graph").body(body).decoded().await
    }

    /// Creates a formation and waits for its deploy. A deploy that failed is no error: see the
    /// formation's status (seed 4, "A Failed Deploy Still Answers 2xx").
    pub async fn create_formation(&self, body: &CreateFormation) -> Result<Formation, ClientError> {
        self.call(Post, "/formations").body(body).patient().decoded().await
    }

    /// Creates a formation without waiting for its deploy.
    pub async fn start_create_formation(
        &self,
        body: &CreateFormation,
    ) -> Result<OperationAccepted, ClientError> {
        self.call(Post, "/formations").query(DO_NOT_WAIT).body(body).patient().decoded().await
    }

    /// Deploys a formation again and waits for it.
    pub async fn update_formation(&self, id: &str, body: &UpdateFormation) -> Result<Formation, ClientError> {
        self.call(Put, item("/formations", id)).body(body).patient().decoded().await
    }

    /// Deploys a formation again without waiting for it.
    pub async fn start_update_formation(
        &self,
        id: &str,
        body: &UpdateFormation,
    ) -> Result<OperationAccepted, ClientError> {
        self.call(Put, item("/formations", id)).query(DO_NOT_WAIT).body(body).patient().decoded().await
    }

    /// A page of formations, oldest first, without their resources.
    pub async fn list_formations(
        &self,
        project_id: Option<&str>,
        limit: Option<u64>,
        offset: Option<u64>,
    ) -> Result<Page<Formation>, ClientError> {
        let mut query = page(limit, offset);
        query.extend(project_id.map(|id| ("project_id", id.to_owned())));
        self.call(Get, "/formations").query(borrowed(&query)).decoded().await
    }

    /// One formation with its resources.
    pub async fn get_formation(&self, id: &str) -> Result<Formation, ClientError> {
        self.call(Get, item("/formations", id)).decoded().await
    }

    /// What was changed out of band.
    pub async fn get_formation_drift(&self, id: &str) -> Result<FormationDrift, ClientError> {
        self.call(Get, format!("{}/drift", item("/formations", id))).patient().decoded().await
    }

    /// A page of what a formation's deploys applied, newest first, without the templates.
    pub async fn list_formation_revisions(
        &self,
        id: &str,
        limit: Option<u64>,
        offset: Option<u64>,
    ) -> Result<Page<FormationRevision>, ClientError> {
        let query = page(limit, offset);
        let path = format!("{}/revisions", item("/formations", id));
        self.call(Get, path).query(borrowed(&query)).decoded().await
    }

    /// What one of a formation's deploys applied.
    pub async fn get_formation_revision(
        &self,
        id: &str,
        revision: u64,
    ) -> Result<FormationRevision, ClientError> {
        self.call(Get, format!("{}/revisions/{revision}", item("/formations", id))).decoded().await
    }

    /// Removes credentials from the outputs of old records; a dry run only says which.
    pub async fn purge_formation_secret_outputs(
        &self,
        dry_run: bool,
    ) -> Result<SecretOutputPurge, ClientError> {
        let query = dry_run.then_some(("dry_run", "true"));
        self.call(Post, "/formations/purge-secret-outputs").query(query).patient().decoded().await
    }

    /// Tears a formation down and waits for it. A teardown that could not finish is the error
    /// `FORMATION_DELETE_FAILED`.
    pub async fn delete_formation(&self, id: &str) -> Result<DeleteResult, ClientError> {
        self.call(Delete, item("/formations", id)).patient().decoded().await
    }

    /// Tears a formation down without waiting for it.
    pub async fn start_delete_formation(&self, id: &str) -> Result<OperationAccepted, ClientError> {
        self.call(Delete, item("/formations", id)).query(DO_NOT_WAIT).patient().decoded().await
    }

    /// A page of a formation's operations, oldest first.
    pub async fn list_formation_events(
        &self,
        id: &str,
        limit: Option<u64>,
        offset: Option<u64>,
    ) -> Result<Page<FormationOperation>, ClientError> {
        let query = page(limit, offset);
        let path = format!("{}/events", item("/formations", id));
        self.call(Get, path).query(borrowed(&query)).decoded().await
    }
}

/// Operations. See also [`Client::follow_operation`].
impl Client {
    /// One operation.
    pub async fn get_operation(&self, id: &str) -> Result<Operation, ClientError> {
        self.call(Get, item("/operations", id)).decoded().await
    }

    /// Asks an operation to stop; `force` gives up its undos too.
    pub async fn cancel_operation(&self, id: &str, force: bool) -> Result<Operation, ClientError> {
        let path = format!("{}/cancel", item("/operations", id));
        self.call(Post, path).body(&CancelOperation { force }).decoded().await
    }

    /// A page of an operation's events after a cursor.
    pub async fn list_operation_events(
        &self,
        id: &str,
        after: u64,
        limit: Option<u64>,
    ) -> Result<EventPage, ClientError> {
        let mut query = page(limit, None);
        query.push(("after", after.to_string()));
        let path = format!("{}/events", item("/operations", id));
        self.call(Get, path).query(borrowed(&query)).decoded().await
    }
}

/// Projects and tokens.
impl Client {
    /// Makes a project.
    pub async fn create_project(&self, body: &CreateProject) -> Result<Project, ClientError> {
        self.call(Post, "/projects").body(body).decoded().await
    }

    /// A page of projects, oldest first.
    pub async fn list_projects(
        &self,
        limit: Option<u64>,
        offset: Option<u64>,
    ) -> Result<Page<Project>, ClientError> {
        let query = page(limit, offset);
        self.call(Get, "/projects").query(borrowed(&query)).decoded().await
    }

    /// One project.
    pub async fn get_project(&self, id: &str) -> Result<Project, ClientError> {
        self.call(Get, item("/projects", id)).decoded().await
    }

    /// Deletes an empty project.
    pub async fn delete_project(&self, id: &str) -> Result<(), ClientError> {
        self.call(Delete, item("/projects", id)).answer().await.map(drop)
    }

    /// Makes a token; this answer is the only one with its plaintext.
    pub async fn create_token(&self, body: &CreateToken) -> Result<NewToken, ClientError> {
        self.call(Post, "/tokens").body(body).decoded().await
    }

    /// A page of tokens.
    pub async fn list_tokens(
        &self,
        limit: Option<u64>,
        offset: Option<u64>,
    ) -> Result<Page<Token>, ClientError> {
        let query = page(limit, offset);
        self.call(Get, "/tokens").query(borrowed(&query)).decoded().await
    }

    /// Revokes a token.
    pub async fn delete_token(&self, id: &str) -> Result<(), ClientError> {
        self.call(Delete, item("/tokens", id)).answer().await.map(drop)
    }
}

/// Users and the audit.
impl Client {
    /// Makes the first user, an admin.
    pub async fn bootstrap_user(&self, body: &Credentials) -> Result<User, ClientError> {
        self.call(Post, "/users/bootstrap").body(body).decoded().await
    }

    /// Logs in; this answer is the only one with the login's token.
    pub async fn login_user(&self, body: &Credentials) -> Result<Login, ClientError> {
        self.call(Post, "/users/login").body(body).decoded().await
    }

    /// The user who stands behind the credential.
    pub async fn get_current_user(&self) -> Result<User, ClientError> {
        self.call(Get, "/users/me").decoded().await
    }

    /// Makes a user.
    pub async fn create_user(&self, body: &CreateUser) -> Result<User, ClientError> {
        self.call(Post, "/users").body(body).decoded().await
    }

    /// A page of users, oldest first.
    pub async fn list_users(
        &self,
        limit: Option<u64>,
        offset: Option<u64>,
    ) -> Result<Page<User>, ClientError> {
        let query = page(limit, offset);
        self.call(Get, "/users").query(borrowed(&query)).decoded().await
    }

    /// One user.
    pub async fn get_user(&self, id: &str) -> Result<User, ClientError> {
        self.call(Get, item("/users", id)).decoded().await
    }

    /// Deletes a user.
    pub async fn delete_user(&self, id: &str) -> Result<(), ClientError> {
        self.call(Delete, item("/users", id)).answer().await.map(drop)
    }

    /// Puts policies in place of those a user had.
    pub async fn attach_user_policies(&self, id: &str, body: &AttachPolicies) -> Result<(), ClientError> {
        let path = format!("{}/policies", item("/users", id));
        self.call(Put, path).body(body).answer().await.map(drop)
    }

    /// A page of the audit, newest first.
    pub async fn list_audit_entries(
        &self,
        project_id: Option<&str>,
        limit: Option<u64>,
        offset: Option<u64>,
    ) -> Result<Page<AuditEntry>, ClientError> {
        let mut query = page(limit, offset);
        query.extend(project_id.map(|id| ("project_id", id.to_owned())));
        self.call(Get, "/audit").query(borrowed(&query)).decoded().await
    }
}

/// The platform's types: `collection` is the route's first segment (`agents`).
impl Client {
    /// Makes a resource.
    pub async fn create_resource(&self, collection: &str, body: &Json) -> Result<Json, ClientError> {
        self.call(Post, item("", collection)).body(body).decoded().await
    }

    /// A page of resources, oldest first; the query holds `limit`, `offset` and the type's filters.
    pub async fn list_resources(
        &self,
        collection: &str,
        query: &[(&str, &str)],
    ) -> Result<Page<Json>, ClientError> {
        self.call(Get, item("", collection)).query(query.iter().copied()).decoded().await
    }

    /// One resource.
    pub async fn get_resource(&self, collection: &str, id: &str) -> Result<Json, ClientError> {
        self.call(Get, item(&item("", collection), id)).decoded().await
    }

    /// Replaces a resource's properties.
    pub async fn put_resource(&self, collection: &str, id: &str, body: &Json) -> Result<Json, ClientError> {
        self.call(Put, item(&item("", collection), id)).body(body).decoded().await
    }

    /// Changes some of a resource's properties.
    pub async fn patch_resource(&self, collection: &str, id: &str, body: &Json) -> Result<Json, ClientError> {
        self.call(Patch, item(&item("", collection), id)).body(body).decoded().await
    }

    /// Deletes a resource; `force` takes along what the type documents.
    pub async fn delete_resource(&self, collection: &str, id: &str, force: bool) -> Result<(), ClientError> {
        let query = force.then_some(("force", "true"));
        self.call(Delete, item(&item("", collection), id)).query(query).answer().await.map(drop)
    }
}

/// The server itself.
impl Client {
    /// Whether the server is there: its answer, which needs no token.
    pub async fn health(&self) -> Result<Json, ClientError> {
        self.call(Get, "/health").decoded().await
    }

    /// The API's OpenAPI document.
    pub async fn openapi(&self) -> Result<Json, ClientError> {
        self.call(Get, "/openapi.json").decoded().await
    }
}
