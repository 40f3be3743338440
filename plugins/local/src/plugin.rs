//! The plugin: which type a call is for, and what becomes of its outcome.

use crate::fault::Fault;
use crate::fields::Extent;
use crate::fs::{DirectoryType, FileType, SymlinkType};
use crate::kept::Kept;
use crate::local_type::{LocalType, Object, Page, Site, View};
use crate::random::{IdMaker, PasswordMaker};
use crate::target::root_of;
use crate::tls::{CertificateMaker, PrivateKeyMaker};
use async_trait::async_trait;
use formwork_model::{Json, NativeId, Secret, TypeName, WireCode};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, FilterCondition, LabelConfig, ListRequest, ListResult,
    MatchFilter, Operation, OperationErrorCode, PluginError, PluginType, ProgressResult, PropertyProblem,
    ReadRequest, ReadResult, ResourcePlugin, UpdateRequest, ValidateRequest,
};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The prefix of the plugin's types.
pub const NAMESPACE: &str = "LOCAL";

/// How many ids a page has if nobody says, and at most.
const PAGE: (usize, usize) = (100, 1_000);

/// The types by name.
static TYPES: [(&str, &dyn LocalType); 7] = [
    ("LOCAL::FS::Directory", &DirectoryType),
    ("LOCAL::FS::File", &FileType),
    ("LOCAL::FS::Symlink", &SymlinkType),
    ("LOCAL::Random::Id", &Kept(IdMaker)),
    ("LOCAL::Random::Password", &Kept(PasswordMaker)),
    ("LOCAL::TLS::PrivateKey", &Kept(PrivateKeyMaker)),
    ("LOCAL::TLS::SelfSignedCert", &Kept(CertificateMaker)),
];

/// How many objects, by their ids, can be changed side by side.
const LOCKS: usize = 64;

/// What tells the time.
type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Files, random values, keys and certificates below one directory of this machine.
#[derive(Clone)]
pub struct LocalPlugin {
    clock: Clock,
    changing: Arc<[Mutex<()>; LOCKS]>,
}

impl Default for LocalPlugin {
    fn default() -> Self {
        Self::new()
    }
}

impl LocalPlugin {
    /// The plugin, by the system's clock.
    pub fn new() -> Self {
        Self::with_clock(SystemTime::now)
    }

    /// The plugin by another clock: certificates begin when it says, and are due by it.
    pub fn with_clock(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), changing: Arc::new(std::array::from_fn(|_| Mutex::new(()))) }
    }

    /// Does something with a type at a target, where it may wait for the disk.
    async fn at<T: Send + 'static>(
        &self,
        type_name: &TypeName,
        target_config: Secret<Json>,
        act: impl FnOnce(&'static dyn LocalType, &Site) -> Result<T, Fault> + Send + 'static,
    ) -> Result<Result<T, Fault>, PluginError> {
        let now = (self.clock)();
        let found = type_of(type_name);
        let acting = tokio::task::spawn_blocking(move || {
            let site = Site { root: root_of(target_config.expose())?, now };
            act(found?, &site)
        });
        acting.await.map_err(|error| PluginError::Lost {
            namespace: NAMESPACE.to_owned(),
            reason: if error.is_panic() { "a call panicked" } else { "it is stopping" }.to_owned(),
        })
    }
}

/// Lets one call at a time change an object: an update that nobody waits for any more must not bring
/// back what is deleted meanwhile.
fn alone<'a>(changing: &'a [Mutex<()>; LOCKS], id: &NativeId) -> MutexGuard<'a, ()> {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    let place = usize::try_from(hasher.finish() % LOCKS as u64).unwrap_or(0);
    // Nothing is guarded that a panic could have left half done.
    changing[place].lock().unwrap_or_else(PoisonError::into_inner)
}

fn type_of(name: &TypeName) -> Result<&'static dyn LocalType, Fault> {
    let found = TYPES.iter().find(|(known, _)| *known == name.as_str());
    found.map(|(_, found)| *found).ok_or_else(|| {
        let known = TYPES.map(|(known, _)| known).join("`, `");
        Fault::invalid(format!("there is no type `{name}` here; there is `{known}`"))
    })
}

fn progress(operation: Operation, outcome: Result<Object, Fault>) -> ProgressResult {
    match outcome {
        Ok(Object { native_id, properties }) => {
            ProgressResult::success(operation, native_id.into(), properties)
        }
        Err(Fault { code, message }) => ProgressResult::failure(operation, code, message),
    }
}

#[async_trait]
impl ResourcePlugin for LocalPlugin {
    fn namespace(&self) -> &str {
        NAMESPACE
    }

    fn types(&self) -> Vec<PluginType> {
        let described = |(name, found): &(&str, &dyn LocalType)| PluginType {
            name: TypeName::from(*name),
            capabilities: found.capabilities(),
        };
        TYPES.iter().map(described).collect()
    }

    /// What a file system keeps for itself is nobody's.
    fn discovery_filters(&self) -> Vec<MatchFilter> {
        vec![MatchFilter {
            resource_types: vec!["LOCAL::FS::Directory".to_owned()],
            conditions: vec![FilterCondition {
                property_path: "$.path".to_owned(),
                property_value: "lost+found".to_owned(),
            }],
        }]
    }

    fn label_config(&self) -> LabelConfig {
        let overrides = [
            ("LOCAL::Random::Id", "$.hex"),
            ("LOCAL::Random::Password", "$.id"),
            ("LOCAL::TLS::PrivateKey", "$.id"),
            ("LOCAL::TLS::SelfSignedCert", "$.subject.commonName"),
        ];
        let owned = |(name, query): (&str, &str)| (name.to_owned(), query.to_owned());
        LabelConfig {
            default_query: "$.path".to_owned(),
            resource_overrides: overrides.into_iter().map(owned).collect(),
        }
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let CreateRequest { resource_type, properties, target_config, .. } = request;
        let token = context.token;
        let act = move |found: &dyn LocalType, site: &Site| found.create(site, properties.expose(), token);
        let outcome = self.at(&resource_type, target_config, act).await?;
        Ok(progress(Operation::Create, outcome))
    }

    async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let ReadRequest { resource_type, native_id, target_config, redact_sensitive, prior_properties } =
            request;
        let id = native_id.clone();
        let act = move |found: &dyn LocalType, site: &Site| {
            let view = View { redact: redact_sensitive, prior: prior_properties.as_ref() };
            found.read(site, id.as_str(), view)
        };
        Ok(match self.at(&resource_type, target_config, act).await? {
            Ok(Some(properties)) => ReadResult::present(resource_type, native_id, properties),
            Ok(None) => ReadResult::absent(resource_type, native_id),
            Err(Fault { code, message }) => {
                // A read's answer has a code and no words.
                // Fields are quoted: a name may have line breaks in it.
                let (kind, id, reason) = (resource_type.as_str(), native_id.as_str(), message.as_str());
                tracing::warn!(kind, id, code = code.as_str(), reason, "a read was refused");
                let error_code = Some(code);
                ReadResult { error_code, ..ReadResult::absent(resource_type, native_id) }
            }
        })
    }

    async fn update(&self, _: &CallContext, request: UpdateRequest) -> Result<ProgressResult, PluginError> {
        let UpdateRequest { resource_type, native_id, desired_properties, target_config, .. } = request;
        let changing = self.changing.clone();
        let act = move |found: &dyn LocalType, site: &Site| {
            let _alone = alone(&changing, &native_id);
            found.update(site, native_id.as_str(), desired_properties.expose())
        };
        let outcome = self.at(&resource_type, target_config, act).await?;
        Ok(progress(Operation::Update, outcome))
    }

    async fn delete(&self, _: &CallContext, request: DeleteRequest) -> Result<ProgressResult, PluginError> {
        let DeleteRequest { resource_type, native_id, target_config } = request;
        let (id, changing) = (native_id.clone(), self.changing.clone());
        let act = move |found: &dyn LocalType, site: &Site| {
            let _alone = alone(&changing, &id);
            found.delete(site, id.as_str())
        };
        Ok(match self.at(&resource_type, target_config, act).await? {
            Ok(()) => ProgressResult::deleted(native_id),
            Err(Fault { code, message }) => ProgressResult::failure(Operation::Delete, code, message),
        })
    }

    async fn list(&self, _: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let ListRequest { resource_type, target_config, page_token, page_size, list_parameters } = request;
        let (usual, most) = PAGE;
        let limit = usize::try_from(page_size).unwrap_or(most).min(most);
        let act = move |found: &dyn LocalType, site: &Site| {
            found.list(
                site,
                Page {
                    after: page_token.as_deref(),
                    limit: if limit == 0 { usual } else { limit },
                    parameters: &list_parameters,
                },
            )
        };
        let listed = self.at(&resource_type, target_config, act).await?;
        // A list's answer has neither code nor words.
        listed.map_err(|Fault { code, message }| PluginError::Failed {
            code: wire_code(code),
            message,
            meta: Json::Null,
        })
    }

    async fn validate(&self, request: ValidateRequest) -> Result<Vec<PropertyProblem>, PluginError> {
        let ValidateRequest { resource_type, properties, .. } = request;
        Ok(match type_of(&resource_type) {
            Ok(found) => found.problems(properties.expose(), Extent::Known),
            Err(Fault { message, .. }) => {
                vec![PropertyProblem { path: formwork_model::Path::root(), message }]
            }
        })
    }
}

fn wire_code(code: OperationErrorCode) -> WireCode {
    match code {
        OperationErrorCode::InvalidRequest => WireCode::ValidationFailed,
        OperationErrorCode::AccessDenied => WireCode::Forbidden,
        OperationErrorCode::NotFound => WireCode::ResourceNotFound,
        _ => WireCode::PluginUnavailable,
    }
}

/// The native id of the target's root as a `LOCAL::FS::Directory`.
pub fn root_id() -> NativeId {
    NativeId::from(".")
}
