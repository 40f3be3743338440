//! Bearer tokens: kept as keyed digests, found by them, shown once.

use crate::authorise::{Permit, Question, demand_project};
use crate::input::check_name;
use crate::{Control, ControlError, Principal, ids};
use formwork_iam::Srn;
use formwork_model::{ActorId, Digest, Json, ProjectId, Secret, Timestamp};
use formwork_store::{DomainError, DomainTx, Link, ListQuery, NewObject, Page, StoredObject, UniqueKey};

pub(crate) const TYPE: &str = "token";
/// The token whose plaintext is in the data directory. Where several machines share a store, each has
/// one: those of the others have a suffix.
const ADMIN: &str = "token_local_admin";
/// The field of such a token that tells whose it is.
const HOME: &str = "home";
/// The link of a token to the project that it is confined to.
const SCOPE: &str = "scope";
/// How many tokens of a project are revoked before it is looked for more.
const REVOKED_AT_ONCE: usize = 500;

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
    /// Who made it (a user, a key, a token): without them it is void, and it can do no more than
    /// they can. `None` for the data directory's.
    pub made_by: Option<ActorId>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl TokenRecord {
    /// Whether it is the data directory's, which nobody made.
    pub(crate) fn is_local_admin(&self) -> bool {
        let suffix = self.id.strip_prefix(ADMIN);
        self.made_by.is_none() && suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('_'))
    }
}

impl From<StoredObject> for TokenRecord {
    fn from(object: StoredObject) -> Self {
        Self {
            name: object.doc["name"].as_str().unwrap_or_default().to_owned(),
            project_id: object.doc["project_id"].as_str().map(ProjectId::from),
            made_by: object.doc["made_by"].as_str().map(ActorId::from),
            id: object.id,
            created_at: object.created_at,
        }
    }
}

impl Control {
    pub(crate) fn token_key(&self, token: &Secret<String>) -> (UniqueKey, Digest) {
        let digest = self.key.digest(token.expose().as_bytes());
        (UniqueKey { key: "digest".to_owned(), value: digest.hex() }, digest)
    }

    fn new_token(
        &self,
        id: String,
        name: &str,
        project_id: Option<&ProjectId>,
        made_by: Option<&ActorId>,
        token: &Secret<String>,
    ) -> NewObject {
        let (key, digest) = self.token_key(token);
        NewObject {
            id,
            type_name: TYPE.to_owned(),
            project: None,
            doc: serde_json::json!({
                "name": name, "project_id": project_id, "made_by": made_by, "digest": digest,
            }),
            keys: vec![key],
            links: project_id.map(scope_link).into_iter().collect(),
        }
    }

    /// Makes a data directory's token the admin's. Doing it again with the same token changes nothing;
    /// with another one, the directory's old one stops working. `home` tells the directory from those of
    /// other machines, which may share the store.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn admin_token(&self, token: &Secret<String>, home: &str) -> Result<(), ControlError> {
        let home = self.key.digest(home.as_bytes()).short();
        let mut object = self.new_token(ADMIN.to_owned(), "local admin", None, None, token);
        object.doc[HOME] = home.as_str().into();
        let other = format!("{ADMIN}_{}", &home[..16]);
        if self.token_of(token).await?.is_some_and(|known| known.is_local_admin()) {
            return Ok(());
        }
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            let first = tx.get(ADMIN)?;
            if first.is_some_and(|first| first.doc[HOME] != object.doc[HOME]) {
                object.id = other;
            }
            tx.delete(&object.id)?;
            tx.insert(object).map(|_| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        Ok(())
    }

    /// The project that a token is to be confined to: one that is confined can make only such as are
    /// confined too.
    pub(crate) async fn token_project(
        &self,
        p: &Principal,
        named: Option<&ProjectId>,
    ) -> Result<Option<ProjectId>, ControlError> {
        match (named, &p.scope) {
            (None, None) => Ok(None),
            _ => self.project_to_write(p, named, "tokens:CreateToken").await.map(Some),
        }
    }

    /// Demands what a token gives: everything within its project.
    pub(crate) async fn permit_token(
        &self,
        p: &Principal,
        action: &str,
        subject: &str,
    ) -> Result<Permit, ControlError> {
        let srn = Srn::global(TYPE, if subject.is_empty() { "*" } else { subject });
        // No policy names tokens: without limits is all there is.
        let question = Question { admin_only: !p.is_unlimited(), ..Question::global(action, srn) };
        self.permit(p, &question, subject).await
    }

    /// Makes a token. Its plaintext is answered here and never again. A token that is confined to
    /// a project can make only such as are confined to it too.
    ///
    /// # Errors
    /// `FORBIDDEN`, `API_KEY_PROJECT_SCOPE`, `VALIDATION_FAILED`, `RESOURCE_NOT_FOUND`.
    pub async fn create_token(
        &self,
        p: &Principal,
        new: NewToken,
    ) -> Result<(TokenRecord, Secret<String>), ControlError> {
        let project = self.token_project(p, new.project_id.as_ref()).await?;
        let permit = self.permit_token(p, "tokens:CreateToken", "").await?;
        check_name(&new.name)?;
        let token =
            Secret::new(format!("fw_{}", formwork_secret::hex(&formwork_secret::random_bytes::<32>())));
        let id = ids::mint("token");
        let object = self.new_token(id.clone(), &new.name, project.as_ref(), Some(&p.actor), &token);
        let record = permit.record(&id, serde_json::json!({ "project_id": project }));
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            project.as_ref().map_or(Ok(()), |project| demand_project(tx, project))?;
            tx.insert(object)?;
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        let made = self.reader.object(&id).await?.ok_or_else(|| ControlError::not_found("Token", &id))?;
        Ok((made.into(), token))
    }

    /// The tokens that the principal sees: none for whoever could not make one.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn list_tokens(
        &self,
        p: &Principal,
        limit: usize,
        offset: usize,
    ) -> Result<Page<TokenRecord>, ControlError> {
        if !p.is_unlimited() {
            return Ok(Page { items: Vec::new(), total: 0 });
        }
        let linked = p.scope.as_ref().map(scope_link);
        let query = ListQuery { type_name: TYPE.to_owned(), projects: Vec::new(), linked, limit, offset };
        let page = self.reader.objects(&query).await?;
        Ok(Page { items: page.items.into_iter().map(TokenRecord::from).collect(), total: page.total })
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, also where the principal may not see it; `FORBIDDEN`; `VALIDATION_FAILED`
    /// for the data directory's.
    pub async fn delete_token(&self, p: &Principal, id: &str) -> Result<(), ControlError> {
        let permit = self.permit_token(p, "tokens:DeleteToken", id).await?;
        let found =
            self.reader.object(id).await?.filter(|object| object.type_name == TYPE).map(TokenRecord::from);
        let found = found.filter(|token| p.scope.is_none() || token.project_id == p.scope);
        let token = found.ok_or_else(|| ControlError::not_found("Token", id))?;
        if token.is_local_admin() && (id == ADMIN || id == p.actor.as_str()) {
            return Err(ControlError::validation(
                "The data directory's own token can't be revoked: its commands would be locked out until the \
                 agent starts again. To replace it, delete the file `admin.token` and start the agent again.",
            ));
        }
        let record = permit.record(id, serde_json::json!({ "project_id": token.project_id }));
        let doomed = id.to_owned();
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            tx.delete(&doomed)?;
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        Ok(())
    }
}

/// By which the tokens of a project are found.
fn scope_link(project: &ProjectId) -> Link {
    Link { field: SCOPE.to_owned(), to: project.to_string() }
}

/// Revokes the tokens of a project that goes: what they are confined to is no more.
///
/// # Errors
/// A fault of the store.
pub(crate) fn revoke_all_of(tx: &mut dyn DomainTx, project: &ProjectId) -> Result<(), DomainError> {
    loop {
        let linked = tx.links_to(project.as_str(), REVOKED_AT_ONCE)?;
        let tokens: Vec<_> =
            linked.into_iter().filter(|(_, kind, field)| kind == TYPE && field == SCOPE).collect();
        if tokens.is_empty() {
            return Ok(());
        }
        for (id, ..) in tokens {
            tx.delete(&id)?;
        }
    }
}
