//! The world of one sequence: a home, the processes in it, and the cloud.

use crate::stage::Stage;
use crate::violation::Violation;
use formwork_model::Json;
use formwork_plugin_fake_cloud::{Cloud, Line, State};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a command may take; every wait in it has a bound of seconds.
const PATIENCE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(2);

/// A command that changes something, if only it found it: so what was cut off is finished first.
pub(crate) const TOUCH: [&str; 2] = ["delete-memory", "mem_AAAAAAAAAAAAAAAA"];

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Its exit code; `None` if it was killed.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn is_ok(&self) -> bool {
        self.code == Some(0)
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or(Json::Null)
    }
}

/// A command that runs.
pub(crate) struct Started {
    child: Child,
    number: usize,
    shown: String,
}

pub(crate) struct World<'s> {
    stage: &'s Stage,
    home: TempDir,
    pub(crate) cloud: Cloud,
    pub(crate) canary: String,
    has_agent: bool,
    agent: Option<Child>,
    commands: usize,
    /// What was done, for people.
    pub(crate) trace: Vec<String>,
    /// The operations during which somebody was killed.
    pub(crate) killed: BTreeSet<String>,
}

impl<'s> World<'s> {
    pub(crate) fn new(stage: &'s Stage, seed: u64, has_agent: bool) -> Result<Self, Violation> {
        let home = stage.home().map_err(Violation::stuck)?;
        let place = home.path().join("cloud");
        fs::create_dir(&place).map_err(Violation::stuck)?;
        let cloud = Cloud::open(&place).map_err(Violation::stuck)?;
        let canary = format!("canary-{seed:016x}");
        Ok(Self {
            stage,
            home,
            cloud,
            canary,
            has_agent,
            agent: None,
            commands: 0,
            trace: Vec::new(),
            killed: BTreeSet::new(),
        })
    }

    pub(crate) fn cloud_directory(&self) -> String {
        self.home.path().join("cloud").display().to_string()
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Violation> {
        fs::write(self.home.path().join(name), text).map_err(Violation::stuck)
    }

    /// What there is in the cloud, and all that happened.
    pub(crate) fn look(&mut self) -> Result<(&State, &[Line]), Violation> {
        self.cloud.look().map_err(Violation::stuck)
    }

    /// How long the log is.
    pub(crate) fn lines(&mut self) -> Result<usize, Violation> {
        Ok(self.look()?.1.len())
    }

    /// Runs a command to its end.
    pub(crate) fn run(&mut self, arguments: &[&str]) -> Result<Ran, Violation> {
        let started = self.start(arguments)?;
        self.finish(started)
    }

    /// The document that a command answers with, which must succeed.
    pub(crate) fn json(&mut self, arguments: &[&str]) -> Result<Json, Violation> {
        let ran = self.run(arguments)?;
        if !ran.is_ok() {
            let detail = format!("`{}` failed: {}", arguments.join(" "), ran.stderr);
            return Err(Violation::new("INV-12", detail));
        }
        Ok(ran.json())
    }

    pub(crate) fn start(&mut self, arguments: &[&str]) -> Result<Started, Violation> {
        self.ensure_agent()?;
        self.commands += 1;
        let number = self.commands;
        let file = |end: &str| File::create(self.home.path().join(format!("{number}.{end}")));
        let (out, err) = (file("out").map_err(Violation::stuck)?, file("err").map_err(Violation::stuck)?);
        let shown = arguments.join(" ");
        let mut command = self.stage.command(self.home.path(), &self.data());
        command.args(arguments).stdin(Stdio::null()).stdout(out).stderr(err);
        let child = command.spawn().map_err(Violation::stuck)?;
        Ok(Started { child, number, shown })
    }

    /// Waits for the end of a command, and looks at what it wrote.
    pub(crate) fn finish(&mut self, mut started: Started) -> Result<Ran, Violation> {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = started.child.try_wait().map_err(Violation::stuck)? {
                break status;
            }
            if Instant::now() > until {
                // It may end just now.
                let _ = started.child.kill();
                let _ = started.child.wait();
                return Err(Violation::stuck(format!("`{}` does not end", started.shown)));
            }
            sleep(POLL);
        };
        let read = |end: &str| {
            let path = self.home.path().join(format!("{}.{end}", started.number));
            let text = fs::read(&path).map_err(Violation::stuck)?;
            fs::remove_file(path).map_err(Violation::stuck)?;
            Ok::<_, Violation>(String::from_utf8_lossy(&text).into_owned())
        };
        let ran = Ran { code: status.code(), stdout: read("out")?, stderr: read("err")? };
        let code = ran.code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        self.trace.push(format!(
            "$ {}\n  = {code}\n{}",
            self.without_secrets(&started.shown),
            indented(&ran.stderr)
        ));
        if ran.stdout.contains(&self.canary) || ran.stderr.contains(&self.canary) {
            let detail = format!("`{}` shows a secret: {}{}", started.shown, ran.stdout, ran.stderr);
            return Err(Violation::new("INV-9", detail));
        }
        if !matches!(ran.code, None | Some(0 | 1 | 3 | 4)) || ran.stderr.contains("panicked") {
            let detail = format!("`{}` exits with {code}: {}", started.shown, ran.stderr);
            return Err(Violation::new("INV-18", detail));
        }
        Ok(ran)
    }

    fn without_secrets(&self, text: &str) -> String {
        text.replace(&self.canary, "…")
    }

    pub(crate) fn has_ended(started: &mut Started) -> bool {
        !matches!(started.child.try_wait(), Ok(None))
    }

    /// SIGKILL of whoever carries a command out; where there is an agent, another takes its place.
    pub(crate) fn kill_server(&mut self, started: &mut Started) -> Result<(), Violation> {
        self.trace.push("! SIGKILL of the server".to_owned());
        let last = self.look()?.1.iter().rev().find_map(|line| line.event.operation().map(str::to_owned));
        self.killed.extend(last);
        match self.agent.take() {
            Some(mut agent) => {
                agent.kill().and_then(|()| agent.wait()).map_err(Violation::stuck)?;
                self.ensure_agent()
            }
            // It may have ended by itself.
            None => started.child.kill().or(Ok(())),
        }
    }

    /// SIGKILL of the process that the cloud was called through last.
    pub(crate) fn kill_plugin(&mut self) -> Result<(), Violation> {
        self.trace.push("! SIGKILL of the plugin".to_owned());
        let own = std::process::id();
        let last = self.look()?.1.iter().rev().map(|line| line.pid).find(|pid| *pid != own);
        if let Some(pid) = last {
            self.kill(pid);
        }
        Ok(())
    }

    /// Kills a process of this world, if it is one.
    fn kill(&self, pid: u32) {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let home = self.home.path().display().to_string();
        let is_ours = environment.windows(home.len()).any(|part| part == home.as_bytes());
        if let (true, Some(pid)) = (is_ours, i32::try_from(pid).ok().and_then(Pid::from_raw)) {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn ensure_agent(&mut self) -> Result<(), Violation> {
        if !self.has_agent || self.agent.is_some() {
            return Ok(());
        }
        let path = self.home.path().join("agent.log");
        let log = File::options().create(true).append(true).open(path).map_err(Violation::stuck)?;
        let mut command = self.stage.command(self.home.path(), &self.data());
        command.args(["agent", "start"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let agent = command.spawn().map_err(Violation::stuck)?;
        let agent = self.agent.insert(agent);
        let until = Instant::now() + PATIENCE;
        let socket = self.home.path().join("data/agent.sock");
        while UnixStream::connect(&socket).is_err() {
            let ended = agent.try_wait().map_err(Violation::stuck)?;
            if let Some(status) = ended {
                return Err(Violation::stuck(format!("the agent does not start: {status}")));
            }
            if Instant::now() > until {
                return Err(Violation::stuck("the agent does not answer"));
            }
            sleep(POLL);
        }
        Ok(())
    }

    /// Every file in which nothing secret may be, of which it is not so.
    pub(crate) fn files_with_secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut places = vec![self.data(), self.home.path().join("agent.log")];
        while let Some(place) = places.pop() {
            if place.is_dir() {
                places.extend(fs::read_dir(&place).into_iter().flatten().flatten().map(|entry| entry.path()));
            } else if holds(&place, self.canary.as_bytes()) {
                found.push(place.display().to_string());
            }
        }
        found
    }

    pub(crate) fn agent_log(&self) -> String {
        let log = fs::read(self.home.path().join("agent.log")).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        if let Some(mut agent) = self.agent.take() {
            let _ = agent.kill();
            let _ = agent.wait();
        }
        // Plugins end with their host, but not before the calls that they were told to hang in.
        let pids: BTreeSet<u32> = match self.cloud.look() {
            Ok((_, lines)) => lines.iter().map(|line| line.pid).collect(),
            Err(_) => BTreeSet::new(),
        };
        for pid in pids.into_iter().filter(|pid| *pid != std::process::id()) {
            self.kill(pid);
        }
    }
}

fn holds(path: &Path, secret: &[u8]) -> bool {
    fs::read(path).is_ok_and(|bytes| bytes.windows(secret.len()).any(|part| part == secret))
}

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}
