//! Runs the example handler.

use clap::Parser;
use formwork_example_handler::{Fault, Options, Service, router};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use tokio::net::TcpListener;

/// The variable with the secret that requests are signed with: arguments can be seen by others.
const SECRET: &str = "FORMATION_HANDLER_SECRET";

/// A handler for the custom resource type `channel`. `FORMATION_HANDLER_SECRET` is the secret that
/// requests are signed with.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Where to listen.
    #[arg(long, default_value = "127.0.0.1:50480")]
    listen: SocketAddr,
    /// The path that the registration file names.
    #[arg(long, default_value = "/formation-resources")]
    path: String,
    /// How old a signature may be, in seconds.
    #[arg(long, default_value_t = 300)]
    max_age: i64,
    /// A file to keep the channels in; without it they are gone with the process.
    #[arg(long)]
    state: Option<PathBuf>,
    /// Lets anybody who can reach it watch the handler and tell it to misbehave, at `/control`.
    #[arg(long)]
    control: bool,
    /// Misbehave from the start: a fault as `/control` takes it. May be given several times.
    #[arg(long, value_parser = parse_fault)]
    fault: Vec<Fault>,
}

fn parse_fault(text: &str) -> Result<Fault, serde_json::Error> {
    serde_json::from_str(text)
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let secret = std::env::var(SECRET).ok().filter(|secret| !secret.is_empty());
    let secret = secret.ok_or_else(|| io::Error::other(format!("{SECRET} is not set or is empty")))?;
    let service = Service::new(Options {
        secret,
        max_age_seconds: arguments.max_age,
        path: arguments.path,
        state: arguments.state,
        control: arguments.control,
    })?;
    arguments.fault.into_iter().for_each(|fault| service.misbehave(fault));
    let listener = TcpListener::bind(arguments.listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, router(service)).await
}
