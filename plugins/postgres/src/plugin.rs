//! The plugin: calls as transactions.

use crate::align::align;
use crate::failure::Failure;
use crate::id::Id;
use crate::kinds::{CreateFailure, KINDS, Kind, kind};
use crate::pool::{Pool, Pools};
use crate::properties::{Change, text};
use crate::session::{Doubt, Session};
use crate::target::Target;
use async_trait::async_trait;
use formwork_model::{Json, NativeId, Secret, WireCode};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, FilterCondition, LabelConfig, ListRequest, ListResult,
    MatchFilter, Operation, OperationErrorCode, PluginError, PluginType, ProgressResult, RateLimitConfig,
    RateLimitScope, ReadRequest, ReadResult, ResourcePlugin, UpdateRequest,
};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The first segment of the types.
const NAMESPACE: &str = "POSTGRES";

/// What is shown of an object and never declared.
const ADDED: [&str; 2] = ["id", "system"];

/// How many calls per second a server gets.
const CALLS_PER_SECOND: u32 = 100;

/// The most native ids in one page.
const LARGEST_PAGE: u32 = 1000;

/// PostgreSQL servers as targets.
#[derive(Default)]
pub struct PostgresPlugin {
    pools: Pools,
}

impl std::fmt::Debug for PostgresPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresPlugin").finish_non_exhaustive()
    }
}

/// How a call ended that did not do what it should.
enum Ended {
    /// It did nothing, or left the object behind that is named.
    Failed { code: OperationErrorCode, message: String, left: Option<NativeId> },
    /// Whether it did anything is not known.
    Unknown(PluginError),
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused { code, message } => Self::Failed { code, message, left: None },
            Failure::InDoubt { reason } => {
                Self::Unknown(PluginError::Lost { namespace: NAMESPACE.to_owned(), reason })
            }
        }
    }
}

impl From<CreateFailure> for Ended {
    fn from(failure: CreateFailure) -> Self {
        match failure {
            CreateFailure::Nothing(failure) => failure.into(),
            CreateFailure::Left(id, Failure::Refused { code, message }) => {
                Self::Failed { code, message, left: Some(id.native()) }
            }
            CreateFailure::Left(_, doubt) => doubt.into(),
        }
    }
}

/// What every call needs: the target's connections, and the time it has.
struct Call {
    pool: Arc<Pool>,
    deadline: Instant,
    doubt: Doubt,
}

impl Call {
    /// Begins a transaction where an object of a type is.
    async fn begin(&self, database: &str) -> Result<Session, Failure> {
        self.pool.begin(database, self.deadline, &self.doubt).await
    }

    /// The database to be in for an object: its own, or for what is in none the target's.
    fn database<'a>(&'a self, kind: &dyn Kind, own: &'a str) -> &'a str {
        if kind.parts() == 1 { &self.pool.target.database } else { own }
    }

    async fn create(&self, kind: &dyn Kind, properties: &Json) -> Result<(NativeId, Json), Ended> {
        let own = if kind.parts() == 1 { "" } else { text(properties, "database")? };
        let session = self.begin(self.database(kind, own)).await?;
        let made = async {
            let id = kind.create(&session, &Change::anew(properties)).await?;
            let shown = match shown(kind, &session, &id, Some(properties)).await {
                Ok(Some(shown)) => shown,
                Ok(None) => return Err(CreateFailure::Nothing(vanished())),
                Err(failure) => return Err(failure.into()),
            };
            Ok((id.native(), shown))
        };
        let made = made.await;
        conclude(session, made).await
    }

    async fn read(&self, kind: &dyn Kind, id: &Id, prior: Option<&Json>) -> Result<Option<Json>, Failure> {
        let Some(session) = if_there(self.begin(self.database(kind, id.part(0))).await)? else {
            return Ok(None);
        };
        let found = shown(kind, &session, id, prior).await;
        // What was tried out for the sake of spelling goes, too.
        session.roll_back().await?;
        found
    }

    async fn update(&self, kind: &dyn Kind, id: &Id, change: &Change<'_>) -> Result<Json, Ended> {
        let session = self.begin(self.database(kind, id.part(0))).await?;
        let changed = async {
            let current = shown(kind, &session, id, Some(change.desired)).await?;
            let Some(current) = current else {
                return Err(Failure::gone(&format!("`{}`", id.native())));
            };
            check_fixed(kind, &current, change.desired)?;
            kind.update(&session, id, &current, change).await.map_err(Failure::of_update)?;
            shown(kind, &session, id, Some(change.desired)).await?.ok_or_else(vanished)
        };
        let changed = changed.await;
        conclude(session, changed).await
    }

    async fn delete(&self, kind: &dyn Kind, id: &Id) -> Result<(), Ended> {
        let Some(session) = if_there(self.begin(self.database(kind, id.part(0))).await)? else {
            return Ok(());
        };
        let deleted = kind.delete(&session, id).await;
        conclude(session, deleted).await
    }

    /// The databases whose objects are listed, in order, from the one where the last page ended. One
    /// that nobody can connect to has none to show.
    async fn databases(&self, from: &str, only: Option<&str>) -> Result<Vec<String>, Failure> {
        let session = self.begin(&self.pool.target.database).await?;
        let sql = "SELECT datname::text FROM pg_database WHERE datallowconn AND datname::text COLLATE \"C\" >= $1 \
            AND CASE WHEN $2::text IS NULL THEN NOT datistemplate AND has_database_privilege(oid, 'CONNECT') \
              ELSE datname = $2 END ORDER BY datname::text COLLATE \"C\"";
        let rows = session.rows(sql, &[&from, &only]).await?;
        session.roll_back().await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// A page of ids after another, at most so many.
    async fn list(&self, kind: &dyn Kind, page: &Page<'_>) -> Result<Vec<Id>, Failure> {
        let after = page.after.as_ref();
        if kind.parts() == 1 {
            let after = after.map(|id| id.0.clone());
            return self.list_in(kind, &self.pool.target.database, after, page.size, None, None).await;
        }
        let from = after.map_or("", |id| id.part(0));
        let mut ids = Vec::new();
        for database in self.databases(from, page.database).await? {
            let left = page.size.saturating_sub(u32::try_from(ids.len()).unwrap_or(u32::MAX));
            if left == 0 {
                break;
            }
            let after = after.filter(|id| id.part(0) == database).map(|id| id.0[1..].to_vec());
            match self.list_in(kind, &database, after, left, page.parent, Some(&database)).await {
                // It was dropped in the meantime.
                Err(failure) if failure.is(OperationErrorCode::NotFound) => {}
                found => ids.extend(found?),
            }
        }
        Ok(ids)
    }

    async fn list_in(
        &self,
        kind: &dyn Kind,
        database: &str,
        after: Option<Vec<String>>,
        size: u32,
        parent: Option<&str>,
        prefix: Option<&str>,
    ) -> Result<Vec<Id>, Failure> {
        let session = self.begin(database).await?;
        let sql = format!(
            "SELECT parts FROM ({}) AS found WHERE ($1::text IS NULL OR parent::text = $1) \
             AND ($2::text[] IS NULL OR parts COLLATE \"C\" > $2::text[]) ORDER BY parts COLLATE \"C\" LIMIT $3",
            kind.list()
        );
        let rows = session.rows(&sql, &[&parent, &after, &i64::from(size)]).await?;
        session.roll_back().await?;
        let id = |row: &tokio_postgres::Row| {
            let parts: Vec<String> = row.try_get(0)?;
            Ok(Id(prefix.map(str::to_owned).into_iter().chain(parts).collect()))
        };
        rows.iter().map(id).collect()
    }
}

/// Which ids to list.
struct Page<'a> {
    after: Option<Id>,
    size: u32,
    database: Option<&'a str>,
    parent: Option<&'a str>,
}

impl<'a> Page<'a> {
    fn of(kind: &dyn Kind, request: &'a ListRequest) -> Result<Self, Failure> {
        let token = request.page_token.as_deref();
        let parameter = |name: &str| request.list_parameters.get(name).and_then(Json::as_str);
        Ok(Self {
            after: token.map(|token| Id::parse(&NativeId::new(token), kind.parts())).transpose()?,
            size: request.page_size.clamp(1, LARGEST_PAGE),
            database: parameter("database"),
            parent: parameter(kind.parent_parameter()),
        })
    }
}

/// An object's properties as it is shown: with its id, and spelled as they were declared.
async fn shown(
    kind: &dyn Kind,
    session: &Session,
    id: &Id,
    declared: Option<&Json>,
) -> Result<Option<Json>, Failure> {
    let Some(mut found) = kind.read(session, id).await? else { return Ok(None) };
    if let Some(declared) = declared {
        let declared = &without_additions(declared);
        align(&mut found, declared);
        let mut spelled = found.clone();
        session.run("SAVEPOINT spelling").await?;
        match kind.respell(session, id, &mut spelled, declared).await {
            Ok(()) => found = spelled,
            // It is shown in PostgreSQL's spelling then.
            Err(failure) => tracing::debug!(?failure, "a declared spelling can't be compared"),
        }
        session.run("ROLLBACK TO SAVEPOINT spelling").await?;
    }
    if kind.parts() > 1 {
        found["id"] = id.native().as_str().into();
    }
    Ok(Some(found))
}

/// What was shown before as what was declared, if that is all that is known of it.
fn without_additions(declared: &Json) -> Json {
    let mut declared = declared.clone();
    if let Some(members) = declared.as_object_mut() {
        members.retain(|name, _| !ADDED.contains(&name.as_str()));
    }
    declared
}

/// What can't change in place is refused, not passed over.
fn check_fixed(kind: &dyn Kind, current: &Json, desired: &Json) -> Result<(), Failure> {
    for name in kind.fixed() {
        match desired.get(name) {
            Some(wanted) if !wanted.is_null() && current.get(name) != Some(wanted) => {
                return Err(Failure::invalid(format!("`{name}` can't change in place")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where the database of an object isn't there, neither is the object.
fn if_there(session: Result<Session, Failure>) -> Result<Option<Session>, Failure> {
    match session {
        Err(failure) if failure.is(OperationErrorCode::NotFound) => Ok(None),
        session => session.map(Some),
    }
}

fn vanished() -> Failure {
    Failure::new(OperationErrorCode::NotStabilized, "the object was gone at once")
}

/// Commits what was done, or rolls it back and tells why.
async fn conclude<T, E: Into<Ended>>(session: Session, outcome: Result<T, E>) -> Result<T, Ended> {
    match outcome {
        Ok(value) => {
            session.commit().await?;
            Ok(value)
        }
        Err(failure) => {
            // A connection that does not take this is closed, which rolls back as well.
            let _ = session.roll_back().await;
            Err(failure.into())
        }
    }
}

impl PostgresPlugin {
    /// The plugin, which connects to nothing before it is called.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a call within its deadline.
    async fn within<T, F, C>(&self, context: &CallContext, config: &Secret<Json>, call: C) -> Result<T, Ended>
    where
        C: FnOnce(Arc<Call>) -> F + Send,
        F: Future<Output = Result<T, Ended>> + Send,
    {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let until = Duration::from_millis(u64::try_from(context.deadline.0).unwrap_or_default());
        let left = until.saturating_sub(now);
        let doubt = Doubt::default();
        let pool = self.pools.of(Target::parse(config)?)?;
        let made = Arc::new(Call { pool, deadline: Instant::now() + left, doubt: doubt.clone() });
        if let Ok(outcome) = tokio::time::timeout(left, call(made)).await {
            return outcome;
        }
        let millis = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        if doubt.is_open() {
            return Err(Ended::Unknown(PluginError::Deadline { namespace: NAMESPACE.to_owned(), millis }));
        }
        let message = format!("the server did not answer within {millis} ms; nothing was done");
        Err(Failure::new(OperationErrorCode::ServiceUnavailable, message).into())
    }
}

/// The answer of a call with effects.
fn progress(
    operation: Operation,
    outcome: Result<ProgressResult, Ended>,
) -> Result<ProgressResult, PluginError> {
    match outcome {
        Ok(result) => Ok(result),
        Err(Ended::Failed { code, message, left }) => {
            Ok(ProgressResult { native_id: left, ..ProgressResult::failure(operation, code, message) })
        }
        Err(Ended::Unknown(error)) => Err(error),
    }
}

#[async_trait]
impl ResourcePlugin for PostgresPlugin {
    fn namespace(&self) -> &str {
        NAMESPACE
    }

    fn types(&self) -> Vec<PluginType> {
        let of =
            |kind: &&dyn Kind| PluginType { name: kind.name().into(), capabilities: kind.capabilities() };
        KINDS.iter().map(of).collect()
    }

    fn rate_limit(&self) -> RateLimitConfig {
        RateLimitConfig {
            scope: RateLimitScope::Namespace,
            max_requests_per_second_for_namespace: CALLS_PER_SECOND,
        }
    }

    /// What PostgreSQL brings itself.
    fn discovery_filters(&self) -> Vec<MatchFilter> {
        let types = ["Server::Role", "Server::Database", "Database::Schema", "Database::Extension"];
        let condition =
            FilterCondition { property_path: "$.system".to_owned(), property_value: "true".to_owned() };
        vec![MatchFilter {
            resource_types: types.map(|name| format!("{NAMESPACE}::{name}")).to_vec(),
            conditions: vec![condition],
        }]
    }

    fn label_config(&self) -> LabelConfig {
        let granted = ["Database::Grant", "Database::DefaultPrivileges"];
        let overrides = granted.map(|name| (format!("{NAMESPACE}::{name}"), "$.id".to_owned()));
        LabelConfig { default_query: "$.name".to_owned(), resource_overrides: BTreeMap::from(overrides) }
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let made = self.within(context, &request.target_config, |call| async move {
            let kind = kind(request.resource_type.as_str())?;
            let (id, properties) = call.create(kind, request.properties.expose()).await?;
            Ok(ProgressResult::success(Operation::Create, id, properties))
        });
        progress(Operation::Create, made.await)
    }

    async fn read(&self, context: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        let ReadRequest { resource_type, native_id, target_config, prior_properties, .. } = request;
        let (name, id) = (resource_type.clone(), native_id.clone());
        let found = self.within(context, &target_config, |call| async move {
            let kind = kind(name.as_str())?;
            let id = Id::parse(&id, kind.parts())?;
            Ok(call.read(kind, &id, prior_properties.as_ref()).await?)
        });
        match found.await {
            Ok(Some(properties)) => Ok(ReadResult::present(resource_type, native_id, properties)),
            Ok(None) => Ok(ReadResult::absent(resource_type, native_id)),
            Err(Ended::Failed { code, message, .. }) => {
                // The result has no room for words.
                tracing::warn!(%code, %native_id, message, "an object can't be read");
                Ok(ReadResult { error_code: Some(code), ..ReadResult::absent(resource_type, native_id) })
            }
            Err(Ended::Unknown(error)) => Err(error),
        }
    }

    async fn update(
        &self,
        context: &CallContext,
        request: UpdateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let made = self.within(context, &request.target_config, |call| async move {
            let kind = kind(request.resource_type.as_str())?;
            let id = Id::parse(&request.native_id, kind.parts())?;
            let change = Change::new(request.desired_properties.expose(), request.patch_document.expose());
            let properties = call.update(kind, &id, &change).await?;
            Ok(ProgressResult::success(Operation::Update, request.native_id.clone(), properties))
        });
        progress(Operation::Update, made.await)
    }

    async fn delete(
        &self,
        context: &CallContext,
        request: DeleteRequest,
    ) -> Result<ProgressResult, PluginError> {
        let made = self.within(context, &request.target_config, |call| async move {
            let kind = kind(request.resource_type.as_str())?;
            let id = Id::parse(&request.native_id, kind.parts())?;
            call.delete(kind, &id).await?;
            Ok(ProgressResult::deleted(request.native_id.clone()))
        });
        progress(Operation::Delete, made.await)
    }

    async fn list(&self, context: &CallContext, request: ListRequest) -> Result<ListResult, PluginError> {
        let request = &request;
        let found = self.within(context, &request.target_config, |call| async move {
            let kind = kind(request.resource_type.as_str())?;
            let page = Page::of(kind, request)?;
            let ids = call.list(kind, &page).await?;
            let is_full = ids.len() >= usize::try_from(page.size).unwrap_or(usize::MAX);
            let native_ids: Vec<_> = ids.iter().map(Id::native).collect();
            let next_page_token = native_ids.last().filter(|_| is_full).map(ToString::to_string);
            Ok(ListResult { native_ids, next_page_token })
        });
        found.await.map_err(|ended| match ended {
            Ended::Failed { code, message, .. } => {
                PluginError::Failed { code: WireCode::PluginUnavailable, message, meta: code.as_str().into() }
            }
            Ended::Unknown(error) => error,
        })
    }
}
