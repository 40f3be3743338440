//! The agent: the process that serves a data directory until it is stopped.

use super::CommandError;
use crate::args::{Agent, Global};
use crate::exit::Exit;
use crate::session::{Holder, Host, SessionError, StopRequest, current};
use crate::ui::{json, say};
use formwork_config::{Environment, Settings};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::time::Duration;

/// How long an agent may take to stop.
const STOP: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn run(_: &Global, command: Agent) -> Result<Exit, CommandError> {
    let settings = Settings::from_environment(&Environment::from_process())?;
    match command {
        Agent::Start { listen } => start(settings, listen.as_deref()).await,
        Agent::Status => status(&settings),
        Agent::Stop => stop(&settings).await,
    }
}

async fn start(settings: Settings, listen: Option<&str>) -> Result<Exit, CommandError> {
    let listen = match listen {
        Some(address) => Some(Settings::parse_listen(address)?),
        None => settings.listen,
    };
    let mut stop = StopRequest::listen();
    let mut said = false;
    // A command that serves itself just now hands over as soon as it is done.
    let host = loop {
        if let Some(host) = Host::resident(&settings, listen).await? {
            break host;
        }
        match holder(&settings)? {
            Some(holder) if holder.resident => {
                return Err(CommandError::Agent(format!("the agent runs already (pid {})", holder.pid)));
            }
            Some(holder) if !said => {
                said = true;
                say(format_args!("agent: waiting for a command (pid {}) to end", holder.pid));
            }
            _ => tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = stop.wait() => return Ok(Exit::Interrupted),
            },
        }
    };
    say(format_args!("agent: listening on {}", settings.data_dir.agent_socket().display()));
    if let Some(address) = listen {
        say(format_args!("agent: listening on http://{address}"));
    }
    host.serve_until(&mut stop).await;
    say(format_args!("agent: stopped"));
    Ok(Exit::Done)
}

fn holder(settings: &Settings) -> Result<Option<Holder>, CommandError> {
    let path = settings.data_dir.agent_lock();
    current(&path).map_err(|source| SessionError::Lock { path, source }.into())
}

fn status(settings: &Settings) -> Result<Exit, CommandError> {
    let Some(holder) = holder(settings)? else {
        json::print(&json!({ "running": false }))?;
        return Ok(Exit::Failed);
    };
    json::print(&json!({
        "running": true,
        "resident": holder.resident,
        "pid": holder.pid,
        "since_ms": holder.since,
        "version": holder.version,
        "socket": settings.data_dir.agent_socket(),
    }))?;
    Ok(Exit::Done)
}

async fn stop(settings: &Settings) -> Result<Exit, CommandError> {
    let Some(running) = holder(settings)? else {
        say(format_args!("agent: not running"));
        return Ok(Exit::Done);
    };
    let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| CommandError::Agent("the lock names no process".to_owned()))?;
    kill_process(pid, Signal::TERM)
        .map_err(|error| CommandError::Agent(format!("cannot signal process {}: {error}", running.pid)))?;
    let gone = async {
        while holder(settings)?.is_some_and(|holder| holder.pid == running.pid) {
            tokio::time::sleep(PAUSE).await;
        }
        Ok::<_, CommandError>(())
    };
    match tokio::time::timeout(STOP, gone).await {
        Ok(stopped) => stopped?,
        Err(_) => return Err(CommandError::Agent(format!("process {} does not stop", running.pid))),
    }
    say(format_args!("agent: stopped"));
    Ok(Exit::Done)
}
