//! Bearer tokens: kept as keyed digests, found by them, shown once.

use crate::input::check_name;
use crate::{Control, ControlError, Principal, ids};
use formwork_model::{Digest, Json, ProjectId, Secret, Timestamp, WireCode};
use formwork_store::{Link, ListQuery, NewObject, Page, StoredObject, UniqueKey};

const TYPE: &str = "token";
/// The token whose plaintext is in the data directory.
const ADMIN: &str = "token_local_admin";

/// A token to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What it is for.
    pub name: String,
    /// The one project it is confined to.
    pub project_id: Option<ProjectId>,
}

/// A token, without its plaintext.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenRecord {
    /// Its id.
    pub id: String,
    /// What it is for.
    pub name: String,
    /// The one project it is confined to.
    pub project_id: Option<ProjectId>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl From<StoredObject> for TokenRecord {
    fn from(object: StoredObject) -> Self {
        Self {
            name: object.doc["name"].as_str().unwrap_or_default().to_owned(),
            project_id: object.doc["project_id"].as_str().map(ProjectId::from),
            id: object.id,
            created_at: object.created_at,
        }
    }
}

impl Control {
    fn token_key(&self, token: &Secret<String>) -> (UniqueKey, Digest) {
        let digest = self.key.digest(token.expose().as_bytes());
        (UniqueKey { key: "digest".to_owned(), value: digest.hex() }, digest)
    }

    fn new_token(
        &self,
        id: String,
        name: &str,
        project_id: Option<&ProjectId>,
        token: &Secret<String>,
    ) -> NewObject {
        let (key, digest) = self.token_key(token);
        NewObject {
            id,
            type_name: TYPE.to_owned(),
            project: None,
            doc: serde_json::json!({ "name": name, "project_id": project_id, "digest": digest }),
            keys: vec![key],
            links: project_id.map(scope_link).into_iter().collect(),
        }
    }

    /// Makes the data directory's token the admin's. Doing it again with the same token changes
    /// nothing; with another one, the old one stops working.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn admin_token(&self, token: &Secret<String>) -> Result<(), ControlError> {
        let object = self.new_token(ADMIN.to_owned(), "local admin", None, token);
        if self.reader.object(ADMIN).await?.is_some_and(|known| known.doc == object.doc) {
            return Ok(());
        }
        self.store
            .domain(
                None,
                None,
                Box::new(move |tx| {
                    tx.delete(ADMIN)?;
                    tx.insert(object).map(|_| Json::Null)
                }),
            )
            .await?;
        Ok(())
    }

    /// Who bears this token.
    ///
    /// The token is looked up by its digest under the instance key, which an attacker can't
    /// compute, so the lookup's timing tells nothing; the digests are compared in constant time.
    ///
    /// # Errors
    /// `UNAUTHORIZED`.
    pub async fn authenticate(&self, bearer: &Secret<String>) -> Result<Principal, ControlError> {
        let refused = || ControlError::new(WireCode::Unauthorized, "Unauthorized");
        let (key, digest) = self.token_key(bearer);
        let found = self.reader.find_object(None, TYPE, &key).await?.ok_or_else(refused)?;
        let stored: Digest = serde_json::from_value(found.doc["digest"].clone()).map_err(|_| refused())?;
        if stored != digest {
            return Err(refused());
        }
        let scope = found.doc["project_id"].as_str().map(ProjectId::from);
        Ok(Principal {
            actor: found.id.as_str().into(),
            admin: true,
            default_project: scope.clone().or_else(|| Some(self.default_project.get()?.clone())),
            scope,
        })
    }

    /// Makes a token. Its plaintext is answered here and never again. A token that is confined to
    /// a project can make only such as are confined to it too.
    ///
    /// # Errors
    /// `API_KEY_PROJECT_SCOPE`, `VALIDATION_FAILED`, `RESOURCE_NOT_FOUND`.
    pub async fn create_token(
        &self,
        p: &Principal,
        new: NewToken,
    ) -> Result<(TokenRecord, Secret<String>), ControlError> {
        check_name(&new.name)?;
        let project = match (&new.project_id, &p.scope) {
            (None, None) => None,
            (named, _) => Some(Self::project_of(p, named.as_ref())?),
        };
        if let Some(project) = &project {
            self.get_project(p, project).await?;
        }
        let token =
            Secret::new(format!("fw_{}", formwork_secret::hex(&formwork_secret::random_bytes::<32>())));
        let id = ids::mint("token");
        let object = self.new_token(id.clone(), &new.name, project.as_ref(), &token);
        self.store.domain(None, None, Box::new(move |tx| tx.insert(object).map(|_| Json::Null))).await?;
        let made = self.reader.object(&id).await?.ok_or_else(|| ControlError::not_found("Token", &id))?;
        self.audit(p, project.as_ref(), "tokens:CreateToken", &id, Json::Null).await?;
        Ok((made.into(), token))
    }

    /// The tokens that the principal sees.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn list_tokens(
        &self,
        p: &Principal,
        limit: usize,
        offset: usize,
    ) -> Result<Page<TokenRecord>, ControlError> {
        let linked = p.scope.as_ref().map(scope_link);
        let query = ListQuery { type_name: TYPE.to_owned(), projects: Vec::new(), linked, limit, offset };
        let page = self.reader.objects(&query).await?;
        Ok(Page { items: page.items.into_iter().map(TokenRecord::from).collect(), total: page.total })
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it.
    pub async fn delete_token(&self, p: &Principal, id: &str) -> Result<(), ControlError> {
        let found =
            self.reader.object(id).await?.filter(|object| object.type_name == TYPE).map(TokenRecord::from);
        if !found.is_some_and(|token| p.scope.is_none() || token.project_id == p.scope) {
            return Err(ControlError::not_found("Token", id));
        }
        let doomed = id.to_owned();
        self.store.domain(None, None, Box::new(move |tx| tx.delete(&doomed).map(Json::Bool))).await?;
        self.audit(p, p.scope.as_ref(), "tokens:DeleteToken", id, Json::Null).await
    }
}

/// By which the tokens of a project are found.
fn scope_link(project: &ProjectId) -> Link {
    Link { field: "scope".to_owned(), to: project.to_string() }
}
