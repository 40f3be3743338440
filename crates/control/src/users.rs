//! Users: who logs in, and what policies let them do (`formations-behaviour.md` §6.1).

use crate::authorise::Question;
use crate::input::check_text;
use crate::{Control, ControlError, Principal, Role, ids, passwords};
use formwork_iam::Srn;
use formwork_model::{ActorId, Json, Secret, Timestamp, WireCode};
use formwork_store::{
    AuditRecord, DomainError, DomainTx, ListQuery, NewObject, ObjectChange, Page, StoredObject, UniqueKey,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const TYPE: &str = "user";
/// The most characters of a name to log in with.
const LONGEST_USERNAME: usize = 64;
/// The most policies of one user: each request looks at all of them.
const MOST_POLICIES: usize = 100;

/// A user to be made.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The name to log in with, unique.
    pub username: String,
    /// The password.
    pub password: Secret<String>,
    /// The role.
    pub role: Role,
}

/// A user, without the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserView {
    /// The id (`user_…`).
    pub id: ActorId,
    /// The name to log in with.
    pub username: String,
    /// The role.
    pub role: Role,
    /// The policies that say what a user who is no admin may do.
    pub policy_ids: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// Somebody who logged in.
#[derive(Debug)]
pub struct Login {
    /// Who it is.
    pub user: UserView,
    /// The bearer token.
    pub token: Secret<String>,
}

/// The document of a user's record.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct UserDoc {
    pub(crate) username: String,
    pub(crate) role: Role,
    /// Only its hash.
    password: Arc<str>,
    #[serde(default)]
    pub(crate) policy_ids: Vec<String>,
}

/// A record with its identity.
pub(crate) struct UserRecord {
    pub(crate) doc: UserDoc,
    id: ActorId,
    version: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl UserRecord {
    /// The user of an object; `None` if it is none.
    pub(crate) fn from_object(object: StoredObject) -> Option<Self> {
        let doc = serde_json::from_value(object.doc).ok().filter(|_| object.type_name == TYPE)?;
        Some(Self {
            doc,
            id: object.id.into(),
            version: object.version,
            created_at: object.created_at,
            updated_at: object.updated_at,
        })
    }

    fn view(self) -> UserView {
        UserView {
            id: self.id,
            username: self.doc.username,
            role: self.doc.role,
            policy_ids: self.doc.policy_ids,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

impl Control {
    /// Signs logins with this key instead of one drawn from the instance key: the one that other
    /// processes of the deployment have (`JWT_SECRET`).
    pub fn sign_logins_with(&self, key: Secret<Vec<u8>>) {
        self.logins.sign_with(key);
    }

    /// Whether there are users.
    ///
    /// # Errors
    /// Faults of the store.
    pub async fn has_users(&self) -> Result<bool, ControlError> {
        Ok(self.reader.objects(&all(1, 0)).await?.total > 0)
    }

    /// Makes the first user, an admin. Whoever may call this before anybody can log in is for the
    /// edge to say.
    ///
    /// # Errors
    /// `BOOTSTRAP_ALREADY_COMPLETED`, `VALIDATION_FAILED`.
    pub async fn bootstrap_user(
        &self,
        username: &str,
        password: Secret<String>,
    ) -> Result<UserView, ControlError> {
        if self.has_users().await? {
            return Err(already_completed().into());
        }
        let new = NewUser { username: username.to_owned(), password, role: Role::Admin };
        let object = self.new_user(new).await?;
        let record = AuditRecord {
            at: self.clock.now(),
            actor: object.id.clone(),
            project: None,
            action: "users:BootstrapUser".to_owned(),
            subject: object.id.clone(),
            allowed: true,
            detail: serde_json::json!({ "username": username }),
        };
        self.insert_user(object, record, |tx| match tx.list(&all(1, 0))?.total {
            0 => Ok(()),
            _ => Err(already_completed()),
        })
        .await
    }

    /// Makes a user. Admins only.
    ///
    /// # Errors
    /// `NAME_CONFLICT`, `FORBIDDEN`, `VALIDATION_FAILED`.
    pub async fn create_user(&self, p: &Principal, new: NewUser) -> Result<UserView, ControlError> {
        let question = Question::global("users:CreateUser", Srn::any_global(TYPE));
        let permit = self.permit(p, &question, &new.username).await?;
        let detail = serde_json::json!({ "username": new.username, "role": new.role });
        let object = self.new_user(new).await?;
        let record = permit.record(&object.id, detail);
        self.insert_user(object, record, |_| Ok(())).await
    }

    /// The users, oldest first. Admins only.
    ///
    /// # Errors
    /// `FORBIDDEN`.
    pub async fn list_users(
        &self,
        p: &Principal,
        limit: usize,
        offset: usize,
    ) -> Result<Page<UserView>, ControlError> {
        Self::demand(p, &Question::global("users:ListUsers", Srn::any_global(TYPE)))?;
        let page = self.reader.objects(&all(limit, offset)).await?;
        let items = page.items.into_iter().filter_map(UserRecord::from_object).map(UserRecord::view);
        Ok(Page { items: items.collect(), total: page.total })
    }

    /// One user. Admins only.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn get_user(&self, p: &Principal, id: &str) -> Result<UserView, ControlError> {
        Self::demand(p, &Question::global("users:GetUser", Srn::global(TYPE, id)))?;
        Ok(self.user(id).await?.view())
    }

    /// The user who stands behind the credential.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND` for a token, which is nobody's.
    pub async fn current_user(&self, p: &Principal) -> Result<UserView, ControlError> {
        Ok(self.user(p.owner.as_str()).await?.view())
    }

    /// Deletes a user. Their logins and their keys stop working at once. Admins only.
    ///
    /// # Errors
    /// `RESOURCE_NOT_FOUND`, `FORBIDDEN`.
    pub async fn delete_user(&self, p: &Principal, id: &str) -> Result<(), ControlError> {
        let permit = self.permit(p, &Question::global("users:DeleteUser", Srn::global(TYPE, id)), id).await?;
        let user = self.user(id).await?;
        let record = permit.record(id, serde_json::json!({ "username": user.doc.username }));
        let doomed = id.to_owned();
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            if !tx.delete(&doomed)? {
                return Err(missing(&doomed));
            }
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        Ok(())
    }

    /// Puts policies in place of those a user had. Admins only.
    ///
    /// # Errors
    /// `POLICY_NOT_FOUND`, `RESOURCE_NOT_FOUND`, `FORBIDDEN`, `VALIDATION_FAILED`.
    pub async fn attach_user_policies(
        &self,
        p: &Principal,
        id: &str,
        policy_ids: Vec<String>,
    ) -> Result<(), ControlError> {
        let permit = self.permit(p, &Self::attaching(id), id).await?;
        if policy_ids.len() > MOST_POLICIES {
            let message = format!("`policy_ids` must have at most {MOST_POLICIES} items");
            return Err(ControlError::validation(message));
        }
        let user = self.user(id).await?;
        let record = permit.record(id, serde_json::json!({ "policy_ids": policy_ids }));
        let doc = UserDoc { policy_ids, ..user.doc };
        let change = ObjectChange {
            id: id.to_owned(),
            expected_version: Some(user.version),
            keys: vec![name_key(&doc.username)],
            doc: serde_json::to_value(&doc).unwrap_or_default(),
            links: Vec::new(),
        };
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            doc.policy_ids.iter().try_for_each(|policy| demand_policy(tx, policy))?;
            tx.update(change)?;
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        Ok(())
    }

    /// Logs somebody in. `source` is where they come from, to limit how often it is tried.
    ///
    /// # Errors
    /// `UNAUTHORIZED`, which says the same and takes as long for a user who does not exist;
    /// `RATE_LIMITED`.
    pub async fn login(
        &self,
        username: &str,
        password: Secret<String>,
        source: &str,
    ) -> Result<Login, ControlError> {
        self.logins.attempt(username, source, self.clock.now())?;
        let found = self.reader.find_object(None, TYPE, &name_key(username)).await?;
        let user = found.and_then(UserRecord::from_object);
        let kept = user.as_ref().map(|user| user.doc.password.clone());
        let same = self.logins.passwords.verify(password, kept).await?;
        let Some(user) = user.filter(|_| same) else {
            tracing::info!(source, "a login was refused");
            return Err(ControlError::new(WireCode::Unauthorized, "Invalid username or password"));
        };
        self.logins.succeeded(username, source, self.clock.now());
        let token = self.logins.token(&user.id, user.doc.role, self.clock.now());
        Ok(Login { user: user.view(), token })
    }

    /// Whether policies may be attached to a user.
    pub(crate) fn attaching(id: &str) -> Question<'static> {
        Question::global("users:AttachUserPolicies", Srn::global(TYPE, id))
    }

    pub(crate) async fn user(&self, id: &str) -> Result<UserRecord, ControlError> {
        let found = self.reader.object(id).await?.and_then(UserRecord::from_object);
        found.ok_or_else(|| ControlError::not_found("User", id))
    }

    async fn new_user(&self, new: NewUser) -> Result<NewObject, ControlError> {
        check_text("username", &new.username, LONGEST_USERNAME)?;
        passwords::check(&new.username, &new.password)?;
        let password = self.logins.passwords.hash(new.password).await?.into();
        let doc = UserDoc { username: new.username, role: new.role, password, policy_ids: Vec::new() };
        Ok(NewObject {
            id: ids::mint("user"),
            type_name: TYPE.to_owned(),
            project: None,
            keys: vec![name_key(&doc.username)],
            doc: serde_json::to_value(&doc).unwrap_or_default(),
            links: Vec::new(),
        })
    }

    async fn insert_user(
        &self,
        object: NewObject,
        record: AuditRecord,
        admit: impl FnOnce(&mut dyn DomainTx) -> Result<(), DomainError> + Send + 'static,
    ) -> Result<UserView, ControlError> {
        let id = object.id.clone();
        let job = Box::new(move |tx: &mut dyn DomainTx| {
            admit(tx)?;
            tx.insert(object)?;
            tx.audit(record).map(|()| Json::Null)
        });
        self.store.domain(None, None, job).await?;
        Ok(self.user(&id).await?.view())
    }
}

fn all(limit: usize, offset: usize) -> ListQuery {
    ListQuery { type_name: TYPE.to_owned(), projects: Vec::new(), linked: None, limit, offset }
}

fn name_key(username: &str) -> UniqueKey {
    UniqueKey { key: "username".to_owned(), value: username.to_owned() }
}

fn missing(id: &str) -> DomainError {
    refused(WireCode::ResourceNotFound, format!("User '{id}' not found."))
}

fn already_completed() -> DomainError {
    refused(WireCode::BootstrapAlreadyCompleted, "There are users already: log in as one of them.".to_owned())
}

fn demand_policy(tx: &mut dyn DomainTx, id: &str) -> Result<(), DomainError> {
    match tx.get(id)?.as_ref().and_then(formwork_platform::policy_document) {
        Some(_) => Ok(()),
        None => Err(refused(WireCode::PolicyNotFound, format!("Policy not found: {id}"))),
    }
}

fn refused(code: WireCode, message: String) -> DomainError {
    DomainError::Refused { code: code.as_str().to_owned(), message, meta: None }
}
