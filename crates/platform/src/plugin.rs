//! The platform as a plugin: each call is one transaction under the caller's fence and token.

use crate::{
    Completeness, Platform, Refusal, TypeEntry,
    deletion::{self, blocked},
    draft::{self, Given},
    failure::Failed,
    ids::new_id,
    view::View,
};
use async_trait::async_trait;
use formwork_model::{Json, NativeId, OperationErrorCode, TypeName, WireCode};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteBlocker, DeleteRequest, ListRequest, ListResult, Operation,
    OperationStatus, PluginError, ProgressResult, ReadRequest, ReadResult, ResourcePlugin, UpdateRequest,
};
use formwork_store::{DomainError, DomainJob, ListQuery, StoreError};
use serde::Deserialize;
use serde_json::json;
use std::{collections::BTreeSet, error::Error as _, sync::Arc};

const NAMESPACE: &str = "platform";
/// The most ids that one page of a list holds.
const MOST_LISTED: usize = 500;

#[async_trait]
impl ResourcePlugin for Platform {
    fn namespace(&self) -> &'static str {
        NAMESPACE
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let operation = Operation::Create;
        let Some(entry) = Self::declarable(&request.resource_type) else {
            return Ok(unknown_type(operation, &request.resource_type));
        };
        let given = Given {
            properties: request.properties,
            secret_paths: request.secret_paths,
            kept_paths: Vec::new(),
            completeness: Completeness::Whole,
            actor: context.actor.clone(),
        };
        let (key, project) = (self.key.clone(), context.project.clone());
        let job_entry = Arc::clone(&entry);
        let job: DomainJob = Box::new(move |tx| {
            let id = new_id(job_entry.definition().id_prefix);
            let home = job_entry.home(&project);
            // What is told once is told over REST only.
            let made = draft::create(tx, &job_entry, &key, &id, home, &given)?;
            Ok(json!(View::of(&job_entry, &key, &made.object)?))
        });
        self.call(context, operation, &entry, job).await
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let found =
            self.store.reader().object(request.native_id.as_str()).await.map_err(|error| lost(&error))?;
        let ReadRequest { resource_type, native_id, .. } = request;
        let entry = Self::declarable(&resource_type);
        let ours = entry.zip(found).filter(|(entry, object)| entry.owns(object, &context.project));
        let Some((entry, object)) = ours else { return Ok(ReadResult::absent(resource_type, native_id)) };
        match View::of(&entry, &self.key, &object) {
            Ok(view) => Ok(ReadResult {
                secret_digests: view.digests,
                ..ReadResult::present(resource_type, native_id, view.properties)
            }),
            // The protocol gives a read no words to say why.
            Err(DomainError::Refused { .. }) => Ok(ReadResult {
                error_code: Some(OperationErrorCode::InternalFailure),
                ..ReadResult::absent(resource_type, native_id)
            }),
            Err(error) => Err(lost(&StoreError::Object(error))),
        }
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let operation = Operation::Update;
        let Some(entry) = Self::declarable(&request.resource_type) else {
            return Ok(unknown_type(operation, &request.resource_type));
        };
        // The desired properties are those declared; the rest stays as it is (seed 4, "Plan Diff").
        let given = Given {
            properties: request.desired_properties,
            secret_paths: request.secret_paths,
            kept_paths: request.kept_paths,
            completeness: Completeness::Partial,
            actor: context.actor.clone(),
        };
        let (key, project, id) = (self.key.clone(), context.project.clone(), request.native_id);
        let job_entry = Arc::clone(&entry);
        let job: DomainJob = Box::new(move |tx| {
            let found = tx.get(id.as_str())?.filter(|object| job_entry.owns(object, &project));
            let object = found.ok_or_else(|| DomainError::NotFound { id: id.to_string() })?;
            let object = draft::update(tx, &job_entry, &key, object, &given)?;
            Ok(json!(View::of(&job_entry, &key, &object)?))
        });
        self.call(context, operation, &entry, job).await
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let operation = Operation::Delete;
        let Some(entry) = Self::declarable(&request.resource_type) else {
            return Ok(unknown_type(operation, &request.resource_type));
        };
        let (project, id) = (context.project.clone(), request.native_id.clone());
        let (job_entry, key) = (Arc::clone(&entry), self.key.clone());
        let job: DomainJob = Box::new(move |tx| {
            let found = tx.get(id.as_str())?.filter(|object| job_entry.owns(object, &project));
            // What is gone, or never was in this project, counts as deleted.
            if let Some(object) = found {
                deletion::delete(tx, &key, &object, false)?;
            }
            Ok(Json::Null)
        });
        match self.run(context, &entry, job).await {
            Ok(_) => Ok(ProgressResult::deleted(request.native_id)),
            Err(failed) => failure(operation, failed),
        }
    }

    async fn list(&self, context: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let Some(entry) = Self::declarable(&request.resource_type) else { return Ok(ListResult::default()) };
        let offset = request.page_token.as_deref().and_then(|token| token.parse().ok()).unwrap_or(0);
        let query = ListQuery {
            type_name: entry.name().to_owned(),
            projects: entry.home(&context.project).into_iter().cloned().collect(),
            linked: None,
            limit: usize::try_from(request.page_size).unwrap_or(MOST_LISTED).clamp(1, MOST_LISTED),
            offset,
        };
        let page = self.store.reader().objects(&query).await.map_err(|error| lost(&error))?;
        let end = offset.saturating_add(page.items.len());
        let more = !page.items.is_empty() && end < page.total;
        Ok(ListResult {
            native_ids: page.items.into_iter().map(|object| NativeId::from(object.id)).collect(),
            next_page_token: more.then(|| end.to_string()),
        })
    }

    async fn delete_blockers(
        &self,
        context: &CallContext,
        objects: &[(TypeName, NativeId)],
    ) -> Result<Vec<DeleteBlocker>, PluginError> {
        let (asked, project) = (objects.to_vec(), context.project.clone());
        let job: DomainJob = Box::new(move |tx| {
            let leaving: BTreeSet<&str> = asked.iter().map(|(_, id)| id.as_str()).collect();
            let mut blockers = Vec::new();
            for (type_name, id) in &asked {
                let Some(entry) = Self::declarable(type_name) else { continue };
                let found = tx.get(id.as_str())?.filter(|object| entry.owns(object, &project));
                let Some(object) = found else { continue };
                if let Some(refusal) = blocked(tx, &entry, &object, false, &leaving)? {
                    blockers.push(DeleteBlocker {
                        resource_type: type_name.clone(),
                        native_id: id.clone(),
                        reason: refusal.message,
                    });
                }
            }
            Ok(json!(blockers))
        });
        let answer = self.store.domain(None, None, job).await;
        let answer = answer.map_err(|failure| unexpected(Failed::of(failure, None)))?;
        Vec::deserialize(answer).map_err(|error| nonsense(&error))
    }
}

impl Platform {
    /// Runs a job whose answer is a [`View`].
    async fn call(
        &self,
        context: &CallContext,
        operation: Operation,
        entry: &TypeEntry,
        job: DomainJob,
    ) -> Result<ProgressResult, PluginError> {
        match self.run(context, entry, job).await {
            Ok(answer) => {
                let view = View::deserialize(answer).map_err(|error| nonsense(&error))?;
                Ok(ProgressResult {
                    secret_digests: view.digests,
                    ..ProgressResult::success(operation, view.native_id, view.properties)
                })
            }
            Err(failed) => failure(operation, failed),
        }
    }

    async fn run(&self, context: &CallContext, entry: &TypeEntry, job: DomainJob) -> Result<Json, Failed> {
        let fence = context.stack.clone().zip(context.fence);
        let answer = self.store.domain(fence, context.token, job).await;
        answer.map_err(|failure| Failed::of(failure, Some(entry)))
    }
}

/// The answer to a refused call; for the unexpected there is none.
fn failure(operation: Operation, failed: Failed) -> Result<ProgressResult, PluginError> {
    let (code, refusal) = match failed {
        Failed::NotFound(refusal) => (OperationErrorCode::NotFound, refusal),
        // A taken key is an invalid request too: the protocol's ALREADY_EXISTS would say that an
        // earlier attempt may have made the object, and here the token has ruled that out.
        Failed::Refused(refusal) if refusal.code == WireCode::SecretNotDecryptable => {
            (OperationErrorCode::InternalFailure, refusal)
        }
        Failed::Refused(refusal) => (OperationErrorCode::InvalidRequest, refusal),
        other => return Err(unexpected(other)),
    };
    Ok(refused(operation, code, refusal))
}

fn refused(operation: Operation, code: OperationErrorCode, refusal: Refusal) -> ProgressResult {
    ProgressResult {
        operation_status: OperationStatus::Failure,
        failure_code: Some(refusal.code.as_str().to_owned()),
        failure_meta: refusal.meta,
        ..ProgressResult::failure(operation, code, refusal.message)
    }
}

fn unknown_type(operation: Operation, type_name: &TypeName) -> ProgressResult {
    let message = format!("The platform has no type `{type_name}`");
    let refusal = Refusal::new(WireCode::ValidationFailed, message);
    refused(operation, OperationErrorCode::InvalidRequest, refusal)
}

fn unexpected(failed: Failed) -> PluginError {
    match failed {
        Failed::Fenced => PluginError::Fenced,
        Failed::Store(error) => lost(&error),
        Failed::Refused(refusal) | Failed::NotFound(refusal) => {
            PluginError::Nonsense { namespace: NAMESPACE.to_owned(), reason: refusal.message }
        }
    }
}

/// A store that fails is a plugin that died: whether the call had an effect is not known.
fn lost(error: &StoreError) -> PluginError {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    PluginError::Lost { namespace: NAMESPACE.to_owned(), reason }
}

/// A stored outcome that is not of this call's kind: the token was used for something else.
fn nonsense(error: &serde_json::Error) -> PluginError {
    PluginError::Nonsense {
        namespace: NAMESPACE.to_owned(),
        reason: format!("the outcome stored under this token is another call's: {error}"),
    }
}
