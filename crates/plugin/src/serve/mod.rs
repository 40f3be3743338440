//! Being a plugin's process: what the author's `main` calls.
//!
//! ```no_run
//! # use formwork_plugin::{
//! #     CallContext, CreateRequest, DeleteRequest, Operation, OperationErrorCode, PluginError, ProgressResult, ReadRequest,
//! #     ReadResult, ResourcePlugin, UpdateRequest,
//! # };
//! # struct MyPlugin;
//! # fn full(operation: Operation) -> Result<ProgressResult, PluginError> {
//! #     Ok(ProgressResult::failure(operation, OperationErrorCode::InvalidRequest, "there is no room for anything"))
//! # }
//! # #[async_trait::async_trait]
//! # impl ResourcePlugin for MyPlugin {
//! #     fn namespace(&self) -> &str { "MINE" }
//! #     async fn create(&self, _: &CallContext, _: CreateRequest) -> Result<ProgressResult, PluginError> {
//! #         full(Operation::Create)
//! #     }
//! #     async fn read(&self, _: &CallContext, request: ReadRequest) -> Result<ReadResult, PluginError> {
//! #         Ok(ReadResult::absent(request.resource_type, request.native_id))
//! #     }
//! #     async fn update(&self, _: &CallContext, _: UpdateRequest) -> Result<ProgressResult, PluginError> {
//! #         full(Operation::Update)
//! #     }
//! #     async fn delete(&self, _: &CallContext, request: DeleteRequest) -> Result<ProgressResult, PluginError> {
//! #         Ok(ProgressResult::deleted(request.native_id))
//! #     }
//! # }
//! fn main() -> std::process::ExitCode {
//!     formwork_plugin::run(formwork_plugin::about!(), MyPlugin)
//! }
//! ```

mod service;
mod stop;

use crate::ResourcePlugin;
use crate::wire::pb::plugin_server::PluginServer;
use crate::wire::{LARGEST_MESSAGE, variable};
use formwork_model::Secret;
use service::Service;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;

/// How long calls may go on once the process was told to stop.
const GRACE: Duration = Duration::from_secs(30);

/// How much may be on its way to one call before it is read, in bytes.
const STREAM_WINDOW: u32 = 1024 * 1024;
/// The same for all calls together.
const CONNECTION_WINDOW: u32 = 8 * 1024 * 1024;

/// What a plugin is called. [`about!`](crate::about) says what its `Cargo.toml` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The name and version of the package in which it is written, as an [`About`].
#[macro_export]
macro_rules! about {
    () => {
        $crate::About { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    };
}

/// Why a process can't be a plugin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Nobody started it as a plugin.
    #[error("`{variable}` is not set: this is a plugin, which Formwork starts by itself")]
    NotLaunched {
        /// What it should have been given.
        variable: &'static str,
    },
    /// It can't listen.
    #[error("cannot listen on `{}`", path.display())]
    Listen {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It can't ask the operating system for something.
    #[error("cannot {action}")]
    System {
        /// What.
        action: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// It can't serve.
    #[error("cannot serve calls")]
    Serve(#[source] tonic::transport::Error),
}

/// Serves a plugin until Formwork ends the process or is gone.
///
/// # Errors
/// [`ServeError`], if Formwork did not start this process or it can't listen.
pub async fn serve(plugin: impl ResourcePlugin) -> Result<(), ServeError> {
    serve_as(About::default(), plugin).await
}

/// Serves a plugin that says its name and version until Formwork ends the process or is gone.
///
/// # Errors
/// [`ServeError`], if Formwork did not start this process or it can't listen.
pub async fn serve_as(about: About, plugin: impl ResourcePlugin) -> Result<(), ServeError> {
    let Launch { socket, token } = Launch::from_environment()?;
    let stop = stop::told_to_stop()?;
    let listener =
        UnixListener::bind(&socket).map_err(|source| ServeError::Listen { path: socket, source })?;
    let service = PluginServer::new(Service::new(Arc::new(plugin), about, token))
        .max_decoding_message_size(LARGEST_MESSAGE)
        .max_encoding_message_size(LARGEST_MESSAGE);
    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let told = async move {
        stop.await;
        // Nobody waits any more only if serving ended by itself.
        let _ = stopping.send(());
    };
    let serving = Server::builder()
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .add_service(service)
        .serve_with_incoming_shutdown(UnixListenerStream::new(listener), told);
    let overdue = async {
        let _ = stopped.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving => served.map_err(ServeError::Serve),
        () = overdue => Ok(()),
    }
}

/// The whole `main` of a plugin: serves it on threads of its own, and says on standard error why it can't. What the plugin
/// says with `tracing` goes there, too, a line each that begins with its level, unless it has its own subscriber.
pub fn run(about: About, plugin: impl ResourcePlugin) -> ExitCode {
    let lines = tracing_subscriber::fmt().without_time().with_ansi(false).with_writer(std::io::stderr);
    // One that the author chose stays.
    let _ = lines.try_init();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let served = match runtime {
        Ok(runtime) => {
            let served = runtime.block_on(serve_as(about, plugin));
            // What still runs was told to stop and had its time.
            runtime.shutdown_background();
            served
        }
        Err(source) => Err(ServeError::System { action: "start threads", source }),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
            let said: Vec<String> =
                std::iter::once(error.to_string()).chain(causes.map(ToString::to_string)).collect();
            eprintln!("ERROR {}", said.join(": "));
            ExitCode::FAILURE
        }
    }
}

/// What the host gave this process.
struct Launch {
    socket: PathBuf,
    token: Secret<String>,
}

impl Launch {
    fn from_environment() -> Result<Self, ServeError> {
        let read = |variable| std::env::var_os(variable).ok_or(ServeError::NotLaunched { variable });
        let socket = read(variable::SOCKET)?.into();
        let token = read(variable::TOKEN)?.into_string();
        let token = token.map_err(|_| ServeError::NotLaunched { variable: variable::TOKEN })?;
        Ok(Self { socket, token: Secret::new(token) })
    }
}
