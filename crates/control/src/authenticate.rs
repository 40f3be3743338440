//! From a bearer token to a principal: a token of ours, an API key, or a login.

use crate::tokens::TokenRecord;
use crate::users::UserRecord;
use crate::{Control, ControlError, Principal, Role, jwt};
use formwork_iam::{Layer, Policy, PolicyDocument, Subject};
use formwork_model::{ActorId, Digest, ProjectId, Secret, WireCode};
use formwork_platform::{ApiKeyRecord, policy_document};
use formwork_store::StoredObject;
use std::sync::Arc;

/// How many keys and tokens may have made each other. A key that a formation mints is owned by the
/// key that deployed it, so each is under the ceiling of the one before.
const MOST_CREDENTIALS: usize = 8;

/// What somebody made to act on their behalf.
enum Credential {
    Key(ApiKeyRecord),
    Token(TokenRecord),
}

impl Credential {
    /// The credential that an object is; `None` if it is none.
    fn of(object: StoredObject) -> Option<Self> {
        if object.type_name == crate::tokens::TYPE {
            return Some(Self::Token(object.into()));
        }
        ApiKeyRecord::of(&object).map(Self::Key)
    }
}

/// Who stands behind a credential, as far as it was followed.
struct Trail {
    /// The limits of the keys on the way.
    layers: Vec<Layer>,
    scope: Option<ProjectId>,
}

pub(crate) fn unauthorized() -> ControlError {
    ControlError::new(WireCode::Unauthorized, "Unauthorized").with_meta(serde_json::json!({
        "hint": "The token is unknown, expired or revoked: log in again, or use another one",
    }))
}

impl Control {
    /// Who bears this token. Everything it permits is looked up anew: what was revoked stops
    /// working at once.
    ///
    /// # Errors
    /// `UNAUTHORIZED`.
    pub async fn authenticate(&self, bearer: &Secret<String>) -> Result<Principal, ControlError> {
        if jwt::looks_like_one(bearer.expose()) {
            let user = self.logins.verify(bearer.expose(), self.clock.now());
            // Who else has the key that logins are signed with must not be able to name a token.
            let user = user.filter(|user| user.as_str().starts_with("user_")).ok_or_else(unauthorized)?;
            return self.principal(&user, Trail { layers: Vec::new(), scope: None }).await;
        }
        if let Some(token) = self.token_of(bearer).await? {
            let actor = ActorId::from(token.id.as_str());
            let (owner, trail) = self.follow(Credential::Token(token)).await?;
            let principal = self.principal(&owner, trail).await?;
            let default_project = principal.scope.clone().or_else(|| self.default_project.get().cloned());
            return Ok(Principal { actor, default_project, ..principal });
        }
        let key = self.platform.find_api_key(bearer).await?.ok_or_else(unauthorized)?;
        let actor = ActorId::from(key.id.as_str());
        let (owner, trail) = self.follow(Credential::Key(key)).await?;
        Ok(Principal { actor, ..self.principal(&owner, trail).await? })
    }

    /// The token record of a plaintext.
    ///
    /// The token is looked up by its digest under the instance key, which an attacker can't
    /// compute, so the lookup's timing tells nothing; the digests are compared in constant time.
    pub(crate) async fn token_of(
        &self,
        bearer: &Secret<String>,
    ) -> Result<Option<TokenRecord>, ControlError> {
        let (key, digest) = self.token_key(bearer);
        let found = self.reader.find_object(None, crate::tokens::TYPE, &key).await?;
        let known = found.filter(|found| {
            serde_json::from_value::<Digest>(found.doc["digest"].clone()).is_ok_and(|stored| stored == digest)
        });
        Ok(known.map(TokenRecord::from))
    }

    /// Follows a credential to who was there before any: a user, or the data directory's token.
    async fn follow(&self, credential: Credential) -> Result<(ActorId, Trail), ControlError> {
        let mut trail = Trail { layers: Vec::new(), scope: None };
        let mut credential = credential;
        for _ in 0..MOST_CREDENTIALS {
            let maker = match credential {
                Credential::Key(key) => {
                    trail.confine(key.project)?;
                    if !key.policy_ids.is_empty() {
                        trail.layers.push(Layer::Policies(self.policies(&key.policy_ids).await?));
                    }
                    key.owner
                }
                Credential::Token(token) => {
                    token.project_id.clone().map_or(Ok(()), |project| trail.confine(project))?;
                    if token.is_local_admin() {
                        return Ok((token.id.as_str().into(), trail));
                    }
                    token.made_by.ok_or_else(unauthorized)?
                }
            };
            let object = self.reader.object(maker.as_str()).await?.ok_or_else(unauthorized)?;
            match Credential::of(object) {
                Some(made_it) => credential = made_it,
                None => return Ok((maker, trail)),
            }
        }
        Err(unauthorized())
    }

    /// A user, or the data directory's token, under the limits of a trail.
    async fn principal(&self, id: &ActorId, trail: Trail) -> Result<Principal, ControlError> {
        let object = self.reader.object(id.as_str()).await?.ok_or_else(unauthorized)?;
        let (role, own) = if object.type_name == crate::tokens::TYPE {
            // Any other token was followed to who made it.
            (Role::Admin, Layer::Admin)
        } else {
            let user = UserRecord::from_object(object).ok_or_else(unauthorized)?;
            match user.doc.role {
                Role::Admin => (Role::Admin, Layer::Admin),
                Role::User => (Role::User, Layer::Policies(self.policies(&user.doc.policy_ids).await?)),
            }
        };
        let subject = trail.layers.into_iter().fold(Subject::new(own), Subject::under);
        Ok(Principal {
            actor: id.clone(),
            owner: id.clone(),
            role,
            subject: Arc::new(subject),
            default_project: trail.scope.clone(),
            scope: trail.scope,
        })
    }

    /// The policies with these ids. One that is gone allows nothing and denies nothing.
    async fn policies(&self, ids: &[String]) -> Result<Vec<Policy>, ControlError> {
        let mut policies = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(object) = self.reader.object(id).await? else { continue };
            let Some(document) = policy_document(&object) else { continue };
            let document = PolicyDocument::parse(&document);
            if let Err(error) = &document {
                tracing::warn!(
                    policy = id,
                    error = error as &dyn std::error::Error,
                    "a policy can't be read"
                );
            }
            policies.push(Policy { id: id.clone(), document: document.ok().map(Arc::new) });
        }
        Ok(policies)
    }
}

impl Trail {
    /// Confines what follows to a project; one that is confined to two can do nothing.
    fn confine(&mut self, project: ProjectId) -> Result<(), ControlError> {
        match &self.scope {
            Some(scope) if *scope != project => Err(unauthorized()),
            _ => {
                self.scope = Some(project);
                Ok(())
            }
        }
    }
}
