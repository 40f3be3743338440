//! Looking at objects before a plan is made: in parallel, each within its deadline.

use crate::answer::{Raw, code_failure, deadline_failure, plugin_failure};
use crate::calls::{bounded, missing_plugin};
use crate::censor::Censor;
use crate::conceal::{Secrecy, SecretPlaces, conceal, secret_inputs, secret_places};
use crate::fill::without_secrets;
use crate::rate::Rates;
use crate::targets::{Config, Place, target_row};
use crate::{Clock, ObserveRequest, Registry, slots};
use formwork_model::{
    Failure, InstanceKey, NativeId, Object, Observation, Plan, Row, RowId, Sealed, SecretSlots, SlotId,
    StackId, Step, Stored, TargetRev, TypeCapabilities, WireCode, same,
};
use formwork_plugin::{CallContext, OperationErrorCode, PluginError, ReadRequest, ResourcePlugin};
use formwork_store::Store;
use futures_util::StreamExt as _;
use futures_util::stream;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How many objects are looked at side by side.
const PARALLEL: usize = 32;
/// How long one read may take where the type is not known, in milliseconds.
const TIMEOUT_MILLIS: u64 = 30_000;

/// What observing needs.
pub(crate) struct Observer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) rates: Arc<Rates>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) key: InstanceKey,
}

/// How long an object is looked at, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// How long one read may take.
    timeout_millis: u64,
    /// How long an effect may take to be visible.
    settle_millis: u64,
}

/// Whether an object is what the provider answered to our last write.
fn is_as_left(seen: &Observation, object: &Object) -> bool {
    match seen {
        Observation::Present { properties, .. } => same(&properties.comparable(), &object.echo.comparable()),
        Observation::Gone { .. } | Observation::Failed { .. } => false,
    }
}

/// The configurations of targets, or why there is none, by stack and target.
type Configs = BTreeMap<(StackId, TargetRev), Result<Config, Failure>>;

impl Observer {
    /// Looks at the rows' current objects.
    pub(crate) async fn observe(&self, request: ObserveRequest) -> BTreeMap<RowId, Observation> {
        let ObserveRequest { project, actor, rows, targets, types } = request;
        let configs = self.configs(&rows, &targets).await;
        let readable = rows.into_iter().filter_map(|row| {
            let object = row.current.clone()?;
            let capabilities = types.get(&object.type_name).map(|rules| rules.capabilities().clone());
            let patience = match capabilities {
                Some(capabilities) if !capabilities.read => return None,
                Some(TypeCapabilities { timeout_millis, settle_millis, .. }) => {
                    Patience { timeout_millis, settle_millis }
                }
                None => Patience { timeout_millis: TIMEOUT_MILLIS, settle_millis: 0 },
            };
            Some((row, object, patience))
        });
        let looks = readable.map(|(row, object, patience)| {
            let context = CallContext::observing(project.clone(), actor.clone(), self.clock.now());
            let config = configs.get(&(row.stack.clone(), object.target.clone())).cloned();
            let config = config.unwrap_or_else(|| Ok(Config::default()));
            async move {
                let seen = self.look(&row, &object, config, patience, context).await;
                (row.id, seen)
            }
        });
        stream::iter(looks).buffer_unordered(PARALLEL).collect().await
    }

    async fn look(
        &self,
        row: &Row,
        object: &Object,
        config: Result<Config, Failure>,
        patience: Patience,
        context: CallContext,
    ) -> Observation {
        let seen = match config {
            Ok(config) => self.see(row, object, config, patience, context).await,
            Err(failure) => Err(failure),
        };
        match seen {
            Ok(observation) => observation,
            Err(failure) => Observation::Failed { row: row.id.clone(), message: failure.message },
        }
    }

    /// What there is of an object. One that seems to be gone, or another than it was left, is looked at again once
    /// an effect of ours must be visible: until then a read may show what was before.
    async fn see(
        &self,
        row: &Row,
        object: &Object,
        config: Config,
        Patience { timeout_millis, settle_millis }: Patience,
        context: CallContext,
    ) -> Result<Observation, Failure> {
        let first = self.read(row, object, config.clone(), timeout_millis, context.clone()).await?;
        if settle_millis == 0 || is_as_left(&first, object) {
            return Ok(first);
        }
        tokio::time::sleep(Duration::from_millis(settle_millis)).await;
        self.read(row, object, config, timeout_millis, context).await
    }

    async fn read(
        &self,
        row: &Row,
        object: &Object,
        config: Config,
        timeout_millis: u64,
        context: CallContext,
    ) -> Result<Observation, Failure> {
        let plugin =
            self.registry.plugin(&object.type_name).ok_or_else(|| missing_plugin(&object.type_name))?;
        let request = ReadRequest {
            resource_type: object.type_name.clone(),
            native_id: object.native_id.clone(),
            target_config: config.value,
            redact_sensitive: true,
            prior_properties: Some(without_secrets(&object.echo)),
        };
        self.rates.of(&*plugin).acquire().await;
        let context = CallContext {
            row: Some(row.id.clone()),
            label: Some(row.label.clone()),
            stack: Some(row.stack.clone()),
            deadline: self.clock.now().plus(timeout_millis),
            ..context
        };
        let reading = plugin.read(&context, request);
        let result = match bounded(plugin.namespace(), timeout_millis, reading).await {
            Raw::Answer(Ok(result)) => result,
            Raw::Answer(Err(error)) => return Err(self.failure(row, config.secrets, &error).await),
            Raw::Deadline => return Err(deadline_failure()),
        };
        let (row_id, native_id) = (row.id.clone(), object.native_id.clone());
        match (result.error_code, result.resource_properties) {
            (Some(OperationErrorCode::NotFound), _) => Ok(Observation::Gone { row: row_id, native_id }),
            (Some(code), _) => Err(self.refusal(&*plugin, code)),
            (None, None) => Err(Failure::new(
                WireCode::PluginUnavailable,
                "the provider read an object without properties",
            )),
            (None, Some(properties)) => Ok(Observation::Present {
                row: row_id,
                native_id,
                properties: {
                    let censor = Censor::new(&config.secrets);
                    let places = secret_places(row);
                    conceal(properties, &result.secret_digests, self.secrecy(&places, &censor))
                },
                at: self.clock.now(),
            }),
        }
    }

    /// The properties of an object that a person names as the outcome of a step; `None` if there
    /// is no such object.
    pub(crate) async fn adoptable(
        &self,
        plan: &Plan,
        step: &Step,
        rows: &[Row],
        native_id: &NativeId,
    ) -> Result<Option<Stored>, Failure> {
        let plugin = self.registry.plugin(&step.type_name).ok_or_else(|| missing_plugin(&step.type_name))?;
        let timeout = plan.types.get(&step.type_name).map(|pinned| pinned.capabilities.timeout_millis);
        let timeout_millis = timeout.unwrap_or(TIMEOUT_MILLIS);
        let target = target_row(rows.iter(), &step.stack, &step.target.name);
        let place = Place::new(&step.target, target);
        let config = place.config(&*self.store, &self.key, &SecretSlots::new()).await?;
        let censor = Censor::new(&config.secrets);
        let request = ReadRequest {
            resource_type: step.type_name.clone(),
            native_id: native_id.clone(),
            target_config: config.value,
            redact_sensitive: true,
            prior_properties: None,
        };
        self.rates.of(&*plugin).acquire().await;
        let deadline = self.clock.now().plus(timeout_millis);
        let context = CallContext {
            label: Some(step.label.clone()),
            ..CallContext::observing(plan.project.clone(), "".into(), deadline)
        };
        let result = match bounded(plugin.namespace(), timeout_millis, plugin.read(&context, request)).await {
            Raw::Answer(Ok(result)) => result,
            Raw::Answer(Err(error)) => return Err(plugin_failure(&error, &censor)),
            Raw::Deadline => return Err(deadline_failure()),
        };
        match result.error_code {
            Some(OperationErrorCode::NotFound) => Ok(None),
            Some(code) => Err(self.refusal(&*plugin, code)),
            None => {
                let places = step.inputs.as_ref().map(secret_inputs).unwrap_or_default();
                let properties = result.resource_properties.unwrap_or_default();
                Ok(Some(conceal(properties, &result.secret_digests, self.secrecy(&places, &censor))))
            }
        }
    }

    /// The configuration of every target that objects live at, once each.
    async fn configs(&self, rows: &[Row], targets: &[Row]) -> Configs {
        let mut configs = Configs::new();
        for row in rows {
            let Some(target) = row.current.as_ref().map(|object| &object.target) else { continue };
            let key = (row.stack.clone(), target.clone());
            if *target == TargetRev::default() || configs.contains_key(&key) {
                continue;
            }
            let declared = target_row(targets.iter(), &row.stack, &target.name);
            let place = Place::new(target, declared);
            let config = place.config(&*self.store, &self.key, &SecretSlots::new()).await;
            configs.insert(key, config);
        }
        configs
    }

    /// No operation runs, so only the plaintexts of the target are known, and places.
    fn secrecy<'a>(&'a self, places: &'a SecretPlaces, censor: &'a Censor) -> Secrecy<'a> {
        Secrecy { places, censor, key: &self.key }
    }

    fn refusal(&self, plugin: &dyn ResourcePlugin, code: OperationErrorCode) -> Failure {
        if code == OperationErrorCode::Throttling {
            self.rates.of(plugin).throttled(Instant::now());
        }
        code_failure(code)
    }

    /// A plugin's failure in words, without the secrets that the row and its target keep.
    async fn failure(&self, row: &Row, of_target: SecretSlots, error: &PluginError) -> Failure {
        let Ok(sealed) = self.store.reader().row_slots(&row.id).await else {
            return Failure::new(WireCode::PluginUnavailable, "the object could not be read");
        };
        let open = |(slot, sealed): &(SlotId, Sealed)| {
            Some((slot.clone(), slots::open_row_slot(&self.key, &row.id, slot, sealed).ok()?))
        };
        let mut known = of_target;
        known.extend(sealed.iter().filter_map(open));
        plugin_failure(error, &Censor::new(&known))
    }
}
