//! What all calls of one operation share, and how each is made: bounded in time, a panic caught,
//! its answer put into the operation's words.

use crate::answer::{self, Raw, Unmade, deadline_failure};
use crate::censor::{Censor, KnownSecrets};
use crate::conceal::{Secrecy, SecretPlaces};
use crate::fill::{EmptySlot, fill, without_secrets};
use crate::held::Held;
use crate::patch_document::Patcher;
use crate::rate::Rates;
use crate::targets::{Place, Targets};
use crate::{Clock, Registry, slots};
use formwork_engine_core::{Answer, Call, CallId, CallKind, ReadAnswer, ReadCall, SecretFill, SecretPiece};
use formwork_model::{
    ActorId, Failure, Fence, InstanceKey, Json, Label, OperationId, Path, ProjectId, Row, RowId, Secret,
    SecretSlots, SlotId, Timestamp, TypeName, WireCode,
};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, OperationErrorCode, PluginError, ProgressResult, ReadRequest,
    ReadResult, ResourcePlugin, StatusRequest, UpdateRequest,
};
use formwork_store::Store;
use futures_util::FutureExt as _;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// What all calls of one operation share.
pub(crate) struct Calls {
    pub(crate) operation: OperationId,
    pub(crate) project: ProjectId,
    pub(crate) actor: ActorId,
    pub(crate) key: InstanceKey,
    pub(crate) slots: SecretSlots,
    pub(crate) secrets: KnownSecrets,
    pub(crate) targets: Targets,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) rates: Arc<Rates>,
    pub(crate) store: Arc<dyn Store>,
    /// Set when the operation is dropped: what has not left this process must not leave it.
    pub(crate) closed: AtomicBool,
}

/// A question about an unfinished call.
pub(crate) struct Poll {
    pub(crate) call: CallId,
    pub(crate) type_name: TypeName,
    pub(crate) place: Place,
    pub(crate) request_id: String,
    pub(crate) deadline: Timestamp,
}

/// Whose object a read is about.
pub(crate) struct Whose {
    row: RowId,
    label: Label,
}

impl Whose {
    pub(crate) fn of(row: &Row) -> Self {
        Self { row: row.id.clone(), label: row.label.clone() }
    }
}

/// A call that is ready to be made.
pub(crate) struct Prepared {
    plugin: Arc<dyn ResourcePlugin>,
    context: CallContext,
    request: Request,
    places: SecretPlaces,
    censor: Arc<Censor>,
}

enum Request {
    Create(CreateRequest),
    Update(UpdateRequest),
    Delete(DeleteRequest),
    Status(StatusRequest),
}

impl Calls {
    /// A call with its secrets filled in.
    ///
    /// # Errors
    /// [`Unmade`]: it certainly had no effect.
    pub(crate) async fn prepare(
        &self,
        call: Call,
        place: &Place,
        held: Held,
        fence: Option<Fence>,
        places: SecretPlaces,
    ) -> Result<Prepared, Unmade> {
        let plugin = self.plugin(&call.type_name).map_err(Unmade::Refused)?;
        let target_config = self.target_config(place).await.map_err(unreached)?;
        let context = CallContext {
            step: Some(call.id.step),
            stack: Some(call.stack.clone()),
            row: Some(call.row.clone()),
            label: Some(call.label.clone()),
            token: Some(call.token),
            attempt: call.id.attempt,
            fence,
            ..self.context(call.not_after)
        };
        let resource_type = call.type_name;
        let mut places = places;
        let request = match call.kind {
            CallKind::Create { properties, secrets } => {
                let mut kept = self.row_secrets(&call.row, &secrets).await?;
                let secrets = self.ask_for(secrets, &held, call.not_after, &mut kept).await?;
                let filled = self.fill(&properties, &secrets, &kept)?;
                self.secrets.learn(call.id.step, &secrets, filled.expose(), &self.slots);
                let secret_paths = paths(&secrets);
                places.extend(secret_paths.iter().cloned());
                Request::Create(CreateRequest {
                    resource_type,
                    properties: filled,
                    target_config,
                    secret_paths,
                })
            }
            CallKind::Update { native_id, prior, sent, schema, desired, secrets, kept } => {
                let mut row_secrets = self.row_secrets(&call.row, &secrets).await?;
                let secrets = self.ask_for(secrets, &held, call.not_after, &mut row_secrets).await?;
                let filled = self.fill(&desired, &secrets, &row_secrets)?;
                self.secrets.learn(call.id.step, &secrets, filled.expose(), &self.slots);
                let secret_paths = paths(&secrets);
                places.extend(secret_paths.iter().cloned());
                let patch = Patcher { schema: &schema, sent: &sent, filled: filled.expose(), kept: &kept };
                let patch_document = Secret::new(patch.document(&prior, &desired));
                Request::Update(UpdateRequest {
                    resource_type,
                    native_id,
                    prior_properties: without_secrets(&prior),
                    patch_document,
                    desired_properties: filled,
                    target_config,
                    secret_paths,
                    kept_paths: kept,
                })
            }
            CallKind::Delete { native_id } => {
                Request::Delete(DeleteRequest { resource_type, native_id, target_config })
            }
        };
        let censor = self.secrets.of_step(Some(call.id.step));
        Ok(Prepared { plugin, context, request, places, censor })
    }

    /// A poll that is ready to be made.
    ///
    /// # Errors
    /// [`Unmade`]: what is asked about may go on.
    pub(crate) async fn prepare_poll(&self, poll: Poll, places: SecretPlaces) -> Result<Prepared, Unmade> {
        let Poll { call, type_name, place, request_id, deadline } = poll;
        let plugin = self.plugin(&type_name).map_err(Unmade::Unasked)?;
        let target_config = self.target_config(&place).await.map_err(Unmade::Unasked)?;
        let context = CallContext { step: Some(call.step), attempt: call.attempt, ..self.context(deadline) };
        let native_id = None;
        let request =
            Request::Status(StatusRequest { resource_type: type_name, request_id, native_id, target_config });
        let censor = self.secrets.of_step(Some(call.step));
        Ok(Prepared { plugin, context, request, places, censor })
    }

    /// Makes a call and says how it ended.
    pub(crate) async fn make(&self, prepared: Prepared) -> Answer {
        let Prepared { plugin, context, request, places, censor } = prepared;
        if self.closed.load(Ordering::SeqCst) {
            return Unmade::Unsent(Failure::new(WireCode::InternalError, "the operation was given up"))
                .into();
        }
        let polls = matches!(request, Request::Status(_));
        if !polls && self.clock.now() >= context.deadline {
            return Unmade::Unsent(deadline_failure()).into();
        }
        let creates = matches!(request, Request::Create(_));
        let raw = self.bounded(&*plugin, context.deadline, dispatch(&*plugin, &context, request)).await;
        // That a question was never asked says nothing about the call that it is about.
        let raw = match raw {
            Raw::Answer(Err(PluginError::Unavailable { namespace, reason })) if polls => {
                Raw::Answer(Err(PluginError::Lost { namespace, reason }))
            }
            raw => raw,
        };
        if let Raw::Answer(Ok(ProgressResult { error_code: Some(OperationErrorCode::Throttling), .. })) = &raw
        {
            self.rates.of(&*plugin).throttled(Instant::now());
        }
        answer::progress(raw, creates, &Secrecy { places: &places, censor: &censor, key: &self.key })
    }

    /// Reads an object.
    pub(crate) async fn read(
        &self,
        read: ReadCall,
        place: &Place,
        places: SecretPlaces,
        whose: Option<Box<Whose>>,
    ) -> ReadAnswer {
        let plugin = match self.plugin(&read.type_name) {
            Ok(plugin) => plugin,
            Err(failure) => return ReadAnswer::Failed { code: None, failure },
        };
        let target_config = match self.target_config(place).await {
            Ok(config) => config,
            Err(failure) => return ReadAnswer::Failed { code: None, failure },
        };
        let request = ReadRequest {
            resource_type: read.type_name,
            native_id: read.native_id,
            target_config,
            redact_sensitive: true,
            prior_properties: read.prior.as_ref().map(without_secrets),
        };
        let (row, label) = whose.map(|whose| (whose.row, whose.label)).unzip();
        let context = CallContext { step: Some(read.step), row, label, ..self.context(read.deadline) };
        let raw = self.read_raw(&*plugin, &context, request).await;
        let censor = self.secrets.of_step(Some(read.step));
        answer::read(raw, &Secrecy { places: &places, censor: &censor, key: &self.key })
    }

    pub(crate) async fn read_raw(
        &self,
        plugin: &dyn ResourcePlugin,
        context: &CallContext,
        request: ReadRequest,
    ) -> Raw<ReadResult> {
        let raw = self.bounded(plugin, context.deadline, plugin.read(context, request)).await;
        if let Raw::Answer(Ok(ReadResult { error_code: Some(OperationErrorCode::Throttling), .. })) = &raw {
            self.rates.of(plugin).throttled(Instant::now());
        }
        raw
    }

    /// Waits for a plugin's answer until the deadline; a panic in it counts as its death.
    pub(crate) async fn bounded<T>(
        &self,
        plugin: &dyn ResourcePlugin,
        deadline: Timestamp,
        call: impl Future<Output = Result<T, PluginError>>,
    ) -> Raw<T> {
        bounded(plugin.namespace(), deadline.since(self.clock.now()), call).await
    }

    /// The plugin of a type, or the failure that names it (INV-17).
    pub(crate) fn plugin(&self, type_name: &TypeName) -> Result<Arc<dyn ResourcePlugin>, Failure> {
        self.registry.plugin(type_name).ok_or_else(|| missing_plugin(type_name))
    }

    /// The context of a call that has no token.
    pub(crate) fn context(&self, deadline: Timestamp) -> CallContext {
        CallContext {
            operation: Some(self.operation.clone()),
            ..CallContext::observing(self.project.clone(), self.actor.clone(), deadline)
        }
    }

    /// What the plugin is told of where an object lives. The secrets in it are remembered, so that
    /// nothing that the plugin says shows them.
    pub(crate) async fn target_config(&self, place: &Place) -> Result<Secret<Json>, Failure> {
        if let Some(config) = self.targets.get(place) {
            return Ok(config);
        }
        let config = place.config(&*self.store, &self.key, &self.slots).await?;
        self.secrets.learn_all(&config.secrets);
        self.targets.put(place, &config);
        Ok(config.value)
    }

    fn fill(
        &self,
        stored: &formwork_model::Stored,
        fills: &[SecretFill],
        kept: &SecretSlots,
    ) -> Result<Secret<Json>, Unmade> {
        fill(stored, fills, &|slot| self.slots.get(slot).or_else(|| kept.get(slot))).map_err(
            |EmptySlot(slot)| {
                let message = format!("the plaintext of `{slot}` is needed, and nobody holds it");
                Unmade::Refused(Failure::new(WireCode::SecretUnavailable, message))
            },
        )
    }

    /// The plaintexts that a call needs and that the operation did not bring: those that the row
    /// keeps from an earlier operation.
    async fn row_secrets(&self, row: &RowId, fills: &[SecretFill]) -> Result<SecretSlots, Unmade> {
        let missing: Vec<&SlotId> = fills
            .iter()
            .flat_map(|fill| &fill.pieces)
            .filter_map(|piece| match piece {
                SecretPiece::Slot(slot) => Some(slot),
                SecretPiece::Text(_) | SecretPiece::Output(_) => None,
            })
            .filter(|slot| !self.slots.contains_key(*slot))
            .collect();
        if missing.is_empty() {
            return Ok(SecretSlots::new());
        }
        let sealed = self.store.reader().row_slots(row).await.map_err(|error| {
            tracing::warn!(%error, %row, "the secrets of a row can't be read");
            Unmade::Unsent(Failure::new(WireCode::InternalError, "the stored secrets can't be read"))
        })?;
        let wanted = sealed.iter().filter(|(slot, _)| missing.contains(&slot));
        let mut opened = BTreeMap::new();
        for (slot, sealed) in wanted {
            let value = slots::open_row_slot(&self.key, row, slot, sealed).map_err(|error| {
                Unmade::Refused(Failure::new(WireCode::SecretNotDecryptable, error.to_string()))
            })?;
            opened.insert(slot.clone(), value);
        }
        Ok(opened)
    }
}

/// Waits for a plugin's answer for so long; a panic in it counts as its death.
pub(crate) async fn bounded<T>(
    namespace: &str,
    millis: u64,
    call: impl Future<Output = Result<T, PluginError>>,
) -> Raw<T> {
    let caught = AssertUnwindSafe(call).catch_unwind();
    match tokio::time::timeout(Duration::from_millis(millis), caught).await {
        Ok(Ok(answer)) => Raw::Answer(answer),
        // The payload is not looked at: it may hold what was sent.
        Ok(Err(_)) => Raw::Answer(Err(PluginError::Lost {
            namespace: namespace.to_owned(),
            reason: "it panicked during the call".to_owned(),
        })),
        Err(_) => Raw::Deadline,
    }
}

/// The failure that names the type whose plugin is not there.
pub(crate) fn missing_plugin(type_name: &TypeName) -> Failure {
    let message = format!("no plugin serves the type `{type_name}`");
    Failure::new(WireCode::PluginUnavailable, message)
        .meta(serde_json::json!({ "resource_type": type_name.as_str() }))
}

/// Why a call was not made, when the configuration of its target isn't there.
fn unreached(failure: Failure) -> Unmade {
    // The store could not be read just now.
    if failure.code == WireCode::InternalError.as_str() {
        return Unmade::Unsent(failure);
    }
    Unmade::Refused(failure)
}

fn paths(fills: &[SecretFill]) -> Vec<Path> {
    fills.iter().map(|fill| fill.path.clone()).collect()
}

async fn dispatch(
    plugin: &dyn ResourcePlugin,
    context: &CallContext,
    request: Request,
) -> Result<ProgressResult, PluginError> {
    match request {
        Request::Create(request) => plugin.create(context, request).await,
        Request::Update(request) => plugin.update(context, request).await,
        Request::Delete(request) => plugin.delete(context, request).await,
        Request::Status(request) => plugin.status(context, request).await,
    }
}

/// The secret places of a row, if there is such a row.
pub(crate) fn places_of(row: Option<&Row>) -> SecretPlaces {
    row.map(crate::conceal::secret_places).unwrap_or_default()
}
