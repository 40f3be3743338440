//! The process of a plugin that does what it is told to, good or bad. It is this test program itself, started again.

use async_trait::async_trait;
use formwork_model::{Json, NativeId};
use formwork_plugin::wire::{PROTOCOL, pb, variable};
use formwork_plugin::{
    CallContext, CreateRequest, DeleteRequest, Operation, OperationErrorCode, PluginError, PluginType,
    ProgressResult, PropertyProblem, ReadRequest, ReadResult, ResourcePlugin, UpdateRequest, ValidateRequest,
};
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::{Request, Response, Status};

/// How the process behaves as a whole.
pub(crate) const BEHAVIOUR: &str = "UNRULY";
/// What its types begin with.
pub(crate) const NAMESPACE: &str = "UNRULY_NAMESPACE";
/// What it serves.
pub(crate) const TYPES: &str = "UNRULY_TYPES";

/// Set once garbage is to be sent.
static GARBAGE: AtomicBool = AtomicBool::new(false);

/// Is a plugin's process, as its environment says.
pub(crate) fn main() {
    match std::env::var(BEHAVIOUR).unwrap_or_default().as_str() {
        "exits" => {
            eprintln!("ERROR no credentials for the cloud");
            std::process::exit(3);
        }
        "silent" => std::thread::sleep(Duration::from_secs(3600)),
        "stubborn" => {
            // Neither the end of its input nor SIGTERM ends it.
            std::thread::spawn(|| blocked(async { serve_rudely(Liar::default()).await }));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let kind = tokio::signal::unix::SignalKind::terminate();
                let mut terminate = tokio::signal::unix::signal(kind).expect("signals");
                loop {
                    terminate.recv().await;
                }
            });
        }
        "garbage" => blocked(async {
            let listener = UnixListener::bind(socket()).expect("a socket");
            let (mut stream, _) = listener.accept().await.expect("a connection");
            stream.write_all(&[0xff; 4096]).await.expect("written");
            std::future::pending::<()>().await;
        }),
        "protocol" => blocked(serve_rudely(Liar { protocol: PROTOCOL + 1, ..Liar::default() })),
        "token" => blocked(serve_rudely(Liar { token: "0".repeat(64), ..Liar::default() })),
        "namespace" => blocked(serve_rudely(Liar { namespace: "OTHER".to_owned(), ..Liar::default() })),
        "rude" => blocked(serve_rudely(Liar::default())),
        "breaks" => blocked(serve_then_break()),
        _ => {
            println!("[info] at your service");
            let _ = formwork_plugin::run(formwork_plugin::about!(), Unruly { namespace: namespace() });
        }
    }
    std::process::exit(0);
}

fn blocked(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(work);
}

fn socket() -> PathBuf {
    std::env::var_os(variable::SOCKET).expect("the host says where").into()
}

fn namespace() -> String {
    std::env::var(NAMESPACE).unwrap_or_else(|_| "UNRULY".to_owned())
}

fn types() -> Vec<PluginType> {
    let named = std::env::var(TYPES).unwrap_or_else(|_| "UNRULY::Test::Thing".to_owned());
    named.split(',').map(PluginType::new).collect()
}

/// A plugin that uses the SDK, and does what the property `Do` says.
struct Unruly {
    namespace: String,
}

impl Unruly {
    async fn obey(properties: &Json) {
        match properties["Do"].as_str().unwrap_or_default() {
            "crash" => {
                eprintln!("ERROR going down");
                let _ = std::io::stderr().flush();
                std::process::abort();
            }
            "hang" => std::future::pending().await,
            "panic" => panic!("it was told to"),
            _ => {}
        }
    }
}

#[async_trait]
impl ResourcePlugin for Unruly {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn types(&self) -> Vec<PluginType> {
        types()
    }

    async fn create(
        &self,
        context: &CallContext,
        request: CreateRequest,
    ) -> Result<ProgressResult, PluginError> {
        let properties = request.properties.into_exposed();
        Self::obey(&properties).await;
        let answer = match properties["Do"].as_str().unwrap_or_default() {
            "huge" => json!({ "Text": "x".repeat(100 << 20) }),
            "context" => json!({
                "label": context.label.as_ref().map(ToString::to_string),
                "token": context.token.map(|token| token.to_string()),
                "attempt": context.attempt,
                "trace": context.trace,
                "deadline": context.deadline.0,
                "fence": context.fence.map(|fence| fence.0),
            }),
            "environment" => std::env::vars().map(|(name, value)| (name, Json::from(value))).collect(),
            "fail" => {
                let code = OperationErrorCode::AccessDenied;
                return Ok(ProgressResult::failure(Operation::Create, code, "no"));
            }
            _ => properties,
        };
        Ok(ProgressResult::success(Operation::Create, NativeId::from("thing-1"), answer))
    }

    async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
        Ok(ReadResult::absent(request.resource_type, request.native_id))
    }

    async fn update(&self, _: &CallContext, request: UpdateRequest) -> Result<ProgressResult, PluginError> {
        let properties = request.desired_properties.into_exposed();
        Self::obey(&properties).await;
        Ok(ProgressResult::success(Operation::Update, request.native_id, properties))
    }

    async fn delete(&self, _: &CallContext, request: DeleteRequest) -> Result<ProgressResult, PluginError> {
        Ok(ProgressResult::deleted(request.native_id))
    }

    async fn validate(&self, request: ValidateRequest) -> Result<Vec<PropertyProblem>, PluginError> {
        Self::obey(request.properties.expose()).await;
        Ok(Vec::new())
    }
}

/// A process that does not use the SDK: it says what it likes, and its answers have no bound.
#[derive(Clone)]
struct Liar {
    protocol: u32,
    token: String,
    namespace: String,
}

impl Default for Liar {
    fn default() -> Self {
        let token = std::env::var(variable::TOKEN).expect("the host gives one");
        Self { protocol: PROTOCOL, token, namespace: namespace() }
    }
}

async fn serve_rudely(liar: Liar) {
    serve_at(&socket(), liar).await;
}

async fn serve_at(path: &Path, liar: Liar) {
    let listener = UnixListener::bind(path).expect("a socket");
    tonic::transport::Server::builder()
        .add_service(pb::plugin_server::PluginServer::new(liar))
        .serve_with_incoming(UnixListenerStream::new(listener))
        .await
        .expect("served");
}

/// Serves through a proxy that sends garbage once it is told to, and goes on to live.
async fn serve_then_break() {
    let inner = socket().with_extension("inner");
    let path = inner.clone();
    tokio::spawn(async move { serve_at(&path, Liar::default()).await });
    let listener = UnixListener::bind(socket()).expect("a socket");
    let (mut host, _) = listener.accept().await.expect("a connection");
    let mut service = loop {
        match UnixStream::connect(&inner).await {
            Ok(service) => break service,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    let (mut up, mut down) = ([0; 4096], [0; 4096]);
    loop {
        tokio::select! {
            read = host.read(&mut up) => {
                let read = read.unwrap_or(0);
                service.write_all(&up[..read]).await.expect("written");
            }
            read = service.read(&mut down) => {
                let read = read.unwrap_or(0);
                if GARBAGE.load(Ordering::SeqCst) {
                    let _ = host.write_all(&[0xff; 4096]).await;
                    std::future::pending::<()>().await;
                }
                host.write_all(&down[..read]).await.expect("written");
            }
        }
    }
}

type Answered<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl pb::plugin_server::Plugin for Liar {
    async fn announce(&self, _: Request<pb::AnnounceRequest>) -> Answered<pb::Announcement> {
        Ok(Response::new(pb::Announcement {
            protocol: self.protocol,
            token: self.token.clone(),
            namespace: self.namespace.clone(),
            types: types().iter().map(Into::into).collect(),
            ..pb::Announcement::default()
        }))
    }

    async fn create(&self, request: Request<pb::CreateRequest>) -> Answered<pb::ProgressResponse> {
        GARBAGE.store(true, Ordering::SeqCst);
        let text = String::from_utf8_lossy(&request.get_ref().properties).into_owned();
        let result = pb::ProgressResult {
            operation: pb::Operation::Create.into(),
            operation_status: if text.contains("status") { 77 } else { 1 },
            native_id: Some("thing-1".to_owned()),
            resource_properties: Some(match () {
                () if text.contains("huge") => vec![b'1'; 100 << 20],
                () if text.contains("json") => b"{canary".to_vec(),
                () => b"{}".to_vec(),
            }),
            ..pb::ProgressResult::default()
        };
        let outcome = (!text.contains("nothing")).then_some(pb::progress_response::Outcome::Result(result));
        if text.contains("refuse") {
            return Err(Status::permission_denied("not\u{1b}[2J today"));
        }
        Ok(Response::new(pb::ProgressResponse { outcome }))
    }

    async fn read(&self, _: Request<pb::ReadRequest>) -> Answered<pb::ReadResponse> {
        Err(Status::unimplemented("read"))
    }

    async fn update(&self, _: Request<pb::UpdateRequest>) -> Answered<pb::ProgressResponse> {
        Err(Status::unimplemented("update"))
    }

    async fn delete(&self, _: Request<pb::DeleteRequest>) -> Answered<pb::ProgressResponse> {
        Err(Status::unimplemented("delete"))
    }

    async fn status(&self, _: Request<pb::StatusRequest>) -> Answered<pb::ProgressResponse> {
        Err(Status::unimplemented("status"))
    }

    async fn list(&self, _: Request<pb::ListRequest>) -> Answered<pb::ListResponse> {
        Err(Status::unimplemented("list"))
    }

    async fn delete_blockers(
        &self,
        _: Request<pb::DeleteBlockersRequest>,
    ) -> Answered<pb::DeleteBlockersResponse> {
        Err(Status::unimplemented("delete blockers"))
    }

    async fn validate(&self, _: Request<pb::ValidateRequest>) -> Answered<pb::ValidateResponse> {
        Err(Status::unimplemented("validate"))
    }
}
