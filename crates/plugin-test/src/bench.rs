//! What deploys the scenarios: the use cases, over a store in memory.

use crate::calls::Calls;
use crate::served::Served;
use async_trait::async_trait;
use formwork_control::{
    Control, ControlError, ControlOptions, CreateFormation, Decisions, Deploy, DriftFound, ObservePolicy,
    OutsideTypes, PlanFormation, PluginTypes, Principal, Role, TemplateInput, UpdateFormation, Whose,
};
use formwork_engine::EngineOptions;
use formwork_formation::Limits;
use formwork_iam::{Layer, Subject};
use formwork_model::{
    Catalog, Cause, InstanceKey, Json, NativeId, Object, OnFailure, OperationErrorCode, OperationStatus, Row,
    Secret, StackId, TARGET_TYPE, TypeName,
};
use formwork_plugin::ResourcePlugin;
use formwork_plugin_conformance::lifecycle::{Change, Deployed, Deployer, Drift};
use formwork_store::{MemOptions, MemStore, SystemClock};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the formation is called.
const NAME: &str = "scenario";

/// Why there is no bench.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The use cases can't be opened.
    #[error("the plugin can't be tried out")]
    Control(#[source] ControlError),
}

/// Deploys one formation after the other with the types of a plugin.
pub struct Bench {
    control: Arc<Control>,
    principal: Principal,
    served: Served,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    formation: Option<StackId>,
    /// What was deployed last.
    template: Json,
}

impl Bench {
    /// A bench for the types of a catalog, and what serves them.
    ///
    /// # Errors
    /// [`BenchError`] if the use cases can't be opened.
    pub async fn open(
        catalog: Arc<dyn Catalog>,
        served: Vec<(Arc<dyn ResourcePlugin>, Vec<TypeName>)>,
    ) -> Result<Self, BenchError> {
        let clock = Arc::new(SystemClock);
        let store = MemStore::new(MemOptions { clock: clock.clone(), ..MemOptions::default() });
        let options =
            ControlOptions { limits: Limits::default(), engine: EngineOptions::new("bench".into()) };
        let plugins = PluginTypes { catalog: Some(catalog), served: served.clone() };
        let outside = OutsideTypes { plugins, ..OutsideTypes::default() };
        let key = InstanceKey::generate();
        let control = Control::open_with(Arc::new(store), key, clock, options, outside);
        let control = control.await.map_err(BenchError::Control)?;
        let principal = Principal {
            actor: "bench".into(),
            owner: "bench".into(),
            role: Role::Admin,
            subject: Arc::new(Subject::new(Layer::Admin)),
            scope: None,
            default_project: None,
        };
        let project = control.create_project(&principal, NAME).await.map_err(BenchError::Control)?;
        let principal = Principal { default_project: Some(project.id), ..principal };
        Ok(Self { control, principal, served: Served(served), state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn formation(&self) -> Result<StackId, String> {
        self.state().formation.clone().ok_or_else(|| "nothing is deployed".to_owned())
    }

    /// Waits for the end of an operation.
    async fn over(&self, deploy: &Deploy) -> Result<(), String> {
        self.control.wait(&deploy.operation).await.map_err(|error| told(&error))?;
        let record = self
            .control
            .operation_record(&self.principal, &deploy.operation)
            .await
            .map_err(|error| told(&error))?;
        match (record.status, record.failure) {
            (OperationStatus::Succeeded, _) => Ok(()),
            (_, Some(failure)) => Err(format!("{}: {}", failure.code, failure.message)),
            (status, None) => Err(format!("it ended as {status:?}")),
        }
    }

    async fn rows(&self) -> Result<Vec<Row>, String> {
        let view = self
            .control
            .get_formation(&self.principal, &self.formation()?)
            .await
            .map_err(|error| told(&error))?;
        Ok(view.resources.unwrap_or_default())
    }

    /// The configuration of the target that a resource names, as the template says it.
    fn target_config(&self, label: &str) -> Secret<Json> {
        let state = self.state();
        let resource = |label: &str| state.template.get("resources")?.get(label);
        let target = resource(label).and_then(|found| found.get("target")?.as_str());
        let config = target.and_then(resource).and_then(|target| target.get("properties")?.get("config"));
        Secret::new(config.cloned().unwrap_or_else(|| Json::Object(serde_json::Map::new())))
    }
}

fn told(error: &ControlError) -> String {
    let details: Vec<String> =
        error.diagnostics.iter().map(|one| format!("{}: {}", one.path, one.message)).collect();
    if details.is_empty() { error.to_string() } else { details.join("; ") }
}

fn in_words(cause: &Cause) -> String {
    cause.0.iter().map(|link| link.text.as_str()).collect::<Vec<_>>().join(" ← ")
}

fn deployed(object: &Object) -> Deployed {
    let seen = object.observed.as_ref().map_or(&object.echo, |(seen, _)| seen);
    Deployed {
        type_name: object.type_name.clone(),
        native_id: object.native_id.clone(),
        properties: seen.masked(),
    }
}

#[async_trait]
impl Deployer for Bench {
    async fn deploy(&self, template: &Json) -> Result<(), String> {
        let known = self.state().formation.clone();
        self.state().template = template.clone();
        let template = TemplateInput::Json(template.clone());
        let on_failure = OnFailure::Continue;
        let deploy = if let Some(id) = known {
            let request =
                UpdateFormation { template: Some(template), on_failure, ..UpdateFormation::default() };
            self.control.update_formation(&self.principal, &id, request).await
        } else {
            let request = CreateFormation {
                project_id: None,
                name: NAME.to_owned(),
                template,
                metadata: None,
                parameters: None,
                plan_hash: None,
                on_failure,
            };
            self.control.create_formation(&self.principal, request).await
        };
        let deploy = deploy.map_err(|error| told(&error))?;
        self.state().formation = Some(deploy.formation.clone());
        self.over(&deploy).await
    }

    async fn plan(&self, template: &Json) -> Result<Vec<Change>, String> {
        let request = PlanFormation {
            project_id: None,
            formation_id: Some(self.formation()?),
            template: Some(TemplateInput::Json(template.clone())),
            revision: None,
            parameters: None,
            observe: ObservePolicy::Live,
            on_failure: OnFailure::Continue,
        };
        let planned =
            self.control.plan_formation(&self.principal, request).await.map_err(|error| told(&error))?;
        let changes = planned.changes.iter().filter(|change| change.action != "no-op");
        Ok(changes
            .map(|change| Change {
                label: change.logical_id.clone(),
                action: change.action.to_owned(),
                detail: change.cause.as_ref().map(in_words).unwrap_or_default(),
            })
            .collect())
    }

    async fn resources(&self) -> Result<BTreeMap<String, Deployed>, String> {
        let rows = self.rows().await?;
        let of_plugins = rows.iter().filter(|row| row.type_name.as_str() != TARGET_TYPE);
        Ok(of_plugins
            .filter_map(|row| Some((row.label.to_string(), deployed(row.current.as_ref()?))))
            .collect())
    }

    async fn drift(&self) -> Result<BTreeMap<String, Drift>, String> {
        let drift = self
            .control
            .formation_drift(&self.principal, &self.formation()?)
            .await
            .map_err(|error| told(&error))?;
        let kind = |found: &DriftFound| match found {
            DriftFound::Gone => Drift::Gone,
            DriftFound::Changed(_) => Drift::Changed,
            DriftFound::Unreadable(_) => Drift::Unreadable,
        };
        Ok(drift.resources.iter().map(|one| (one.logical_id.clone(), kind(&one.found))).collect())
    }

    async fn discover(&self) -> Result<Vec<(TypeName, NativeId)>, String> {
        let formation = self.formation()?;
        let found = self.control.discover(&self.principal, &formation, Whose::Everybodys).await;
        let found = found.map_err(|error| told(&error))?;
        if let Some(left_out) = found.left_out.first() {
            return Err(format!(
                "`{}` can't be looked for: {}",
                left_out.type_name, left_out.failure.message
            ));
        }
        Ok(found.found.into_iter().map(|one| (one.type_name, one.native_id)).collect())
    }

    fn is_hidden(&self, type_name: &TypeName, property: &str) -> bool {
        let rules = self.control.catalog().get(type_name);
        let schema = rules.as_ref().map(|rules| rules.schema().clone());
        let hint = schema.as_ref().and_then(|schema| Some(&schema.property(property)?.hint));
        hint.is_some_and(|hint| hint.write_only || hint.opaque)
    }

    fn is_discovered(&self, type_name: &TypeName) -> bool {
        self.control.catalog().get(type_name).is_some_and(|rules| rules.discovery().is_some())
    }

    async fn delete_outside(&self, label: &str) -> Result<(), String> {
        let deployed = self.resources().await?;
        let deployed = deployed.get(label).ok_or_else(|| format!("`{label}` has no object"))?;
        let plugin = self.served.plugin(&deployed.type_name)?;
        let target_config = self.target_config(label);
        let calls = Calls { plugin: &*plugin, type_name: &deployed.type_name, target_config };
        calls.delete(&deployed.native_id).await
    }

    async fn exists(&self, label: &str, deployed: &Deployed) -> Result<bool, String> {
        let plugin = self.served.plugin(&deployed.type_name)?;
        let target_config = self.target_config(label);
        let calls = Calls { plugin: &*plugin, type_name: &deployed.type_name, target_config };
        let read = calls.read(&deployed.native_id).await?;
        match read.error_code {
            None => Ok(true),
            Some(OperationErrorCode::NotFound) => Ok(false),
            Some(code) => Err(format!("a read says `{code}`")),
        }
    }

    async fn destroy(&self) -> Result<(), String> {
        let Some(id) = self.state().formation.take() else { return Ok(()) };
        let deploy = self.control.delete_formation(&self.principal, &id, &Decisions::new()).await;
        self.over(&deploy.map_err(|error| told(&error))?).await
    }
}
