//! Finding what is there that nobody declared: lists and reads at one target, parents before children.
//!
//! Nothing is stored and nothing is changed. A type whose list fails is left out with its reason, and
//! so are the types below it; the others are found all the same.

use crate::answer::{Raw, code_failure, deadline_failure, plugin_failure};
use crate::calls::{bounded, missing_plugin};
use crate::censor::Censor;
use crate::conceal::{Secrecy, SecretPlaces, conceal};
use crate::discovered::{Labels, Queries};
use crate::observe::Observer;
use crate::targets::Config;
use formwork_model::{
    ActorId, Catalog, Failure, Json, NativeId, Parent, Path, ProjectId, Row, Schema, Stored, TypeName,
    TypeRules, WireCode,
};
use formwork_plugin::{
    CallContext, ListRequest, OperationErrorCode, PluginError, ReadRequest, ReadResult, ResourcePlugin,
};
use futures_util::StreamExt as _;
use futures_util::stream;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// How many ids are asked for at once.
const PAGE: u32 = 100;
/// The most objects of one type that are looked at.
const MOST: usize = 100_000;
/// How many objects are read side by side.
const PARALLEL: usize = 32;
/// How often a call is made again that the provider throttles or can't take just now.
const AGAIN: u32 = 3;
/// How long to wait before the first repetition.
const PAUSE: Duration = Duration::from_millis(500);

/// What to look for, and where.
#[derive(Clone)]
pub struct DiscoverRequest {
    /// The project.
    pub project: ProjectId,
    /// Who asks.
    pub actor: ActorId,
    /// The row of the target; `None` for the types' only place.
    pub target: Option<Row>,
    /// The types to look for. Types above them are listed too, to find what is below.
    pub types: Vec<TypeName>,
    /// What the types can do.
    pub catalog: Arc<dyn Catalog>,
    /// What rows stand for already.
    pub managed: BTreeSet<(TypeName, NativeId)>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discoveries {
    /// The objects that no row stands for, by type, in the provider's order.
    pub found: Vec<Discovered>,
    /// The types that could not be looked for, or not to the end.
    pub left_out: Vec<Undiscovered>,
}

/// An object that no row stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovered {
    /// The type.
    pub type_name: TypeName,
    /// The object.
    pub native_id: NativeId,
    /// What it could be called, unique among what was found.
    pub label: String,
    /// Its properties, secrets as digests.
    pub properties: Stored,
    /// The object that it is part of.
    pub parent: Option<(TypeName, NativeId)>,
}

/// A type that could not be looked for, or not to the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Undiscovered {
    /// The type.
    pub type_name: TypeName,
    /// Why.
    pub failure: Failure,
}

/// An object as it was read.
struct Seen {
    native_id: NativeId,
    properties: Json,
    /// Which of the parent type's objects it is part of.
    parent: Option<NativeId>,
}

impl Observer {
    /// Looks for objects that no row stands for.
    pub(crate) async fn discover(&self, request: DiscoverRequest) -> Discoveries {
        let place = crate::targets::Place::of_row(request.target.as_ref());
        let config = place.config(&*self.store, &self.key, &BTreeMap::new()).await;
        let config = match config {
            Ok(config) => config,
            Err(failure) => {
                let left_out = |type_name: &TypeName| Undiscovered {
                    type_name: type_name.clone(),
                    failure: failure.clone(),
                };
                return Discoveries {
                    left_out: request.types.iter().map(left_out).collect(),
                    ..Discoveries::default()
                };
            }
        };
        let mut search = Search {
            observer: self,
            censor: Censor::new(&config.secrets),
            request: &request,
            config,
            labels: Labels::default(),
            seen: BTreeMap::new(),
            discovery: Discoveries::default(),
        };
        for type_name in parents_first(&request) {
            if let Err(failure) = search.type_named(&type_name).await {
                search.discovery.left_out.push(Undiscovered { type_name, failure });
            }
        }
        search.discovery
    }
}

/// The types to list, each after the type that its objects are part of.
fn parents_first(request: &DiscoverRequest) -> Vec<TypeName> {
    let mut order = Vec::new();
    for wanted in &request.types {
        let mut chain = vec![wanted.clone()];
        while let Some(parent) = chain.last().and_then(|last| parent_of(&*request.catalog, last)) {
            // Types that are above each other in a circle have no first.
            if chain.contains(&parent.type_name) {
                break;
            }
            chain.push(parent.type_name);
        }
        for type_name in chain.into_iter().rev() {
            if !order.contains(&type_name) {
                order.push(type_name);
            }
        }
    }
    order
}

fn parent_of(catalog: &dyn Catalog, type_name: &TypeName) -> Option<Parent> {
    catalog.get(type_name)?.discovery()?.parent.clone()
}

/// One discovery under way.
struct Search<'a> {
    observer: &'a Observer,
    censor: Censor,
    request: &'a DiscoverRequest,
    config: Config,
    labels: Labels,
    /// What was seen of each type that was listed to the end.
    seen: BTreeMap<TypeName, Vec<Seen>>,
    discovery: Discoveries,
}

impl Search<'_> {
    async fn type_named(&mut self, type_name: &TypeName) -> Result<(), Failure> {
        let unknown = || Failure::new(WireCode::ResourceNotFound, format!("there is no type `{type_name}`"));
        let rules = self.request.catalog.get(type_name).ok_or_else(unknown)?;
        let plugin = self.observer.registry.plugin(type_name).ok_or_else(|| missing_plugin(type_name))?;
        let queries = Queries::new(&plugin.discovery_filters(), &plugin.label_config())
            .map_err(|bad| Failure::new(WireCode::PluginUnavailable, bad.to_string()))?;
        let asked = Asked { search: self, plugin: &*plugin, rules: &*rules, type_name };
        let listed = asked.list_all().await?;
        let (seen, failed) = asked.read_all(listed).await;
        self.report(&*rules, &queries, &seen);
        self.seen.insert(type_name.clone(), seen);
        failed.map_or(Ok(()), Err)
    }

    /// Adds what was asked for and no row stands for.
    fn report(&mut self, rules: &dyn TypeRules, queries: &Queries, seen: &[Seen]) {
        let type_name = &rules.schema().type_name;
        let is_wanted = self.request.types.contains(type_name) && rules.discovery().is_some();
        if !is_wanted {
            return;
        }
        let parent_type = rules.discovery().and_then(|discovery| Some(&discovery.parent.as_ref()?.type_name));
        let places = secret_properties(rules.schema());
        for one in seen {
            let managed = self.request.managed.contains(&(type_name.clone(), one.native_id.clone()));
            if managed || queries.passes_over(type_name, &one.properties) {
                continue;
            }
            let label = self.labels.unique(&queries.label(type_name, &one.native_id, &one.properties));
            let secrecy = Secrecy { places: &places, censor: &self.censor, key: &self.observer.key };
            self.discovery.found.push(Discovered {
                type_name: type_name.clone(),
                native_id: one.native_id.clone(),
                label,
                properties: conceal(one.properties.clone(), &[], secrecy),
                parent: parent_type.cloned().zip(one.parent.clone()),
            });
        }
    }
}

/// The properties that hold secrets whatever their value.
fn secret_properties(schema: &Schema) -> SecretPlaces {
    let secret =
        schema.properties.iter().filter(|(_, property)| property.hint.opaque || property.hint.write_only);
    secret.map(|(name, _)| Path::of([&**name])).collect()
}

/// The questions about one type.
struct Asked<'a> {
    search: &'a Search<'a>,
    plugin: &'a dyn ResourcePlugin,
    rules: &'a dyn TypeRules,
    type_name: &'a TypeName,
}

/// An id as it was listed, below which parent.
type Listed = (NativeId, Option<NativeId>);

impl Asked<'_> {
    /// All native ids, below each parent in turn.
    async fn list_all(&self) -> Result<Vec<Listed>, Failure> {
        let parent = self.rules.discovery().and_then(|discovery| discovery.parent.as_ref());
        let Some(parent) = parent else {
            let ids = self.list(&BTreeMap::new()).await?;
            return Ok(ids.into_iter().map(|id| (id, None)).collect());
        };
        let Some(above) = self.search.seen.get(&parent.type_name) else {
            let message = format!("`{}`, which it is part of, could not be listed", parent.type_name);
            return Err(Failure::new(WireCode::PluginUnavailable, message));
        };
        let (mut listed, mut known) = (Vec::new(), BTreeSet::new());
        for one in above {
            let ids = self.list(&parameters(parent, &one.properties)).await?;
            // A plugin that takes no notice of the parameters names the same ones below every parent.
            let new = ids.into_iter().filter(|id| known.insert(id.clone()));
            listed.extend(new.map(|id| (id, Some(one.native_id.clone()))));
        }
        Ok(listed)
    }

    async fn list(&self, list_parameters: &BTreeMap<String, Json>) -> Result<Vec<NativeId>, Failure> {
        let (mut ids, mut known) = (Vec::new(), BTreeSet::new());
        let mut page_token = None;
        loop {
            let request = ListRequest {
                resource_type: self.type_name.clone(),
                target_config: self.search.config.value.clone(),
                page_token: page_token.clone(),
                page_size: PAGE,
                list_parameters: list_parameters.clone(),
            };
            let page = self.again(|context| {
                let request = request.clone();
                async move { self.plugin.list(&context, request).await.map(Ok) }
            });
            let page = page.await?;
            ids.extend(page.native_ids.into_iter().filter(|id| known.insert(id.clone())));
            if ids.len() > MOST {
                let message = format!("there are more than {MOST} of them");
                return Err(Failure::new(WireCode::PluginUnavailable, message));
            }
            match page.next_page_token {
                None => return Ok(ids),
                again if again == page_token => {
                    let message = "its pages do not end: one names itself as the next";
                    return Err(Failure::new(WireCode::PluginUnavailable, message));
                }
                next => page_token = next,
            }
        }
    }

    /// Reads what was listed. What is gone by now is left out; the first failure is told.
    async fn read_all(&self, listed: Vec<Listed>) -> (Vec<Seen>, Option<Failure>) {
        let reads = listed.into_iter().map(|(native_id, parent)| async move {
            let properties = self.read(&native_id).await?;
            Ok(properties.map(|properties| Seen { native_id, properties, parent }))
        });
        let read: Vec<Result<Option<Seen>, Failure>> = stream::iter(reads).buffered(PARALLEL).collect().await;
        let (mut seen, mut failed) = (Vec::with_capacity(read.len()), None);
        for one in read {
            match one {
                Ok(one) => seen.extend(one),
                Err(failure) => _ = failed.get_or_insert(failure),
            }
        }
        (seen, failed)
    }

    async fn read(&self, native_id: &NativeId) -> Result<Option<Json>, Failure> {
        let request = ReadRequest {
            resource_type: self.type_name.clone(),
            native_id: native_id.clone(),
            target_config: self.search.config.value.clone(),
            redact_sensitive: true,
            prior_properties: None,
        };
        let found = self.again(|context| {
            let request = request.clone();
            async move { Ok(coded(self.plugin.read(&context, request).await?)) }
        });
        Ok(found.await?.map(|found| found.resource_properties.unwrap_or_default()))
    }

    /// Makes a call at the namespace's pace, and again where the provider asks for patience.
    async fn again<T, F>(&self, call: impl Fn(CallContext) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Result<T, OperationErrorCode>, PluginError>>,
    {
        let Search { observer, request, censor, .. } = self.search;
        let timeout = self.rules.capabilities().timeout_millis;
        let bucket = observer.rates.of(self.plugin);
        for attempt in 0.. {
            bucket.acquire().await;
            let deadline = observer.clock.now().plus(timeout);
            let context = CallContext::observing(request.project.clone(), request.actor.clone(), deadline);
            let code = match bounded(self.plugin.namespace(), timeout, call(context)).await {
                Raw::Answer(Ok(Ok(answer))) => return Ok(answer),
                Raw::Answer(Ok(Err(code))) => code,
                Raw::Answer(Err(error)) => return Err(plugin_failure(&error, censor)),
                Raw::Deadline => return Err(deadline_failure()),
            };
            if code == OperationErrorCode::Throttling {
                bucket.throttled(tokio::time::Instant::now());
            }
            if !may_pass(code) || attempt == AGAIN {
                return Err(code_failure(code));
            }
            tokio::time::sleep(PAUSE * 2_u32.pow(attempt)).await;
        }
        Err(deadline_failure())
    }
}

/// Whether a list or a read is worth repeating (seed 3, "OperationErrorCode").
fn may_pass(code: OperationErrorCode) -> bool {
    use OperationErrorCode::{InternalFailure, NotStabilized, ServiceUnavailable, Throttling};
    matches!(code, Throttling | ServiceUnavailable | NotStabilized | InternalFailure)
}

/// A read's answer: what is there, nothing, or a code.
fn coded(result: ReadResult) -> Result<Option<ReadResult>, OperationErrorCode> {
    match result.error_code {
        None => Ok(Some(result)),
        Some(OperationErrorCode::NotFound) => Ok(None),
        Some(code) => Err(code),
    }
}

/// What a list is told of a parent. What the parent doesn't have is left out.
fn parameters(parent: &Parent, properties: &Json) -> BTreeMap<String, Json> {
    let told = parent.list_parameters.iter().filter_map(|parameter| {
        let value = properties.get(&*parameter.parent_property)?;
        Some((parameter.parameter.to_string(), value.clone()))
    });
    told.collect()
}
