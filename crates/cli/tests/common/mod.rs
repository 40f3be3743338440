//! Runs the built binary as a person would: a home of its own, arguments, an exit code and two
//! streams.

#![allow(dead_code, unreachable_pub, reason = "each test crate uses its own part")]

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take on a machine that is busy with something else. Only a hang fails.
pub const PATIENCE: Duration = Duration::from_secs(240);
const POLL: Duration = Duration::from_millis(5);

/// The commands that list all objects, by the name of their type.
pub const LISTS: [(&str, &str); 7] = [
    ("ai_provider", "list-ai-providers"),
    ("tool", "list-tools"),
    ("agent", "list-agents"),
    ("document", "list-documents"),
    ("memory", "list-memories"),
    ("memory_entry", "list-memory-entries"),
    ("secret", "list-secrets"),
];

/// A home directory, with the data directory in it.
pub struct Home {
    directory: TempDir,
    binary: PathBuf,
    environment: Vec<(&'static str, String)>,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self { directory, binary: env!("CARGO_BIN_EXE_formwork").into(), environment: Vec::new() }
    }

    /// Sets a variable for every command from now on.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.environment.push((name, value.into()));
    }

    /// The same home, with the binary called by another name.
    pub fn called(name: &str) -> Self {
        let mut home = Self::new();
        let link = home.path().join(name);
        std::os::unix::fs::symlink(&home.binary, &link).expect("linked");
        home.binary = link;
        home
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join(".local/share/formwork")
    }

    /// Writes a file, which commands then name by its bare name.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), text).expect("written");
    }

    /// A command, not started, in an environment that says nothing but where home is.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments).spawn().expect("it starts"))
    }

    pub fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = self.command(arguments);
        command.envs(environment.iter().copied());
        finish(command.spawn().expect("it starts"))
    }

    pub fn run_fed(&self, arguments: &[&str], stdin: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().expect("it starts");
        let mut pipe = child.stdin.take().expect("it is piped");
        let stdin = stdin.to_owned();
        thread::spawn(move || {
            // The child may end without reading all.
            let _ = pipe.write_all(&stdin);
        });
        finish(child)
    }

    /// The document a command answers with; it must succeed.
    pub fn json(&self, arguments: &[&str]) -> Value {
        self.run(arguments).ok().json()
    }

    /// Starts the agent and waits until it answers.
    pub fn agent(&self) -> Agent {
        self.agent_with(&[], &[])
    }

    pub fn agent_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Agent {
        let log = self.path().join("agent.log");
        let file = fs::File::options().create(true).append(true).open(&log).expect("a log file");
        let mut command = self.command(&[&["agent", "start"], arguments].concat());
        command.envs(environment.iter().copied()).stdout(Stdio::null()).stderr(file);
        let agent = Agent { child: command.spawn().expect("it starts") };
        let pid = agent.child.id();
        wait_for("the agent to answer", || {
            let status = self.run(&["agent", "status"]);
            status.code == Some(0)
                && status.json()["pid"] == pid
                && std::os::unix::net::UnixStream::connect(self.data().join("agent.sock")).is_ok()
        });
        agent
    }

    /// Creates a formation and answers with it.
    pub fn deploy(&self, name: &str, template: &str, more: &[&str]) -> Value {
        let arguments = ["create-formation", "--name", name, "--template-file", template];
        self.json(&[&arguments, more].concat())
    }

    /// Deploys a formation again and answers with it.
    pub fn redeploy(&self, id: &str, template: &str, more: &[&str]) -> Value {
        let arguments = ["update-formation", "--formation-id", id, "--template-file", template];
        self.json(&[&arguments, more].concat())
    }

    /// Plans a deploy of a formation and answers with its changes.
    pub fn changes(&self, id: &str, template: &str) -> Vec<(String, String)> {
        let plan = self.json(&["plan-formation", "--formation-id", id, "--template-file", template]);
        plan["changes"].as_array().expect("changes").iter().map(|change| pair(change, "action")).collect()
    }

    /// The events of a formation's last operation.
    pub fn last_events(&self, id: &str) -> Vec<(String, String)> {
        let mut last = Value::Null;
        for offset in (0..).step_by(100) {
            let at = offset.to_string();
            let page = self.json(&["list-formation-events", id, "--limit", "100", "--offset", &at]);
            let operations = page["data"].as_array().expect("a page");
            last = operations.last().cloned().unwrap_or(last);
            if operations.len() < 100 {
                break;
            }
        }
        last["events"].as_array().expect("events").iter().map(|event| pair(event, "action")).collect()
    }

    /// Every object of every type.
    pub fn objects(&self) -> Vec<Value> {
        LISTS.iter().flat_map(|(_, list)| self.all(&[list])).collect()
    }

    /// Every item of a list, page by page.
    pub fn all(&self, list: &[&str]) -> Vec<Value> {
        let mut items = Vec::new();
        loop {
            let offset = items.len().to_string();
            let page = self.json(&[list, &["--limit", "100", "--offset", &offset]].concat());
            let data = page["data"].as_array().expect("a page");
            items.extend(data.iter().cloned());
            if data.len() < 100 {
                return items;
            }
        }
    }
}

fn pair(value: &Value, key: &str) -> (String, String) {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    (text("logical_id"), text(key))
}

/// Pairs as they are compared with.
pub fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(label, action)| ((*label).to_owned(), (*action).to_owned())).collect()
}

/// The text of a member.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("`{key}` is no text in {value:#}"))
}

impl Ran {
    #[track_caller]
    pub fn ok(self) -> Self {
        self.exits(0)
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr))
    }

    /// What goldens show of it.
    pub fn shown(&self) -> String {
        let code = self.code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        let section = |name: &str, text: &str| {
            if text.is_empty() { String::new() } else { format!("--- {name}\n{text}") }
        };
        format!("exit {code}\n{}{}", section("stdout", &self.stdout), section("stderr", &self.stderr))
    }
}

/// Waits for a child, whose streams are piped, and reads them.
pub fn finish(mut child: Child) -> Ran {
    let reader = |source: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut source) = source {
                source.read_to_end(&mut bytes).expect("readable");
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = reader(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let stderr = reader(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
    let code = wait(&mut child);
    let read = |thread: thread::JoinHandle<String>| thread.join().expect("it was read");
    Ran { code, stdout: read(stdout), stderr: read(stderr) }
}

fn wait(child: &mut Child) -> Option<i32> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status.code();
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            panic!("a command did not end within {PATIENCE:?}");
        }
        thread::sleep(POLL);
    }
}

/// Waits until something holds.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        thread::sleep(POLL);
    }
}

/// Signals a child.
pub fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, signal).expect("it can be signalled");
}

/// A running agent; it is killed when the test leaves it.
pub struct Agent {
    child: Child,
}

impl Agent {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: nothing of it runs any more.
    pub fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it can be waited for");
    }

    /// Waits until it has ended by itself.
    pub fn ended(mut self) -> Option<i32> {
        wait(&mut self.child)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A template of many resources, some of which need each other.
pub fn many(count: usize) -> String {
    let mut resources = serde_json::Map::new();
    for index in 0..count {
        let (label, resource) = match index % 4 {
            0 => (
                format!("Memory{index}"),
                serde_json::json!({"type": "memory", "properties": {"name": format!("memory {index}")}}),
            ),
            1 => (
                format!("Entry{index}"),
                serde_json::json!({"type": "memory_entry", "properties": {
                    "memory_id": {"ref": format!("Memory{}", index - 1)}, "content": format!("entry {index}")}}),
            ),
            2 => (
                format!("Secret{index}"),
                serde_json::json!({"type": "secret", "properties": {
                    "name": format!("secret {index}"), "value": format!("value {index}")}}),
            ),
            _ => (
                format!("Tool{index}"),
                serde_json::json!({"type": "tool", "depends_on": [format!("Secret{}", index - 1)],
                    "properties": {"name": format!("tool {index}"), "type": "client"}}),
            ),
        };
        resources.insert(label, resource);
    }
    serde_json::json!({ "resources": resources }).to_string()
}

/// What differs from run to run, made the same.
pub fn scrubbed() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    let ids = r"\b(form_op|form_res|form|proj|sec|mem_entry|mem|doc|tool|aip|agent|token)_[A-Za-z0-9]{16}\b";
    settings.add_filter(ids, "${1}_[id]");
    settings.add_filter(r"\b[0-9a-f]{64}\b", "[hash]");
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", "[time]");
    settings.add_filter(r"\b\d+\.\ds\b", "[seconds]");
    settings.add_filter(r"/\S*\.tmp\w+", "[home]");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// Compares with a golden, ids and times scrubbed.
#[macro_export]
macro_rules! golden {
    ($name:expr, $text:expr) => {
        $crate::common::scrubbed().bind(|| {
            insta::assert_snapshot!($name.replace(' ', "_").replace("__", "_"), $text);
        })
    };
}
